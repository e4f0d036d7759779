//===- FitBudget.cpp - Plans that need too much ---------------------------===//
//
// What a walk needs is known only once its kernels are merged, and the next
// walk, with a cap that is a little lower, may be quite another one. And the
// plan without a limit, whose kernels are the best there are, is often a better
// start than any walk. Where a plan needs more than the budget, something waits
// at each such moment that can be made again afterwards (from what may have to
// be made again itself), that can be made later, or whose last reader can run
// before. The change that takes most off for its cost is made, again and again.
//
//===----------------------------------------------------------------------===//

#include "FitBudget.h"

#include "PostPasses.h"

#include <algorithm>
#include <set>
#include <tuple>

using namespace ckpt::plan;

/// Of any change, in nanoseconds.
static constexpr double leastCost = 1000;

namespace {

/// A gap between two moments at which an instance is used is given up.
struct Change {
  /// The kernel that is repeated or moved, and before which one it goes.
  int32_t kernel, place;
  /// What runs at `place` besides; if nothing, the kernel itself moves.
  std::vector<Kernel> copies;
  /// What it costs, in nanoseconds: at least a little, so that moves of small
  /// values do not come first.
  double cost = 0;
  /// Bytes over the budget, summed over kernels, that it takes off.
  int64_t gain = 0;

  bool operator<(const Change &other) const {
    double mine = static_cast<double>(gain) / cost;
    double its = static_cast<double>(other.gain) / other.cost;
    return mine != its
               ? mine > its
               : std::tie(kernel, place) < std::tie(other.kernel, other.place);
  }
};

class Fitter {
public:
  Fitter(const Problem &problem, Plan &plan, const FitOptions &options)
      : problem(problem), plan(plan), options(options),
        budget(options.budgetBytes), kernels(problem) {}
  bool run();

private:
  /// An output in the arena and the kernels that read it, ascending.
  struct Life {
    ValueId value;
    int32_t kernel;
    std::vector<int32_t> reads;
    int32_t last() const { return reads.empty() ? kernel : reads.back(); }
  };

  void measure();
  std::vector<Change> findChanges();
  void findInGap(const Life &life, int32_t from, int32_t to);
  bool isOver(int32_t from, int32_t to) const;
  bool makeAgain(ValueId value, bool deep, Change &change);
  bool isMadeAgain(ValueId value, const Change &change) const {
    return std::any_of(
        change.copies.begin(), change.copies.end(),
        [&](const Kernel &copy) { return copy.outputs.front() == value; });
  }
  void repeat(const Life &life, int32_t from, int32_t to);
  void delay(const Life &life, int32_t to);
  void advance(const Life &life, int32_t from);
  void add(Change change);
  bool isFree(const Kernel &kernel) const;
  /// What is changed, whatever the numbers of kernels: the kind of change and
  /// the values that the kernel writes.
  using Key = std::pair<int, std::vector<ValueId>>;
  Key keyOf(const Change &change) const;
  using ChangeRange = std::pair<std::vector<Change>::const_iterator,
                                std::vector<Change>::const_iterator>;
  Plan changed(ChangeRange change) const;
  bool make(ChangeRange change, double share);
  bool makeBest(const std::vector<Change> &found);
  int64_t slotOf(ValueId value) const {
    const Value &v = problem.values[value];
    return v.home == Home::Arena ? slotBytes(v.bytes) : 0;
  }
  /// Life of \p value as kernel \p reader finds it, or null.
  const Life *lifeAt(ValueId value, int32_t reader) const;

  /// Adds \p bytes to the kernels from \p from to before \p to.
  void shift(int32_t from, int32_t to, int64_t bytes);

  const Problem &problem;
  Plan &plan;
  const FitOptions &options;
  const int64_t budget;
  KernelCache kernels;
  std::vector<const KernelInfo *> infos; // per kernel
  std::vector<Life> lives;
  std::vector<std::vector<int32_t>> livesOf; // per value
  std::vector<int64_t> live;                 // per kernel
  int64_t overflow = 0;
  Verdict verdict;
  std::vector<Change> changes;
  /// Changes that turned out to take nothing off.
  std::set<Key> failed;
  /// What the change that is looked at adds to `live`, as ranges.
  struct Range {
    int32_t from, to;
    int64_t bytes;
  };
  std::vector<Range> ranges;
};

} // namespace

const Fitter::Life *Fitter::lifeAt(ValueId value, int32_t reader) const {
  const Life *found = nullptr;
  for (int32_t index : livesOf[value])
    if (lives[index].kernel < reader)
      found = &lives[index];
  return found;
}

void Fitter::measure() {
  infos.clear();
  for (const Kernel &kernel : plan.kernels)
    infos.push_back(&kernels.get(kernel));
  lives.clear();
  livesOf.assign(problem.values.size(), {});
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    for (ValueId value : infos[k]->memoryReads)
      if (problem.values[value].home == Home::Arena)
        lives[livesOf[value].back()].reads.push_back(static_cast<int32_t>(k));
    for (ValueId value : plan.kernels[k].outputs)
      if (problem.values[value].home == Home::Arena) {
        livesOf[value].push_back(static_cast<int32_t>(lives.size()));
        lives.push_back({value, static_cast<int32_t>(k), {}});
      }
  }
  live.assign(plan.kernels.size() + 1, 0);
  for (const Instance &instance : verdict.instances) {
    int64_t slot = slotOf(instance.value);
    live[instance.kernel + (instance.takesOver != none)] += slot;
    live[instance.lastRead + 1] -= slot;
  }
  overflow = 0;
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    live[k] += k > 0 ? live[k - 1] : 0;
    // Workspaces stand beside what lives, for one kernel.
    int64_t bytes = live[k] + slotBytes(infos[k]->workspaceBytes);
    overflow += std::max<int64_t>(0, bytes - budget);
  }
}

void Fitter::shift(int32_t from, int32_t to, int64_t bytes) {
  if (from < to && bytes != 0)
    ranges.push_back({from, to, bytes});
}

/// Enters \p change with what `ranges` take off.
void Fitter::add(Change change) {
  std::vector<int32_t> ends;
  for (const Range &range : ranges) {
    ends.push_back(range.from);
    ends.push_back(range.to);
  }
  std::sort(ends.begin(), ends.end());
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    int64_t bytes = 0;
    for (const Range &range : ranges)
      if (range.from <= ends[i] && ends[i + 1] <= range.to)
        bytes += range.bytes;
    if (bytes == 0)
      continue;
    for (int32_t k = ends[i]; k < ends[i + 1]; ++k) {
      int64_t before = live[k] + slotBytes(infos[k]->workspaceBytes) - budget;
      change.gain +=
          std::max<int64_t>(0, before) - std::max<int64_t>(0, before + bytes);
    }
  }
  if (change.gain > 0 && !failed.count(keyOf(change)))
    changes.push_back(std::move(change));
}

/// Whether \p kernel may run anywhere, and again.
bool Fitter::isFree(const Kernel &kernel) const {
  for (OpId op : kernel.ops)
    if (problem.ops[op].hasEffects || !problem.ops[op].mayRepeat)
      return false;
  return true;
}

/// Whether anything from \p from to before \p to exceeds the budget.
bool Fitter::isOver(int32_t from, int32_t to) const {
  for (int32_t k = from; k < to; ++k)
    if (live[k] + slotBytes(infos[k]->workspaceBytes) > budget)
      return true;
  return false;
}

/// Adds to \p change a kernel that makes \p value again, behind those that
/// make what it reads and is not there any more: with \p deep, and where that
/// would have to stay while the budget is exceeded. False if it cannot be.
bool Fitter::makeAgain(ValueId value, bool deep, Change &change) {
  constexpr size_t mostKernels = 24;
  const std::vector<ValueId> &notAgain = options.notAgain;
  if (change.copies.size() >= mostKernels ||
      std::find(notAgain.begin(), notAgain.end(), value) != notAgain.end())
    return false;
  Kernel copy;
  copy.ops = plan.kernels[lifeAt(value, change.place)->kernel].ops;
  copy.outputs = {value};
  trimOps(problem, copy);
  const KernelInfo &info = kernels.get(copy);
  if (!info.error.empty() || !isFree(copy))
    return false;
  for (ValueId read : info.memoryReads) {
    if (problem.values[read].home != Home::Arena || isMadeAgain(read, change))
      continue;
    const Life *life = lifeAt(read, change.place);
    if (!life)
      return false;
    int32_t end = life->last() + 1;
    if (deep && isOver(end, change.place)) {
      if (!makeAgain(read, deep, change))
        return false;
    } else {
      shift(end, change.place, slotOf(read));
    }
  }
  change.cost += static_cast<double>(info.timeNs);
  if (info.anchor != none)
    change.cost +=
        options.flopNs * static_cast<double>(problem.ops[info.anchor].flops);
  change.copies.push_back(std::move(copy));
  return true;
}

/// Makes the value again before kernel \p to: what it is made from stays until
/// then or, where that takes too much, is made again, too.
void Fitter::repeat(const Life &life, int32_t from, int32_t to) {
  for (bool deep : {false, true}) {
    ranges.clear();
    Change change = {life.kernel, to, {}, leastCost};
    if (!makeAgain(life.value, deep, change) ||
        (deep && change.copies.size() == 1))
      continue;
    shift(from + 1, to, -slotOf(life.value));
    add(std::move(change));
  }
}

/// Makes what is first read by kernel \p to only then.
void Fitter::delay(const Life &life, int32_t to) {
  if (!isFree(plan.kernels[life.kernel]))
    return;
  for (ValueId output : plan.kernels[life.kernel].outputs) {
    if (problem.values[output].home != Home::Arena)
      continue;
    const Life *other = lifeAt(output, life.kernel + 1);
    if (other->reads.empty() || other->reads.front() < to)
      return;
    shift(life.kernel + 1, to, -slotOf(output));
  }
  for (ValueId value : infos[life.kernel]->memoryReads)
    if (problem.values[value].home == Home::Arena) {
      const Life *read = lifeAt(value, life.kernel);
      shift(std::max(read->last(), life.kernel) + 1, to, slotOf(value));
      // A later instance would be read instead.
      if (lifeAt(value, to) != read)
        return;
    }
  add({life.kernel, to, {}, leastCost});
}

/// Runs the last reader as soon as it can, so that the value dies.
void Fitter::advance(const Life &life, int32_t from) {
  int32_t reader = life.last();
  if (!isFree(plan.kernels[reader]))
    return;
  int32_t place = from + 1;
  for (ValueId value : infos[reader]->memoryReads)
    if (const Life *read = lifeAt(value, reader))
      place = std::max(place, read->kernel + 1);
    else if (problem.values[value].home != Home::Argument)
      return; // Results that are read: when they were written is not looked up.
  if (place >= reader)
    return;
  for (ValueId value : infos[reader]->memoryReads)
    if (const Life *read = lifeAt(value, reader);
        read && read->last() == reader) {
      int32_t before = read->reads.size() > 1
                           ? read->reads[read->reads.size() - 2]
                           : read->kernel;
      shift(std::max(place, before + 1), reader, -slotOf(value));
    }
  for (ValueId output : plan.kernels[reader].outputs)
    shift(place, reader, slotOf(output));
  add({reader, place, {}, leastCost});
}

/// The instance is used by \p from and next by \p to.
void Fitter::findInGap(const Life &life, int32_t from, int32_t to) {
  if (!isOver(from + 1, to))
    return;
  repeat(life, from, to);
  ranges.clear();
  if (from == life.kernel)
    delay(life, to);
  ranges.clear();
  if (to == life.last())
    advance(life, from);
}

std::vector<Change> Fitter::findChanges() {
  changes.clear();
  for (const Life &life : lives) {
    if (slotOf(life.value) == 0)
      continue;
    int32_t from = life.kernel;
    for (int32_t to : life.reads) {
      findInGap(life, from, to);
      from = to;
    }
  }
  std::sort(changes.begin(), changes.end());
  return std::move(changes);
}

/// The plan with \p change, or with some that repeat kernels.
Plan Fitter::changed(ChangeRange change) const {
  Plan next;
  if (change.first->copies.empty()) {
    next = plan;
    auto at = [&](int32_t k) { return next.kernels.begin() + k; };
    int32_t kernel = change.first->kernel, place = change.first->place;
    if (kernel < place)
      std::rotate(at(kernel), at(kernel + 1), at(place));
    else
      std::rotate(at(place), at(kernel), at(kernel + 1));
    return next;
  }
  std::vector<std::vector<const Kernel *>> copies(plan.kernels.size());
  for (auto it = change.first; it != change.second; ++it)
    for (const Kernel &copy : it->copies)
      copies[it->place].push_back(&copy);
  for (size_t k = 0; k < copies.size(); ++k) {
    for (const Kernel *copy : copies[k])
      next.kernels.push_back(*copy);
    next.kernels.push_back(plan.kernels[k]);
  }
  return next;
}

Fitter::Key Fitter::keyOf(const Change &change) const {
  if (!change.copies.empty())
    return {change.copies.size() > 1 ? 3 : 0, change.copies.back().outputs};
  return {change.kernel < change.place ? 1 : 2,
          plan.kernels[change.kernel].outputs};
}

/// Makes the changes if they take off at least \p share of what they should.
bool Fitter::make(ChangeRange change, double share) {
  int64_t before = overflow, gain = 0;
  for (auto it = change.first; it != change.second; ++it)
    gain += it->gain;
  Plan next = changed(change);
  Verdict judged = validate(problem, next, /*slots=*/false, kernels);
  if (!judged.error.empty())
    return false;
  std::swap(plan, next);
  std::swap(verdict, judged);
  measure();
  int64_t taken = before - overflow;
  if (taken > 0 &&
      static_cast<double>(taken) >= share * static_cast<double>(gain))
    return true;
  std::swap(plan, next);
  std::swap(verdict, judged);
  measure();
  return false;
}

/// Makes the best of \p found that takes anything off; as long as much is to be
/// taken off, several that repeat kernels.
bool Fitter::makeBest(const std::vector<Change> &found) {
  constexpr size_t mostTries = 64, mostAtOnce = 8;
  constexpr double mostOfIt = 0.7;
  auto end = found.begin();
  int64_t gain = 0;
  for (; end != found.end() && !end->copies.empty() &&
         end < found.begin() + mostAtOnce;
       ++end) {
    gain += end->gain;
    if (gain > overflow / 4)
      break;
  }
  if (end > found.begin() + 1 && make({found.begin(), end}, mostOfIt))
    return true;
  size_t tries = std::min(found.size(), mostTries);
  for (auto it = found.begin(); it != found.begin() + tries; ++it) {
    if (make({it, it + 1}, 0))
      return true;
    failed.insert(keyOf(*it));
  }
  return false;
}

bool Fitter::run() {
  constexpr int mostSteps = 1000;
  verdict = validate(problem, plan, /*slots=*/false, kernels);
  measure();
  for (int step = 0; step < mostSteps; ++step) {
    if (verdict.livePeakBytes <= budget)
      return true;
    if (options.costNs(verdict) > options.mostNs ||
        std::chrono::steady_clock::now() > options.deadline)
      return false;
    if (makeBest(findChanges()))
      continue;
    // What failed may do now.
    if (failed.empty())
      return false;
    failed.clear();
    if (!makeBest(findChanges()))
      return false;
  }
  return false;
}

bool ckpt::plan::fitBudget(const Problem &problem, Plan &plan,
                           const FitOptions &options) {
  return Fitter(problem, plan, options).run();
}
