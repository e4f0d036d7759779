//===- Document.h - An open file and its plans ------------------*- C++ -*-===//

#ifndef CKPT_TOOLS_LSP_DOCUMENT_H
#define CKPT_TOOLS_LSP_DOCUMENT_H

#include "PlanNotes.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>

namespace ckpt::lsp {

/// One state of a file's text. The first question parses it.
class Document {
public:
  Document(mlir::DialectRegistry &registry, llvm::StringRef text);
  ~Document();

  llvm::StringRef getText() const { return text; }
  /// The plan's text on the value or op at \p position, as Markdown; empty if
  /// there is none, or if the file has errors.
  std::string describe(const llvm::lsp::Position &position);

private:
  void parse();
  /// The values whose name, or whose op's name, stands at \p place.
  llvm::SmallVector<mlir::Value> valuesAt(llvm::SMLoc place);
  std::string describe(mlir::Value value);

  std::string text;
  mlir::MLIRContext context;
  bool isParsed = false;
  llvm::SourceMgr sources;
  mlir::Block program;
  mlir::AsmParserState names;
  /// By function.
  std::map<mlir::Operation *, std::unique_ptr<PlanNotes>> notes;
};

} // namespace ckpt::lsp

#endif // CKPT_TOOLS_LSP_DOCUMENT_H
