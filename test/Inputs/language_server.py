"""Talks to a language server as an editor does, and prints its texts under the pointer.

    language_server.py SERVER FILE [hover TEXT | replace OLD NEW | close]...

`hover TEXT` points at the first place of TEXT in the file; `replace` edits the first
OLD. The server's complaints about the file are printed as they come.
"""

import json
import pathlib
import subprocess
import sys


class Server:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.id = 0

    def send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while (line := self.process.stdout.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            sys.exit("the server closed its output")
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, params):
        """The answer to a question; prints what the server says of the file meanwhile."""
        self.id += 1
        self.send(id=self.id, method=method, params=params)
        while True:
            message = self.receive()
            if message.get("id") == self.id:
                return message["result"]
            self.show(message)

    def show(self, message):
        if message.get("method") == "textDocument/publishDiagnostics":
            for diagnostic in message["params"]["diagnostics"]:
                print("diagnostic:", diagnostic["message"])

    def tell(self, method, params):
        self.send(method=method, params=params)


def position(text, place):
    before = text[:place]
    return {"line": before.count("\n"), "character": place - (before.rfind("\n") + 1)}


def main():
    command, path, *steps = sys.argv[1:]
    text = pathlib.Path(path).read_text()
    document = {"uri": pathlib.Path(path).resolve().as_uri()}
    server = Server([command, "--log=error"])
    answer = server.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    assert answer["capabilities"]["hoverProvider"], answer
    # 1: a change brings all of the text.
    assert answer["capabilities"]["textDocumentSync"]["change"] == 1, answer
    server.tell("initialized", {})
    server.tell("textDocument/didOpen", {"textDocument": {**document, "languageId": "mlir", "version": 1, "text": text}})
    version = 1
    while steps:
        step = steps.pop(0)
        if step == "hover":
            pattern = steps.pop(0)
            place = text.index(pattern)
            answer = server.ask("textDocument/hover", {"textDocument": document, "position": position(text, place)})
            print(f"=== {pattern}")
            print(answer["contents"]["value"] if answer else "nothing")
        elif step == "replace":
            old, new = steps.pop(0), steps.pop(0)
            assert old in text, old
            text = text.replace(old, new, 1)
            version += 1
            server.tell(
                "textDocument/didChange",
                {"textDocument": {**document, "version": version}, "contentChanges": [{"text": text}]},
            )
        elif step == "close":
            server.tell("textDocument/didClose", {"textDocument": document})
    assert server.ask("shutdown", None) is None
    server.tell("exit", None)
    assert server.process.stdout.read() == b""
    print("exit code", server.process.wait(timeout=60))


main()
