//===- ValueNumbering.h - The meaning of the values of programs -*- C++ -*-===//
//
// Two values get one number if the same ops with the same attributes make them
// from the same arguments. It is exact: no algebra, no hash that could collide.
// A program and its rewrite can therefore be compared op by op, in any order
// and with any number of runs.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_VERIFY_VALUENUMBERING_H
#define CKPT_LIB_VERIFY_VALUENUMBERING_H

#include "ckpt/IR/CkptDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <vector>

namespace ckpt {

/// Numbers meanings in the order in which they are first met.
class ValueNumbering {
public:
  using Number = uint64_t;

  Number argument(unsigned position) { return intern({0, position}); }
  Number result(Number op, unsigned position) {
    return intern({1, op, position});
  }
  /// Position \p position among the ops with effects. They may run only there,
  /// so the position is part of their meaning.
  Number effect(Number op, size_t position) {
    return intern({2, op, position});
  }
  /// The results of barrier number \p barrier, if no pass sees through it.
  Number hidden(size_t barrier, unsigned position) {
    return intern({4, barrier, position});
  }
  /// \p op with its captured values, read through \p scope. Attributes of ckpt
  /// and locations do not count.
  Number op(Operation *op, const llvm::DenseMap<Value, Number> &scope);

  /// One attribute for all that stand for the same. Data beside the program
  /// (`dense_resource`) goes by its contents: its name is another one when a
  /// second file with that name is read.
  Attribute attribute(Attribute attribute);

private:
  Number intern(std::vector<uint64_t> words) {
    return numbers.try_emplace(std::move(words), numbers.size()).first->second;
  }

  std::map<std::vector<uint64_t>, Number> numbers;
  llvm::DenseMap<std::pair<Type, StringRef>, Attribute> resources;
};

/// One run of an op.
struct OpRun {
  Operation *op;
  ValueNumbering::Number number;
  bool hasEffects;
  /// The kernel in which it runs, by position, or -1.
  int64_t kernel;
};

enum class Barriers { PassThrough, Hide };

/// The meaning of a function: all ops that it runs, in order, kernels and
/// layers read in place and barriers passed through, or as seen by a pass that
/// does not look behind barriers.
struct ProgramMeaning {
  ProgramMeaning(mlir::func::FuncOp function, ValueNumbering &numbering,
                 Barriers barriers = Barriers::PassThrough);

  mlir::func::FuncOp function;
  llvm::DenseMap<Value, ValueNumbering::Number> scope;
  std::vector<OpRun> runs;
  std::vector<KernelOp> kernels;

private:
  void addBlock(Block &block, int64_t kernel);
  void addOp(Operation *op, int64_t kernel);
  void bind(ValueRange to, ValueRange from);

  ValueNumbering &numbering;
  Barriers barriers;
  size_t effects = 0, barrierCount = 0;
};

/// Attributes that are part of the meaning of an op.
bool hasMeaning(mlir::NamedAttribute attribute);

} // namespace ckpt

#endif // CKPT_LIB_VERIFY_VALUENUMBERING_H
