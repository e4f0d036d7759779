//===- Document.cpp - An open file and its plans --------------------------===//

#include "Document.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

using namespace ckpt::lsp;
using namespace mlir;

/// Ranges of names hold their end, too: an editor asks for the place behind the
/// last letter.
static bool contains(llvm::SMRange range, llvm::SMLoc place) {
  return range.isValid() &&
         range.Start.getPointer() <= place.getPointer() &&
         place.getPointer() <= range.End.getPointer();
}

/// The name of \p definition at \p place, where it is made or read; or null.
static const char *nameAt(const AsmParserState::SMDefinition &definition,
                          llvm::SMLoc place) {
  if (contains(definition.loc, place))
    return definition.loc.Start.getPointer();
  for (llvm::SMRange use : definition.uses)
    if (contains(use, place))
      return use.Start.getPointer();
  return nullptr;
}

/// The number behind the `#` of a name such as `%0#1`, or 0.
static unsigned numberOf(const char *name) {
  llvm::StringRef rest(name);
  rest = rest.drop_front().drop_while(
      [](char c) {
        return llvm::isAlnum(c) || llvm::StringRef("$._-").contains(c);
      });
  unsigned number = 0;
  if (rest.consume_front("#"))
    rest.consumeInteger(10, number);
  return number;
}

Document::Document(DialectRegistry &registry, llvm::StringRef text)
    : text(text), context(registry, MLIRContext::Threading::DISABLED) {
  context.allowUnregisteredDialects();
}

Document::~Document() = default;

void Document::parse() {
  isParsed = true;
  ScopedDiagnosticHandler handler(&context,
                                  [](Diagnostic &) { return success(); });
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text), {});
  FallbackAsmResourceMap resources;
  ParserConfig config(&context, /*verifyAfterParse=*/true, &resources);
  if (failed(parseAsmSourceFile(sources, &program, config, &names))) {
    program.clear();
    names = AsmParserState();
  }
}

llvm::SmallVector<Value> Document::valuesAt(llvm::SMLoc place) {
  for (const AsmParserState::OperationDefinition &op : names.getOpDefs()) {
    if (contains(op.loc, place))
      return llvm::to_vector_of<Value>(op.op->getResults());
    for (const auto &group : op.resultGroups)
      if (const char *name = nameAt(group.definition, place)) {
        unsigned number = group.startIndex + numberOf(name);
        if (number < op.op->getNumResults())
          return {op.op->getResult(number)};
      }
  }
  for (const AsmParserState::BlockDefinition &block : names.getBlockDefs())
    for (const auto &[i, argument] : llvm::enumerate(block.arguments))
      if (nameAt(argument, place))
        return {block.block->getArgument(i)};
  return {};
}

std::string Document::describe(Value value) {
  Operation *parent = value.getParentBlock()->getParentOp();
  auto function = dyn_cast_if_present<func::FuncOp>(parent);
  if (parent && !function)
    function = parent->getParentOfType<func::FuncOp>();
  if (!function)
    return "";
  std::unique_ptr<PlanNotes> &entry = notes[function];
  if (!entry)
    entry = std::make_unique<PlanNotes>(function);
  return entry->describe(value);
}

std::string Document::describe(const llvm::lsp::Position &position) {
  if (!isParsed)
    parse();
  llvm::SMLoc place = position.getAsSMLoc(sources);
  if (!place.isValid())
    return "";
  std::string text;
  for (Value value : valuesAt(place))
    text += describe(value);
  return text;
}
