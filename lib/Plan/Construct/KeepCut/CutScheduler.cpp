//===- CutScheduler.cpp - The walk from root to root ----------------------===//
//
// For each root: a snapshot, then the operands that are missing one by one, a
// snapshot after each, and the root. The snapshot writes the values that it
// keeps and that are not in memory, and drops the values that it does not keep.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/CutScheduler.h"

#include "Plan/Model/Work.h"

#include <algorithm>
#include <utility>

using namespace ckpt::plan;

CutScheduler::CutScheduler(const RematGraph &graph)
    : state(graph), missing(state), picker(state, missing),
      demand(state, missing), cut(state, demand) {}

void CutScheduler::start(const CutOptions &options) {
  state.start(options);
  cut.start();
  missing.begin(none);
}

/// Bytes for the values that stand in memory while the next kernel runs, beyond
/// the values that it writes itself.
int64_t CutScheduler::roomFor(const std::vector<ValueId> &pending,
                              OpId root) const {
  const CutOptions &options = state.options;
  int64_t room = options.capBytes - demand.kernelBytes(pending, root);
  auto isContraction = [&](ValueId value) {
    OpId op = state.makerOf(value);
    return state.graph.problem.ops[op].kind == OpKind::Contraction;
  };
  if (std::any_of(pending.begin(), pending.end(), isContraction))
    room -= static_cast<int64_t>(options.reserve *
                                 static_cast<double>(options.capBytes));
  return room - cut.bytesBeforeBorder();
}

/// Solves the snapshot before \p root, for which \p pending is to be made, and
/// follows its answer.
void CutScheduler::settle(const std::vector<ValueId> &pending, OpId root) {
  demand.collect(pending, root, /*allAtHand=*/false);
  cut.build(/*allAtHand=*/false);
  Work::spend(200 * static_cast<int64_t>(cut.values().size()) +
              20 * static_cast<int64_t>(state.remaining.size()));
  cut.choose(roomFor(pending, root));
  makeKept();
  dropOthers();
}

/// Writes the values that the cut keeps and that are not in memory.
void CutScheduler::makeKept() {
  std::vector<ValueId> make;
  for (ValueId value : cut.values())
    if (cut.isKept(value) && cut.isMakeable(value))
      make.push_back(value);
  for (ValueId value : make) {
    if (state.resident[value])
      continue;
    for (ValueId operand : missing.of(state.makerOf(value)))
      state.emitValue(operand);
    state.emitValue(value);
  }
}

void CutScheduler::dropOthers() {
  for (size_t i = 0; i < state.resident.size(); ++i) {
    auto value = static_cast<ValueId>(i);
    bool isResult = state.graph.problem.values[value].home == Home::Result;
    if (!state.resident[value] || isResult || demand.isPinned(value))
      continue;
    bool isNode = cut.has(value);
    bool isEarly = isNode && !state.borderCrossed && demand.isEarly(value);
    if (cut.isKept(value) || isEarly)
      continue;
    state.drop(value);
    if (isNode)
      cut.noteDrop(value);
  }
}

/// Whether the walk gives up: its time is over, it recomputes far more than any
/// plan worth having, or it has no room again and again.
bool CutScheduler::isHopeless() const {
  const CutOptions &options = state.options;
  if (options.deadline.isOver() || (options.cutoff && options.cutoff->isOver()))
    return true;
  // Kernels per root, and per kernel that writes a value for the first time.
  constexpr size_t kernelsPerNew = 2;
  size_t roots = state.graph.roots.size();
  size_t expected = std::max(roots, state.newKernels);
  return state.schedule.plan.kernels.size() > kernelsPerNew * expected + 100 ||
         cut.numOverfull() > roots + 100 ||
         state.extraFlops > options.mostExtraFlops;
}

/// Makes the missing operands of \p root and runs it. Returns false if the walk
/// gives up.
bool CutScheduler::runRoot(OpId root) {
  state.turn = root;
  std::vector<ValueId> planned = missing.of(root);
  settle(planned, root);
  // A snapshot may write missing operands; then the root itself still needs
  // room.
  for (std::vector<ValueId> next = missing.of(root);
       !next.empty() || !planned.empty(); next = missing.of(root)) {
    if (!next.empty()) {
      missing.begin(missing.firstRead(root, next));
      state.emitValue(next.front());
    }
    if (isHopeless())
      return false;
    planned = missing.of(root);
    settle(planned, root);
  }
  missing.begin(none);
  if (!state.done[root])
    state.emitRoot(root);
  return state.remaining.empty() || !isHopeless();
}

CutSchedule CutScheduler::run(const CutOptions &options) {
  start(options);
  for (OpId root = picker.pick(); root != none; root = picker.pick())
    if (!runRoot(root))
      return std::move(state.schedule);
  state.schedule.complete = state.remaining.empty();
  return std::move(state.schedule);
}

Guide CutScheduler::makeGuide(const CutOptions &options,
                              const std::vector<OpId> &order, OpId until) {
  start(options);
  auto place = std::find(order.begin(), order.end(), until);
  while (state.held[*place] && place + 1 != order.end())
    ++place;
  Guide guide;
  guide.until = *place;
  guide.before.assign(state.graph.problem.ops.size(), 0);
  for (OpId op : order) {
    if (op == guide.until)
      break;
    if (state.held[op])
      continue;
    guide.before[op] = 1;
    state.assumeRun(op);
  }
  state.borderCrossed = true;
  demand.collect({}, guide.until, /*allAtHand=*/true);
  cut.build(/*allAtHand=*/true);
  int64_t room = options.capBytes - demand.kernelBytes({}, guide.until);
  cut.choose(room -
             static_cast<int64_t>(options.reserve *
                                  static_cast<double>(options.capBytes)));
  for (ValueId value : cut.values())
    if (cut.isKept(value))
      guide.kept.push_back(value);
  return guide;
}
