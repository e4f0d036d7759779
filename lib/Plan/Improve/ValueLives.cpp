//===- ValueLives.cpp - Where values are written and read -----------------===//
//
// Lists of places are ascending: a life is found by two binary searches.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/ValueLives.h"

#include <algorithm>

using namespace ckpt::plan;

void ValueLives::enter(int32_t place, const Kernel &kernel,
                       const KernelInfo &info) {
  // The smallest block of memory holds as many.
  constexpr size_t fewPlaces = 6;
  auto insert = [&](std::vector<int32_t> &places) {
    if (places.empty())
      places.reserve(fewPlaces);
    places.insert(std::lower_bound(places.begin(), places.end(), place), place);
  };
  for (ValueId value : info.memoryReads)
    insert(uses[value].reads);
  for (ValueId value : kernel.outputs)
    insert(uses[value].writes);
}

void ValueLives::leave(int32_t place, const Kernel &kernel,
                       const KernelInfo &info) {
  auto erase = [&](std::vector<int32_t> &places) {
    places.erase(std::lower_bound(places.begin(), places.end(), place));
  };
  for (ValueId value : info.memoryReads)
    erase(uses[value].reads);
  for (ValueId value : kernel.outputs)
    erase(uses[value].writes);
}

Life ValueLives::at(ValueId value, int32_t reader) const {
  const auto &[writes, reads] = uses[value];
  auto next = std::lower_bound(writes.begin(), writes.end(), reader);
  if (next == writes.begin())
    return {value};
  Life life = {value, *(next - 1), reads.data(), reads.data() + reads.size()};
  life.firstRead =
      std::upper_bound(life.firstRead, life.endOfReads, life.place);
  // The kernel that writes the next instance does not read the value.
  if (next != writes.end())
    life.endOfReads = std::lower_bound(life.firstRead, life.endOfReads, *next);
  return life;
}

int64_t ValueLives::unmadeReads(ValueId value) const {
  const auto &[writes, reads] = uses[value];
  if (problem.values[value].home == Home::Argument)
    return 0;
  if (writes.empty())
    return static_cast<int64_t>(reads.size());
  return std::lower_bound(reads.begin(), reads.end(), writes.front()) -
         reads.begin();
}

bool ValueLives::isWanted(ValueId value, int32_t place) const {
  const Value &v = problem.values[value];
  return v.keep == Keep::Save || from(value, place).numReads() > 0 ||
         (v.home == Home::Result && uses[value].writes.back() == place);
}
