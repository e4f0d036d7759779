//===- PlanState.cpp - A plan under edits, with its figures ---------------===//
//
// The live bytes of a place are the slots of the instances that stand there,
// less the slots that outputs of its kernel take over from dying inputs, with
// the workspace. A change of kernels concerns the instances of their values,
// and the take-overs of kernels where these instances begin or end.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/PlanState.h"

#include "Plan/Model/PlanEdit.h"
#include "Plan/Model/Work.h"

#include <algorithm>
#include <iterator>

using namespace ckpt::plan;

/// Keeps empty places below every limit.
static constexpr int64_t ofEmptyPlace = -(int64_t{1} << 60);

PlanState::PlanState(const Problem &problem, Plan plan, KernelCache &kernels)
    : problem(problem), kernels(kernels), list(std::move(plan.kernels)),
      takenBytes(list.size(), 0), runs(problem.ops.size(), 0), lives(problem) {
  for (int32_t place = 0; place < size(); ++place) {
    infos.push_back(&infoOf(list[place]));
    count(place, 1);
    lives.enter(place, list[place], *infos[place]);
  }
  for (size_t value = 0; value < problem.values.size(); ++value)
    unmadeReads += lives.unmadeReads(static_cast<ValueId>(value));
  for (int32_t place = 0; place < size(); ++place)
    takenBytes[place] = takenOver(place);
  rebuild();
}

Plan PlanState::plan() const {
  Plan plan;
  for (const Kernel &kernel : list)
    if (!kernel.ops.empty())
      plan.kernels.push_back(kernel);
  return plan;
}

Plan PlanState::takePlan() {
  Plan plan;
  for (Kernel &kernel : list)
    if (!kernel.ops.empty())
      plan.kernels.push_back(std::move(kernel));
  return plan;
}

//===----------------------------------------------------------------------===//
// Takeovers
//===----------------------------------------------------------------------===//

namespace {

/// Matches outputs of one kernel with dying inputs that they may overwrite.
struct TakeOvers {
  const std::vector<InPlacePair> &pairs;
  const std::vector<ValueId> &dying;
  /// Per dying input.
  std::vector<int32_t> takenBy;
  std::vector<char> tried;

  bool match(int32_t output) {
    tried.assign(dying.size(), 0);
    return augment(output);
  }
  bool augment(int32_t output) {
    for (size_t i = 0; i < dying.size(); ++i) {
      bool isPair =
          std::any_of(pairs.begin(), pairs.end(), [&](const InPlacePair &pair) {
            return pair.input == dying[i] && pair.output == output;
          });
      if (!isPair || std::exchange(tried[i], 1))
        continue;
      if (takenBy[i] == none || augment(takenBy[i])) {
        takenBy[i] = output;
        return true;
      }
    }
    return false;
  }
};

} // namespace

/// Bytes of outputs at \p place that take the places of dying inputs over. Both
/// of a pair are equally large: the largest outputs first free the most bytes.
int64_t PlanState::takenOver(int32_t place) const {
  const KernelInfo &info = *infos[place];
  if (info.inPlace.empty())
    return 0;
  std::vector<ValueId> dying;
  for (ValueId value : info.memoryReads) {
    bool mayDie = inArena(value) &&
                  std::any_of(info.inPlace.begin(), info.inPlace.end(),
                              [&](auto &pair) { return pair.input == value; });
    if (Life life = mayDie ? lifeAt(value, place) : Life();
        life && life.last() == place)
      dying.push_back(value);
  }
  if (dying.empty())
    return 0;
  std::vector<int32_t> outputs;
  for (size_t i = 0; i < list[place].outputs.size(); ++i)
    if (inArena(list[place].outputs[i]))
      outputs.push_back(static_cast<int32_t>(i));
  auto slotAt = [&](int32_t i) { return slotOf(list[place].outputs[i]); };
  std::sort(outputs.begin(), outputs.end(), [&](int32_t a, int32_t b) {
    return slotAt(a) != slotAt(b) ? slotAt(a) > slotAt(b) : a < b;
  });
  TakeOvers takeOvers = {
      info.inPlace, dying, std::vector<int32_t>(dying.size(), none), {}};
  int64_t bytes = 0;
  for (int32_t output : outputs)
    if (takeOvers.match(output))
      bytes += slotAt(output);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Changes in place
//===----------------------------------------------------------------------===//

/// Adds the kernel at \p place to all figures but the live ranges, or takes it
/// out.
void PlanState::count(int32_t place, int sign) {
  time += sign * infos[place]->timeNs;
  illegalKernels += sign * !infos[place]->error.empty();
  for (OpId op : list[place].ops) {
    int32_t others = sign > 0 ? runs[op]++ : --runs[op];
    if (others > 0 && isAnchor(problem.ops[op]))
      extra += sign * problem.ops[op].flops;
  }
}

void PlanState::leave(int32_t place) {
  lives.leave(place, list[place], *infos[place]);
  count(place, -1);
  live.add(place, place + 1,
           isEmpty(place) ? -ofEmptyPlace
                          : -slotBytes(infos[place]->workspaceBytes));
}

void PlanState::enter(int32_t place, Kernel kernel, const KernelInfo &info) {
  infos[place] = &info;
  list[place] = std::move(kernel);
  lives.enter(place, list[place], *infos[place]);
  count(place, 1);
  live.add(place, place + 1,
           isEmpty(place) ? ofEmptyPlace
                          : slotBytes(infos[place]->workspaceBytes));
}

void PlanState::touch(int32_t place, const Kernel &kernel,
                      const KernelInfo &info) {
  for (const std::vector<ValueId> *values :
       {&kernel.outputs, &info.memoryReads})
    for (ValueId value : *values)
      touched.emplace_back(value, place);
}

/// The instances of touched values that their places read or write.
std::vector<PlanState::Range> PlanState::touchedRanges() const {
  std::vector<Range> ranges;
  ranges.reserve(2 * touched.size());
  auto add = [&](const Life &life) {
    ranges.push_back({life.value, life.place, life.last()});
  };
  for (auto [value, place] : touched) {
    Life life = lifeFrom(value, place);
    if (life)
      add(life);
    if (life.place != place)
      continue;
    // The place writes it and so ends the instance before.
    if (Life earlier = lifeAt(value, place))
      add(earlier);
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range &a, const Range &b) {
    return std::pair(a.value, a.place) < std::pair(b.value, b.place);
  });
  auto isSame = [](const Range &a, const Range &b) {
    return a.value == b.value && a.place == b.place;
  };
  ranges.erase(std::unique(ranges.begin(), ranges.end(), isSame), ranges.end());
  return ranges;
}

/// Reads of touched values before any kernel wrote them.
int64_t PlanState::unmadeOfTouched() const {
  int64_t count = 0;
  for (size_t i = 0; i < touched.size(); ++i)
    if (i == 0 || touched[i].first != touched[i - 1].first)
      count += lives.unmadeReads(touched[i].first);
  return count;
}

/// Changes the live bytes where \p before and `ranges`, both by value and
/// place, have other instances.
void PlanState::updateRanges(const std::vector<Range> &before) {
  auto add = [&](const Range &range, int32_t first, int sign) {
    live.add(first, range.last + 1, sign * slotOf(range.value));
    touchedPlaces.push_back(range.place);
    touchedPlaces.push_back(range.last);
  };
  auto isBefore = [](const Range &a, const Range &b) {
    return std::pair(a.value, a.place) < std::pair(b.value, b.place);
  };
  auto old = before.begin();
  for (const Range &range : ranges) {
    for (; old != before.end() && isBefore(*old, range); ++old)
      add(*old, old->place, -1);
    if (old == before.end() || isBefore(range, *old)) {
      add(range, range.place, 1);
    } else if (int32_t last = old++->last; last != range.last) {
      int32_t common = std::min(last, range.last) + 1;
      add({range.value, range.place, last}, common, -1);
      add(range, common, 1);
    }
  }
  for (; old != before.end(); ++old)
    add(*old, old->place, -1);
}

void PlanState::updateTakenOver() {
  std::sort(touchedPlaces.begin(), touchedPlaces.end());
  touchedPlaces.erase(std::unique(touchedPlaces.begin(), touchedPlaces.end()),
                      touchedPlaces.end());
  for (int32_t place : touchedPlaces) {
    int64_t bytes = takenOver(place);
    live.add(place, place + 1, takenBytes[place] - bytes);
    takenBytes[place] = bytes;
  }
}

/// Puts other kernels in some places. `touched` are their values afterwards.
void PlanState::replace(Edit::Kernels changes) {
  touched.clear();
  touchedPlaces.clear();
  std::vector<const KernelInfo *> infosAfter;
  for (const auto &[place, kernel] : changes) {
    infosAfter.push_back(&infoOf(kernel));
    touch(place, list[place], *infos[place]);
    touch(place, kernel, *infosAfter.back());
    touchedPlaces.push_back(place);
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  std::vector<Range> rangesBefore = touchedRanges();
  unmadeReads -= unmadeOfTouched();
  for (size_t i = 0; i < changes.size(); ++i) {
    auto &[place, kernel] = changes[i];
    leave(place);
    before.emplace_back(place, std::move(list[place]));
    enter(place, std::move(kernel), *infosAfter[i]);
  }
  unmadeReads += unmadeOfTouched();
  ranges = touchedRanges();
  updateRanges(rangesBefore);
  updateTakenOver();
  Work::spend(200 * static_cast<int64_t>(touched.size()));
}

/// The kernel at \p place without outputs that nothing reads.
Kernel PlanState::withoutDead(int32_t place) const {
  const Kernel &whole = list[place];
  Kernel kernel;
  for (ValueId value : whole.outputs)
    if (isWanted(value, place))
      kernel.outputs.push_back(value);
  if (kernel.outputs.empty())
    return mayRepeat(problem, whole) ? kernel : whole;
  kernel.ops = whole.ops;
  if (kernel.outputs.size() < whole.outputs.size())
    trimOps(problem, kernel);
  return kernel;
}

/// Removes the outputs that the last change left without readers, then those
/// that were made only for them.
void PlanState::removeDead() {
  while (true) {
    Edit::Kernels changes;
    for (int32_t place : placesOfDead())
      if (Kernel kernel = withoutDead(place);
          kernel.outputs.size() < list[place].outputs.size())
        changes.emplace_back(place, std::move(kernel));
    if (changes.empty())
      return;
    replace(std::move(changes));
  }
}

/// The places that write instances of the last change in vain, ascending.
std::vector<int32_t> PlanState::placesOfDead() const {
  std::vector<int32_t> places;
  for (const Range &range : ranges)
    if (range.last == range.place && !isWanted(range.value, range.place))
      places.push_back(range.place);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The live bytes of all places, from the instances.
void PlanState::rebuild() {
  std::vector<int64_t> bytes(list.size() + 1, 0);
  for (size_t i = 0; i < problem.values.size(); ++i) {
    auto value = static_cast<ValueId>(i);
    int64_t slot = slotOf(value);
    if (slot == 0)
      continue;
    for (int32_t place : writes(value)) {
      bytes[place] += slot;
      bytes[lifeFrom(value, place).last() + 1] -= slot;
    }
  }
  for (size_t place = 1; place < bytes.size(); ++place)
    bytes[place] += bytes[place - 1];
  bytes.pop_back();
  for (int32_t place = 0; place < size(); ++place)
    bytes[place] += isEmpty(place) ? ofEmptyPlace
                                   : slotBytes(infos[place]->workspaceBytes) -
                                         takenBytes[place];
  live = LiveProfile(bytes);
  Work::spend(12 * static_cast<int64_t>(list.size() + problem.values.size()));
}

/// Opens an empty place before each of \p places, which ascend.
void PlanState::open(const std::vector<int32_t> &places) {
  size_t count = list.size() + places.size();
  std::vector<int32_t> movedTo;
  std::vector<Kernel> newList(count);
  std::vector<const KernelInfo *> newInfos(count, &nothing);
  std::vector<int64_t> newTaken(count, 0);
  auto next = places.begin();
  for (int32_t place = 0; place <= size(); ++place) {
    for (; next != places.end() && *next <= place; ++next)
      opened.push_back(place + static_cast<int32_t>(opened.size()));
    if (place == size())
      break;
    auto to = place + static_cast<int32_t>(opened.size());
    movedTo.push_back(to);
    newList[to] = std::move(list[place]);
    newInfos[to] = infos[place];
    newTaken[to] = takenBytes[place];
  }
  list = std::move(newList);
  infos = std::move(newInfos);
  takenBytes = std::move(newTaken);
  lives.renumber([&](int32_t place) { return movedTo[place]; });
  rebuild();
}

/// Closes \p places, which are empty and ascend.
void PlanState::close(const std::vector<int32_t> &places) {
  if (places.empty())
    return;
  std::vector<int32_t> movedTo(list.size(), none);
  auto next = places.begin();
  int32_t to = 0;
  for (int32_t place = 0; place < size(); ++place) {
    if (next != places.end() && *next == place) {
      ++next;
      continue;
    }
    movedTo[place] = to;
    if (to < place) {
      list[to] = std::move(list[place]);
      infos[to] = infos[place];
      takenBytes[to] = takenBytes[place];
    }
    ++to;
  }
  list.resize(to);
  infos.resize(to);
  takenBytes.resize(to);
  lives.renumber([&](int32_t place) { return movedTo[place]; });
  rebuild();
}

void PlanState::compact() {
  std::vector<int32_t> places;
  for (int32_t place = 0; place < size(); ++place)
    if (isEmpty(place))
      places.push_back(place);
  before.clear();
  opened.clear();
  close(places);
}

//===----------------------------------------------------------------------===//
// Edits
//===----------------------------------------------------------------------===//

void Edit::move(int32_t from, Kernel kernel, int32_t to) {
  replaced.emplace_back(from, Kernel());
  inserted.emplace_back(to, std::move(kernel));
}

void Edit::add(const Edit &other) {
  replaced.insert(replaced.end(), other.replaced.begin(), other.replaced.end());
  inserted.insert(inserted.end(), other.inserted.begin(), other.inserted.end());
}

void PlanState::apply(Edit edit) {
  before.clear();
  opened.clear();
  Edit::Kernels changes = std::move(edit.replaced);
  if (!edit.inserted.empty()) {
    std::stable_sort(
        edit.inserted.begin(), edit.inserted.end(),
        [](const auto &a, const auto &b) { return a.first < b.first; });
    std::vector<int32_t> places;
    for (const auto &[place, kernel] : edit.inserted)
      places.push_back(place);
    open(places);
    for (auto &[place, kernel] : changes)
      place += static_cast<int32_t>(
          std::upper_bound(places.begin(), places.end(), place) -
          places.begin());
    for (size_t i = 0; i < opened.size(); ++i)
      changes.emplace_back(opened[i], std::move(edit.inserted[i].second));
  }
  replace(std::move(changes));
  removeDead();
}

void PlanState::undo() {
  // The first kernel of a place that changed twice comes last.
  Edit::Kernels changes(std::make_move_iterator(before.rbegin()),
                        std::make_move_iterator(before.rend()));
  replace(std::move(changes));
  before.clear();
  close(opened);
  opened.clear();
}
