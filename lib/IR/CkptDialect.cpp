//===- CkptDialect.cpp - Registration and attributes ----------------------===//

#include "ckpt/IR/CkptDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace ckpt;

#include "ckpt/IR/CkptDialect.cpp.inc"
#include "ckpt/IR/CkptEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ckpt/IR/CkptAttrs.cpp.inc"

void CkptDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "ckpt/IR/CkptOps.cpp.inc"
      >();
}

void CkptDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ckpt/IR/CkptAttrs.cpp.inc"
      >();
}

static bool isRegionBudgets(Attribute attribute) {
  auto regions = dyn_cast<mlir::DictionaryAttr>(attribute);
  return regions && llvm::all_of(regions, [](mlir::NamedAttribute region) {
           auto bytes = dyn_cast<mlir::IntegerAttr>(region.getValue());
           return bytes && bytes.getType().isSignlessInteger(64) &&
                  bytes.getInt() > 0;
         });
}

LogicalResult
CkptDialect::verifyOperationAttribute(Operation *op,
                                      mlir::NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto expect = [&](bool holds, StringRef type) -> LogicalResult {
    if (holds)
      return success();
    return op->emitOpError() << "expected '" << name << "' to be " << type
                             << ", but got " << attribute.getValue();
  };
  if (name == decisionAttrName())
    return expect(isa<DecisionAttr>(attribute.getValue()),
                  "a '#ckpt.decision'");
  if (name == pinAttrName())
    return expect(isa<PinAttr>(attribute.getValue()), "a '#ckpt.pin'");
  if (name == planAttrName())
    return expect(isa<PlanAttr>(attribute.getValue()), "a '#ckpt.plan'");
  if (name == strategyAttrName())
    return expect(isa<mlir::StringAttr>(attribute.getValue()), "a string");
  if (name == regionBudgetsAttrName())
    return expect(isRegionBudgets(attribute.getValue()),
                  "a dictionary of bytes, at least 1 each");
  if (name == rolledAttrName())
    return expect(isa<mlir::UnitAttr>(attribute.getValue()) &&
                      isa<mlir::LoopLikeOpInterface>(op),
                  "a unit attribute of a loop");
  if (name == turnAttrName())
    return expect(isa<mlir::IntegerAttr>(attribute.getValue()) &&
                      isa<KernelOp>(op),
                  "an integer of a kernel");
  if (name == arenaBytesAttrName()) {
    auto bytes = dyn_cast<mlir::IntegerAttr>(attribute.getValue());
    return expect(bytes && !bytes.getValue().isNegative(),
                  "an integer, at least 0");
  }
  return op->emitOpError() << "unknown attribute '" << name
                           << "' of the ckpt dialect";
}

//===----------------------------------------------------------------------===//
// PlanAttr: a flat code for storage, structs for everybody else
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> encode(ArrayRef<PlannedKernel> kernels) {
  SmallVector<int64_t> code;
  for (const PlannedKernel &kernel : kernels) {
    code.push_back(kernel.ops.size());
    code.append(kernel.ops.begin(), kernel.ops.end());
    code.push_back(kernel.outputs.size());
    for (const PlannedOutput &output : kernel.outputs)
      code.append({output.op, output.result, output.offset, output.host});
    code.push_back(kernel.workspaceOffset);
  }
  return code;
}

PlanAttr PlanAttr::get(MLIRContext *context, ArrayRef<int64_t> ops,
                       uint64_t decisionsHash, int64_t arenaBytes,
                       ArrayRef<PlannedKernel> kernels) {
  return get(context, ops, decisionsHash, arenaBytes, encode(kernels));
}

SmallVector<PlannedKernel> PlanAttr::getKernels() const {
  SmallVector<PlannedKernel> kernels;
  ArrayRef<int64_t> code = getCode();
  auto next = [&] {
    int64_t number = code.front();
    code = code.drop_front();
    return number;
  };
  while (!code.empty()) {
    PlannedKernel &kernel = kernels.emplace_back();
    for (int64_t i = next(); i > 0; --i)
      kernel.ops.push_back(next());
    for (int64_t i = next(); i > 0; --i) {
      PlannedOutput &output = kernel.outputs.emplace_back();
      output.op = next();
      output.result = next();
      output.offset = next();
      output.host = next();
    }
    kernel.workspaceOffset = next();
  }
  return kernels;
}

void PlanAttr::print(mlir::AsmPrinter &printer) const {
  printer << "<body [";
  llvm::interleaveComma(getOps(), printer);
  printer << "] decisions " << getDecisionsHash() << " arena "
          << getArenaBytes() << " kernels [";
  llvm::interleaveComma(getKernels(), printer, [&](const PlannedKernel &k) {
    printer << "{ops [";
    llvm::interleaveComma(k.ops, printer);
    printer << "] outputs [";
    llvm::interleaveComma(k.outputs, printer, [&](const PlannedOutput &o) {
      printer << o.op << " : " << o.result << " at " << o.offset;
      if (o.host >= 0)
        printer << " of " << o.host;
    });
    printer << "]";
    if (k.workspaceOffset >= 0)
      printer << " workspace " << k.workspaceOffset;
    printer << "}";
  });
  printer << "]>";
}

static mlir::ParseResult parseOutput(mlir::AsmParser &parser,
                                     PlannedKernel &kernel) {
  PlannedOutput &output = kernel.outputs.emplace_back();
  return mlir::failure(parser.parseInteger(output.op) || parser.parseColon() ||
                       parser.parseInteger(output.result) ||
                       parser.parseKeyword("at") ||
                       parser.parseInteger(output.offset) ||
                       (succeeded(parser.parseOptionalKeyword("of")) &&
                        parser.parseInteger(output.host)));
}

static mlir::ParseResult parseKernel(mlir::AsmParser &parser,
                                     PlannedKernel &kernel) {
  using Delimiter = mlir::AsmParser::Delimiter;
  if (parser.parseLBrace() || parser.parseKeyword("ops") ||
      parser.parseCommaSeparatedList(
          Delimiter::Square,
          [&] { return parser.parseInteger(kernel.ops.emplace_back()); }) ||
      parser.parseKeyword("outputs") ||
      parser.parseCommaSeparatedList(
          Delimiter::Square, [&] { return parseOutput(parser, kernel); }))
    return mlir::failure();
  if (succeeded(parser.parseOptionalKeyword("workspace")) &&
      parser.parseInteger(kernel.workspaceOffset))
    return mlir::failure();
  return parser.parseRBrace();
}

Attribute PlanAttr::parse(mlir::AsmParser &parser, Type) {
  SmallVector<int64_t> ops;
  uint64_t decisionsHash = 0;
  int64_t arenaBytes = 0;
  SmallVector<PlannedKernel> kernels;
  if (parser.parseLess() || parser.parseKeyword("body") ||
      parser.parseCommaSeparatedList(
          mlir::AsmParser::Delimiter::Square,
          [&] { return parser.parseInteger(ops.emplace_back()); }) ||
      parser.parseKeyword("decisions") || parser.parseInteger(decisionsHash) ||
      parser.parseKeyword("arena") || parser.parseInteger(arenaBytes) ||
      parser.parseKeyword("kernels") ||
      parser.parseCommaSeparatedList(
          mlir::AsmParser::Delimiter::Square,
          [&] { return parseKernel(parser, kernels.emplace_back()); }) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), ops, decisionsHash, arenaBytes,
             ArrayRef<PlannedKernel>(kernels));
}
