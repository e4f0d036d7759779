//===- ListScheduler.cpp - Kernels of a schedule --------------------------===//
//
// Writes the kernels of a schedule, root by root. GuideLoop calls it several
// times per round, with and without a limit.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/List/ListScheduler.h"

#include "Plan/Model/Work.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace ckpt::plan;

ListScheduler::ListScheduler(const RematGraph &graph,
                             std::vector<OpId> rootOrder,
                             const CostWeights &weights, KernelCache &kernels)
    : graph(graph), problem(graph.problem), weights(weights), kernels(kernels),
      order(std::move(rootOrder)) {
  again.assign(problem.ops.size(), 0);
  for (size_t op = 0; op < again.size(); ++op)
    if (graph.live[op])
      again[op] = recomputePs(graph, static_cast<OpId>(op), weights);
  opStamp.assign(problem.ops.size(), 0);
  for (auto *perValue : {&valueStamp, &needStamp, &needStep, &keptUntil})
    perValue->assign(problem.values.size(), 0);
  chooseWritten();
  findReady();
  findFolds();
}

//===----------------------------------------------------------------------===//
// Written values and folds
//===----------------------------------------------------------------------===//

void ListScheduler::chooseWritten() {
  written.assign(problem.values.size(), 0);
  for (size_t op = 0; op < problem.ops.size(); ++op)
    for (ValueId value : problem.ops[op].results) {
      written[value] = graph.live[op] && graph.node[value] &&
                       (graph.rooted[op] || graph.memoryRead[value] ||
                        isWorthWriting(value));
      writtenCount += written[value];
    }
}

/// Whether a fusible value that no op needs in memory stands there
/// nevertheless: its readers would read more, or it replaces values that die.
bool ListScheduler::isWorthWriting(ValueId value) const {
  OpId op = problem.values[value].op;
  if (graph.readers[value].empty())
    return false;
  OpId lastReader = graph.readers[value].back();
  int64_t freed = 0;
  for (const Leaf &leaf : graph.leaves[op]) {
    OpId lastOther = none;
    for (OpId reader : graph.readers[leaf.value])
      if (reader != op)
        lastOther = std::max(lastOther, reader);
    if (lastOther < lastReader)
      freed += graph.slot[leaf.value];
  }
  double byte = weights.floorPrice * static_cast<double>(graph.movePs(1));
  return static_cast<double>(again[op]) + byte * static_cast<double>(freed) >
         writePs(graph, value) + byte * static_cast<double>(graph.slot[value]);
}

void ListScheduler::findReady() {
  ready.assign(problem.ops.size(), 0);
  for (size_t i = 0; i < order.size(); ++i)
    if (graph.rooted[order[i]])
      ready[order[i]] = static_cast<int32_t>(i);
  for (size_t op = 0; op < ready.size(); ++op)
    if (!graph.rooted[op])
      for (const Leaf &leaf : graph.leaves[op])
        ready[op] = std::max(ready[op], ready[problem.values[leaf.value].op]);
}

/// Finds the values computed one to one behind an anchor in its kernel, if that
/// spares the anchor's own result a place in memory.
void ListScheduler::findFolds() {
  folds.resize(problem.ops.size());
  for (OpId root : order) {
    const std::vector<ValueId> &results = problem.ops[root].results;
    if (!graph.rooted[root] || results.size() != 1 ||
        problem.ops[root].kind == OpKind::Opaque)
      continue;
    if (graph.foldable[results.front()])
      foldIntoResults(root);
    else
      foldIntoReader(root);
    int32_t last = 0;
    for (OpId op : folds[root].ops)
      last = std::max(last, ready[op]);
    if (last > ready[root])
      folds[root] = Fold();
    findLeaves(root);
  }
}

/// A folded op may read a result that the same kernel writes: an update reads
/// the momentum.
void ListScheduler::findLeaves(OpId root) {
  Fold &fold = folds[root];
  ++stamp;
  opStamp[root] = stamp;
  for (OpId op : fold.ops)
    opStamp[op] = stamp;
  for (OpId op : fold.ops)
    for (const Leaf &leaf : graph.leaves[op])
      if (opStamp[problem.values[leaf.value].op] != stamp)
        fold.leaves.push_back(leaf);
}

void ListScheduler::foldIntoResults(OpId root) {
  Fold &fold = folds[root];
  std::vector<ValueId> work = problem.ops[root].results;
  for (size_t i = 0; i < work.size(); ++i)
    for (OpId user : graph.users[work[i]]) {
      if (std::find(fold.ops.begin(), fold.ops.end(), user) != fold.ops.end())
        continue;
      fold.ops.push_back(user);
      for (ValueId made : problem.ops[user].results) {
        work.push_back(made);
        if (problem.values[made].home == Home::Result)
          fold.outputs.push_back(made);
      }
    }
}

void ListScheduler::foldIntoReader(OpId root) {
  ValueId own = problem.ops[root].results.front();
  const Value &value = problem.values[own];
  if (graph.readers[own].size() != 1 || value.home != Home::Arena ||
      value.keep == Keep::Save)
    return;
  OpId reader = graph.readers[own].front();
  if (graph.rooted[reader] || problem.ops[reader].results.size() != 1 ||
      !written[problem.ops[reader].results.front()])
    return;
  folds[root].ops = {reader};
  folds[root].outputs = problem.ops[reader].results;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The ops of \p kernel: \p seeds and everything between them and memory.
void ListScheduler::collectOps(Kernel &kernel) {
  ++stamp;
  collected.clear();
  found.clear();
  for (OpId seed : seeds)
    opStamp[seed] = stamp;
  while (!seeds.empty()) {
    OpId current = seeds.back();
    seeds.pop_back();
    collected.push_back(current);
    for (const Read &read : problem.ops[current].reads) {
      OpId producer = problem.values[read.value].op;
      if (producer == none || opStamp[producer] == stamp)
        continue;
      if (!resident[read.value]) {
        opStamp[producer] = stamp;
        seeds.push_back(producer);
      } else if (valueStamp[read.value] != stamp) {
        valueStamp[read.value] = stamp;
        found.push_back(read.value);
      }
    }
  }
  std::sort(collected.begin(), collected.end());
  kernel.ops = collected;
}

std::vector<ValueId> ListScheduler::outputsOf(OpId op, ValueId wanted) const {
  std::vector<ValueId> outputs;
  for (ValueId value : problem.ops[op].results) {
    const Value &v = problem.values[value];
    bool isRead = graph.rooted[op] && !graph.users[value].empty();
    if (v.home == Home::Result || isRead || v.keep == Keep::Save ||
        value == wanted)
      outputs.push_back(value);
  }
  if (outputs.empty() && !problem.ops[op].hasEffects)
    outputs.push_back(problem.ops[op].results.front());
  return outputs;
}

/// Writes the fold of \p op instead of its own result.
bool ListScheduler::fold(OpId op, Kernel &kernel) {
  Fold &fold = folds[op];
  if (fold.ops.empty())
    return false;
  seeds = fold.ops;
  seeds.push_back(op);
  collectOps(kernel);
  kernel.outputs = fold.outputs;
  if (fold.checked || kernels.get(kernel).error.empty()) {
    fold.checked = true;
    for (OpId folded : fold.ops)
      done[folded] = 1;
    return true;
  }
  fold = Fold();
  kernel = Kernel();
  return false;
}

/// The first kernel with a backward op may read values of the forward pass;
/// kernels after it make again the values that they have to.
void ListScheduler::beginBackward(const Kernel &kernel) {
  for (OpId op : kernel.ops)
    backwardBegan |= problem.ops[op].backward;
  if (!backwardBegan)
    return;
  for (ValueId value : residents)
    if (problem.values[value].keep == Keep::Recompute &&
        !graph.once[problem.values[value].op])
      drop(value);
}

/// Finds memory for the outputs of \p kernel; values without further readers
/// leave.
void ListScheduler::enter(const Kernel &kernel,
                          const std::vector<ValueId> &reads, int32_t step) {
  if (limited)
    makeRoom(kernel, reads, step);
  if (!backwardBegan)
    beginBackward(kernel);
  for (ValueId value : kernel.outputs) {
    if (!resident[value])
      live += graph.slot[value];
    resident[value] = 1;
    if (!listed[value] && graph.slot[value] > 0) {
      listed[value] = 1;
      residents.push_back(value);
    }
  }
  if (limited) {
    dropDead(reads, step);
    dropDead(kernel.outputs, step);
  }
}

/// Writes one kernel for \p op, of a fusible op for its result \p wanted.
void ListScheduler::emit(OpId op, ValueId wanted, int32_t step) {
  Kernel kernel;
  if (!fold(op, kernel)) {
    seeds.push_back(op);
    collectOps(kernel);
    kernel.outputs = outputsOf(op, wanted);
  }
  done[op] = 1;
  Work::spend(500 + 50 * static_cast<int64_t>(kernel.ops.size()));
  enter(kernel, found, step);
  schedule.place.push_back(place);
  schedule.burst.push_back(now);
  schedule.firstRead.push_back(static_cast<int32_t>(schedule.reads.size()));
  schedule.reads.insert(schedule.reads.end(), found.begin(), found.end());
  schedule.plan.kernels.push_back(std::move(kernel));
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Makes fusible values of a guide that can be made from others that it keeps
/// when they are read. Writes all other values of the guide as soon as
/// possible, while their sources are in memory.
void ListScheduler::placeGuides(const Guides &guides) {
  guided.assign(order.size(), {});
  for (const Guide &guide : guides) {
    std::vector<char> kept(problem.values.size(), 0);
    for (ValueId value : guide.kept)
      kept[value] = 1;
    // Per op: whether its results can be made from the kept values.
    std::vector<char> makeable(problem.ops.size(), 0);
    for (size_t op = 0; op < makeable.size(); ++op) {
      makeable[op] = !graph.rooted[op];
      for (const Leaf &leaf : graph.leaves[op])
        makeable[op] &=
            kept[leaf.value] || makeable[problem.values[leaf.value].op];
    }
    for (ValueId value : guide.kept)
      if (OpId op = problem.values[value].op;
          !graph.rooted[op] && !makeable[op])
        guided[ready[op]].push_back(value);
  }
}

void ListScheduler::start() {
  schedule = Schedule();
  live = 0;
  now = 0;
  scanned = 0;
  ranked.clear();
  backwardBegan = false;
  resident.assign(problem.values.size(), 0);
  listed.assign(problem.values.size(), 0);
  residents.clear();
  done.assign(problem.ops.size(), 0);
  readNow.assign(problem.values.size(), 0);
  isStale = isTooDeep = false;
  depth = 0;
  keptUntil.assign(problem.values.size(), 0);
}

/// Drops everything that the guide does not keep. A value that it keeps and
/// that is not in memory was lost to a lack of room.
void ListScheduler::applyGuide(const Guide &guide) {
  ++stamp;
  for (ValueId value : guide.kept)
    valueStamp[value] = stamp;
  for (ValueId value : residents)
    if (resident[value] && valueStamp[value] != stamp)
      drop(value);
}

/// Whether it exceeds its limit, or makes the same again and again.
bool ListScheduler::isHopeless() const {
  constexpr size_t kernelsPerValue = 3, scansPerValue = 100;
  size_t values = order.size() + writtenCount;
  return isTooDeep || (limited && schedule.peakBytes > cap) ||
         schedule.plan.kernels.size() > kernelsPerValue * values + 100 ||
         scanned > scansPerValue * values + 100000;
}

ListScheduler::Schedule ListScheduler::play(const Guides &guides, size_t end) {
  placeGuides(guides);
  start();
  auto guide = guides.begin();
  for (size_t i = 0; i < end; ++i) {
    place = static_cast<int32_t>(i);
    if (guide != guides.end() && i == guide->at) {
      if (!guide->kept.empty())
        applyGuide(*guide);
      ++guide;
    }
    isStale = false;
    if (!done[order[i]])
      runWithMissing(order[i], none);
    ++now;
    for (ValueId value : guided[i]) {
      isStale = false;
      if (!resident[value])
        runWithMissing(problem.values[value].op, value);
      ++now;
    }
    if (isHopeless())
      return std::move(schedule);
  }
  schedule.firstRead.push_back(static_cast<int32_t>(schedule.reads.size()));
  schedule.complete = true;
  return std::move(schedule);
}

/// Finds the peak of \p played if everything leaves with its last use.
void ListScheduler::measure(Schedule &played) {
  std::vector<int32_t> numbers(played.plan.kernels.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  learnUses(played, numbers);
  start();
  limited = true;
  cap = std::numeric_limits<int64_t>::max();
  ++burstStamp;
  std::vector<ValueId> reads;
  for (int32_t k : numbers) {
    now = k;
    place = played.place[k];
    reads.assign(played.reads.begin() + played.firstRead[k],
                 played.reads.begin() + played.firstRead[k + 1]);
    enter(played.plan.kernels[k], reads, 0);
  }
  played.peakBytes = schedule.peakBytes;
  played.peakAt = schedule.peakAt;
}

ListScheduler::Schedule ListScheduler::run(const Guides &guides) {
  limited = false;
  Schedule played = play(guides, order.size());
  if (played.complete)
    measure(played);
  return played;
}

ListScheduler::Schedule ListScheduler::runWithin(const Guides &guides,
                                                 const Schedule &before,
                                                 int64_t capBytes) {
  limited = true;
  cap = capBytes;
  learnUses(before, before.burst);
  return play(guides, order.size());
}

std::vector<char> ListScheduler::residentsAt(const Guides &guides, size_t at) {
  limited = false;
  play(guides, at);
  return resident;
}

std::vector<ValueId> ListScheduler::keptAcross(const Guide &guide,
                                               const Schedule &schedule,
                                               size_t at) const {
  // Made before and read after.
  std::vector<char> made(problem.values.size(), 0), read = made;
  int32_t first = static_cast<int32_t>(std::min(at, guide.at));
  int32_t last = static_cast<int32_t>(std::max(at, guide.at));
  for (size_t k = 0; k < schedule.plan.kernels.size(); ++k) {
    if (schedule.place[k] <= first)
      for (ValueId value : schedule.plan.kernels[k].outputs)
        made[value] = 1;
    if (schedule.place[k] >= last)
      for (int32_t i = schedule.firstRead[k]; i < schedule.firstRead[k + 1];
           ++i)
        read[schedule.reads[i]] = 1;
  }
  std::vector<ValueId> across;
  for (ValueId value : guide.kept)
    if (made[value] && read[value])
      across.push_back(value);
  return across;
}
