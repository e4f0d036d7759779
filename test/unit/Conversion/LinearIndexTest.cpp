//===- LinearIndexTest.cpp - Sums of unknowns against brute force ---------===//
//
// Every statement on an index is checked for all values of its unknowns.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Element/LinearIndex.h"
#include "gtest/gtest.h"
#include <random>

using namespace ckpt;

namespace {

/// Values of unknowns by their number.
using Values = std::vector<int64_t>;

int64_t evaluate(const LinearIndex &index, const Values &values) {
  int64_t result = index.getConstant();
  for (const LinearIndex::Term &term : index.getTerms())
    result += term.factor * values[term.atom];
  return result;
}

/// Calls \p visit with every combination of values.
template <typename Visit>
void forAll(const Values &extents, Visit visit) {
  Values values(extents.size(), 0);
  while (true) {
    visit(values);
    size_t at = 0;
    while (at < extents.size() && ++values[at] == extents[at])
      values[at++] = 0;
    if (at == extents.size())
      return;
  }
}

/// Makes two new unknowns for each division and remembers what they stand for.
class RecordingDivider : public IndexDivider {
public:
  RecordingDivider(size_t atoms, std::vector<bool> varying)
      : atoms(atoms), varying(std::move(varying)) {}

  bool varies(AtomId atom) const override {
    return atom < varying.size() && varying[atom];
  }

  std::pair<LinearIndex, LinearIndex> divide(const LinearIndex &dividend,
                                             int64_t divisor) override {
    EXPECT_GE(dividend.min(), 0);
    divisions.push_back({dividend, divisor});
    AtomId quotient = atoms + 2 * (divisions.size() - 1);
    return {LinearIndex::atom(quotient, dividend.max() / divisor + 1),
            LinearIndex::atom(quotient + 1, divisor)};
  }

  /// \p values with those of the new unknowns behind.
  Values extend(Values values) const {
    for (const auto &[dividend, divisor] : divisions) {
      int64_t value = evaluate(dividend, values);
      values.push_back(value / divisor);
      values.push_back(value % divisor);
    }
    return values;
  }

  std::vector<std::pair<LinearIndex, int64_t>> divisions;

private:
  size_t atoms;
  std::vector<bool> varying;
};

class RandomIndices {
public:
  explicit RandomIndices(uint64_t seed) : random(seed) {}

  int64_t pick(int64_t first, int64_t last) {
    return first + static_cast<int64_t>(random() % (last - first + 1));
  }
  Values extents() {
    Values result(pick(1, 4));
    for (int64_t &extent : result)
      extent = pick(1, 5);
    return result;
  }
  LinearIndex index(const Values &extents) {
    constexpr int64_t factors[] = {-6, -1, 0, 1, 1, 2, 3, 4, 6, 12, 20};
    LinearIndex result(pick(-8, 8));
    for (size_t atom = 0; atom < extents.size(); ++atom)
      result = result +
               LinearIndex::atom(atom, extents[atom]) * factors[pick(0, 10)];
    return result;
  }
  /// The same, moved up until it is never negative.
  LinearIndex index(const Values &extents, int64_t least) {
    LinearIndex result = index(extents);
    return result + (least - result.min());
  }
  std::vector<bool> varying(size_t atoms) {
    std::vector<bool> result(atoms);
    for (size_t atom = 0; atom < atoms; ++atom)
      result[atom] = pick(0, 1);
    return result;
  }

private:
  std::mt19937_64 random;
};

TEST(LinearIndex, EqualSumsAreEqual) {
  LinearIndex i = LinearIndex::atom(1, 4), j = LinearIndex::atom(2, 3);
  EXPECT_EQ(i * 3 + j + 5, LinearIndex(5) + j + i + i * 2);
  EXPECT_EQ(i + j - i, j);
  EXPECT_TRUE((i - i).isConstant());
  EXPECT_TRUE((i * 0).isConstant());
  EXPECT_FALSE(i == j);
  EXPECT_TRUE(i < j || j < i);
  EXPECT_EQ((i * 3 + j).factorOf(1), 3);
  EXPECT_EQ((i * 3 + j).factorOf(7), 0);
}

TEST(LinearIndex, AnUnknownWithOneValueIsThatValue) {
  EXPECT_EQ(LinearIndex::atom(1, 1), LinearIndex(0));
}

TEST(LinearIndex, ArithmeticAndRangesAreExact) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    RandomIndices random(seed);
    Values extents = random.extents();
    LinearIndex a = random.index(extents), b = random.index(extents);
    int64_t factor = random.pick(-3, 3);
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    forAll(extents, [&](const Values &values) {
      int64_t left = evaluate(a, values), right = evaluate(b, values);
      EXPECT_EQ(evaluate(a + b, values), left + right);
      EXPECT_EQ(evaluate(a - b, values), left - right);
      EXPECT_EQ(evaluate(a * factor, values), left * factor);
      least = std::min(least, left);
      greatest = std::max(greatest, left);
    });
    EXPECT_EQ(a.min(), least);
    EXPECT_EQ(a.max(), greatest);
  }
}

TEST(LinearIndex, SplitsAtADivisor) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    RandomIndices random(seed);
    Values extents = random.extents();
    LinearIndex index = random.index(extents);
    std::vector<bool> varying = random.varying(extents.size());
    constexpr int64_t moduli[] = {2, 3, 4, 6, 8, 12, 24};
    int64_t modulus = moduli[random.pick(0, 6)];
    GranularIndex split = splitAtGranule(
        index, modulus, [&](AtomId atom) { return varying[atom]; });
    EXPECT_EQ(modulus % split.granule, 0);
    EXPECT_GE(split.fine.min(), 0);
    EXPECT_LT(split.fine.max(), split.granule);
    EXPECT_EQ(split.coarse * split.granule + split.fine, index);
  }
}

/// A row of four lanes in a matrix: the lane stays a neighbour in memory.
TEST(LinearIndex, LanesAreInTheFinePart) {
  LinearIndex row = LinearIndex::atom(1, 6), lane = LinearIndex::atom(0, 4);
  GranularIndex split =
      splitAtGranule(row * 4 + lane, 12, [](AtomId atom) { return atom == 0; });
  EXPECT_EQ(split.granule, 4);
  EXPECT_EQ(split.coarse, row);
  EXPECT_EQ(split.fine, lane);
}

TEST(LinearIndex, QuotientAndRemainderAreRight) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    RandomIndices random(seed);
    Values extents = random.extents();
    LinearIndex index = random.index(extents, random.pick(0, 9));
    int64_t divisor = random.pick(1, 13);
    RecordingDivider divider(extents.size(), random.varying(extents.size()));
    LinearIndex quotient, remainder;
    std::tie(quotient, remainder) = divideIndex(index, divisor, divider);
    bool right = true;
    forAll(extents, [&](const Values &values) {
      int64_t value = evaluate(index, values);
      Values all = divider.extend(values);
      right &= evaluate(quotient, all) == value / divisor;
      right &= evaluate(remainder, all) == value % divisor;
    });
    EXPECT_TRUE(right);
  }
}

TEST(LinearIndex, DividesAloneWhereTheSumTells) {
  RecordingDivider divider(3, {});
  LinearIndex i = LinearIndex::atom(1, 5), j = LinearIndex::atom(2, 4);
  auto [quotient, remainder] = divideIndex(i * 8 + j + 4, 8, divider);
  EXPECT_EQ(quotient, i);
  EXPECT_EQ(remainder, j + 4);
  EXPECT_TRUE(divider.divisions.empty());
  // j + 5 may reach the next multiple of 8.
  divideIndex(i * 8 + j + 5, 8, divider);
  EXPECT_EQ(divider.divisions.size(), 1u);
}

TEST(LinearIndex, DelinearizeUndoesLinearize) {
  RecordingDivider divider(3, {});
  SmallVector<LinearIndex> indices = {LinearIndex::atom(0, 4),
                                      LinearIndex::atom(1, 5),
                                      LinearIndex::atom(2, 6)};
  SmallVector<int64_t> shape = {4, 5, 6};
  LinearIndex position = linearize(indices, shape);
  EXPECT_EQ(position, indices[0] * 30 + indices[1] * 6 + indices[2]);
  EXPECT_EQ(delinearize(position, shape, divider), indices);
  EXPECT_TRUE(divider.divisions.empty());
  EXPECT_EQ(linearize({}, {}), LinearIndex(0));
  EXPECT_TRUE(delinearize(LinearIndex(0), {}, divider).empty());
}

TEST(LinearIndex, ReshapesKeepThePosition) {
  SmallVector<int64_t> from = {4, 5, 6}, to = {3, 10, 4};
  SmallVector<LinearIndex> indices;
  Values extents(from.begin(), from.end());
  for (size_t dim = 0; dim < from.size(); ++dim)
    indices.push_back(LinearIndex::atom(dim, from[dim]));
  RecordingDivider divider(3, {true, false, false});
  LinearIndex position = linearize(indices, from);
  LinearIndex again = linearize(delinearize(position, to, divider), to);
  bool right = true;
  forAll(extents, [&](const Values &values) {
    right &=
        evaluate(again, divider.extend(values)) == evaluate(position, values);
  });
  EXPECT_TRUE(right);
}

} // namespace
