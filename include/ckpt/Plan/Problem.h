//===- Problem.h - The planning problem, free of any IR ---------*- C++ -*-===//
//
// What the planner knows of a training step: ops, the values they read and
// make, bytes, work, and what is allowed. Everything is an integer and every
// list is in a fixed order, so that planning is deterministic. The text form
// is in Text.h, the rules for kernels in Kernel.h, plans in Plan.h.
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

/// What an op may be part of. An anchor is an op that is not free to be inside
/// any reader: at most one stands in a kernel.
enum class OpKind : uint8_t {
  /// Made element by element from its reads; may be computed inside any kernel
  /// that reads it, or written to memory by a kernel of its own.
  Fusible,
  /// A fusible op that only renames the elements of its single read (reshape,
  /// permutation, slice) at no cost. `Need::Memory` looks through it.
  View,
  /// Anchor whose operands stand in memory: matmul, convolution.
  Contraction,
  /// Anchor that takes fusible producers inside: reductions, pooling.
  Reduction,
  /// Anchor that runs alone: loops, conditionals, calls, ops nobody described.
  /// Neither producers nor an epilogue, but for reshapes of what it reads.
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

/// What a reader demands of the place of a value.
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
  /// by a later one that does: what the backward pass reads is made again. That
  /// first kernel itself may read what the forward pass leaves.
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
  /// no cost: it is read for the last time before that result, or another value
  /// hosted there, is written, or by the kernel that writes that, over it
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
  /// Of a view: an earlier value with the same elements in the same order,
  /// such as what a pair of inverse permutations started from; or `none`.
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
  /// Of two regions one holds the other, or they have no layer in common.
  std::vector<Region> regions;
  /// Speed of the memory that kernels read from and write to.
  int64_t bytesPerMicrosecond = 10000;
  /// Fixed cost of one kernel, in nanoseconds.
  int64_t launchNs = 1000;
};

inline bool isAnchor(const Op &op) {
  return op.kind != OpKind::Fusible && op.kind != OpKind::View;
}

/// Whether a view with \p read shows what lies in memory as it lies there.
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

/// Gives `Home::Hosted` to values that are as large as a result, that become
/// the result, element by element, and that have to wait for something made
/// later: the gradient of a tied embedding, or partial sums of the gradient of
/// a weight that is read many times, each of which is read only to make the
/// next. What earlier results are made of, too, lies in the buffer of the last:
/// a gradient that waits for the norm of all. A result that should lie in an
/// argument hosts nothing.
void hostInResults(Problem &problem);

/// Says what is wrong with \p problem ("op 3 reads value 7 before it is made"),
/// or an empty string: indices in range, reads before their op, one producer
/// per value, views with one read, sizes not negative and sums within 63 bits.
std::string check(const Problem &problem);

} // namespace ckpt::plan

#endif // CKPT_PLAN_PROBLEM_H
