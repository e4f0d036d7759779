//===- EmitTasks.cpp - A kernel's work cut into CPU tasks -----------------===//

#include "Conversion/Cpu/EmitTasks.h"
#include "Conversion/Kernel/InnerKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace ckpt;
using namespace mlir;

/// Kernels with less work run on one thread.
static constexpr int64_t parallelWork = 1 << 18;

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
