//===- Work.h - The work of an op, counted by kind --------------*- C++ -*-===//
//
// Adding and taking a tanh are both one operation of a step's FLOPs, but not of
// its time. Here work is counted in units that take equally long in every op: a
// device (Device.h) has one rate for each kind.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_COST_WORK_H
#define CKPT_COST_WORK_H

#include "ckpt/Support/LLVM.h"

namespace ckpt {

/// Size of the elements that are worked on. Integers count as floating-point
/// numbers of their size, and integers of 8 bits and less as `F32`, in whose
/// lanes they lie.
enum class WorkType : uint8_t { F64, F32, F16 };
inline constexpr unsigned workTypeCount = 3;

enum class WorkKind : uint8_t {
  /// Operations of a contraction, two per multiply-add; with tiles, operations
  /// of whole tiles, whose last rows and columns may be repeated elements.
  Contraction,
  /// Elements of the left operand that are spread over a vector, for each step
  /// of a tile.
  Spread,
  /// Pages of memory that it comes to where its steps are rows of the left
  /// operand: each has to be found in the tables of the processor.
  Page,
  /// Elements of the right operand that are packed for a block of rows: along
  /// its contiguous dimension, transposed in registers, or one by one.
  Pack,
  PackTransposed,
  PackGathered,
  /// Bytes of a contraction's operands and result that have to come from
  /// memory: its tiles wait for them.
  Fetch,
  /// Sums that are written to scratch memory and read again, per block of the
  /// summed dimension.
  Sums,
  /// Elements that an elementwise op makes, whatever it does: loops, indices,
  /// loads and stores.
  Element,
  /// Arithmetic that has no kind of its own.
  Elementwise,
  Divide,
  SquareRoot,
  Exponential,
  Logarithm,
  HyperbolicTangent,
  ErrorFunction,
  Power,
  Sine,
  /// Elements that are chosen from one of several tensors, or from padding.
  Select,
  /// The same where neighbours come from several; of rows too short for a
  /// vector, once for every dimension.
  SelectApart,
  /// Elements that are read one by one: looked up, or broadcast along rows too
  /// short for a vector.
  Gather,
  /// Elements that are read or written one by one, since their neighbours lie
  /// a row apart in memory.
  Transpose,
  /// The same of a contraction's result, in whose order they are made.
  TransposeResult,
  /// Steps of reductions: along the contiguous dimension, and along others.
  Reduce,
  ReduceApart,
  /// Elements that a reduction reads along rows too short for a vector.
  ReduceShort,
};
inline constexpr unsigned workKindCount =
    static_cast<unsigned>(WorkKind::ReduceShort) + 1;

/// As in files: "f32", "hyperbolic-tangent".
StringRef nameOf(WorkType type);
StringRef nameOf(WorkKind kind);
std::optional<WorkType> workTypeNamed(StringRef name);
std::optional<WorkKind> workKindNamed(StringRef name);

struct Work {
  WorkType type;
  WorkKind kind;
  int64_t amount;
};

/// The facts besides the op itself on which its work depends.
struct WorkPlace {
  /// Contractions are cut into tiles for vectors of so many elements of 32
  /// bits; 0: into none.
  int64_t lanes = 0;
  /// All values of the step lie in a cache.
  bool inCache = false;
};

/// The work of one execution of \p op. Without tiles the amounts of arithmetic
/// add up to the op's FLOPs.
SmallVector<Work> workOf(Operation *op, WorkPlace place);

} // namespace ckpt

#endif // CKPT_COST_WORK_H
