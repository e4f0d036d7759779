//===- Replay.cpp - Plays a plan from the first kernel to the last --------===//

#include "Replay.h"

#include <algorithm>
#include <map>
#include <utility>

using namespace ckpt::check;

namespace {

/// One writing of a value by one kernel.
struct Instance {
  int value = -1, kernel = -1, output = -1, lastRead = -1;
};

/// Bytes of the arena that are taken.
struct Place {
  int64_t begin, end;
  /// -1 for a workspace.
  int instance;
};

class Player {
public:
  Player(const Step &step, const StepPlan &plan, PlanFacts &result,
         Refusal &refusal)
      : step(step), plan(plan), result(result), refusal(refusal),
        latest(step.values.size(), -1), runs(step.ops.size(), 0) {}

  bool run();

private:
  int kernelCount() const { return static_cast<int>(plan.kernels.size()); }
  const StepValue &valueOf(const Instance &instance) const {
    return step.values[instance.value];
  }
  int64_t offsetOf(const Instance &instance) const {
    return plan.kernels[instance.kernel].offsets[instance.output];
  }
  /// The result in whose buffer the plan puts it, or -1.
  int64_t plannedHost(const Instance &instance) const {
    return plan.kernels[instance.kernel].hosts[instance.output];
  }
  bool inArena(const Instance &instance) const {
    return valueOf(instance).home == "arena" && plannedHost(instance) == -1;
  }
  /// The result in whose buffer it lies by the problem or the plan, or -1.
  int64_t hostOf(const Instance &instance) const {
    if (valueOf(instance).home == "result")
      return instance.value;
    int64_t planned = plannedHost(instance);
    return planned != -1 ? planned : valueOf(instance).host;
  }
  int64_t beginInHost(const Instance &instance) const {
    return plannedHost(instance) == -1 ? 0 : offsetOf(instance);
  }
  bool fail(int kernel, const std::string &what) {
    return refusal.fail("kernel " + std::to_string(kernel) + ": " + what);
  }

  bool play(int k);
  bool countRuns(int k);
  bool checkEnd();
  bool checkSave(int k);
  bool checkInline(int k);
  bool checkRecompute();
  bool checkScratch();
  bool checkHosted();
  bool checkFits(int k, int64_t offset, int64_t bytes, bool inArena);
  bool takePlace(int k, int64_t offset, int64_t bytes, int instance);
  bool takesOver(const Instance &output, const Instance &input) const;
  bool checkPlaces(int k);
  bool checkRegion(const StepRegion &region);

  const Step &step;
  const StepPlan &plan;
  PlanFacts &result;
  Refusal &refusal;
  std::vector<KernelFacts> facts;
  std::vector<int> latest;
  std::vector<int64_t> runs;
  int lastEffect = -1;
  std::vector<Instance> instances;
  /// Per kernel: the instances that it reads.
  std::vector<std::vector<int>> reads;
  std::vector<Place> places;
};

bool Player::countRuns(int k) {
  for (int id : plan.kernels[k].ops) {
    const StepOp &op = step.ops[id];
    if (runs[id] && op.once)
      return fail(k, "op " + std::to_string(id) + " may run only once");
    if (op.effects && id < lastEffect)
      return fail(k, "effects out of order");
    if (op.effects)
      lastEffect = id;
    if (runs[id] && op.isAnchor())
      result.extraFlops += std::min(op.flops, INT64_MAX - result.extraFlops);
    ++runs[id];
  }
  return true;
}

bool Player::play(int k) {
  const StepKernel &kernel = plan.kernels[k];
  if (!judgeKernel(step, kernel, facts.emplace_back(), refusal))
    return refusal.failIn("kernel " + std::to_string(k));
  if (!countRuns(k))
    return false;
  reads.emplace_back();
  for (int value : facts[k].memoryReads) {
    if (step.values[value].home == "argument")
      continue;
    if (latest[value] == -1)
      return fail(k, "value " + std::to_string(value) +
                         " is read before any kernel wrote it");
    reads[k].push_back(latest[value]);
    instances[latest[value]].lastRead = k;
  }
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    latest[kernel.outputs[i]] = static_cast<int>(instances.size());
    instances.push_back({kernel.outputs[i], k, static_cast<int>(i), k});
  }
  result.timeNs += std::min(facts[k].timeNs, INT64_MAX - result.timeNs);
  return true;
}

bool Player::checkEnd() {
  for (Instance &instance : instances)
    if (valueOf(instance).home == "result")
      instance.lastRead = kernelCount() - 1;
  for (size_t id = 0; id < step.values.size(); ++id)
    if (step.values[id].home == "result" && latest[id] == -1)
      return refusal.fail("result " + std::to_string(id) +
                          " was never written");
  for (size_t id = 0; id < step.ops.size(); ++id)
    if (step.ops[id].once && !runs[id])
      return refusal.fail("op " + std::to_string(id) + " has to run");
  return true;
}

/// A saved value is made in one kernel, and that kernel writes it.
bool Player::checkSave(int k) {
  const StepKernel &kernel = plan.kernels[k];
  for (int id : kernel.ops)
    for (int value : step.ops[id].results) {
      if (step.values[value].keep != "save")
        continue;
      if (runs[id] != 1 ||
          !std::count(kernel.outputs.begin(), kernel.outputs.end(), value))
        return fail(k, "value " + std::to_string(value) + " is to be saved");
    }
  return true;
}

/// Such a value is never written, if its op may be anywhere.
bool Player::checkInline(int k) {
  for (int value : plan.kernels[k].outputs) {
    const StepOp &op = step.ops[step.values[value].op];
    bool free = !op.isAnchor() && !op.once;
    for (int other : op.results)
      free &= step.values[other].keep != "save";
    if (free && step.values[value].keep == "inline")
      return fail(k, "value " + std::to_string(value) +
                         " is to be computed inside its readers");
  }
  return true;
}

bool Player::checkRecompute() {
  int firstBackward = -1;
  for (int k = 0; k < kernelCount(); ++k) {
    bool backward = false;
    for (int id : plan.kernels[k].ops)
      backward |= step.ops[id].backward;
    if (!backward)
      continue;
    if (firstBackward == -1)
      firstBackward = k;
    if (k != firstBackward)
      for (int instance : reads[k])
        if (valueOf(instances[instance]).keep == "recompute" &&
            instances[instance].kernel < firstBackward)
          return fail(k, "value " + std::to_string(instances[instance].value) +
                             " is to be recomputed");
  }
  return true;
}

/// The plan puts values of the arena only in buffers that have room for them.
bool Player::checkScratch() {
  for (const Instance &instance : instances) {
    int64_t host = plannedHost(instance), begin = offsetOf(instance);
    if (host == -1)
      continue;
    bool isBuffer = step.scratchInResults && host >= 0 &&
                    host < static_cast<int64_t>(step.values.size()) &&
                    step.values[host].home == "result" &&
                    step.values[host].host == -1;
    int64_t bytes = valueOf(instance).bytes;
    if (!isBuffer || valueOf(instance).home != "arena" || begin < 0 ||
        begin % 256 != 0 || begin > step.values[host].bytes - bytes)
      return fail(instance.kernel, "value " + std::to_string(instance.value) +
                                       " has no place in its buffer");
  }
  return true;
}

/// What lies in the buffer of a result is dead before a kernel writes the
/// result or another value there, unless the kernel overwrites it element by
/// element.
bool Player::checkHosted() {
  std::map<int64_t, std::vector<const Instance *>> inBuffer;
  for (const Instance &instance : instances) {
    int64_t host = hostOf(instance);
    if (host == -1)
      continue;
    int64_t begin = beginInHost(instance);
    int64_t end = begin + valueOf(instance).bytes;
    int k = instance.kernel;
    for (const Instance *before : inBuffer[host]) {
      int64_t from = beginInHost(*before);
      bool isApart = end <= from || from + valueOf(*before).bytes <= begin;
      bool isAgain = before->value == host && instance.value == host;
      bool over = before->lastRead == k && before->kernel < k &&
                  begin == from &&
                  facts[k].inPlace.count({before->value, instance.output});
      if (before->lastRead >= k && !isApart && !isAgain && !over)
        return fail(before->lastRead,
                    "value " + std::to_string(before->value) +
                        " lies in a buffer that is written before it is dead");
    }
    inBuffer[host].push_back(&instance);
  }
  return true;
}

bool Player::checkFits(int k, int64_t offset, int64_t bytes, bool inArena) {
  bool fits = inArena ? offset >= 0 && offset % 256 == 0 &&
                            bytes <= plan.arenaBytes &&
                            offset <= plan.arenaBytes - bytes
                      : offset == -1;
  if (!fits)
    return fail(k, "offset " + std::to_string(offset) +
                       " is unaligned or outside");
  return true;
}

bool Player::takePlace(int k, int64_t offset, int64_t bytes, int instance) {
  if (bytes == 0)
    return true;
  for (const Place &place : places)
    if (offset < place.end && place.begin < offset + bytes)
      return fail(k, "places overlap at offset " + std::to_string(offset));
  places.push_back({offset, offset + bytes, instance});
  return true;
}

/// Whether the output may be written over the input, which dies there.
bool Player::takesOver(const Instance &output, const Instance &input) const {
  return input.lastRead == output.kernel && input.kernel != output.kernel &&
         facts[output.kernel].inPlace.count({input.value, output.output});
}

bool Player::checkPlaces(int k) {
  const StepKernel &kernel = plan.kernels[k];
  int64_t workspace = slotBytes(facts[k].workspaceBytes);
  if (!checkFits(k, kernel.workspaceOffset, workspace, workspace != 0))
    return false;
  std::vector<int> fresh;
  for (size_t i = 0; i < instances.size(); ++i) {
    Instance &output = instances[i];
    if (output.kernel != k)
      continue;
    int64_t bytes = inArena(output) ? arenaBytes(valueOf(output)) : 0;
    if (plannedHost(output) == -1 &&
        !checkFits(k, offsetOf(output), bytes, inArena(output)))
      return false;
    bool over = false;
    for (Place &place : places)
      if (bytes && !over && place.begin == offsetOf(output) &&
          takesOver(output, instances[place.instance])) {
        place.instance = static_cast<int>(i);
        over = true;
      }
    if (bytes && !over)
      fresh.push_back(static_cast<int>(i));
  }
  for (int i : fresh)
    if (!takePlace(k, offsetOf(instances[i]), arenaBytes(valueOf(instances[i])),
                   i))
      return false;
  if (!takePlace(k, kernel.workspaceOffset, workspace, -1))
    return false;
  places.erase(std::remove_if(places.begin(), places.end(),
                              [&](const Place &place) {
                                return place.instance == -1 ||
                                       instances[place.instance].lastRead <= k;
                              }),
               places.end());
  return true;
}

/// The live values of the region's layers cover at most its budget of the
/// arena. A takeover within the region counts once.
bool Player::checkRegion(const StepRegion &region) {
  std::set<int64_t> layers(region.layers.begin(), region.layers.end());
  std::vector<const Instance *> live;
  size_t next = 0;
  for (int k = 0; k < kernelCount(); ++k) {
    for (; next < instances.size() && instances[next].kernel == k; ++next) {
      const StepValue &value = valueOf(instances[next]);
      if (inArena(instances[next]) && arenaBytes(value) > 0 && value.op != -1 &&
          layers.count(step.ops[value.op].layer))
        live.push_back(&instances[next]);
    }
    std::map<int64_t, int64_t> places;
    for (const Instance *instance : live)
      places[offsetOf(*instance)] = arenaBytes(valueOf(*instance));
    int64_t bytes = 0;
    for (auto [offset, size] : places)
      bytes += size;
    if (bytes > region.budget)
      return fail(k, "region '" + region.name + "' takes " +
                         std::to_string(bytes) +
                         " bytes, but has a budget of " +
                         std::to_string(region.budget));
    live.erase(std::remove_if(live.begin(), live.end(),
                              [&](const Instance *instance) {
                                return instance->lastRead <= k;
                              }),
               live.end());
  }
  return true;
}

bool Player::run() {
  for (int k = 0; k < kernelCount(); ++k)
    if (!play(k))
      return false;
  if (!checkEnd())
    return false;
  for (int k = 0; k < kernelCount(); ++k)
    if (!checkSave(k) || !checkInline(k))
      return false;
  if (!checkRecompute() || !checkScratch() || !checkHosted())
    return false;
  for (int k = 0; k < kernelCount(); ++k)
    if (!checkPlaces(k))
      return false;
  return std::all_of(
      step.regions.begin(), step.regions.end(),
      [&](const StepRegion &region) { return checkRegion(region); });
}

} // namespace

bool ckpt::check::replay(const Step &step, const StepPlan &plan,
                         PlanFacts &facts, Refusal &refusal) {
  return Player(step, plan, facts, refusal).run();
}
