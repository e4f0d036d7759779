//===- CkptOps.cpp - Verifiers and the assembly of kernels ----------------===//

#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Plan/Problem.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace ckpt;

#define GET_OP_CLASSES
#include "ckpt/IR/CkptOps.cpp.inc"

/// The terminator of \p body yields the types of the results of \p op.
static LogicalResult verifyYield(Operation *op, Block &body) {
  auto yield = cast<YieldOp>(body.getTerminator());
  if (TypeRange(yield.getValues()) == TypeRange(op->getResultTypes()))
    return success();
  mlir::InFlightDiagnostic diagnostic =
      op->emitOpError() << "expected the body to yield " << op->getNumResults()
                        << " values of the result types, but got "
                        << yield.getNumOperands();
  diagnostic.attachNote(yield.getLoc()) << "yielded here";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// LayerOp
//===----------------------------------------------------------------------===//

LogicalResult LayerOp::verify() {
  auto notNegative = [&](StringRef name,
                         std::optional<uint64_t> value) -> LogicalResult {
    if (!value || static_cast<int64_t>(*value) >= 0)
      return success();
    return emitOpError() << "expected '" << name
                         << "' not to be negative, but got "
                         << static_cast<int64_t>(*value);
  };
  if (failed(notNegative("activation_bytes", getActivationBytes())) ||
      failed(notNegative("recompute_flops", getRecomputeFlops())) ||
      failed(notNegative("parameters", getParameters())))
    return failure();                           // C2
  return verifyYield(*this, getBody().front()); // C1
}

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

static LogicalResult verifySlots(KernelOp kernel) {
  size_t results = kernel.getNumResults();
  if (kernel.getOffsets().size() != results ||
      kernel.getBytes().size() != results) // C1
    return kernel.emitOpError()
           << "expected one offset and one size per result, but got "
           << kernel.getOffsets().size() << " and " << kernel.getBytes().size()
           << " for " << results << " results";
  if (kernel.getHosts() && kernel.getHosts()->size() != results) // C1
    return kernel.emitOpError()
           << "expected one host per result, but got "
           << kernel.getHosts()->size() << " for " << results << " results";
  for (unsigned i = 0; i < results; ++i) { // C2
    int64_t offset = kernel.getOffsets()[i], bytes = kernel.getBytes()[i];
    bool isCallers = offset == -1 && kernel.getHost(i) < 0;
    if (!isCallers && (offset < 0 || offset % plan::slotAlignment != 0))
      return kernel.emitOpError()
             << "expected offsets to be -1 or a multiple of "
             << plan::slotAlignment << ", but got " << offset;
    if (bytes < 0)
      return kernel.emitOpError()
             << "expected sizes not to be negative, but got " << bytes;
  }
  int64_t offset = kernel.getWorkspaceOffset();
  int64_t bytes = kernel.getWorkspaceBytes();
  bool placed = offset >= 0 && offset % plan::slotAlignment == 0;
  if (bytes < 0 || (bytes > 0 ? !placed : offset != -1)) // C5
    return kernel.emitOpError()
           << "expected a workspace of positive size at a multiple of "
           << plan::slotAlignment << ", or none at -1, but got " << bytes
           << " bytes at " << offset;
  return success();
}

LogicalResult KernelOp::verify() {
  if (failed(verifySlots(*this)))
    return failure();
  if (TypeRange(getBody().getArgumentTypes()) !=
      TypeRange(getInputs().getTypes())) // C3
    return emitOpError() << "expected one block argument per input, of its "
                            "type, but got "
                         << getBody().getNumArguments() << " for "
                         << getInputs().size() << " inputs";
  if (!getAfter().empty() && !getRecompute()) // C4
    return emitOpError() << "expected 'after' only with 'recompute'";
  return verifyYield(*this, getBody().front()); // C3
}

static void printAfter(mlir::OpAsmPrinter &printer, mlir::OperandRange after) {
  if (after.empty())
    return;
  printer << " after (";
  llvm::interleaveComma(after, printer, [&](Value value) {
    printer << value << " : " << value.getType();
  });
  printer << ")";
}

void KernelOp::print(mlir::OpAsmPrinter &printer) {
  printer << "(";
  llvm::interleaveComma(llvm::zip_equal(getBody().getArguments(), getInputs()),
                        printer, [&](auto pair) {
                          printer.printRegionArgument(std::get<0>(pair), {},
                                                      /*omitType=*/true);
                          printer << " = " << std::get<1>(pair) << " : "
                                  << std::get<1>(pair).getType();
                        });
  printer << ")";
  printAfter(printer, getAfter());
  printer << " slots [";
  llvm::interleaveComma(llvm::seq<unsigned>(getNumResults()), printer,
                        [&](unsigned i) {
                          printer << getOffsets()[i];
                          if (getHost(i) >= 0)
                            printer << " of " << getHost(i);
                          printer << " : " << getBytes()[i];
                        });
  printer << "]";
  if (getWorkspaceBytes())
    printer << " workspace [" << static_cast<int64_t>(getWorkspaceOffset())
            << " : " << getWorkspaceBytes() << "]";
  if (!getLayer().empty())
    printer << " layer " << getLayerAttr();
  if (getRecompute())
    printer << " recompute";
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getOperandSegmentSizesAttrName(), getOffsetsAttrName(),
       getBytesAttrName(), getHostsAttrName(), getWorkspaceOffsetAttrName(),
       getWorkspaceBytesAttrName(), getLayerAttrName(),
       getRecomputeAttrName()});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  if (getNumResults()) {
    printer << " -> ";
    llvm::interleaveComma(getResultTypes(), printer);
  }
}

namespace {
/// The parts of a kernel's text, in the order in which they stand.
struct KernelText {
  SmallVector<mlir::OpAsmParser::Argument> arguments;
  SmallVector<mlir::OpAsmParser::UnresolvedOperand> inputs, after;
  SmallVector<Type> afterTypes, resultTypes;
  SmallVector<int64_t> offsets, hosts, bytes;
  int64_t workspaceOffset = -1, workspaceBytes = 0;
  mlir::StringAttr layer;
  bool recompute = false;
};
} // namespace

static mlir::ParseResult parseOperands(mlir::OpAsmParser &parser,
                                       KernelText &text) {
  using Delimiter = mlir::AsmParser::Delimiter;
  if (parser.parseCommaSeparatedList(Delimiter::Paren, [&] {
        auto &argument = text.arguments.emplace_back();
        return mlir::failure(parser.parseArgument(argument) ||
                             parser.parseEqual() ||
                             parser.parseOperand(text.inputs.emplace_back()) ||
                             parser.parseColonType(argument.type));
      }))
    return mlir::failure();
  if (failed(parser.parseOptionalKeyword("after")))
    return mlir::success();
  return parser.parseCommaSeparatedList(Delimiter::Paren, [&] {
    return mlir::failure(parser.parseOperand(text.after.emplace_back()) ||
                         parser.parseColonType(text.afterTypes.emplace_back()));
  });
}

static mlir::ParseResult parseSlots(mlir::OpAsmParser &parser,
                                    KernelText &text) {
  if (parser.parseKeyword("slots") ||
      parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, [&] {
        text.hosts.push_back(-1);
        return mlir::failure(parser.parseInteger(text.offsets.emplace_back()) ||
                             (succeeded(parser.parseOptionalKeyword("of")) &&
                              parser.parseInteger(text.hosts.back())) ||
                             parser.parseColon() ||
                             parser.parseInteger(text.bytes.emplace_back()));
      }))
    return mlir::failure();
  if (succeeded(parser.parseOptionalKeyword("workspace")) &&
      (parser.parseLSquare() || parser.parseInteger(text.workspaceOffset) ||
       parser.parseColon() || parser.parseInteger(text.workspaceBytes) ||
       parser.parseRSquare()))
    return mlir::failure();
  if (succeeded(parser.parseOptionalKeyword("layer")) &&
      parser.parseAttribute(text.layer))
    return mlir::failure();
  text.recompute = succeeded(parser.parseOptionalKeyword("recompute"));
  return mlir::success();
}

static void setProperties(mlir::OperationState &result, mlir::Builder &builder,
                          const KernelText &text) {
  auto &properties = result.getOrAddProperties<KernelOp::Properties>();
  properties.operandSegmentSizes = {static_cast<int32_t>(text.inputs.size()),
                                    static_cast<int32_t>(text.after.size())};
  properties.offsets = builder.getDenseI64ArrayAttr(text.offsets);
  properties.bytes = builder.getDenseI64ArrayAttr(text.bytes);
  if (llvm::any_of(text.hosts, [](int64_t host) { return host >= 0; }))
    properties.hosts = builder.getDenseI64ArrayAttr(text.hosts);
  properties.workspace_offset = builder.getI64IntegerAttr(text.workspaceOffset);
  properties.workspace_bytes = builder.getI64IntegerAttr(text.workspaceBytes);
  properties.layer = text.layer ? text.layer : builder.getStringAttr("");
  properties.recompute = builder.getBoolAttr(text.recompute);
}

mlir::ParseResult KernelOp::parse(mlir::OpAsmParser &parser,
                                  mlir::OperationState &result) {
  KernelText text;
  mlir::SMLoc loc = parser.getCurrentLocation();
  if (parseOperands(parser, text) || parseSlots(parser, text) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), text.arguments))
    return mlir::failure();
  if (succeeded(parser.parseOptionalArrow()) &&
      parser.parseTypeList(text.resultTypes))
    return mlir::failure();
  SmallVector<Type> inputTypes;
  for (auto &argument : text.arguments)
    inputTypes.push_back(argument.type);
  setProperties(result, parser.getBuilder(), text);
  result.addTypes(text.resultTypes);
  KernelOp::ensureTerminator(*result.regions.front(), parser.getBuilder(),
                             result.location);
  return mlir::failure(
      parser.resolveOperands(text.inputs, inputTypes, loc, result.operands) ||
      parser.resolveOperands(text.after, text.afterTypes, loc,
                             result.operands));
}
