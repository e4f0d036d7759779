//===- Validate.cpp - The simulator that judges every plan ----------------===//
//
// Plays a plan from the first kernel to the last with nothing but a table of
// the values in memory. It asks Kernel.cpp for the rules of kernels and shares
// no other code with solvers and packer, so that a mistake there cannot hide
// itself.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Regions.h"

#include "Plan/Model/Work.h"

#include <algorithm>
#include <map>
#include <utility>

using namespace ckpt::plan;

namespace {

/// Sums stop here instead of overflowing.
void addSaturating(int64_t &sum, int64_t amount) {
  sum = sum > INT64_MAX - amount ? INT64_MAX : sum + amount;
}

/// A list of numbers per kernel, filled kernel by kernel.
class Lists {
public:
  void startNext() { starts.push_back(numbers.size()); }
  void push(int32_t number) { numbers.push_back(number); }
  struct List {
    const int32_t *first, *last;
    const int32_t *begin() const { return first; }
    const int32_t *end() const { return last; }
    size_t size() const { return last - first; }
    int32_t operator[](size_t i) const { return first[i]; }
  };
  List operator[](size_t k) const {
    size_t end = k + 1 < starts.size() ? starts[k + 1] : numbers.size();
    return {numbers.data() + starts[k], numbers.data() + end};
  }

private:
  std::vector<int32_t> numbers;
  std::vector<size_t> starts;
};

class Simulator {
public:
  Simulator(const Problem &problem, const Plan &plan, bool slots,
            KernelCache &kernels)
      : problem(problem), plan(plan), slots(slots), kernels(kernels),
        latest(problem.values.size(), none), runs(problem.ops.size(), 0) {}

  Verdict run() {
    kernelCount = plan.kernels.size();
    infos.reserve(kernelCount);
    verdict.instances.reserve(kernelCount);
    bool valid = true;
    for (int32_t k = 0; valid && k < kernelCount; ++k)
      valid = play(k);
    valid = valid && checkEnd() && checkSave() && checkRecompute() &&
            checkInline() && checkScratch() && checkHosted();
    Work::spend((slots ? 400 : 200) * int64_t{kernelCount});
    if (!valid)
      return std::move(verdict);
    if (slots)
      valid = checkPlaces();
    else
      chooseTakeovers();
    if (valid)
      measurePeak();
    if (valid && !problem.regions.empty())
      verdict.error = measureRegions(problem, verdict);
    return std::move(verdict);
  }

private:
  bool failPlan(std::string error) {
    verdict.error = std::move(error);
    return false;
  }
  bool fail(int32_t kernel, const std::string &error) {
    return failPlan("kernel " + std::to_string(kernel) + ": " + error);
  }
  std::string name(ValueId value) const {
    return "value " + std::to_string(value) + " (" +
           problem.values[value].name + ")";
  }
  std::string opName(OpId op) const {
    return "op " + std::to_string(op) + " (" + problem.ops[op].name + ")";
  }
  const Value &valueOf(int32_t instance) const {
    return problem.values[verdict.instances[instance].value];
  }
  bool inArena(int32_t instance) const {
    return isInArena(problem, verdict.instances[instance]);
  }
  int64_t slotOf(int32_t instance) const {
    return slotBytes(valueOf(instance).bytes);
  }
  int64_t workspaceOf(int32_t kernel) const {
    return slotBytes(infos[kernel]->workspaceBytes);
  }
  int64_t offsetOf(int32_t instance) const {
    const Instance &at = verdict.instances[instance];
    return plan.kernels[at.kernel].offsets[at.output];
  }

  bool play(int32_t k);
  bool playOps(int32_t k);
  bool playReads(int32_t k);
  void playOutputs(int32_t k);
  bool checkEnd();
  bool checkSave();
  bool checkRecompute();
  bool checkInline();
  bool checkScratch();
  bool checkHosted();
  /// A stretch of the buffer of a result, in bytes.
  struct BufferPlace {
    ValueId host;
    int64_t begin, end;
    bool overlaps(const BufferPlace &other) const {
      return begin < other.end && other.begin < end;
    }
  };
  BufferPlace placeInResult(int32_t instance) const;
  bool isOverwritten(int32_t before, int32_t next) const;

  bool mayTakeOver(int32_t instance, int32_t input) const;
  void chooseTakeovers();
  bool findInput(int32_t k, int32_t output, std::vector<char> &tried);
  bool checkPlaces();
  bool checkOffsets(int32_t k);
  bool place(int32_t k, int64_t offset, int64_t bytes, int32_t instance);
  void takeOverPlaces(int32_t k);
  void measurePeak();

  const Problem &problem;
  const Plan &plan;
  const bool slots;
  KernelCache &kernels;
  Verdict verdict;
  int32_t kernelCount = 0;
  std::vector<const KernelInfo *> infos;
  /// Per value, its latest instance, or `none`; per op, how often it ran.
  std::vector<int32_t> latest, runs;
  OpId lastEffect = none;
  /// Per kernel: the instances that it reads and makes.
  Lists readBy, madeBy;
  /// Per kernel, the first instance that dies in it, and per instance the next
  /// one that dies with it; `none` at the end.
  std::vector<int32_t> dyingIn, dyingNext;
  /// Input instance -> output instance that takes its place over.
  std::vector<int32_t> takenBy;
  /// The arena now: start -> (end, instance or `none`).
  std::map<int64_t, std::pair<int64_t, int32_t>> places;
};

bool Simulator::play(int32_t k) {
  const Kernel &kernel = plan.kernels[k];
  const KernelInfo &info = kernels.get(kernel);
  infos.push_back(&info);
  if (!info.error.empty())
    return fail(k, info.error);
  bool isPlaced =
      kernel.offsets.size() == kernel.outputs.size() &&
      (kernel.hosts.empty() || kernel.hosts.size() == kernel.outputs.size());
  if (slots && !isPlaced)
    return fail(k, "expected one offset per output");
  if (!playOps(k) || !playReads(k))
    return false;
  playOutputs(k);
  addSaturating(verdict.timeNs, info.timeNs);
  addSaturating(verdict.bytesMoved, info.bytesMoved);
  return true;
}

bool Simulator::playOps(int32_t k) {
  for (OpId id : plan.kernels[k].ops) {
    const Op &op = problem.ops[id];
    if (runs[id] && !op.mayRepeat)
      return fail(k, opName(id) + " runs again, but may run only once");
    if (op.hasEffects && id < lastEffect)
      return fail(k, opName(id) + " has effects and runs after op " +
                         std::to_string(lastEffect));
    if (op.hasEffects)
      lastEffect = id;
    if (runs[id] && isAnchor(op))
      addSaturating(verdict.extraFlops, op.flops);
    ++runs[id];
  }
  return true;
}

bool Simulator::playReads(int32_t k) {
  readBy.startNext();
  for (ValueId value : infos[k]->memoryReads) {
    if (problem.values[value].home == Home::Argument)
      continue;
    int32_t instance = latest[value];
    if (instance == none)
      return fail(k, name(value) + " is read before any kernel wrote it");
    readBy.push(instance);
    verdict.instances[instance].lastRead = k;
  }
  return true;
}

void Simulator::playOutputs(int32_t k) {
  madeBy.startNext();
  const std::vector<ValueId> &outputs = plan.kernels[k].outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Instance instance;
    instance.value = outputs[i];
    instance.kernel = instance.lastRead = k;
    instance.output = i;
    instance.recomputed = latest[outputs[i]] != none;
    if (slots)
      instance.host = plan.kernels[k].hostOf(i);
    latest[outputs[i]] = verdict.instances.size();
    madeBy.push(verdict.instances.size());
    verdict.instances.push_back(instance);
  }
}

/// Results are all written, and the last instance of each stands to the end;
/// run-once ops have run.
bool Simulator::checkEnd() {
  for (ValueId id = 0; id < static_cast<ValueId>(problem.values.size()); ++id) {
    if (problem.values[id].home != Home::Result)
      continue;
    if (latest[id] == none)
      return failPlan("result " + name(id) + " was never written");
    verdict.instances[latest[id]].lastRead = kernelCount - 1;
  }
  for (OpId id = 0; id < static_cast<OpId>(problem.ops.size()); ++id)
    if (!problem.ops[id].mayRepeat && !runs[id])
      return failPlan(opName(id) + " has to run once, but did not");
  dyingIn.assign(kernelCount, none);
  dyingNext.assign(verdict.instances.size(), none);
  for (size_t i = 0; i < verdict.instances.size(); ++i)
    if (inArena(i)) {
      int32_t &first = dyingIn[verdict.instances[i].lastRead];
      dyingNext[i] = first;
      first = i;
    }
  return true;
}

/// A saved value is made in one kernel, and that kernel writes it.
bool Simulator::checkSave() {
  std::vector<char> made(problem.values.size(), false);
  for (int32_t k = 0; k < kernelCount; ++k) {
    const Kernel &kernel = plan.kernels[k];
    for (OpId op : kernel.ops)
      for (ValueId value : problem.ops[op].results) {
        if (problem.values[value].keep != Keep::Save)
          continue;
        if (made[value])
          return fail(k, name(value) + " is to be saved, but made again");
        if (!std::count(kernel.outputs.begin(), kernel.outputs.end(), value))
          return fail(k, name(value) + " is to be saved, but not written");
        made[value] = true;
      }
  }
  return true;
}

bool Simulator::checkRecompute() {
  int32_t firstBackward = none;
  for (int32_t k = 0; k < kernelCount; ++k) {
    bool backward = false;
    for (OpId op : plan.kernels[k].ops)
      backward |= problem.ops[op].backward;
    if (!backward)
      continue;
    if (firstBackward == none) {
      firstBackward = k;
      continue;
    }
    for (int32_t instance : readBy[k])
      if (valueOf(instance).keep == Keep::Recompute &&
          verdict.instances[instance].kernel < firstBackward)
        return fail(k, name(verdict.instances[instance].value) +
                           " is to be recomputed, but read from before the "
                           "backward pass");
  }
  return true;
}

bool Simulator::checkInline() {
  for (int32_t k = 0; k < kernelCount; ++k)
    for (ValueId value : plan.kernels[k].outputs)
      if (isInlined(problem, value))
        return fail(k,
                    name(value) +
                        " is to be computed inside its readers, but written");
  return true;
}

/// The plan puts values only in buffers that are large enough and their own.
bool Simulator::checkScratch() {
  for (const Instance &instance : verdict.instances) {
    if (instance.host == none)
      continue;
    auto size = static_cast<ValueId>(problem.values.size());
    bool isResult = problem.scratchInResults && instance.host >= 0 &&
                    instance.host < size &&
                    problem.values[instance.host].home == Home::Result &&
                    problem.values[instance.host].host == none;
    const Value &value = problem.values[instance.value];
    int64_t offset = plan.kernels[instance.kernel].offsets[instance.output];
    bool fits = isResult && value.home == Home::Arena && offset >= 0 &&
                offset % slotAlignment == 0 &&
                offset <= problem.values[instance.host].bytes - value.bytes;
    if (!fits)
      return fail(instance.kernel,
                  name(instance.value) +
                      " has no place in the buffer of a result that may hold "
                      "scratch");
  }
  return true;
}

/// The place of \p instance in the buffer of a result: that is itself, the host
/// of its value, or the plan's; `host` is `none` in the arena.
Simulator::BufferPlace Simulator::placeInResult(int32_t instance) const {
  const Instance &at = verdict.instances[instance];
  const Value &value = valueOf(instance);
  if (at.host != none)
    return {at.host, offsetOf(instance), offsetOf(instance) + value.bytes};
  return {value.home == Home::Result ? at.value : value.host, 0, value.bytes};
}

/// A value in the buffer of a result is dead before a kernel writes the result
/// or another value there, unless the kernel overwrites it element by element.
bool Simulator::checkHosted() {
  // Per result, the instances that lie in its buffer.
  std::map<ValueId, std::vector<int32_t>> standing;
  for (size_t i = 0; i < verdict.instances.size(); ++i) {
    const Instance &next = verdict.instances[i];
    BufferPlace place = placeInResult(static_cast<int32_t>(i));
    if (place.host == none)
      continue;
    int32_t k = next.kernel;
    std::vector<int32_t> &there = standing[place.host];
    auto isPast = [&](int32_t before) {
      return verdict.instances[before].lastRead < k;
    };
    there.erase(std::remove_if(there.begin(), there.end(), isPast),
                there.end());
    for (int32_t before : there)
      if (placeInResult(before).overlaps(place) &&
          !isOverwritten(before, static_cast<int32_t>(i)))
        return fail(k, name(verdict.instances[before].value) +
                           " lies in the buffer of " + name(place.host) +
                           ", where " + name(next.value) +
                           " is written before it is dead");
    there.push_back(static_cast<int32_t>(i));
  }
  return true;
}

/// Whether the kernel of \p next, in which \p before dies, writes it over that.
bool Simulator::isOverwritten(int32_t before, int32_t next) const {
  const Instance &earlier = verdict.instances[before];
  const Instance &later = verdict.instances[next];
  if (earlier.lastRead != later.kernel || earlier.kernel >= later.kernel ||
      placeInResult(before).begin != placeInResult(next).begin)
    return false;
  const std::vector<InPlacePair> &pairs = infos[later.kernel]->inPlace;
  return std::any_of(pairs.begin(), pairs.end(), [&](const InPlacePair &pair) {
    return pair.input == earlier.value && pair.output == later.output;
  });
}

/// Whether the output may be written over the input, which dies there.
bool Simulator::mayTakeOver(int32_t instance, int32_t input) const {
  const Instance &made = verdict.instances[instance];
  const Instance &read = verdict.instances[input];
  if (!inArena(instance) || !inArena(input) || read.lastRead != made.kernel ||
      read.kernel == made.kernel)
    return false;
  for (const InPlacePair &pair : infos[made.kernel]->inPlace)
    if (pair.input == read.value && pair.output == made.output)
      return true;
  return false;
}

/// One augmenting path of the matching between outputs and dying inputs.
bool Simulator::findInput(int32_t k, int32_t output, std::vector<char> &tried) {
  for (size_t i = 0; i < readBy[k].size(); ++i) {
    int32_t input = readBy[k][i];
    if (tried[i] || !mayTakeOver(output, input))
      continue;
    tried[i] = true;
    if (takenBy[input] == none || findInput(k, takenBy[input], tried)) {
      takenBy[input] = output;
      verdict.instances[output].takesOver = input;
      return true;
    }
  }
  return false;
}

/// Places of a pair are equally large, so that the most pairs, large ones
/// first, free the most bytes.
void Simulator::chooseTakeovers() {
  takenBy.assign(verdict.instances.size(), none);
  std::vector<int32_t> bySize;
  std::vector<char> tried;
  for (int32_t k = 0; k < kernelCount; ++k) {
    if (infos[k]->inPlace.empty())
      continue;
    bySize.assign(madeBy[k].begin(), madeBy[k].end());
    std::sort(bySize.begin(), bySize.end(), [&](int32_t a, int32_t b) {
      int64_t left = slotOf(a), right = slotOf(b);
      return left != right ? left > right : a < b;
    });
    for (int32_t output : bySize) {
      tried.assign(readBy[k].size(), false);
      findInput(k, output, tried);
    }
  }
}

bool Simulator::checkOffsets(int32_t k) {
  const Kernel &kernel = plan.kernels[k];
  auto fits = [&](int64_t offset, int64_t bytes) {
    return offset >= 0 && offset % slotAlignment == 0 &&
           bytes <= plan.arenaBytes && offset <= plan.arenaBytes - bytes;
  };
  for (int32_t instance : madeBy[k]) {
    int64_t offset = offsetOf(instance);
    bool isOutside =
        inArena(instance)
            ? !fits(offset, slotOf(instance))
            : verdict.instances[instance].host == none && offset != -1;
    if (isOutside)
      return fail(k, "offset " + std::to_string(offset) + " of " +
                         name(verdict.instances[instance].value) +
                         " is unaligned or outside");
  }
  int64_t workspace = workspaceOf(k);
  if (workspace ? !fits(kernel.workspaceOffset, workspace)
                : kernel.workspaceOffset != -1)
    return fail(k, "workspace offset " +
                       std::to_string(kernel.workspaceOffset) +
                       " is unaligned or outside");
  return true;
}

/// Enters a place if nothing that stands now overlaps it.
bool Simulator::place(int32_t k, int64_t offset, int64_t bytes,
                      int32_t instance) {
  if (bytes == 0)
    return true;
  auto next = places.lower_bound(offset);
  bool overlaps = next != places.end() && next->first < offset + bytes;
  if (!overlaps && next != places.begin())
    overlaps = (--next)->second.first > offset;
  if (overlaps) {
    int32_t other = next->second.second;
    std::string what = instance == none
                           ? "the workspace"
                           : name(verdict.instances[instance].value);
    return fail(k, what + " overlaps " +
                       (other == none ? "the workspace"
                                      : name(verdict.instances[other].value)));
  }
  places[offset] = {offset + bytes, instance};
  return true;
}

/// An output at the exact place of an input that dies and that it may overwrite
/// takes that place over.
void Simulator::takeOverPlaces(int32_t k) {
  for (int32_t instance : madeBy[k]) {
    auto found = places.find(inArena(instance) ? offsetOf(instance) : -1);
    if (found == places.end())
      continue;
    int32_t input = found->second.second;
    if (!mayTakeOver(instance, input))
      continue;
    takenBy[input] = instance;
    verdict.instances[instance].takesOver = input;
    found->second.second = instance;
  }
}

bool Simulator::checkPlaces() {
  takenBy.assign(verdict.instances.size(), none);
  for (int32_t k = 0; k < kernelCount; ++k) {
    if (!checkOffsets(k))
      return false;
    takeOverPlaces(k);
    for (int32_t instance : madeBy[k])
      if (inArena(instance) && verdict.instances[instance].takesOver == none &&
          !place(k, offsetOf(instance), slotOf(instance), instance))
        return false;
    if (!place(k, plan.kernels[k].workspaceOffset, workspaceOf(k), none))
      return false;
    if (workspaceOf(k))
      places.erase(plan.kernels[k].workspaceOffset);
    for (int32_t instance = dyingIn[k]; instance != none;
         instance = dyingNext[instance])
      if (takenBy[instance] == none && slotOf(instance))
        places.erase(offsetOf(instance));
  }
  return true;
}

void Simulator::measurePeak() {
  int64_t live = 0;
  for (int32_t k = 0; k < kernelCount; ++k) {
    for (int32_t instance : madeBy[k])
      if (inArena(instance) && verdict.instances[instance].takesOver == none)
        addSaturating(live, slotOf(instance));
    int64_t now = live;
    addSaturating(now, workspaceOf(k));
    if (now > verdict.livePeakBytes || verdict.peakKernel == none) {
      verdict.livePeakBytes = now;
      verdict.peakKernel = k;
    }
    for (int32_t instance = dyingIn[k]; instance != none;
         instance = dyingNext[instance])
      if (takenBy[instance] == none)
        live -= slotOf(instance);
  }
}

} // namespace

Verdict ckpt::plan::validate(const Problem &problem, const Plan &plan,
                             bool slots) {
  KernelCache kernels(problem);
  return validate(problem, plan, slots, kernels);
}

Verdict ckpt::plan::validate(const Problem &problem, const Plan &plan,
                             bool slots, KernelCache &kernels) {
  return Simulator(problem, plan, slots, kernels).run();
}
