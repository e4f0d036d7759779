//===- LinearIndex.h - Indices as sums of unknowns --------------*- C++ -*-===//
//
// The index of an element as a sum of unknowns with constant factors and known
// ranges. Reshapes divide such sums; most divisions are solved here, so that
// rows stay contiguous and the lanes of a vector stay neighbours in memory.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_ELEMENT_LINEARINDEX_H
#define CKPT_LIB_CONVERSION_ELEMENT_LINEARINDEX_H

#include "ckpt/Support/LLVM.h"
#include <optional>
#include <tuple>
#include <utility>

namespace ckpt {

/// Number of an unknown. The user of the index gives it a meaning.
using AtomId = unsigned;

/// The unknown that is the number of the lane in a vector.
inline constexpr AtomId laneAtom = 0;

/// constant + sum of factor * atom, with 0 <= atom < extent.
class LinearIndex {
public:
  struct Term {
    AtomId atom;
    int64_t factor;
    int64_t extent;
    bool operator<(const Term &other) const {
      return std::tie(atom, factor, extent) <
             std::tie(other.atom, other.factor, other.extent);
    }
    bool operator==(const Term &other) const {
      return atom == other.atom && factor == other.factor &&
             extent == other.extent;
    }
  };

  LinearIndex(int64_t constant = 0) : constant(constant) {}
  static LinearIndex atom(AtomId atom, int64_t extent);

  /// Sorted by atom, without zero factors: equal sums compare equal.
  ArrayRef<Term> getTerms() const { return terms; }
  int64_t getConstant() const { return constant; }
  bool isConstant() const { return terms.empty(); }
  int64_t factorOf(AtomId atom) const;

  /// Least and greatest value.
  int64_t min() const;
  int64_t max() const;

  LinearIndex operator+(const LinearIndex &other) const;
  LinearIndex operator-(const LinearIndex &other) const;
  LinearIndex operator*(int64_t factor) const;

  bool operator<(const LinearIndex &other) const {
    return std::tie(constant, terms) < std::tie(other.constant, other.terms);
  }
  bool operator==(const LinearIndex &other) const {
    return constant == other.constant && terms == other.terms;
  }

private:
  SmallVector<Term, 3> terms;
  int64_t constant;
};

/// An index written as granule * coarse + fine with 0 <= fine < granule.
struct GranularIndex {
  int64_t granule;
  LinearIndex coarse;
  LinearIndex fine;
};

/// Splits \p index at a divisor of \p modulus such that only `fine` holds atoms
/// for which \p varies holds; without such a split these atoms are in `coarse`.
GranularIndex splitAtGranule(const LinearIndex &index, int64_t modulus,
                             llvm::function_ref<bool(AtomId)> varies);

/// Divides where the sum alone does not tell quotient and remainder.
class IndexDivider {
public:
  virtual ~IndexDivider() = default;
  /// Whether lanes differ in \p atom.
  virtual bool varies(AtomId atom) const = 0;
  /// Quotient and remainder of \p dividend, which is not negative.
  virtual std::pair<LinearIndex, LinearIndex>
  divide(const LinearIndex &dividend, int64_t divisor) = 0;
};

/// Quotient and remainder of \p index, which must not be negative.
std::pair<LinearIndex, LinearIndex>
divideIndex(const LinearIndex &index, int64_t divisor, IndexDivider &divider);

/// Position in a row-major array of \p shape.
LinearIndex linearize(ArrayRef<LinearIndex> indices, ArrayRef<int64_t> shape);

/// Inverse of `linearize`.
SmallVector<LinearIndex> delinearize(const LinearIndex &position,
                                     ArrayRef<int64_t> shape,
                                     IndexDivider &divider);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_ELEMENT_LINEARINDEX_H
