//===- IndexEmitter.h - Turns linear indices into SSA values ----*- C++ -*-===//
//
// Knows the SSA value of every atom of a `LinearIndex`, and emits arithmetic if
// a sum of atoms is needed as a value or must be divided.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_ELEMENT_INDEXEMITTER_H
#define CKPT_LIB_CONVERSION_ELEMENT_INDEXEMITTER_H

#include "Conversion/Element/LinearIndex.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace ckpt {

/// Half-open range of an index.
struct IndexRange {
  int64_t begin, end;
};

/// An index forced into a range, and where it was in it: an i1 (a vector of i1
/// if lanes differ), null if it always was.
struct ClampedIndex {
  LinearIndex index;
  Value inside;
};

/// Lanes that are neighbours in memory where `inside` holds, a vector of i1;
/// the first lane lies at `start`. The others may have the element at `any`.
struct MaskedNeighbours {
  LinearIndex start;
  Value inside;
  LinearIndex any;
};

/// Emits for one region: its values are used again, so they must dominate.
class IndexEmitter : public IndexDivider {
public:
  IndexEmitter(mlir::ImplicitLocOpBuilder &builder, int64_t lanes);

  /// Number of elements that are emitted at a time; 1 means scalars.
  int64_t getLanes() const { return lanes; }
  void setLanes(int64_t number) { lanes = number; }

  /// The index that is \p value (an index or a vector of them): 0 <= value
  /// < extent.
  LinearIndex atom(Value value, int64_t extent);
  /// The number of the lane; 0 when scalars are emitted.
  LinearIndex lane() const { return LinearIndex::atom(laneAtom, lanes); }

  bool varies(AtomId atom) const override;
  bool varies(const LinearIndex &index) const;
  std::pair<LinearIndex, LinearIndex> divide(const LinearIndex &dividend,
                                             int64_t divisor) override;

  /// Puts quotients and remainders of one division together again.
  LinearIndex simplify(LinearIndex index) const;
  /// The value of \p index: a vector exactly if lanes differ.
  Value materialize(const LinearIndex &index);
  ClampedIndex clamp(const LinearIndex &index, IndexRange range);
  /// The same for elements that nobody uses where \p index was outside.
  ClampedIndex confine(const LinearIndex &index, IndexRange range);
  /// The lanes at \p position, if only `confine` parts them.
  std::optional<MaskedNeighbours> maskedNeighbours(LinearIndex position);
  /// Whether the number of a lane is from \p begin to below \p end, which are
  /// index values: a vector of i1.
  Value lanesBetween(Value begin, Value end, int64_t lanes);
  /// Whether \p index is a multiple of \p divisor: null if always.
  Value isMultiple(const LinearIndex &index, int64_t divisor);

private:
  struct Division {
    LinearIndex dividend;
    int64_t divisor;
    LinearIndex quotient, remainder;
  };

  /// The index for which an atom of `confine` stands, and where it does.
  struct Confined {
    LinearIndex index;
    Value inside;
  };

  /// \p index as coarse granules that \p range does not cut.
  GranularIndex splitAtRange(const LinearIndex &index, IndexRange range) const;
  /// Whether clamping \p index to \p range would part neighbouring lanes.
  bool clampParts(const LinearIndex &index, IndexRange range) const;
  Value constant(int64_t value, bool vector);
  Value atomValue(AtomId atom, bool vector);
  ClampedIndex clampValue(const LinearIndex &index, IndexRange range);

  mlir::ImplicitLocOpBuilder &builder;
  int64_t lanes;
  /// Value of every atom; null for the lane.
  SmallVector<Value> atoms;
  llvm::DenseMap<Value, AtomId> atomOf;
  SmallVector<Division, 0> divisions;
  llvm::DenseMap<AtomId, Confined> confined;
  std::map<LinearIndex, Value> materialized;
};

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_ELEMENT_INDEXEMITTER_H
