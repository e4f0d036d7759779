//===- Step.cpp - Reads the text of a step and of a plan ------------------===//

#include "Step.h"

#include "Words.h"

#include <algorithm>

using namespace ckpt::check;

namespace {

class StepReader : WordReader {
public:
  StepReader(Step &step, Refusal &refusal) : WordReader(refusal), step(step) {}
  bool readLine(std::string_view line);

private:
  bool readRead(const std::string &text, StepRead &read);
  bool readValueProperty(const Word &word, StepValue &value);
  bool readRegion();
  bool readValue();
  bool readOpProperty(const Word &word, StepOp &op);
  bool readOp();

  Step &step;
};

class PlanReader : WordReader {
public:
  PlanReader(const Step &step, StepPlan &plan, Refusal &refusal)
      : WordReader(refusal), step(step), plan(plan) {}
  bool readLine(std::string_view line);

private:
  bool readOutputs(const std::string &text, StepKernel &kernel);
  bool readKernel(StepKernel &kernel);

  const Step &step;
  StepPlan &plan;
};

bool StepReader::readRead(const std::string &text, StepRead &read) {
  static const std::set<std::string> accesses = {
      "pointwise", "reshape", "permute", "stretch", "aligned", "gather", "any"};
  std::vector<std::string> parts = split(text, ':');
  if (!index(parts[0], step.values.size(), read.value))
    return false;
  for (size_t i = 1; i < parts.size(); ++i)
    if (parts[i] == "destination")
      read.destination = true;
    else if (accesses.count(parts[i]))
      read.access = parts[i];
    else if (!oneOf(parts[i], {"inline", "memory", "contiguous"}, read.need))
      return false;
  return true;
}

bool StepReader::readValueProperty(const Word &word, StepValue &value) {
  if (word.key == "name")
    return name(word, value.name);
  if (word.key == "home")
    return isPlain(word) &&
           oneOf(word.value, {"arena", "argument", "result", "hosted"},
                 value.home);
  if (word.key == "keep")
    return isPlain(word) &&
           oneOf(word.value, {"free", "save", "recompute", "inline"},
                 value.keep);
  for (auto [key, number] :
       {std::pair("bytes", &value.bytes),
        std::pair("elements", &value.elements),
        std::pair("shape", &value.shape), std::pair("host", &value.host),
        std::pair("same", &value.same)})
    if (word.key == key)
      return integer(word, *number);
  return unknown(word);
}

bool StepReader::readValue() {
  std::string expected = std::to_string(step.values.size());
  if (words.size() < 2 || words[1].hasValue || words[1].key != expected)
    return refusal.fail("expected value " + expected);
  StepValue value;
  for (size_t i = 2; i < words.size(); ++i)
    if (!readValueProperty(words[i], value))
      return false;
  step.values.push_back(value);
  return true;
}

bool StepReader::readOpProperty(const Word &word, StepOp &op) {
  for (auto [key, flag] :
       {std::pair("once", &op.once), std::pair("effects", &op.effects),
        std::pair("backward", &op.backward)})
    if (word.key == key && !word.hasValue)
      return *flag = true;
  for (auto [key, number] :
       {std::pair("flops", &op.flops), std::pair("compute", &op.computePs),
        std::pair("workspace", &op.workspaceBytes),
        std::pair("layer", &op.layer)})
    if (word.key == key)
      return integer(word, *number);
  if (word.key == "name")
    return name(word, op.name);
  if (word.key == "results")
    return indices(word, step.values.size(), op.results);
  if (word.key != "reads" || !isPlain(word))
    return unknown(word);
  for (const std::string &part : split(word.value, ','))
    if (!readRead(part, op.reads.emplace_back()))
      return false;
  return true;
}

bool StepReader::readOp() {
  std::string expected = std::to_string(step.ops.size());
  if (words.size() < 3 || words[1].hasValue || words[2].hasValue ||
      words[1].key != expected)
    return refusal.fail("expected op " + expected + " and its kind");
  StepOp op;
  if (!oneOf(words[2].key,
             {"fusible", "view", "contraction", "reduction", "opaque"},
             op.kind))
    return false;
  for (size_t i = 3; i < words.size(); ++i)
    if (!readOpProperty(words[i], op))
      return false;
  for (int result : op.results) {
    if (step.values[result].op != -1)
      return refusal.fail("value " + std::to_string(result) + " is made twice");
    step.values[result].op = static_cast<int>(step.ops.size());
  }
  step.ops.push_back(op);
  return true;
}

bool StepReader::readRegion() {
  StepRegion region;
  if (!name(words[0], region.name))
    return false;
  // Layers stand before the regions that hold them.
  for (size_t i = 1; i < words.size(); ++i)
    if (words[i].key == "budget" ? !integer(words[i], region.budget)
        : words[i].key == "layers"
            ? !indices(words[i], step.layers, region.layers)
            : !unknown(words[i]))
      return false;
  step.regions.push_back(region);
  return true;
}

bool StepReader::readLine(std::string_view line) {
  if (!splitLine(line))
    return false;
  if (words.empty())
    return true;
  const Word &first = words[0];
  if (first.key == "value" && !first.hasValue)
    return readValue();
  if (first.key == "op" && !first.hasValue)
    return readOp();
  if (first.key == "region" && first.hasValue)
    return readRegion();
  if (words.size() != 1)
    return unknown(words[1]);
  if (first.key == "bandwidth")
    return integer(first, step.bytesPerMicrosecond);
  if (first.key == "launch")
    return integer(first, step.launchNs);
  if (first.key == "no-takeovers" && !first.hasValue) {
    step.takesOver = false;
    return true;
  }
  if (first.key == "scratch-in-results" && !first.hasValue) {
    step.scratchInResults = true;
    return true;
  }
  std::string layer;
  ++step.layers;
  return first.key == "layer" ? name(first, layer) : unknown(first);
}

bool PlanReader::readOutputs(const std::string &text, StepKernel &kernel) {
  for (const std::string &part : split(text, ',')) {
    std::vector<std::string> place = split(part, '@');
    std::vector<std::string> at =
        place.size() == 2 ? split(place[1], '/') : std::vector<std::string>();
    if (at.empty() || at.size() > 2)
      return refusal.fail("expected VALUE@OFFSET, but got '" + part + "'");
    kernel.hosts.push_back(-1);
    if (!index(place[0], step.values.size(), kernel.outputs.emplace_back()) ||
        !integer(at[0], kernel.offsets.emplace_back()) ||
        (at.size() == 2 && !integer(at[1], kernel.hosts.back())))
      return false;
  }
  return true;
}

bool PlanReader::readKernel(StepKernel &kernel) {
  std::set<std::string> seen;
  for (size_t i = 1; i < words.size(); ++i) {
    const Word &word = words[i];
    if (!isPlain(word) || !refusal.require(seen.insert(word.key).second,
                                           "'" + word.key + "' stands twice"))
      return false;
    bool isRead = word.key == "ops" ? indices(word, step.ops.size(), kernel.ops)
                  : word.key == "outputs" ? readOutputs(word.value, kernel)
                  : word.key == "workspace"
                      ? integer(word, kernel.workspaceOffset)
                      : unknown(word);
    if (!isRead)
      return false;
  }
  return true;
}

bool PlanReader::readLine(std::string_view line) {
  if (!splitLine(line))
    return false;
  if (words.size() == 1 && words[0].key == "arena")
    return integer(words[0], plan.arenaBytes) &&
           refusal.require(plan.arenaBytes >= 0, "the arena is negative");
  if (words.empty() || words[0].key != "kernel" || words[0].hasValue)
    return refusal.fail("expected 'arena=' or 'kernel'");
  return readKernel(plan.kernels.emplace_back());
}

} // namespace

bool ckpt::check::parseStep(std::string_view text, Step &step,
                            Refusal &refusal) {
  StepReader reader(step, refusal);
  for (size_t line = 1; !text.empty(); ++line) {
    size_t end = std::min(text.find('\n'), text.size());
    if (!reader.readLine(text.substr(0, end)))
      return refusal.failIn("line " + std::to_string(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return checkStep(step, refusal);
}

bool ckpt::check::parsePlan(const std::vector<std::string> &lines,
                            const Step &step, StepPlan &plan,
                            Refusal &refusal) {
  PlanReader reader(step, plan, refusal);
  for (size_t i = 0; i < lines.size(); ++i)
    if (!reader.readLine(lines[i]))
      return refusal.failIn("line " + std::to_string(i + 1) + " of the plan");
  return true;
}
