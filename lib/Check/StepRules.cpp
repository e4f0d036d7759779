//===- StepRules.cpp - The rules of a step, and its fingerprint -----------===//
//
// All other files of the checker rely on these rules: they use indices without
// a second look and sums in 64 bits.
//
//===----------------------------------------------------------------------===//

#include "Step.h"

#include <utility>

using namespace ckpt::check;

namespace {

/// Room for the sum over a step of any one figure.
constexpr int64_t sumLimit = INT64_MAX / 4;

class Rules {
public:
  Rules(const Step &step, Refusal &refusal) : step(step), refusal(refusal) {}
  bool run();

private:
  bool require(bool holds, const std::string &what) {
    return refusal.require(holds, what);
  }
  bool addTo(int64_t &sum, int64_t amount, const std::string &what) {
    if (amount < 0 || amount > sumLimit - sum)
      return refusal.fail(what + " is negative or too large");
    sum += amount;
    return true;
  }
  bool checkValue(int id);
  bool checkSums(const StepValue &value);
  bool checkRead(int id, const StepRead &read);
  bool checkOp(int id);
  bool checkGuests();

  const Step &step;
  Refusal &refusal;
  int64_t bytes = 0, elements = 0, flops = 0, compute = 0, workspace = 0;
  std::map<int64_t, int64_t> elementsOf;
};

bool sameElements(const StepValue &left, const StepValue &right) {
  return left.bytes == right.bytes && left.elements == right.elements;
}

bool Rules::checkSums(const StepValue &value) {
  return require(value.bytes >= 0 && value.bytes <= sumLimit,
                 "a size is too large") &&
         addTo(bytes, slotBytes(value.bytes), "the sum of sizes") &&
         addTo(elements, value.elements, "the number of elements") &&
         require(
             elementsOf.emplace(value.shape, value.elements).first->second ==
                 value.elements,
             "a shape has two numbers of elements");
}

bool Rules::checkValue(int id) {
  const StepValue &value = step.values[id];
  std::string name = "value " + std::to_string(id);
  int64_t size = step.values.size();
  if (!checkSums(value) ||
      !require((value.op == -1) == (value.home == "argument"),
               name + " is an argument with a producer or lacks one") ||
      !require(value.shape >= 0 && value.shape <= INT32_MAX,
               name + " has no valid shape") ||
      !require(value.home == "result" ||
                   (value.home == "hosted") == (value.host != -1),
               name + " is hosted by no value or has a host and another home"))
    return false;
  if (value.host != -1) {
    if (!require(value.host >= 0 && value.host < size,
                 name + " has no such host"))
      return false;
    const StepValue &host = step.values[value.host];
    bool isLater = host.home == "result" && host.host == -1 &&
                   host.op > value.op && sameElements(value, host);
    bool isDonated = host.home == "argument" && host.bytes == value.bytes;
    if (!require(value.home == "result" ? isDonated : isLater,
                 name + " has a host that is no later result, or no argument, "
                        "as large"))
      return false;
  }
  return value.same == -1 ||
         require(value.same >= 0 && value.same < size && value.op != -1 &&
                     step.ops[value.op].isView() &&
                     step.values[value.same].op < value.op &&
                     sameElements(value, step.values[value.same]),
                 name + " is not the same as an earlier value");
}

bool Rules::checkRead(int id, const StepRead &read) {
  const StepOp &op = step.ops[id];
  const StepValue &source = step.values[read.value];
  std::string name = "op " + std::to_string(id);
  bool viewOnly = read.access == "reshape" || read.access == "permute";
  bool stretch = read.access == "stretch";
  if (!require(source.op < id, name + " reads a value before it is made") ||
      !require(!(viewOnly || stretch) || op.isView(),
               name + " has an access that only views have"))
    return false;
  for (int result : op.results) {
    const StepValue &target = step.values[result];
    if (!require(op.isAnchor() || read.access != "pointwise" ||
                     source.shape == target.shape,
                 name + " reads another shape point by point") ||
        !require(!stretch || source.elements >= target.elements,
                 name + " shows a stretch that is longer than its source") ||
        !require(!viewOnly || source.elements == target.elements,
                 name +
                     " has a one-to-one access to another number of elements"))
      return false;
  }
  return true;
}

bool Rules::checkOp(int id) {
  const StepOp &op = step.ops[id];
  std::string name = "op " + std::to_string(id);
  for (const StepRead &read : op.reads)
    if (!checkRead(id, read))
      return false;
  if (!require(!op.isView() || (op.reads.size() == 1 && op.results.size() == 1),
               name + " is a view without one read and one result") ||
      !require(op.isAnchor() || !op.results.empty(), name + " has no result"))
    return false;
  for (int result : op.results)
    if (!require(op.isAnchor() || step.values[result].shape ==
                                      step.values[op.results[0]].shape,
                 name + " has results of several shapes"))
      return false;
  return require(!op.effects || (op.kind == "opaque" && op.once),
                 name + " has effects, but is not an opaque op that runs "
                        "once") &&
         require(op.layer >= -1 && op.layer < step.layers,
                 name + " has no such layer") &&
         addTo(flops, op.flops, "the work") &&
         addTo(compute, op.computePs, "the time of arithmetic") &&
         require(op.workspaceBytes <= sumLimit, "a workspace is too large") &&
         addTo(workspace, op.workspaceBytes, "the workspace");
}

/// Each of several values in the buffer of one result is read only by the op
/// that makes the next one.
bool Rules::checkGuests() {
  std::map<int64_t, int> last;
  std::map<int, int> nextMaker;
  for (size_t id = 0; id < step.ops.size(); ++id)
    for (int result : step.ops[id].results) {
      int64_t host = step.values[result].host;
      if (host == -1)
        continue;
      auto [there, isFirst] = last.try_emplace(host, result);
      if (!isFirst)
        nextMaker[std::exchange(there->second, result)] = static_cast<int>(id);
    }
  for (size_t id = 0; id < step.ops.size(); ++id)
    for (const StepRead &read : step.ops[id].reads) {
      auto maker = nextMaker.find(static_cast<int>(read.value));
      if (!require(maker == nextMaker.end() ||
                       maker->second == static_cast<int>(id),
                   "value " + std::to_string(read.value) +
                       " is not only read to make the next value in its "
                       "buffer"))
        return false;
    }
  return true;
}

bool Rules::run() {
  if (!require(step.bytesPerMicrosecond > 0, "the bandwidth is not positive") ||
      !require(step.launchNs >= 0 && step.launchNs <= sumLimit / 1000,
               "the launch time is out of range"))
    return false;
  for (const StepRegion &region : step.regions)
    if (!require(region.budget > 0 && !region.layers.empty(),
                 "a region has no budget or no layers"))
      return false;
  for (size_t id = 0; id < step.values.size(); ++id)
    if (!checkValue(static_cast<int>(id)))
      return false;
  for (size_t id = 0; id < step.ops.size(); ++id)
    if (!checkOp(static_cast<int>(id)))
      return false;
  return checkGuests();
}

} // namespace

bool ckpt::check::checkStep(const Step &step, Refusal &refusal) {
  return Rules(step, refusal).run();
}

/// The words of the text form, names apart, and layers where no region holds
/// them.
static std::string wordsOf(const Step &step) {
  std::string text = "bandwidth=" + std::to_string(step.bytesPerMicrosecond) +
                     " launch=" + std::to_string(step.launchNs) + " " +
                     (step.takesOver ? "" : "no-takeovers ") +
                     (step.scratchInResults ? "scratch-in-results " : "");
  auto add = [&](const char *key, int64_t number, int64_t unless) {
    if (number != unless)
      text += key + std::to_string(number) + " ";
  };
  for (const StepRegion &region : step.regions) {
    text += "region=\"\" budget=" + std::to_string(region.budget);
    std::string before = " layers=";
    for (int layer : region.layers) {
      text += before + std::to_string(layer);
      before = ",";
    }
    text += " ";
  }
  for (size_t id = 0; id < step.values.size(); ++id) {
    const StepValue &value = step.values[id];
    add("value ", id, -1);
    add("bytes=", value.bytes, -1);
    add("elements=", value.elements, -1);
    add("shape=", value.shape, -1);
    text += value.home == "arena" ? "" : "home=" + value.home + " ";
    add("host=", value.host, -1);
    add("same=", value.same, -1);
    text += value.keep == "free" ? "" : "keep=" + value.keep + " ";
  }
  for (size_t id = 0; id < step.ops.size(); ++id) {
    const StepOp &op = step.ops[id];
    add("op ", id, -1);
    text += op.kind;
    std::string before = " reads=";
    for (const StepRead &read : op.reads) {
      text += before + std::to_string(read.value) + ":" + read.access;
      text += read.need == "inline" ? "" : ":" + read.need;
      text += read.destination ? ":destination" : "";
      before = ",";
    }
    before = " results=";
    for (int result : op.results) {
      text += before + std::to_string(result);
      before = ",";
    }
    text += " ";
    add("flops=", op.flops, 0);
    add("compute=", op.computePs, 0);
    add("workspace=", op.workspaceBytes, 0);
    text += op.once ? "once " : "";
    text += op.effects ? "effects " : "";
    text += op.backward ? "backward " : "";
    add("layer=", step.regions.empty() ? -1 : op.layer, -1);
  }
  return text;
}

std::string ckpt::check::fingerprint(const Step &step) {
  uint64_t hash = 14695981039346656037u;
  for (char c : wordsOf(step))
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::string text(16, '0');
  for (int digit = 15; digit >= 0; --digit, hash /= 16)
    text[digit] = "0123456789abcdef"[hash % 16];
  return text;
}
