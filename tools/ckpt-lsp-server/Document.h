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

/// One state of a file's text. It is parsed when somebody first asks.
class Document {
public:
  Document(mlir::DialectRegistry &registry, llvm::StringRef text);
  ~Document();

  llvm::StringRef getText() const { return text; }
  /// What a plan says of the value or op at \p position, as Markdown; empty
  /// where there is none, or where the file has errors.
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
