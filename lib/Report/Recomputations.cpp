//===- Recomputations.cpp - Remats, and the memory that they free ---------===//

#include "Schedule.h"

#include <algorithm>

using namespace ckpt;
using namespace ckpt::plan::report;

namespace {
/// Walks the kernels of a plan once, in order.
class Walk {
public:
  Walk(const plan::Problem &problem, const plan::Solution &solution)
      : problem(problem), solution(solution), lastRun(problem.ops.size(), -1),
        lastStood(problem.values.size(), -1),
        written(solution.plan.kernels.size()) {
    for (const plan::Instance &instance : solution.verdict.instances)
      written[instance.kernel].push_back(&instance);
  }

  std::vector<Recomputation> run(std::vector<ReportKernel> &kernels);

private:
  Repeats visit(int32_t number);
  void add(plan::ValueId value, int32_t kernel, int64_t flops);

  const plan::Problem &problem;
  const plan::Solution &solution;
  /// The last kernel so far that ran an op, and in which a value stood.
  std::vector<int32_t> lastRun, lastStood;
  std::vector<std::vector<const plan::Instance *>> written;
  std::vector<Recomputation> found;
};
} // namespace

/// From the last kernel that read or made \p value on it stood nowhere.
void Walk::add(plan::ValueId id, int32_t kernel, int64_t flops) {
  const plan::Value &value = problem.values[id];
  Recomputation again;
  again.value = id;
  again.kernel = kernel;
  again.flops = flops;
  if (value.home == plan::Home::Arena)
    again.bytes = plan::slotBytes(value.bytes);
  again.freedFirst = std::max(lastRun[value.op], lastStood[id]) + 1;
  again.freedLast = kernel - 1;
  found.push_back(again);
}

Repeats Walk::visit(int32_t number) {
  const plan::Kernel &kernel = solution.plan.kernels[number];
  size_t repeated = 0;
  std::vector<plan::OpId> named;
  for (plan::OpId op : kernel.ops) {
    if (lastRun[op] < 0)
      continue;
    ++repeated;
    const plan::Op &each = problem.ops[op];
    if (!plan::isAnchor(each) || each.results.empty())
      continue;
    add(each.results.front(), number, each.flops);
    named.push_back(op);
  }
  for (const plan::Instance *instance : written[number]) {
    plan::OpId op = problem.values[instance->value].op;
    if (instance->recomputed &&
        std::find(named.begin(), named.end(), op) == named.end())
      add(instance->value, number, 0);
  }
  for (plan::OpId op : kernel.ops)
    lastRun[op] = number;
  for (const plan::Instance *instance : written[number])
    lastStood[instance->value] = instance->lastRead;
  return repeated == 0                   ? Repeats::None
         : repeated == kernel.ops.size() ? Repeats::All
                                         : Repeats::Some;
}

std::vector<Recomputation> Walk::run(std::vector<ReportKernel> &kernels) {
  for (size_t i = 0; i < kernels.size(); ++i)
    kernels[i].repeats = visit(static_cast<int32_t>(i));
  return std::move(found);
}

std::vector<Recomputation>
ckpt::plan::report::findRecomputations(const plan::Problem &problem,
                                       const plan::Solution &solution,
                                       std::vector<ReportKernel> &kernels) {
  return Walk(problem, solution).run(kernels);
}
