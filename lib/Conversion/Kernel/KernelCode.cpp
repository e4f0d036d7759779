//===- KernelCode.cpp - A kernel's function, before and after -------------===//

#include "Conversion/Kernel/KernelCode.h"
#include "Conversion/Kernel/SplitResults.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "ckpt/Support/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace ckpt;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

SmallVector<func::FuncOp> ckpt::kernelFunctions(ModuleOp module) {
  // `--ckpt-kernels-to-calls` ends kernels so, and nothing else does.
  auto isKernel = [](func::FuncOp function) {
    return function.isPrivate() && !function.isExternal() &&
           !function.front()
                .getOps<bufferization::MaterializeInDestinationOp>()
                .empty();
  };
  return llvm::filter_to_vector(module.getOps<func::FuncOp>(), isKernel);
}

static std::optional<plan::OpKind> kindOf(Operation &op) {
  auto described = dyn_cast<RematOpInterface>(op);
  return described ? std::optional(described.getRematKind()) : std::nullopt;
}

/// Whether the elements of the results are made one by one, as planned.
static bool isElemental(Operation &op) {
  std::optional<plan::OpKind> kind = kindOf(op);
  return kind == plan::OpKind::Fusible || kind == plan::OpKind::View ||
         isa<tensor::EmptyOp>(op) || op.hasTrait<OpTrait::ConstantLike>();
}

bool KernelCode::isOpaque() const {
  if (!isa_and_nonnull<linalg::LinalgOp>(anchor))
    return anchor != nullptr;
  std::optional<plan::OpKind> kind = kindOf(*anchor);
  return kind != plan::OpKind::Contraction && kind != plan::OpKind::Reduction;
}

/// The values that are made one to one of the elements of the anchor, as
/// epilogues are (Epilogue.h).
static DenseSet<Value> madeOfAnchor(const KernelCode &code) {
  auto results = code.anchor->getResults();
  DenseSet<Value> made(results.begin(), results.end());
  for (auto op = std::next(code.anchor->getIterator());
       op != code.anchor->getBlock()->end(); ++op) {
    auto described = dyn_cast<RematOpInterface>(*op);
    if (!described)
      continue;
    SmallVector<RematRead> reads;
    described.getReads(reads);
    bool isMade = llvm::any_of(reads, [&](const RematRead &read) {
      return made.contains(read.value) &&
             (read.access == plan::Access::Pointwise ||
              read.access == plan::Access::Reshape ||
              read.access == plan::Access::Permute);
    });
    if (isMade)
      made.insert(op->result_begin(), op->result_end());
  }
  return made;
}

/// Whether one space of elements makes all outputs of \p code: that of the
/// anchor, if there is one.
static bool isOneSpace(const KernelCode &code) {
  if (code.isOpaque())
    return true;
  auto shapeOf = [](Value tensor) {
    return cast<ShapedType>(tensor.getType()).getShape();
  };
  if (!code.anchor)
    return llvm::all_of(code.outputs, [&](auto &output) {
      return shapeOf(output.first) == shapeOf(code.outputs.front().first);
    });
  DenseSet<Value> made = madeOfAnchor(code);
  return llvm::all_of(
      code.outputs, [&](auto &output) { return made.contains(output.first); });
}

/// Moves the tensor code of a kernel into one op, an anchor. Passes behind the
/// rewriting may have dissolved the loop that a kernel was.
static Operation *wrapInRegion(KernelCode &code) {
  SmallVector<bufferization::MaterializeInDestinationOp> stores;
  SmallVector<Operation *> ops;
  for (Operation &op : code.function.front().without_terminator()) {
    if (auto store = dyn_cast<bufferization::MaterializeInDestinationOp>(op))
      stores.push_back(store);
    else if (!isa<bufferization::ToTensorOp>(op))
      ops.push_back(&op);
  }
  SmallVector<Value> made = llvm::map_to_vector(
      code.outputs, [](auto &output) { return output.first; });
  OpBuilder builder(stores.front());
  Location loc = code.function.getLoc();
  auto whole =
      scf::ExecuteRegionOp::create(builder, loc, TypeRange(ValueRange(made)));
  Block &body = whole.getRegion().emplaceBlock();
  for (Operation *op : ops)
    op->moveBefore(&body, body.end());
  builder.setInsertionPointToEnd(&body);
  scf::YieldOp::create(builder, loc, made);
  for (auto [store, output, result] :
       llvm::zip_equal(stores, code.outputs, whole.getResults())) {
    store.getSourceMutable().assign(result);
    output.first = result;
  }
  return whole;
}

KernelCode KernelCode::read(func::FuncOp function) {
  splitResults(function);
  KernelCode code;
  code.function = function;
  unsigned anchors = 0;
  for (Operation &op : function.front().without_terminator()) {
    if (auto input = dyn_cast<bufferization::ToTensorOp>(op)) {
      code.inputs.push_back(
          {input.getResult(), cast<BlockArgument>(input.getBuffer())});
    } else if (auto output =
                   dyn_cast<bufferization::MaterializeInDestinationOp>(op)) {
      code.outputs.push_back(
          {output.getSource(), cast<BlockArgument>(output.getDest())});
    } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (isa<ElementsAttr>(constant.getValue()) &&
          !isa<SplatElementsAttr>(constant.getValue()))
        code.constants.push_back(constant);
    } else if (!isElemental(op)) {
      code.anchor = &op;
      ++anchors;
    }
  }
  if (anchors <= 1 && isOneSpace(code))
    return code;
  code.anchor = wrapInRegion(code);
  code.constants.clear();
  return code;
}

std::optional<BlockArgument> KernelCode::inputArgument(Value tensor) const {
  for (auto [value, argument] : inputs)
    if (value == tensor)
      return argument;
  return std::nullopt;
}

int64_t ckpt::workPerElement(KernelCode &code) {
  int64_t work = code.inputs.size() + code.outputs.size();
  for (Operation &op : code.function.front())
    for (Region &region : op.getRegions())
      for (Operation &inner : region.getOps()) {
        StringRef dialect = inner.getDialect()->getNamespace();
        work += dialect == "math" ? 8 : 1;
      }
  return work;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Value ckpt::flatten(ImplicitLocOpBuilder &builder, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getRank() == 1)
    return buffer;
  // Its strides mean nothing.
  if (type.getNumElements() == 0) {
    auto flat = MemRefType::get({0}, type.getElementType());
    return memref::ReinterpretCastOp::create(builder, flat, buffer,
                                             /*offset=*/0, ArrayRef<int64_t>{0},
                                             ArrayRef<int64_t>{1});
  }
  if (type.getRank() == 0)
    return memref::ExpandShapeOp::create(builder, ArrayRef<int64_t>{1}, buffer,
                                         ArrayRef<ReassociationIndices>());
  ReassociationIndices all =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return memref::CollapseShapeOp::create(builder, buffer,
                                         ArrayRef<ReassociationIndices>(all));
}

SmallVector<memref::GlobalOp>
ckpt::makeGlobals(KernelCode &code, OpBuilder builder, SymbolTable &symbols) {
  SmallVector<memref::GlobalOp> globals;
  for (arith::ConstantOp constant : code.constants) {
    auto elements = storedElements(cast<ElementsAttr>(constant.getValue()));
    auto type = cast<RankedTensorType>(constant.getType());
    auto global = memref::GlobalOp::create(
        builder, constant.getLoc(),
        (code.function.getSymName() + "_constant").str(),
        builder.getStringAttr("private"),
        MemRefType::get(type.getShape(), elements.getElementType()), elements,
        /*constant=*/true, builder.getI64IntegerAttr(64));
    symbols.insert(global);
    globals.push_back(global);
  }
  return globals;
}

TaskTarget ckpt::enterTask(KernelCode &code, Block &entry,
                           ArrayRef<memref::GlobalOp> globals,
                           ImplicitLocOpBuilder &builder) {
  TaskTarget target{builder, MemoryMap(), {}, Value()};
  for (BlockArgument argument : code.function.getArguments())
    if (!isa<MemRefType>(argument.getType()))
      target.memory[argument] = entry.getArgument(argument.getArgNumber());
  for (auto [tensor, argument] : code.inputs)
    target.memory[tensor] =
        flatten(builder, entry.getArgument(argument.getArgNumber()));
  for (auto [constant, global] : llvm::zip_equal(code.constants, globals)) {
    memref::GlobalOp op = global;
    Value buffer =
        memref::GetGlobalOp::create(builder, op.getType(), op.getSymName());
    arith::ConstantOp source = constant;
    target.memory[source.getResult()] = flatten(builder, buffer);
  }
  for (auto [tensor, argument] : code.outputs)
    target.outputs.push_back(
        flatten(builder, entry.getArgument(argument.getArgNumber())));
  return target;
}
