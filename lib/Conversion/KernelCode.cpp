//===- KernelCode.cpp - A kernel's function, before and after -------------===//

#include "KernelCode.h"
#include "InnerKernel.h"
#include "SplitResults.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "ckpt/Support/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace ckpt;
using namespace mlir;

/// Kernels with less work run on one thread.
static constexpr int64_t parallelWork = 1 << 18;

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

FailureOr<KernelCode> KernelCode::read(func::FuncOp function) {
  splitResults(function);
  KernelCode code;
  code.function = function;
  for (Operation &op : function.front().without_terminator()) {
    if (auto input = dyn_cast<bufferization::ToTensorOp>(op)) {
      code.inputs.push_back(
          {input.getResult(), cast<BlockArgument>(input.getBuffer())});
      continue;
    }
    if (auto output = dyn_cast<bufferization::MaterializeInDestinationOp>(op)) {
      code.outputs.push_back(
          {output.getSource(), cast<BlockArgument>(output.getDest())});
      continue;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (isa<ElementsAttr>(constant.getValue()) &&
          !isa<SplatElementsAttr>(constant.getValue()))
        code.constants.push_back(constant);
      continue;
    }
    if (isElemental(op))
      continue;
    if (code.anchor)
      return op.emitError("expected at most one op in a kernel that is not "
                          "made element by element, but got '")
             << op.getName() << "' after '" << code.anchor->getName() << "'";
    code.anchor = &op;
  }
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

static LogicalResult emitInLoop(const TaskGrid &grid, TaskTarget &target) {
  ImplicitLocOpBuilder &builder = target.builder;
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  if (grid.tasks == 1) {
    target.task = zero;
    return grid.emit(target);
  }
  Value one = arith::ConstantIndexOp::create(builder, 1);
  Value end = arith::ConstantIndexOp::create(builder, grid.tasks);
  auto loop = scf::ForOp::create(builder, zero, end, one);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  target.task = loop.getInductionVar();
  return grid.emit(target);
}

static LogicalResult emitInParallel(KernelCode &code, const TaskGrid &grid,
                                    ArrayRef<memref::GlobalOp> globals,
                                    Block &entry, ImplicitLocOpBuilder &builder,
                                    SymbolTable &symbols) {
  SmallVector<Type> types(entry.getArgumentTypes());
  types.push_back(builder.getIndexType());
  OpBuilder atModule(code.function);
  auto task =
      func::FuncOp::create(atModule, code.function.getLoc(),
                           (code.function.getSymName() + "_task").str(),
                           atModule.getFunctionType(types, TypeRange()));
  task.setPrivate();
  for (StringRef name : {"passthrough", "llvm.linkage"})
    if (Attribute attribute = code.function->getAttr(name))
      task->setAttr(name, attribute);
  symbols.insert(task);
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value one = arith::ConstantIndexOp::create(builder, 1);
  Value end = arith::ConstantIndexOp::create(builder, grid.tasks);
  auto loop = scf::ParallelOp::create(builder, zero, end, one);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> operands(entry.getArguments());
    operands.push_back(loop.getInductionVars().front());
    func::CallOp::create(builder, task, operands);
  }
  Block *body = task.addEntryBlock();
  ImplicitLocOpBuilder inTask(builder.getLoc(), builder.getContext());
  inTask.setInsertionPointToStart(body);
  TaskTarget target = enterTask(code, *body, globals, inTask);
  target.task = body->getArguments().back();
  LogicalResult result = grid.emit(target);
  inTask.setInsertionPointToEnd(body);
  func::ReturnOp::create(inTask);
  return result;
}

LogicalResult ckpt::emitTasks(KernelCode &code, const TaskGrid &grid,
                              SymbolTable &symbols) {
  if (code.site) {
    ImplicitLocOpBuilder builder(code.site.getLoc(), code.site);
    TaskTarget target = enterSite(code, builder);
    return emitInLoop(grid, target);
  }
  func::FuncOp function = code.function;
  SmallVector<memref::GlobalOp> globals =
      makeGlobals(code, OpBuilder(function), symbols);
  Block *old = &function.front();
  Block *entry = new Block();
  for (BlockArgument argument : old->getArguments())
    entry->addArgument(argument.getType(), argument.getLoc());
  function.getBody().push_back(entry);
  ImplicitLocOpBuilder builder(function.getLoc(), function.getContext());
  builder.setInsertionPointToStart(entry);
  bool parallel = grid.tasks > 1 && grid.work >= parallelWork;
  LogicalResult result = failure();
  if (parallel) {
    result = emitInParallel(code, grid, globals, *entry, builder, symbols);
  } else {
    TaskTarget target = enterTask(code, *entry, globals, builder);
    result = emitInLoop(grid, target);
  }
  builder.setInsertionPointToEnd(entry);
  func::ReturnOp::create(builder);
  old->dropAllReferences();
  old->dropAllUses();
  old->erase();
  return result;
}
