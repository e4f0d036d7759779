//===- Replay.cpp - Plays a plan from the first kernel to the last --------===//

#include "Replay.h"

#include <algorithm>

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
  Player(const Step &step, const StepPlan &plan)
      : step(step), plan(plan), latest(step.values.size(), -1),
        runs(step.ops.size(), 0) {}

  PlanFacts run();

private:
  int kernelCount() const { return static_cast<int>(plan.kernels.size()); }
  const StepValue &valueOf(const Instance &instance) const {
    return step.values[instance.value];
  }
  int64_t offsetOf(const Instance &instance) const {
    return plan.kernels[instance.kernel].offsets[instance.output];
  }
  [[noreturn]] void refuse(int kernel, const std::string &what) const {
    throw Refusal("kernel " + std::to_string(kernel) + ": " + what);
  }

  void play(int k);
  void countRuns(int k);
  void checkEnd();
  void checkSave(int k) const;
  void checkInline(int k) const;
  void checkRecompute() const;
  void checkHosted() const;
  void checkFits(int k, int64_t offset, int64_t bytes, bool inArena) const;
  void takePlace(int k, int64_t offset, int64_t bytes, int instance);
  bool takesOver(const Instance &output, Instance &input) const;
  void checkPlaces(int k);

  const Step &step;
  const StepPlan &plan;
  PlanFacts result;
  std::vector<KernelFacts> facts;
  std::vector<int> latest;
  std::vector<int64_t> runs;
  int lastEffect = -1;
  std::vector<Instance> instances;
  /// Per kernel: the instances that it reads.
  std::vector<std::vector<int>> reads;
  std::vector<Place> places;
};

void Player::countRuns(int k) {
  for (int id : plan.kernels[k].ops) {
    const StepOp &op = step.ops[id];
    if (runs[id] && op.once)
      refuse(k, "op " + std::to_string(id) + " may run only once");
    if (op.effects && id < lastEffect)
      refuse(k, "effects out of order");
    if (op.effects)
      lastEffect = id;
    if (runs[id] && op.isAnchor())
      result.extraFlops += std::min(op.flops, INT64_MAX - result.extraFlops);
    ++runs[id];
  }
}

void Player::play(int k) {
  const StepKernel &kernel = plan.kernels[k];
  try {
    facts.push_back(judgeKernel(step, kernel));
  } catch (const Refusal &refusal) {
    refuse(k, refusal.what());
  }
  countRuns(k);
  reads.emplace_back();
  for (int value : facts[k].memoryReads) {
    if (step.values[value].home == "argument")
      continue;
    if (latest[value] == -1)
      refuse(k, "value " + std::to_string(value) +
                    " is read before any kernel wrote it");
    reads[k].push_back(latest[value]);
    instances[latest[value]].lastRead = k;
  }
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    latest[kernel.outputs[i]] = static_cast<int>(instances.size());
    instances.push_back({kernel.outputs[i], k, static_cast<int>(i), k});
  }
  result.timeNs += std::min(facts[k].timeNs, INT64_MAX - result.timeNs);
}

void Player::checkEnd() {
  for (Instance &instance : instances)
    if (valueOf(instance).home == "result")
      instance.lastRead = kernelCount() - 1;
  for (size_t id = 0; id < step.values.size(); ++id)
    if (step.values[id].home == "result" && latest[id] == -1)
      throw Refusal("result " + std::to_string(id) + " was never written");
  for (size_t id = 0; id < step.ops.size(); ++id)
    if (step.ops[id].once && !runs[id])
      throw Refusal("op " + std::to_string(id) + " has to run");
}

/// A saved value is made in one kernel, and that kernel writes it.
void Player::checkSave(int k) const {
  const StepKernel &kernel = plan.kernels[k];
  for (int id : kernel.ops)
    for (int value : step.ops[id].results) {
      if (step.values[value].keep != "save")
        continue;
      if (runs[id] != 1 ||
          !std::count(kernel.outputs.begin(), kernel.outputs.end(), value))
        refuse(k, "value " + std::to_string(value) + " is to be saved");
    }
}

/// Such a value is never written, if its op may be anywhere.
void Player::checkInline(int k) const {
  for (int value : plan.kernels[k].outputs) {
    const StepOp &op = step.ops[step.values[value].op];
    bool free = !op.isAnchor() && !op.once;
    for (int other : op.results)
      free &= step.values[other].keep != "save";
    if (free && step.values[value].keep == "inline")
      refuse(k, "value " + std::to_string(value) +
                    " is to be computed inside its readers");
  }
}

void Player::checkRecompute() const {
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
          refuse(k, "value " + std::to_string(instances[instance].value) +
                        " is to be recomputed");
  }
}

/// What lies in the buffer of a result is dead before that is written, or is
/// overwritten by it.
void Player::checkHosted() const {
  for (const Instance &instance : instances) {
    int64_t host = valueOf(instance).host;
    if (host == -1)
      continue;
    int written = kernelCount(), output = -1;
    for (const Instance &other : instances)
      if (other.value == host && other.kernel < written) {
        written = other.kernel;
        output = other.output;
      }
    bool over = instance.lastRead == written && instance.kernel < written &&
                facts[written].inPlace.count({instance.value, output});
    if (instance.lastRead >= written && !over)
      refuse(instance.lastRead, "value " + std::to_string(instance.value) +
                                    " lies in a buffer that is written before "
                                    "it is dead");
  }
}

void Player::checkFits(int k, int64_t offset, int64_t bytes,
                       bool inArena) const {
  bool fits = inArena ? offset >= 0 && offset % 256 == 0 &&
                            bytes <= plan.arenaBytes &&
                            offset <= plan.arenaBytes - bytes
                      : offset == -1;
  if (!fits)
    refuse(k, "offset " + std::to_string(offset) + " is unaligned or outside");
}

void Player::takePlace(int k, int64_t offset, int64_t bytes, int instance) {
  if (bytes == 0)
    return;
  for (const Place &place : places)
    if (offset < place.end && place.begin < offset + bytes)
      refuse(k, "places overlap at offset " + std::to_string(offset));
  places.push_back({offset, offset + bytes, instance});
}

/// Whether the output may be written over the input, which dies there.
bool Player::takesOver(const Instance &output, Instance &input) const {
  return input.lastRead == output.kernel && input.kernel != output.kernel &&
         facts[output.kernel].inPlace.count({input.value, output.output});
}

void Player::checkPlaces(int k) {
  const StepKernel &kernel = plan.kernels[k];
  int64_t workspace = slotBytes(facts[k].workspaceBytes);
  checkFits(k, kernel.workspaceOffset, workspace, workspace != 0);
  std::vector<int> fresh;
  for (size_t i = 0; i < instances.size(); ++i) {
    Instance &output = instances[i];
    if (output.kernel != k)
      continue;
    bool inArena = valueOf(output).home == "arena";
    int64_t bytes = arenaBytes(valueOf(output));
    checkFits(k, offsetOf(output), bytes, inArena);
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
    takePlace(k, offsetOf(instances[i]), arenaBytes(valueOf(instances[i])), i);
  takePlace(k, kernel.workspaceOffset, workspace, -1);
  places.erase(std::remove_if(places.begin(), places.end(),
                              [&](const Place &place) {
                                return place.instance == -1 ||
                                       instances[place.instance].lastRead <= k;
                              }),
               places.end());
}

PlanFacts Player::run() {
  for (int k = 0; k < kernelCount(); ++k)
    play(k);
  checkEnd();
  for (int k = 0; k < kernelCount(); ++k) {
    checkSave(k);
    checkInline(k);
  }
  checkRecompute();
  checkHosted();
  for (int k = 0; k < kernelCount(); ++k)
    checkPlaces(k);
  return result;
}

} // namespace

PlanFacts ckpt::check::replay(const Step &step, const StepPlan &plan) {
  return Player(step, plan).run();
}
