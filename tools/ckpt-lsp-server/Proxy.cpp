//===- Proxy.cpp - Between an editor and upstream's server ----------------===//

#include "Proxy.h"
#include "llvm/Support/LSP/Transport.h"

#include <thread>

using namespace ckpt::lsp;
using namespace llvm::lsp;
namespace json = llvm::json;

static void send(llvm::StringRef message, std::FILE *to) {
  std::fprintf(to, "Content-Length: %zu\r\n\r\n", message.size());
  std::fwrite(message.data(), 1, message.size(), to);
  std::fflush(to);
}

/// Reads messages until \p from ends, and gives each to \p handle.
static void forEachMessage(std::FILE *from,
                           llvm::function_ref<void(std::string &)> handle) {
  JSONTransportInputOverFile input(from);
  std::string message;
  while (!input.isEndOfInput() && !input.hasError())
    if (llvm::succeeded(input.readMessage(message)))
      handle(message);
}

/// The parameters of a message, or nothing where they are not as they should
/// be: then the server complains.
template <typename Params>
static std::optional<Params> parse(const json::Object &message) {
  Params params;
  json::Path::Root root;
  const json::Value *value = message.get("params");
  if (!value || !fromJSON(*value, params, root))
    return std::nullopt;
  return params;
}

/// Ids are numbers or texts.
static std::string textOf(const json::Value &id) {
  return llvm::formatv("{0}", id).str();
}

void Proxy::run() {
  std::thread([this] { passToServer(); }).detach();
  passToClient();
}

void Proxy::passToServer() {
  forEachMessage(fromClient, [&](std::string &text) {
    llvm::Expected<json::Value> message = json::parse(text);
    if (!message)
      llvm::consumeError(message.takeError());
    else if (const json::Object *object = message->getAsObject())
      note(*object);
    send(text, toServer);
  });
  std::fclose(toServer);
}

void Proxy::passToClient() {
  forEachMessage(fromServer, [&](std::string &text) {
    llvm::Expected<json::Value> message = json::parse(text);
    if (!message)
      llvm::consumeError(message.takeError());
    else if (json::Object *object = message->getAsObject())
      if (addText(*object))
        text = llvm::formatv("{0}", *message).str();
    send(text, toClient);
  });
}

void Proxy::note(const json::Object &message) {
  llvm::StringRef method = message.getString("method").value_or("");
  std::lock_guard<std::mutex> lock(mutex);
  if (method == "textDocument/didOpen") {
    if (auto params = parse<DidOpenTextDocumentParams>(message))
      documents[params->textDocument.uri.uri().str()] =
          std::make_shared<Document>(registry, params->textDocument.text);
  } else if (method == "textDocument/didChange") {
    if (auto params = parse<DidChangeTextDocumentParams>(message))
      change(*params);
  } else if (method == "textDocument/didClose") {
    if (auto params = parse<DidCloseTextDocumentParams>(message))
      documents.erase(params->textDocument.uri.uri().str());
  } else if (method == "textDocument/hover") {
    const json::Value *id = message.get("id");
    auto params = parse<TextDocumentPositionParams>(message);
    if (!id || !params)
      return;
    auto document = documents.find(params->textDocument.uri.uri().str());
    if (document != documents.end())
      questions[textOf(*id)] = {document->second, params->position};
  }
}

void Proxy::change(const DidChangeTextDocumentParams &params) {
  auto document = documents.find(params.textDocument.uri.uri().str());
  if (document == documents.end())
    return;
  std::string text = document->second->getText().str();
  if (llvm::succeeded(
          TextDocumentContentChangeEvent::applyTo(params.contentChanges, text)))
    document->second = std::make_shared<Document>(registry, text);
}

bool Proxy::addText(json::Object &message) {
  const json::Value *id = message.get("id");
  if (!id || message.get("method"))
    return false;
  Question question;
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = questions.find(textOf(*id));
    if (found == questions.end())
      return false;
    question = std::move(found->second);
    questions.erase(found);
  }
  json::Object *result = message.getObject("result");
  json::Object *contents = result ? result->getObject("contents") : nullptr;
  std::optional<llvm::StringRef> before =
      contents ? contents->getString("value") : std::nullopt;
  if (!before)
    return false;
  std::string text = question.document->describe(question.position);
  if (text.empty())
    return false;
  (*contents)["value"] = (*before + "\n\n***\n" + text).str();
  return true;
}
