//===- LinearIndex.cpp - Indices as sums of unknowns ----------------------===//

#include "Conversion/Element/LinearIndex.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

using namespace ckpt;

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

LinearIndex LinearIndex::atom(AtomId atom, int64_t extent) {
  LinearIndex result;
  if (extent > 1) // An unknown with one value is that value.
    result.terms.push_back({atom, 1, extent});
  return result;
}

int64_t LinearIndex::factorOf(AtomId atom) const {
  for (const Term &term : terms)
    if (term.atom == atom)
      return term.factor;
  return 0;
}

int64_t LinearIndex::min() const {
  int64_t result = constant;
  for (const Term &term : terms)
    result += std::min<int64_t>(0, term.factor * (term.extent - 1));
  return result;
}

int64_t LinearIndex::max() const {
  int64_t result = constant;
  for (const Term &term : terms)
    result += std::max<int64_t>(0, term.factor * (term.extent - 1));
  return result;
}

LinearIndex LinearIndex::operator+(const LinearIndex &other) const {
  LinearIndex result(constant + other.constant);
  const Term *left = terms.begin(), *right = other.terms.begin();
  while (left != terms.end() || right != other.terms.end()) {
    if (right == other.terms.end() ||
        (left != terms.end() && left->atom < right->atom)) {
      result.terms.push_back(*left++);
    } else if (left == terms.end() || right->atom < left->atom) {
      result.terms.push_back(*right++);
    } else {
      int64_t factor = left->factor + right->factor;
      if (factor != 0)
        result.terms.push_back(
            {left->atom, factor, std::max(left->extent, right->extent)});
      ++left, ++right;
    }
  }
  return result;
}

LinearIndex LinearIndex::operator*(int64_t factor) const {
  if (factor == 0)
    return 0;
  LinearIndex result = *this;
  result.constant *= factor;
  for (Term &term : result.terms)
    term.factor *= factor;
  return result;
}

LinearIndex LinearIndex::operator-(const LinearIndex &other) const {
  return *this + other * -1;
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// `index` without the terms for which \p keep does not hold.
static LinearIndex
selectTerms(const LinearIndex &index,
            llvm::function_ref<bool(const LinearIndex::Term &)> keep) {
  LinearIndex result;
  for (const LinearIndex::Term &term : index.getTerms())
    if (keep(term))
      result = result + LinearIndex::atom(term.atom, term.extent) * term.factor;
  return result;
}

/// Divides every term exactly.
static LinearIndex divideExactly(const LinearIndex &index, int64_t divisor) {
  LinearIndex result(index.getConstant() / divisor);
  for (const LinearIndex::Term &term : index.getTerms())
    result = result + LinearIndex::atom(term.atom, term.extent) *
                          (term.factor / divisor);
  return result;
}

static int64_t floorModulo(int64_t value, int64_t modulus) {
  int64_t remainder = value % modulus;
  return remainder < 0 ? remainder + modulus : remainder;
}

GranularIndex ckpt::splitAtGranule(const LinearIndex &index, int64_t modulus,
                                   llvm::function_ref<bool(AtomId)> varies) {
  SmallVector<LinearIndex::Term> bySize(index.getTerms());
  llvm::stable_sort(bySize, [](const auto &a, const auto &b) {
    return std::abs(a.factor) < std::abs(b.factor);
  });
  std::optional<GranularIndex> first;
  for (size_t fineTerms = 0; fineTerms <= bySize.size(); ++fineTerms) {
    int64_t granule = modulus;
    bool uniform = true;
    LinearIndex coarse, fine;
    for (auto [number, term] : llvm::enumerate(bySize)) {
      LinearIndex part =
          LinearIndex::atom(term.atom, term.extent) * term.factor;
      if (number < fineTerms) {
        fine = fine + part;
        continue;
      }
      granule = std::gcd(granule, std::abs(term.factor));
      uniform &= !varies(term.atom);
      coarse = coarse + part;
    }
    int64_t low = floorModulo(index.getConstant(), granule);
    fine = fine + low;
    coarse = coarse + (index.getConstant() - low);
    if (fine.min() < 0 || fine.max() >= granule)
      continue;
    GranularIndex split{granule, divideExactly(coarse, granule), fine};
    if (uniform)
      return split;
    if (!first)
      first = split;
  }
  // A granule of one always fits: everything is coarse.
  return first ? *first : GranularIndex{1, index, 0};
}

std::pair<LinearIndex, LinearIndex> ckpt::divideIndex(const LinearIndex &index,
                                                      int64_t divisor,
                                                      IndexDivider &divider) {
  if (divisor == 1)
    return {index, 0};
  int64_t low = floorModulo(index.getConstant(), divisor);
  auto exact = [&](const LinearIndex::Term &term) {
    return term.factor % divisor == 0;
  };
  LinearIndex multiple =
      selectTerms(index, exact) + (index.getConstant() - low);
  LinearIndex rest =
      selectTerms(index, [&](const auto &term) { return !exact(term); }) + low;
  if (rest.min() < 0) { // Its range would need the other terms.
    rest = index;
    multiple = 0;
  }
  LinearIndex quotient = divideExactly(multiple, divisor);
  if (rest.min() >= 0 && rest.max() < divisor)
    return {quotient, rest};
  GranularIndex split = splitAtGranule(
      rest, divisor, [&](AtomId atom) { return divider.varies(atom); });
  auto [coarseQuotient, coarseRemainder] =
      divider.divide(split.coarse, divisor / split.granule);
  return {quotient + coarseQuotient,
          coarseRemainder * split.granule + split.fine};
}

//===----------------------------------------------------------------------===//
// Row-major arrays
//===----------------------------------------------------------------------===//

LinearIndex ckpt::linearize(ArrayRef<LinearIndex> indices,
                            ArrayRef<int64_t> shape) {
  LinearIndex position;
  for (auto [index, extent] : llvm::zip_equal(indices, shape))
    position = position * extent + index;
  return position;
}

SmallVector<LinearIndex> ckpt::delinearize(const LinearIndex &position,
                                           ArrayRef<int64_t> shape,
                                           IndexDivider &divider) {
  SmallVector<LinearIndex> indices(shape.size());
  LinearIndex rest = position;
  for (size_t dim = shape.size(); dim-- > 1;)
    std::tie(rest, indices[dim]) = divideIndex(rest, shape[dim], divider);
  if (!shape.empty())
    indices[0] = rest;
  return indices;
}
