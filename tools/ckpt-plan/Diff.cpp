//===- Diff.cpp - The changes between two plan files ----------------------===//
//
// For reviews and for CI: figures side by side, then every op with another
// decision. The programs may differ; the tool finds an op by its name and by
// the number of ops of that name before it.
//
//===----------------------------------------------------------------------===//

#include "Tool.h"
#include "ckpt/Plan/PlanFile.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <iostream>

using namespace ckpt::plan;
using namespace ckpt::plan::tool;

namespace {

class Diff {
public:
  Diff(const PlanFile &before, const PlanFile &after)
      : before(before), after(after) {}

  void print();

private:
  void printFigures() const;
  void matchOps();
  void printList(const std::string &title,
                 const std::vector<std::string> &names) const;

  const PlanFile &before, &after;
  /// Names of ops, by the former and the present decision.
  std::array<std::array<std::vector<std::string>, 3>, 3> changed;
  std::vector<std::string> added, removed;
};

/// Ops by name and by their place among the ops of that name.
using OpKey = std::pair<std::string, int64_t>;

std::map<OpKey, PlannedAs> opsByName(const PlanFile &file,
                                     std::vector<OpKey> &order) {
  std::map<std::string, int64_t> count;
  std::map<OpKey, PlannedAs> ops;
  for (const PlannedOp &op : file.ops) {
    order.push_back({op.name, count[op.name]++});
    ops[order.back()] = op.as;
  }
  return ops;
}

void printFigure(const char *what, int64_t before, int64_t after,
                 const char *unit) {
  std::cout << what << formatCount(before) << " -> " << formatCount(after)
            << unit;
  if (before > 0 && before != after) {
    char share[32];
    std::snprintf(share, sizeof share, " (%+.2f %%)",
                  100.0 * (double(after) / double(before) - 1));
    std::cout << share;
  }
  std::cout << "\n";
}

} // namespace

void Diff::printFigures() const {
  printFigure("arena        ", before.plan.arenaBytes, after.plan.arenaBytes,
              " bytes");
  printFigure("time         ", before.timeNs, after.timeNs, " ns");
  printFigure("extra flops  ", before.extraFlops, after.extraFlops, "");
  printFigure("kernels      ", before.plan.kernels.size(),
              after.plan.kernels.size(), "");
  printFigure("ops          ", before.ops.size(), after.ops.size(), "");
}

void Diff::matchOps() {
  std::vector<OpKey> orderBefore, orderAfter;
  std::map<OpKey, PlannedAs> opsBefore = opsByName(before, orderBefore);
  std::map<OpKey, PlannedAs> opsAfter = opsByName(after, orderAfter);
  for (const OpKey &key : orderAfter) {
    auto old = opsBefore.find(key);
    if (old == opsBefore.end())
      added.push_back(key.first);
    else if (PlannedAs now = opsAfter[key]; now != old->second)
      changed[size_t(old->second)][size_t(now)].push_back(key.first);
  }
  for (const OpKey &key : orderBefore)
    if (!opsAfter.count(key))
      removed.push_back(key.first);
}

void Diff::printList(const std::string &title,
                     const std::vector<std::string> &names) const {
  if (names.empty())
    return;
  std::cout << "\n" << title << ": " << names.size() << "\n";
  for (const std::string &name : names)
    std::cout << "  " << name << "\n";
}

void Diff::print() {
  printFigures();
  matchOps();
  for (size_t now = 0; now < 3; ++now)
    for (size_t old = 0; old < 3; ++old)
      printList("now " + std::string(describe(PlannedAs(now))) + ", was " +
                    std::string(describe(PlannedAs(old))),
                changed[old][now]);
  printList("new ops", added);
  printList("ops that are gone", removed);
}

static bool readPlanFile(const std::string &path, PlanFile &file) {
  std::string text, error;
  return readFile(path, text) &&
         (parsePlanFile(text, file, error) || fail(path, error));
}

/// Whether the arena grew by no more than the option `max-growth` allows.
static bool checkGrowth(const Arguments &arguments, const PlanFile &before,
                        const PlanFile &after) {
  if (!arguments.has("max-growth"))
    return true;
  std::string text = arguments.value("max-growth"), error;
  Budget growth;
  bool isShare = text == "0%" || (parseBudget(text, growth, error) &&
                                  growth.partsPerMillion > 0);
  if (!isShare)
    return fail("ckpt-plan", "expected a share such as 2% for '--max-growth', "
                             "but got '" +
                                 text + "'");
  int64_t allowed =
      before.plan.arenaBytes +
      (growth.partsPerMillion ? growth.resolve(before.plan.arenaBytes) : 0);
  if (after.plan.arenaBytes <= allowed)
    return true;
  return fail(arguments.file,
              "the arena takes " + formatCount(after.plan.arenaBytes) +
                  " bytes; at most " + text + " more than the " +
                  formatCount(before.plan.arenaBytes) + " bytes of " +
                  arguments.value("diff") + " are allowed, " +
                  formatCount(allowed) + " bytes");
}

bool tool::diffMode(const Arguments &arguments) {
  PlanFile before, after;
  if (!readPlanFile(arguments.value("diff"), before) ||
      !readPlanFile(arguments.file, after))
    return false;
  Diff(before, after).print();
  std::cout << std::flush;
  return checkGrowth(arguments, before, after);
}
