//===- Proxy.h - Between an editor and upstream's server --------*- C++ -*-===//

#ifndef CKPT_TOOLS_LSP_PROXY_H
#define CKPT_TOOLS_LSP_PROXY_H

#include "Document.h"
#include "llvm/Support/JSON.h"

#include <cstdio>
#include <map>
#include <mutex>

namespace ckpt::lsp {

/// Passes all messages on unchanged, except for answers to
/// `textDocument/hover`: these get the plan's text at their end. Keeps the
/// texts of open documents for that.
class Proxy {
public:
  Proxy(mlir::DialectRegistry &registry, std::FILE *fromClient,
        std::FILE *toServer, std::FILE *fromServer, std::FILE *toClient)
      : registry(registry), fromClient(fromClient), toServer(toServer),
        fromServer(fromServer), toClient(toClient) {}

  /// Returns when the server has closed its output.
  void run();

private:
  /// A question that the server has not answered yet.
  struct Question {
    std::shared_ptr<Document> document;
    llvm::lsp::Position position;
  };

  void passToServer();
  void passToClient();
  /// Notes the documents or the question in \p message.
  void note(const llvm::json::Object &message);
  void change(const llvm::lsp::DidChangeTextDocumentParams &params);
  /// Adds the plan's text to \p message if it answers a question.
  bool addText(llvm::json::Object &message);

  mlir::DialectRegistry &registry;
  std::FILE *fromClient, *toServer, *fromServer, *toClient;
  /// Guards the two below, which both directions use.
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Document>> documents;
  /// By the text of the message's id.
  std::map<std::string, Question> questions;
};

} // namespace ckpt::lsp

#endif // CKPT_TOOLS_LSP_PROXY_H
