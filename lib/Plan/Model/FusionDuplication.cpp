//===- FusionDuplication.cpp - Limits repeated work in kernels ------------===//
//
// A kernel computes a value inside once for each place at which it is read: a
// lookup of a lookup of a lookup is made 2^3 times if each level looks up two
// elements. Such reads multiply along a chain, until no kernel could be
// compiled. If everything inside would be made several times over, the read
// that multiplies once more finds its value in memory. Solvers, simulator,
// bounds and certificates know this demand like that of a product.
//
// Reads at the place of their reader share their values. A value has a set of
// *jumps*, the reads at other places on the way to memory; the sets that hold a
// jump say how often it is made. Runs once per problem, before planning.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/FusionDuplication.h"

#include <algorithm>
#include <iterator>
#include <set>

using namespace ckpt::plan;

namespace {

/// Products saturate here.
constexpr int64_t mostWeight = int64_t{1} << 40;

class Limiter {
public:
  explicit Limiter(Problem &problem)
      : problem(problem), checked(problem.values.size(), 0) {
    nothing = &*known.insert(Set{}).first;
    jumpsOf.assign(problem.values.size(), nothing);
  }
  void run();

private:
  using Set = std::vector<int32_t>;
  /// A read at other places of a value that is computed inside.
  struct Jump {
    OpId op;
    size_t read;
    ValueId target;
    /// Jumps that are made for each time, this one included.
    int64_t weight;
  };

  bool isInside(ValueId value) const {
    OpId op = problem.values[value].op;
    return op != none && problem.ops[op].kind == OpKind::Fusible;
  }
  ValueId behindViews(ValueId value, bool &isSamePlace) const;
  const Set *unite(const Set *left, const Set *right);
  const Set *jumpsAt(OpId op);
  int64_t weightOf(const Set *set) const;
  size_t distinctJumps(const Set *set);
  bool multiplies(const Set *set, int64_t &before);
  bool demandMemory(OpId op, const Set *set);

  Problem &problem;
  std::vector<Jump> jumps;
  std::set<Set> known;
  const Set *nothing = nullptr;
  /// Per value.
  std::vector<const Set *> jumpsOf;
  /// Per value: up to which weight jumps were found to be worth it.
  std::vector<int64_t> checked;
  /// Jumps that were looked at.
  size_t counted = 0;
};

} // namespace

/// The value that \p value shows; clears \p isSamePlace if at other places.
ValueId Limiter::behindViews(ValueId value, bool &isSamePlace) const {
  while (true) {
    OpId op = problem.values[value].op;
    if (op == none || problem.ops[op].kind != OpKind::View)
      return value;
    const Read &read = problem.ops[op].reads.front();
    if (ValueId same = problem.values[value].same; same != none) {
      value = same;
      continue;
    }
    isSamePlace &= read.access == Access::Reshape;
    value = read.value;
  }
}

const Limiter::Set *Limiter::unite(const Set *left, const Set *right) {
  if (left == right || right->empty() || left->empty())
    return left->empty() ? right : left;
  Set both;
  std::set_union(left->begin(), left->end(), right->begin(), right->end(),
                 std::back_inserter(both));
  return &*known.insert(std::move(both)).first;
}

int64_t Limiter::weightOf(const Set *set) const {
  int64_t sum = 0;
  for (int32_t jump : *set)
    sum = std::min(sum + jumps[jump].weight, mostWeight);
  return sum;
}

/// How many jumps there are on the way from \p set to memory.
size_t Limiter::distinctJumps(const Set *set) {
  std::vector<const Set *> work = {set};
  std::set<int32_t> found;
  for (size_t i = 0; i < work.size(); ++i)
    for (int32_t jump : *work[i]) {
      ++counted;
      if (found.insert(jump).second)
        work.push_back(jumpsOf[jumps[jump].target]);
    }
  return found.size();
}

/// Whether \p set makes jumps much more often than there are any; \p before is
/// the weight up to which that is known not to be.
bool Limiter::multiplies(const Set *set, int64_t &before) {
  constexpr int64_t many = 64, mostTimes = 32;
  constexpr size_t mostCounted = 20'000'000;
  int64_t weight = weightOf(set);
  if (weight <= std::max(many, 2 * before))
    return false;
  if (counted > mostCounted ||
      weight > mostTimes * static_cast<int64_t>(distinctJumps(set)))
    return true;
  before = weight;
  return false;
}

/// The jumps of \p op and of its reads. Few sets are long; they are cut, as
/// wide sums would otherwise take a square of their size.
const Limiter::Set *Limiter::jumpsAt(OpId op) {
  constexpr size_t most = 256;
  const Set *set = nothing;
  const std::vector<Read> &reads = problem.ops[op].reads;
  for (size_t r = 0; r < reads.size(); ++r) {
    bool isSamePlace = reads[r].access == Access::Pointwise ||
                       reads[r].access == Access::Reshape;
    ValueId target = behindViews(reads[r].value, isSamePlace);
    if (!isInside(target) || reads[r].need != Need::Inline)
      continue;
    if (isSamePlace) {
      set = unite(set, jumpsOf[target]);
      continue;
    }
    int64_t weight = std::min(1 + weightOf(jumpsOf[target]), mostWeight);
    jumps.push_back({op, r, target, weight});
    set = unite(set,
                &*known.insert({static_cast<int32_t>(jumps.size()) - 1}).first);
  }
  if (set->size() <= most)
    return set;
  Set heaviest = *set;
  std::stable_sort(heaviest.begin(), heaviest.end(),
                   [&](int32_t left, int32_t right) {
                     return jumps[left].weight > jumps[right].weight;
                   });
  heaviest.resize(most);
  std::sort(heaviest.begin(), heaviest.end());
  return &*known.insert(std::move(heaviest)).first;
}

/// Lets the jumps of \p set that lead to others end in memory: those of \p op
/// itself, if there are any. Returns whether there were some.
bool Limiter::demandMemory(OpId op, const Set *set) {
  auto isOwn = [&](int32_t jump) { return jumps[jump].op == op; };
  auto leadsOn = [&](int32_t jump) { return jumps[jump].weight > 1; };
  bool any = false,
       hasOwn = std::any_of(set->begin(), set->end(), [&](int32_t jump) {
         return isOwn(jump) && leadsOn(jump);
       });
  for (int32_t jump : *set) {
    if (!leadsOn(jump) || (hasOwn && !isOwn(jump)))
      continue;
    Read &read = problem.ops[jumps[jump].op].reads[jumps[jump].read];
    read.need = Need::Memory;
    jumps[jump].weight = 0;
    any = true;
  }
  return any;
}

void Limiter::run() {
  for (size_t id = 0; id < problem.ops.size(); ++id) {
    const Op &op = problem.ops[id];
    if (op.kind != OpKind::Fusible || op.results.empty())
      continue;
    int64_t before = 0;
    for (const Read &read : op.reads)
      before = std::max(before, checked[read.value]);
    const Set *set = jumpsAt(static_cast<OpId>(id));
    if (multiplies(set, before) && demandMemory(static_cast<OpId>(id), set)) {
      Set left;
      std::copy_if(set->begin(), set->end(), std::back_inserter(left),
                   [&](int32_t jump) { return jumps[jump].weight > 0; });
      set = &*known.insert(std::move(left)).first;
    }
    for (ValueId result : op.results) {
      jumpsOf[result] = set;
      checked[result] = before;
    }
  }
}

void ckpt::plan::limitFusionDuplication(Problem &problem) {
  Limiter(problem).run();
}
