//===- Kernel.cpp - The rules of one kernel -------------------------------===//
//
// Each rule is one function. `analyze` checks them for every kernel that a
// search or the simulator has not seen before.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/KernelAnalysis.h"

#include "Plan/Model/Work.h"

using namespace ckpt::plan;

bool KernelAnalysis::checkLists() {
  OpId opCount = problem.ops.size();
  if (kernel.ops.empty())
    return fail("a kernel without ops");
  for (int32_t i = 0; i < size; ++i)
    if (kernel.ops[i] < 0 || kernel.ops[i] >= opCount ||
        (i && kernel.ops[i] <= kernel.ops[i - 1]))
      return fail("the ops of a kernel are not ascending op numbers");
  ValueId valueCount = problem.values.size();
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    ValueId value = kernel.outputs[i];
    if (value < 0 || value >= valueCount ||
        positionOf(problem.values[value].op) == none)
      return fail("output " + std::to_string(value) +
                  " is not made by an op of the kernel");
    if (std::count(kernel.outputs.begin(), kernel.outputs.begin() + i, value))
      return fail("output " + std::to_string(value) + " is written twice");
  }
  return true;
}

bool KernelAnalysis::checkOneAnchor() {
  for (int32_t i = 0; i < size; ++i) {
    if (!isAnchor(op(i)))
      continue;
    if (anchor != none)
      return fail(name(i) + " is a second anchor next to " + name(anchor));
    anchor = i;
    info.anchor = kernel.ops[i];
  }
  return true;
}

void KernelAnalysis::numberValues() {
  // The position of each read's maker first, which takes a search.
  for (int32_t i = 0; i < size; ++i) {
    firstResult.push_back(locals.size());
    for (ValueId result : op(i).results)
      locals.push_back({result, i});
    firstRead.push_back(reads.size());
    for (const Read &read : op(i).reads) {
      reads.push_back(positionOf(problem.values[read.value].op));
      if (reads.back() == none)
        info.memoryReads.push_back(read.value);
    }
  }
  std::vector<ValueId> &memory = info.memoryReads;
  std::sort(memory.begin(), memory.end());
  memory.erase(std::unique(memory.begin(), memory.end()), memory.end());
  int32_t made = locals.size();
  for (ValueId value : memory)
    locals.push_back({value, none});

  for (int32_t i = 0; i < size; ++i)
    for (size_t r = 0; r < op(i).reads.size(); ++r) {
      ValueId value = op(i).reads[r].value;
      int32_t &local = reads[firstRead[i] + r];
      local =
          local == none
              ? made + (std::lower_bound(memory.begin(), memory.end(), value) -
                        memory.begin())
              : localResult(local, value);
    }
  for (ValueId output : kernel.outputs)
    outputs.push_back(
        localResult(positionOf(problem.values[output].op), output));
}

int32_t KernelAnalysis::localSame(int32_t position) const {
  ValueId same = problem.values[op(position).results[0]].same;
  int32_t local = same == none ? none : localRead(position, 0);
  while (local != none && locals[local].value != same) {
    int32_t maker = locals[local].maker;
    bool isView = maker != none && op(maker).kind == OpKind::View;
    local = isView ? localRead(maker, 0) : none;
  }
  return local;
}

/// Whether the kernel finds the value in memory, seen through views.
bool KernelAnalysis::standsInMemory(int32_t local, bool contiguous) const {
  for (int32_t maker; (maker = locals[local].maker) != none;
       local = localRead(maker, 0)) {
    if (op(maker).kind != OpKind::View)
      return false;
    if (contiguous && !isInOnePiece(op(maker).reads[0]))
      return false;
  }
  return true;
}

bool KernelAnalysis::checkNeeds() {
  for (int32_t i = 0; i < size; ++i)
    for (size_t r = 0; r < op(i).reads.size(); ++r) {
      Need need = op(i).reads[r].need;
      if (need == Need::Inline ||
          standsInMemory(localRead(i, r), need == Need::Contiguous))
        continue;
      return fail(name(i) + " needs value " +
                  std::to_string(op(i).reads[r].value) + " in memory" +
                  (need == Need::Contiguous ? " as it is laid out" : "") +
                  ", but the kernel computes it");
    }
  return true;
}

bool KernelAnalysis::checkOpaque() {
  if (anchor == none || op(anchor).kind != OpKind::Opaque)
    return true;
  for (int32_t i = 0; i < size; ++i)
    if (i != anchor &&
        (op(i).kind != OpKind::View || !isInOnePiece(op(i).reads[0])))
      return fail(name(i) + " stands in one kernel with the opaque " +
                  name(anchor));
  return true;
}

/// Marks the ops that depend on the anchor and checks that they do so one to
/// one.
bool KernelAnalysis::checkEpilogue() {
  inEpilogue.assign(size, false);
  lastView.assign(size, none);
  lastPermute.assign(size, none);
  if (anchor == none)
    return true;
  for (int32_t i = anchor + 1; i < size; ++i) {
    bool isView = op(i).kind == OpKind::View;
    for (size_t r = 0; r < op(i).reads.size(); ++r) {
      int32_t maker = locals[localRead(i, r)].maker;
      if (maker == none || (maker != anchor && !inEpilogue[maker]))
        continue;
      Access access = op(i).reads[r].access;
      if (access != Access::Pointwise &&
          !(isView && (access == Access::Reshape || access == Access::Permute)))
        return fail(name(i) + " reads a value that depends on the anchor " +
                    name(anchor) + ", but not one to one");
      if (inEpilogue[i] && lastView[i] != lastView[maker])
        return fail(name(i) + " reads a value that depends on the anchor " +
                    name(anchor) + " through different views");
      inEpilogue[i] = true;
      lastView[i] = lastView[maker];
      lastPermute[i] = lastPermute[maker];
    }
    if (!isView || !inEpilogue[i])
      continue;
    lastView[i] = kernel.ops[i];
    if (op(i).reads[0].access == Access::Permute)
      lastPermute[i] = kernel.ops[i];
  }
  return true;
}

bool KernelAnalysis::checkOutputs() {
  bool hasEffects = anchor != none && op(anchor).hasEffects;
  if (outputs.empty() && !hasEffects)
    return fail("a kernel without outputs");
  for (int32_t output : outputs) {
    int32_t maker = locals[output].maker;
    std::string text = "output " + std::to_string(locals[output].value);
    if (anchor != none) {
      if (maker != anchor && !inEpilogue[maker])
        return fail(text + " does not depend on the anchor " + name(anchor));
      if (maker != anchor && op(anchor).kind == OpKind::Opaque)
        return fail(text + " is made after the opaque " + name(anchor));
    } else if (valueOf(output).shape != valueOf(outputs.front()).shape) {
      return fail(text + " has another shape than output " +
                  std::to_string(locals[outputs.front()].value));
    }
  }
  return true;
}

bool KernelAnalysis::checkAllNeeded() {
  std::vector<char> needed(size, false);
  for (int32_t output : outputs)
    needed[locals[output].maker] = true;
  if (anchor != none && op(anchor).hasEffects)
    needed[anchor] = true;
  for (int32_t i = size - 1; i >= 0; --i) {
    if (!needed[i])
      return fail(name(i) + " is needed for no output");
    for (size_t r = 0; r < op(i).reads.size(); ++r)
      if (int32_t maker = locals[localRead(i, r)].maker; maker != none)
        needed[maker] = true;
  }
  return true;
}

KernelInfo KernelAnalysis::run() {
  bool legal = checkLists() && checkOneAnchor();
  if (legal) {
    numberValues();
    legal = checkNeeds() && checkOpaque() && checkEpilogue() &&
            checkOutputs() && checkAllNeeded();
  }
  if (!legal)
    return std::move(info);
  findInPlacePairs();
  countBytes();
  countWork();
  return std::move(info);
}

KernelInfo ckpt::plan::analyze(const Problem &problem, const Kernel &kernel) {
  Work::spend(500 + 200 * static_cast<int64_t>(kernel.ops.size()));
  return KernelAnalysis(problem, kernel).run();
}

/// FNV-1a over numbers instead of bytes.
static uint64_t hashOf(const Kernel &kernel) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const std::vector<int32_t> *numbers : {&kernel.ops, &kernel.outputs})
    for (int32_t number : *numbers)
      hash = (hash ^ static_cast<uint64_t>(number)) * 0x100000001b3;
  return hash;
}

/// First slot of the search for \p tag in a table of \p size slots, a power of
/// two.
static size_t firstSlot(uint32_t tag, size_t size) {
  return (tag * 0x9e3779b97f4a7c15) >> 20 & (size - 1);
}

void KernelCache::grow() {
  std::vector<Slot> old(std::max<size_t>(64, 2 * slots.size()));
  old.swap(slots);
  for (const Slot &slot : old) {
    if (slot.entry == 0)
      continue;
    size_t at = firstSlot(slot.tag, slots.size());
    while (slots[at].entry != 0)
      at = (at + 1) & (slots.size() - 1);
    slots[at] = slot;
  }
}

const KernelInfo &KernelCache::get(const Kernel &kernel) {
  if (2 * entries.size() >= slots.size())
    grow();
  Work::spend(20 + 3 * static_cast<int64_t>(kernel.ops.size()));
  uint64_t hash = hashOf(kernel);
  auto tag = static_cast<uint32_t>(hash ^ hash >> 32);
  size_t at = firstSlot(tag, slots.size());
  for (; slots[at].entry != 0; at = (at + 1) & (slots.size() - 1)) {
    if (slots[at].tag != tag)
      continue;
    const Entry &entry = entries[slots[at].entry - 1];
    if (entry.ops == kernel.ops && entry.outputs == kernel.outputs)
      return entry.info;
  }
  entries.push_back({kernel.ops, kernel.outputs, analyze(problem, kernel)});
  slots[at] = {tag, static_cast<uint32_t>(entries.size())};
  return entries.back().info;
}
