//===- Problem.h - The planning problem, free of any IR ---------*- C++ -*-===//
//
// The planner's view of a training step: ops, the values that they read and
// make, bytes, work, and permissions. All figures are integers and all lists
// have a fixed order, so that planning is deterministic. Text.h has the text
// form, Kernel.h the rules of kernels, Plan.h the plan.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_PROBLEM_H
#define CKPT_PLAN_PROBLEM_H

#include <cstdint>
#include <string>
#include <vector>

namespace ckpt::plan {

/// Index of a value in `Problem::values`.
using ValueId = int32_t;
/// Index of an op in `Problem::ops`. Program order is index order.
using OpId = int32_t;
inline constexpr int32_t none = -1;

/// Every slot of the arena starts at a multiple of this.
inline constexpr int64_t slotAlignment = 256;

/// How an op may take part in kernels. An anchor is an op that not every reader
/// may compute inside: a kernel has at most one.
enum class OpKind : uint8_t {
  /// Made element by element from its reads. Any kernel that reads it may
  /// compute it inside; a kernel of its own may write it to memory.
  Fusible,
  /// A fusible op that only renames the elements of its single read (reshape,
  /// permutation, slice) at no cost. `Need::Memory` looks through it.
  View,
  /// Anchor whose operands stand in memory: matmul, convolution.
  Contraction,
  /// Anchor that takes fusible producers inside: reductions, pooling.
  Reduction,
  /// Anchor that runs alone: loops, conditionals, calls, unknown ops. Its
  /// kernel holds no producers and no epilogue, only reshapes of its reads.
  Opaque,
};

/// How the elements of a read belong to the elements of the op's results.
/// For an anchor: of its results, not of its iteration space.
enum class Access : uint8_t {
  /// Result element i reads element i only; the shapes are equal.
  Pointwise,
  /// A reshape: the linear position is kept (views only).
  Reshape,
  /// A permutation of dimensions: one to one, another order (views only).
  Permute,
  /// A stretch in one piece: the linear position is kept but for a constant
  /// (views only). In memory it is there as it is.
  Stretch,
  /// Result element with coordinates i reads coordinates i or nothing, and the
  /// shapes differ: a slice from the origin, padding at the high ends.
  Aligned,
  /// Result element i reads one element, wherever the op finds that it is: an
  /// embedding looked up. Counts no more bytes than the results have elements.
  Gather,
  /// Anything else: broadcasts, windows, reduced operands.
  Any,
};

/// The place of a value that a reader demands.
enum class Need : uint8_t {
  /// Nothing: it may be computed inside the reader's kernel.
  Inline,
  /// It stands in memory, possibly seen through `View` ops.
  Memory,
  /// It stands in memory as it is laid out; only reshapes and stretches in
  /// between.
  Contiguous,
};

struct Read {
  ValueId value = none;
  Access access = Access::Any;
  Need need = Need::Inline;
  /// A destination-passing init operand (`outs`): the op updates it, so its
  /// first result may take over its place when it dies there.
  bool destination = false;
};

/// A demand on a value that every solver obeys (a pin, or a strategy).
enum class Keep : uint8_t {
  Free,
  /// Made once, by one kernel, and in memory from then to its last reader.
  Save,
  /// No instance made before the first kernel that holds a backward op is read
  /// by a later one that does: the backward pass rematerialises its reads. That
  /// first kernel itself may read the values of the forward pass.
  Recompute,
  /// Never written to memory: computed inside every kernel that reads it. Means
  /// nothing for values that cannot be (`isInlined`).
  Inline,
};

/// Whose memory a value lies in.
enum class Home : uint8_t {
  /// A slot of the step's arena whenever it stands in memory.
  Arena,
  /// An argument or a constant: in memory throughout, at no cost.
  Argument,
  /// A function result: written straight into the caller's buffer and in
  /// memory from its first kernel to the end, at no cost.
  Result,
  /// In the buffer of the result `Value::host` whenever it stands in memory, at
  /// no cost. Its last read comes before a kernel writes that result or another
  /// value hosted there, or is in the kernel that writes over it
  /// (`hostInResults`).
  Hosted,
};

struct Value {
  /// For people: layer and op, from the location. Not unique.
  std::string name;
  /// The op that makes it; `none` exactly for `Home::Argument`.
  OpId op = none;
  /// Exact size; slots round it up to `slotAlignment`.
  int64_t bytes = 0;
  /// Number of elements, at least 1 unless the shape has a zero.
  int64_t elements = 0;
  /// Equal numbers are equal shapes.
  int32_t shape = 0;
  Home home = Home::Arena;
  Keep keep = Keep::Free;
  /// The result in whose buffer it lies; of a result: the donated argument.
  ValueId host = none;
  /// Of a view: an earlier value with the same elements in the same order, such
  /// as the source of a pair of inverse permutations; or `none`.
  ValueId same = none;
};

struct Op {
  /// For people: the operation's name, such as `linalg.matmul`.
  std::string name;
  OpKind kind = OpKind::Opaque;
  std::vector<Read> reads;
  std::vector<ValueId> results;
  /// Floating-point work of one execution.
  int64_t flops = 0;
  /// Time that its arithmetic takes in one execution, in picoseconds.
  int64_t computePs = 0;
  /// Scratch memory that stands in the arena while the op's kernel runs, next
  /// to results of an opaque op that its kernel does not write.
  int64_t workspaceBytes = 0;
  /// False: runs exactly once (effects, random state, unknown ops).
  bool mayRepeat = true;
  /// Ops with effects keep their order among each other.
  bool hasEffects = false;
  /// Part of the backward pass or the update.
  bool backward = false;
  /// Index into `Problem::layers`, or `none`.
  int32_t layer = none;
};

/// A limit on the bytes that values made in some layers take in the arena at
/// any time, inside the budget of the whole.
struct Region {
  /// For people: the pattern or the layer. Not unique.
  std::string name;
  /// Indices into `Problem::layers`, ascending.
  std::vector<int32_t> layers;
  int64_t budgetBytes = 0;
};

/// The program of one step. Reads of an op come before it in program order.
struct Problem {
  std::vector<Value> values;
  std::vector<Op> ops;
  std::vector<std::string> layers;
  /// Two regions have no layer in common, or one holds the other.
  std::vector<Region> regions;
  /// Speed of the memory that kernels read from and write to.
  int64_t bytesPerMicrosecond = 10000;
  /// Fixed cost of one kernel, in nanoseconds.
  int64_t launchNs = 1000;
  /// A kernel may write an output over an operand that dies. False: only an
  /// opaque op does, over its destination.
  bool takesOver = true;
  /// A plan may put any values that fit in the buffer of a result, but for a
  /// donated one, until a kernel writes there (`Kernel::hosts`).
  bool scratchInResults = false;
};

inline bool isAnchor(const Op &op) {
  return op.kind != OpKind::Fusible && op.kind != OpKind::View;
}

/// Whether the result of a view with \p read lies in memory in one piece.
inline bool isInOnePiece(const Read &read) {
  return read.access == Access::Reshape || read.access == Access::Stretch;
}

/// Bytes of the operand that \p read takes in one execution of \p op, at most:
/// all, but for `Access::Gather`.
int64_t bytesRead(const Problem &problem, const Op &op, const Read &read);

/// Whether `Keep::Inline` holds for \p value: its op may be part of any kernel
/// and no other result of it is to be saved.
bool isInlined(const Problem &problem, ValueId value);

/// Size of the slot of a value.
inline int64_t slotBytes(int64_t bytes) {
  return (bytes + slotAlignment - 1) / slotAlignment * slotAlignment;
}

/// Gives `Home::Hosted` to values that are as large as a result, become the
/// result element by element, and wait for a value made later. Examples are the
/// gradient of a tied embedding, and partial sums of a weight's gradient, each
/// of which is read only to make the next. Results of opaque ops need not wait:
/// no kernel goes on from them. Destinations that they overwrite come along,
/// such as the zero that the gradient of an embedding is added to.
///
/// The buffer of the last result also hosts values from which earlier results
/// are made, such as a gradient that waits for the norm of all. A result that
/// should lie in an argument hosts nothing.
void hostInResults(Problem &problem);

/// Returns the first fault of \p problem ("op 3 reads value 7 before it is
/// made"), or an empty string. Indices must be in range, reads come before
/// their op, values have one producer and views one read. Sizes must not be
/// negative, and sums fit 63 bits.
std::string check(const Problem &problem);

} // namespace ckpt::plan

#endif // CKPT_PLAN_PROBLEM_H
