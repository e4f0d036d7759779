//===- PlanText.cpp - Plans as text ---------------------------------------===//
//
// Reads and prints plans of text problems for `ckpt-plan`.
//
//===----------------------------------------------------------------------===//

#include "Plan/IO/PlanLines.h"
#include "ckpt/Plan/Text.h"

using namespace ckpt::plan;

/// `OFFSET`, or `OFFSET/RESULT` in the buffer of a result.
static bool readPlace(std::string_view text, Kernel &kernel) {
  std::vector<std::string_view> parts = split(text, '/');
  if (parts.size() == 2) {
    kernel.hosts.resize(kernel.outputs.size(), none);
    if (!parseInteger(parts[1], kernel.hosts.back()))
      return false;
  }
  return parts.size() <= 2 &&
         parseInteger(parts[0], kernel.offsets.emplace_back());
}

/// `VALUE@PLACE,…` or, without places, `VALUE,…`.
static bool readOutputs(LineReader &reader, std::string_view text,
                        size_t valueCount, Kernel &kernel) {
  for (std::string_view item : split(text, ',')) {
    std::vector<std::string_view> parts = split(item, '@');
    if (parts.size() > 2 ||
        !parseInteger(parts[0], kernel.outputs.emplace_back()) ||
        (parts.size() == 2 && !readPlace(parts[1], kernel)))
      return false;
    ValueId value = kernel.outputs.back();
    if (value < 0 || value >= static_cast<ValueId>(valueCount))
      return reader.fail("value " + std::to_string(value) + " does not exist");
  }
  if (!kernel.hosts.empty())
    kernel.hosts.resize(kernel.outputs.size(), none);
  return kernel.offsets.empty() ||
         kernel.offsets.size() == kernel.outputs.size();
}

static bool readKernel(LineReader &reader, size_t opCount, size_t valueCount,
                       Plan &plan) {
  Kernel kernel;
  for (size_t i = 1; i < reader.words.size(); ++i) {
    const Word &word = reader.words[i];
    bool isList = word.hasValue && !word.quoted && !word.value.empty();
    bool known = number(word, "workspace", kernel.workspaceOffset);
    if (isList && word.key == "ops")
      known = parseList(word.value, kernel.ops);
    else if (isList && word.key == "outputs")
      known = readOutputs(reader, word.value, valueCount, kernel);
    if (!known)
      return reader.failAt(word);
  }
  for (OpId op : kernel.ops)
    if (op < 0 || op >= static_cast<OpId>(opCount))
      return reader.fail("op " + std::to_string(op) + " does not exist");
  plan.kernels.push_back(std::move(kernel));
  return true;
}

bool ckpt::plan::readPlanLine(LineReader &reader, size_t opCount,
                              size_t valueCount, Plan &plan) {
  if (flag(reader.words[0], "kernel"))
    return readKernel(reader, opCount, valueCount, plan);
  return reader.words.size() == 1 &&
         number(reader.words[0], "arena", plan.arenaBytes);
}

void ckpt::plan::printKernel(const Kernel &kernel, std::ostream &os) {
  os << "kernel";
  printList(" ops=", kernel.ops, os, [&](size_t i) { os << kernel.ops[i]; });
  printList(" outputs=", kernel.outputs, os, [&](size_t i) {
    os << kernel.outputs[i];
    if (!kernel.offsets.empty())
      os << '@' << kernel.offsets[i];
    if (kernel.hostOf(i) != none)
      os << '/' << kernel.hostOf(i);
  });
  if (kernel.workspaceOffset != -1)
    os << " workspace=" << kernel.workspaceOffset;
}

bool ckpt::plan::parsePlan(std::string_view text, const Problem &problem,
                           Plan &plan, std::string &error) {
  plan = Plan();
  error.clear();
  LineReader reader(text, error);
  while (reader.nextLine())
    if (!readPlanLine(reader, problem.ops.size(), problem.values.size(), plan))
      return reader.fail("expected 'arena=' or 'kernel', but got " +
                         quote(reader.words[0].key));
  return !reader.failed();
}

void ckpt::plan::printPlan(const Plan &plan, std::ostream &os) {
  if (plan.arenaBytes)
    os << "arena=" << plan.arenaBytes << '\n';
  for (const Kernel &kernel : plan.kernels) {
    printKernel(kernel, os);
    os << '\n';
  }
}
