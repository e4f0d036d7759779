//===- Moment.cpp - The cost of any plan when an anchor first runs --------===//

#include "Moment.h"

#include <algorithm>

using namespace ckpt::check;

/// Whether the operand stands in memory when \p op runs.
static bool needsMemory(const StepOp &op, const StepRead &read) {
  return read.need != "inline" || op.kind == "opaque";
}

/// The value, the value that it shows, and so on.
static std::vector<int> formsBelow(const Step &step, int value) {
  std::vector<int> forms = {value};
  while (step.values[value].op != -1 &&
         step.ops[step.values[value].op].isView())
    forms.push_back(value = step.ops[step.values[value].op].reads[0].value);
  return forms;
}

Facts::Facts(const Step &step)
    : step(step), live(step.ops.size()), once(step.ops.size()),
      ownKernel(step.ops.size()), memoryRead(step.values.size()),
      users(step.values.size()), mayReadArena(step.values.size()) {
  std::vector<bool> wanted(step.values.size());
  for (size_t id = 0; id < step.values.size(); ++id)
    wanted[id] = step.values[id].home == "result";
  for (size_t id = step.ops.size(); id-- > 0;) {
    const StepOp &op = step.ops[id];
    once[id] = live[id] = op.once;
    ownKernel[id] = op.isAnchor();
    for (int result : op.results) {
      bool saved = step.values[result].keep == "save";
      once[id] = once[id] || saved;
      ownKernel[id] = ownKernel[id] || saved;
      live[id] = live[id] || wanted[result];
    }
    for (const StepRead &read : op.reads) {
      wanted[read.value] = wanted[read.value] || live[id];
      if (needsMemory(op, read))
        for (int form : formsBelow(step, read.value))
          memoryRead[form] = true;
    }
  }
  for (size_t id = 0; id < step.ops.size(); ++id) {
    const StepOp &op = step.ops[id];
    std::set<int> distinct;
    for (const StepRead &read : op.reads)
      if (live[id] && distinct.insert(read.value).second)
        users[read.value].push_back(static_cast<int>(id));
    bool below = false;
    for (int value : distinct)
      below = below || (!ownKernel[id] && mayReadArena[value]);
    for (int result : op.results)
      mayReadArena[result] =
          below || (step.values[result].home == "arena" &&
                    (ownKernel[id] || once[id] || memoryRead[result]));
  }
}

bool ckpt::check::isMoment(const Facts &facts, MomentName name) {
  auto mustRun = [&](int id) {
    return id >= 0 && id < static_cast<int>(facts.step.ops.size()) &&
           facts.step.ops[id].isAnchor() && facts.live[id];
  };
  return mustRun(name.anchor) && (name.before == -1 || mustRun(name.before)) &&
         (name.after == -1 || mustRun(name.after));
}

Moment::Moment(const Facts &facts, MomentName name)
    : facts(facts), step(facts.step), name(name), ancestor(step.ops.size()),
      future(step.ops.size()), far(step.ops.size()),
      operand(step.values.size()), demanded(step.values.size()) {
  findRelatives();
  countOperands();
  countOutput();
  inputBytes += slotBytes(step.ops[name.anchor].workspaceBytes);
}

void Moment::findRelatives() {
  ancestor[name.anchor] = future[name.anchor] = true;
  if (name.before != -1)
    ancestor[name.before] = true;
  if (name.after != -1)
    future[name.after] = far[name.after] = true;
  for (size_t id = 0; id < step.ops.size(); ++id)
    for (const StepRead &read : step.ops[id].reads) {
      int maker = step.values[read.value].op;
      if (maker == -1 || !future[maker])
        continue;
      future[id] = true;
      far[id] = far[id] || far[maker] ||
                (maker != name.anchor && step.ops[maker].isAnchor());
    }
  for (size_t id = step.ops.size(); id-- > 0;)
    for (const StepRead &read : step.ops[id].reads)
      if (int maker = step.values[read.value].op; ancestor[id] && maker != -1)
        ancestor[maker] = true;
  for (size_t id = 0; id < step.ops.size(); ++id)
    for (const StepRead &read : step.ops[id].reads) {
      int maker = step.values[read.value].op;
      if (future[id] && facts.live[id] && static_cast<int>(id) != name.anchor &&
          maker != -1 && !future[maker])
        demanded[read.value] = true;
    }
}

/// Operands that are views of one value may all be that value, or parts of one
/// of these views.
void Moment::countOperands() {
  const StepOp &op = step.ops[name.anchor];
  std::map<int, int64_t> perBase;
  for (const StepRead &read : op.reads) {
    if (!needsMemory(op, read))
      continue;
    std::vector<int> forms = formsBelow(step, read.value);
    int64_t smallest = INT64_MAX;
    for (int form : forms) {
      operand[form] = true;
      smallest = std::min(smallest, arenaBytes(step.values[form]));
    }
    int64_t &bytes = perBase[forms.back()];
    bytes = std::max(bytes, smallest);
  }
  for (auto [base, bytes] : perBase)
    inputBytes += bytes;
}

bool Moment::isOneToOne(int user, int form) const {
  for (const StepRead &read : step.ops[user].reads)
    if (read.value == form && read.access != "pointwise" &&
        read.access != "reshape" && read.access != "permute")
      return false;
  return true;
}

/// The smallest value that the kernel may write instead of the results, and the
/// values over which it may lie: destinations, and reads of the epilogue.
void Moment::countOutput() {
  const StepOp &op = step.ops[name.anchor];
  for (const StepRead &read : op.reads)
    if (read.destination && facts.mayReadArena[read.value])
      (needsMemory(op, read) ? overOperand : overOther) = true;
  std::vector<int> forms = op.results;
  std::set<int> known(forms.begin(), forms.end());
  int64_t smallest = INT64_MAX;
  for (size_t i = 0; i < forms.size(); ++i) {
    int form = forms[i];
    bool isResult = step.values[form].home == "result";
    if (i < op.results.size() && facts.users[form].empty() && !isResult)
      return;
    smallest = std::min(smallest, arenaBytes(step.values[form]));
    for (int user : facts.users[form]) {
      const StepOp &reader = step.ops[user];
      if (reader.isAnchor() || far[user] || !isOneToOne(user, form))
        continue;
      for (const StepRead &read : reader.reads)
        if (!known.count(read.value) && facts.mayReadArena[read.value])
          overOther = true;
      for (int result : reader.results)
        if (known.insert(result).second)
          forms.push_back(result);
    }
  }
  if (!op.results.empty())
    outputBytes = smallest;
}

static bool isDecided(const Evidence &evidence, int op, bool again) {
  return std::any_of(evidence.decisions.begin(), evidence.decisions.end(),
                     [&](const Decision &decision) {
                       return decision.op == op && decision.again == again;
                     });
}

bool Moment::mayCarryAgain(const Evidence &evidence, int id, int64_t flow,
                           AgainCost cost) const {
  if (flow == 0 || isDecided(evidence, id, false))
    return true;
  const StepOp &op = step.ops[id];
  if (!ancestor[id])
    return false;
  return (facts.once[id] && facts.ownKernel[id]) ||
         (op.isAnchor() && flow <= cost.of(op));
}

/// That every arc exists and carries no more than it may.
bool Moment::checkArcs(const Evidence &evidence, AgainCost cost,
                       Refusal &refusal) const {
  auto check = [&](bool holds, int64_t flow, const std::string &arc) {
    return refusal.require(holds && flow >= 0, "arc '" + arc +
                                                   "' may not carry " +
                                                   std::to_string(flow));
  };
  for (auto [value, flow] : evidence.demand)
    if (!check(demanded[value], flow, "demand " + std::to_string(value)))
      return false;
  for (auto [value, flow] : evidence.keep) {
    int64_t bytes = operand[value] ? 0 : arenaBytes(step.values[value]);
    if (!check(step.values[value].op != -1 &&
                   flow <= Wide(evidence.price) * bytes,
               flow, "keep " + std::to_string(value)))
      return false;
  }
  for (auto [id, flow] : evidence.again)
    if (!check(mayCarryAgain(evidence, id, flow, cost), flow,
               "again " + std::to_string(id)))
      return false;
  for (auto [id, flow] : evidence.force)
    if (!check(isDecided(evidence, id, true), flow,
               "force " + std::to_string(id)))
      return false;
  for (auto [arc, flow] : evidence.needs) {
    bool exists = false;
    for (const StepRead &read : step.ops[arc.first].reads)
      exists = exists ||
               (read.value == arc.second && step.values[read.value].op != -1);
    if (!check(exists, flow,
               "needs " + std::to_string(arc.first) + " " +
                   std::to_string(arc.second)))
      return false;
  }
  return true;
}

bool Moment::checkFlow(const Evidence &evidence, AgainCost cost, Wide &total,
                       Refusal &refusal) const {
  if (!checkArcs(evidence, cost, refusal))
    return false;
  std::map<int, Wide> intoValue, intoOp;
  total = 0;
  for (auto [value, flow] : evidence.demand) {
    intoValue[value] += flow;
    total += flow;
  }
  for (auto [id, flow] : evidence.force) {
    intoOp[id] += flow;
    total += flow;
  }
  for (auto [value, flow] : evidence.keep) {
    intoValue[value] -= flow;
    intoOp[step.values[value].op] += flow;
  }
  for (auto [arc, flow] : evidence.needs) {
    intoOp[arc.first] -= flow;
    intoValue[arc.second] += flow;
  }
  for (auto [id, flow] : evidence.again)
    intoOp[id] -= flow;
  for (auto [value, rest] : intoValue)
    if (rest != 0)
      return refusal.fail("flow is not conserved at value " +
                          std::to_string(value));
  for (auto [id, rest] : intoOp)
    if (rest != 0)
      return refusal.fail("flow is not conserved at op " + std::to_string(id));
  return true;
}
