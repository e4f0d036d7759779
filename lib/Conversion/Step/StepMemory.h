//===- StepMemory.h - Places of the values of a step ------------*- C++ -*-===//
//
// Arguments, results and the arena are buffers of the lowered step. A value
// between kernels is a stretch of one of them. `--ckpt-kernels-to-calls` asks
// here for the memref of each value.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_STEP_STEPMEMORY_H
#define CKPT_LIB_CONVERSION_STEP_STEPMEMORY_H

#include "ckpt/Analysis/ReturnedParts.h"
#include "ckpt/ExternalModels/KernelFunction.h"
#include "ckpt/IR/CkptDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseSet.h"

namespace ckpt {

/// The type of a kernel's parameter for \p value: scalars of the caller as they
/// are.
Type operandType(Value value);

/// Whether \p op shows a stretch of its operand: between kernels such ops take
/// no code.
bool isStretch(Operation *op);

class StepMemory {
public:
  StepMemory(mlir::func::FuncOp step, mlir::SymbolTable &symbols);

  /// Types of the buffers of arguments and results. A buffer of which a value
  /// takes a stretch is bytes.
  SmallVector<Type> callerTypes() const;
  /// The lowered step begins with \p entry, whose arguments are the buffers;
  /// code goes to \p builder.
  void enter(Block &entry, mlir::OpBuilder &builder);

  /// Gives results of \p kernel their places.
  LogicalResult place(KernelOp kernel);
  /// The memory of \p value, whose maker has run, from byte \p begin on.
  Value buffer(Value value, int64_t begin = 0);
  /// Bytes of the arena.
  Value workspace(KernelOp kernel);
  ArrayRef<ReturnedPart> getParts() const { return parts; }
  /// Whether a kernel writes part \p part itself.
  bool isWritten(size_t part) const { return written.contains(part); }
  Value partBuffer(size_t part, Location loc);

private:
  /// A stretch of a buffer.
  struct Place {
    Value buffer;
    int64_t begin = 0;
  };

  void markBytes();
  void markBytes(Value root);
  void markHosts(KernelOp kernel);
  Place placeOf(Value value);
  Place constantPlace(Value value);
  Place partPlace(size_t part) const;
  int64_t partOf(KernelOp kernel, OpResult result) const;
  LogicalResult checkHost(OpResult result, int64_t part, int64_t offset) const;
  Value view(Location loc, mlir::MemRefType type, Place place);
  Value reshaped(Value buffer, mlir::MemRefType wanted);

  mlir::func::FuncOp step;
  mlir::SymbolTable &symbols;
  Block &old;
  SmallVector<ReturnedPart> parts;
  /// Numbers of arguments and results whose buffers are bytes.
  llvm::DenseSet<unsigned> byteArguments, byteResults;
  /// Constants that are bytes.
  llvm::DenseSet<Value> byteConstants;
  Block *entry = nullptr;
  mlir::OpBuilder *builder = nullptr;
  llvm::DenseMap<Value, Place> places;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> buffers;
  llvm::DenseSet<size_t> written;
};

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_STEP_STEPMEMORY_H
