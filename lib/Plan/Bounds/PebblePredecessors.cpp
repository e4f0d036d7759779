//===- PebblePredecessors.cpp - Memory before a kernel --------------------===//
//
// For a bound, memory is a set of nodes. A value that is no node, since its
// sources are not larger, gives way to these. Each value left after a kernel
// stood before or was written by it. Before, the kernel found in memory, next
// to the values that stay, the operands of its anchor, sources from which all
// else can be computed inside, and room for its outputs, unless these may lie
// over values that die. Every choice that a kernel has here is one of the sets
// that follow; a demand that does not bind it is left out.
//
//===----------------------------------------------------------------------===//

#include "Plan/Bounds/PebblePredecessors.h"

#include <algorithm>
#include <set>

using namespace ckpt::plan;

static void unite(ValueSet &values, const ValueSet &more) {
  values.insert(values.end(), more.begin(), more.end());
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

static bool contains(const ValueSet &values, ValueId value) {
  return std::binary_search(values.begin(), values.end(), value);
}

static ValueSet without(const ValueSet &values, const ValueSet &others) {
  ValueSet rest;
  std::set_difference(values.begin(), values.end(), others.begin(),
                      others.end(), std::back_inserter(rest));
  return rest;
}

/// Whether a kernel may read it behind an anchor that it depends on.
static bool isOneToOne(const Op &op, const Read &read) {
  return read.access == Access::Pointwise ||
         (op.kind == OpKind::View &&
          (read.access == Access::Reshape || read.access == Access::Permute));
}

PebblePredecessors::PebblePredecessors(const RematGraph &graph,
                                       int64_t smallBytes, Deadline deadline)
    : graph(graph), problem(graph.problem), deadline(deadline) {
  findSizes(smallBytes);
  findNodes();
  findWriters();
  findSources();
  findHosts();
}

void PebblePredecessors::findSizes(int64_t smallBytes) {
  for (size_t value = 0; value < problem.values.size(); ++value) {
    int64_t bytes = arenaBytes(problem, static_cast<ValueId>(value));
    size.push_back(bytes > smallBytes ? bytes : 0);
  }
}

/// A value that is no node is at least as large as the nodes that stand for it.
void PebblePredecessors::findNodes() {
  std::vector<char> memoryRead(problem.values.size(), 0);
  for (const Op &op : problem.ops)
    for (const Read &read : op.reads)
      if (isMemoryRead(op, read))
        for (ValueId value = read.value;;
             value =
                 problem.ops[problem.values[value].op].reads.front().value) {
          memoryRead[value] = 1;
          if (!graph.isView(value))
            break;
        }
  node.assign(problem.values.size(), 0);
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    leaves.emplace_back();
    for (const Read &read : problem.ops[op].reads)
      unite(leaves[op], formsOf(read.value));
    int64_t bytes = bytesOf(leaves[op]);
    for (ValueId value : problem.ops[op].results)
      node[value] =
          size[value] > 0 &&
          (graph.rooted[op] || memoryRead[value] || bytes > size[value]) &&
          graph.wholeOf(value) == value;
  }
}

/// The nodes that stand for a value.
ValueSet PebblePredecessors::formsOf(ValueId value) const {
  if (size[value] == 0)
    return {};
  if (node[value])
    return {value};
  return leaves[problem.values[value].op];
}

void PebblePredecessors::findWriters() {
  writers.resize(problem.values.size());
  for (size_t i = 0; i < problem.ops.size(); ++i) {
    const Op &op = problem.ops[i];
    std::vector<OpId> found;
    if (isAnchor(op))
      found = {static_cast<OpId>(i)};
    else
      for (const Read &read : op.reads)
        if (isOneToOne(op, read))
          unite(found, writers[read.value]);
    for (ValueId value : op.results)
      writers[value] = found;
  }
}

bool PebblePredecessors::mayWrite(OpId anchor, ValueId value) const {
  return anchor == none ? !isMadeByAnchor(value)
                        : contains(writers[value], anchor);
}

/// Values that \p value may be written over if a kernel computes all between.
ValueSet PebblePredecessors::hostsOf(ValueId value) const {
  std::set<ValueId> seen = {value};
  std::vector<ValueId> stack = {value};
  ValueSet found;
  while (!stack.empty()) {
    OpId op = problem.values[stack.back()].op;
    stack.pop_back();
    if (isAnchor(problem.ops[op]))
      continue;
    for (const Read &read : problem.ops[op].reads) {
      if (read.access == Access::Any || read.access == Access::Stretch ||
          read.access == Access::Gather || graph.isFree(read.value) ||
          !seen.insert(read.value).second)
        continue;
      stack.push_back(read.value);
      if (size[read.value] == size[value])
        unite(found, formsOf(read.value));
    }
  }
  return found;
}

/// Every node that a kernel that writes it may read.
void PebblePredecessors::findSources() {
  sources.resize(problem.values.size());
  for (size_t i = 0; i < problem.values.size(); ++i) {
    auto value = static_cast<ValueId>(i);
    if (!node[value] || isMadeByAnchor(value))
      continue;
    for (ValueId leaf : leaves[problem.values[value].op]) {
      unite(sources[value], {leaf});
      unite(sources[value], sources[leaf]);
    }
  }
}

void PebblePredecessors::findHosts() {
  hosts.resize(problem.values.size());
  hidden.assign(problem.values.size(), 0);
  for (size_t i = 0; i < problem.values.size() && !isSpent(); ++i) {
    auto value = static_cast<ValueId>(i);
    if (size[value] == 0 || isMadeByAnchor(value))
      continue;
    ValueSet found = hostsOf(value);
    ValueSet forms = formsOf(value);
    bool hides = !node[value] && !without(found, forms).empty();
    for (ValueId form : forms) {
      unite(hosts[form], found);
      hidden[form] |= hides;
    }
  }
}

/// A value over which one may lie has to be read for another one: otherwise the
/// first can be written before.
bool PebblePredecessors::areBound(const ValueSet &made, OpId anchor) {
  --effort;
  ValueSet always;
  if (anchor != none)
    for (const Read &read : problem.ops[anchor].reads)
      if (!isMemoryRead(problem.ops[anchor], read))
        for (ValueId form : formsOf(read.value)) {
          unite(always, {form});
          unite(always, sources[form]);
        }
  return std::all_of(made.begin(), made.end(), [&](ValueId value) {
    ValueSet others = always;
    for (ValueId other : made)
      if (other != value)
        unite(others, sources[other]);
    return updatesArena(anchor) ||
           without(hosts[value], others).size() < hosts[value].size();
  });
}

/// Whether an output of the kernel of \p anchor may lie over a destination.
bool PebblePredecessors::updatesArena(OpId anchor) const {
  if (anchor != none)
    for (const Read &read : problem.ops[anchor].reads)
      if (read.destination && !formsOf(read.value).empty())
        return true;
  return false;
}

int64_t PebblePredecessors::bytesOf(const ValueSet &values) const {
  int64_t bytes = 0;
  for (ValueId value : values)
    bytes += size[value];
  return bytes;
}

/// Whether it is not more than \p mostBytes; otherwise \p beyond is not more.
static bool isWithin(int64_t bytes, int64_t mostBytes, int64_t &beyond) {
  if (bytes > mostBytes)
    beyond = std::min(beyond, bytes);
  return bytes <= mostBytes;
}

/// The sources of \p value in the kernel of \p anchor: each node between is
/// read from memory or made inside.
std::vector<ValueSet> PebblePredecessors::readsFor(ValueId value, OpId anchor,
                                                   int64_t mostBytes,
                                                   int64_t &beyond) {
  if (anchor == none || !mayWrite(anchor, value))
    return {leaves[problem.values[value].op]};
  struct Part {
    /// Still to be made inside, producers first.
    ValueSet inside;
    ValueSet reads;
    int64_t bytes = 0;
  };
  std::vector<Part> parts(1);
  parts[0].inside = {value};
  std::set<ValueSet> found;
  for (; !parts.empty() && !isSpent(); --effort) {
    Part part = std::move(parts.back());
    parts.pop_back();
    if (part.inside.empty()) {
      found.insert(part.reads);
      continue;
    }
    ValueId last = part.inside.back();
    part.inside.pop_back();
    if (last != value && node[last]) {
      Part inMemory = part;
      inMemory.bytes += size[last];
      unite(inMemory.reads, {last});
      if (isWithin(inMemory.bytes, mostBytes, beyond))
        parts.push_back(std::move(inMemory));
    }
    if (problem.values[last].op != anchor)
      for (const Read &read : problem.ops[problem.values[last].op].reads) {
        if (mayWrite(anchor, read.value))
          unite(part.inside, {read.value});
        else
          unite(part.reads, formsOf(read.value));
      }
    parts.push_back(std::move(part));
  }
  std::vector<ValueSet> least;
  for (const ValueSet &reads : found)
    if (std::none_of(found.begin(), found.end(), [&](const ValueSet &other) {
          return other != reads && std::includes(reads.begin(), reads.end(),
                                                 other.begin(), other.end());
        }))
      least.push_back(reads);
  return least;
}

/// All sets from which a kernel may make \p values inside, itself or through
/// views only, next to the values that stand anyway.
std::vector<ValueSet> PebblePredecessors::expand(const ValueSet &standing,
                                                 const ValueSet &values,
                                                 bool viewsOnly, int64_t bytes,
                                                 int64_t mostBytes,
                                                 int64_t &beyond) {
  std::set<ValueSet> seen;
  std::vector<ValueSet> found;
  auto enter = [&](ValueSet set) {
    --effort;
    int64_t fixed = bytes;
    for (ValueId value : set)
      if (isMadeByAnchor(value))
        fixed += size[value];
    if (isWithin(fixed, mostBytes, beyond) && seen.insert(set).second)
      found.push_back(std::move(set));
  };
  enter(without(values, standing));
  for (size_t i = 0; i < found.size() && !isSpent(); ++i)
    for (ValueId value : ValueSet(found[i])) {
      OpId op = problem.values[value].op;
      if (viewsOnly ? !graph.isView(value) : isAnchor(problem.ops[op]))
        continue;
      ValueSet inner = without(found[i], {value});
      unite(inner, without(leaves[op], standing));
      enter(std::move(inner));
    }
  return found;
}

/// Bytes of the outputs, without outputs that may lie over a dying value.
int64_t PebblePredecessors::writtenBytes(const ValueSet &made, OpId anchor,
                                         const ValueSet &stays,
                                         const ValueSet &reads) const {
  if (updatesArena(anchor))
    return 0;
  auto mayDie = [&](ValueId form) {
    return contains(stays, form) ? hidden[form] != 0 : contains(reads, form);
  };
  int64_t bytes = 0;
  for (ValueId value : made)
    if (std::none_of(hosts[value].begin(), hosts[value].end(), mayDie))
      bytes += size[value];
  return bytes;
}

/// All ways to make \p made, next to the reads that the anchor computes \p
/// inside.
std::vector<ValueSet> PebblePredecessors::readsForAll(const ValueSet &made,
                                                      OpId anchor,
                                                      const ValueSet &inside,
                                                      int64_t mostBytes,
                                                      int64_t &beyond) {
  std::vector<ValueSet> reads = {inside};
  for (ValueId value : made) {
    std::vector<ValueSet> more;
    for (const ValueSet &ways : readsFor(value, anchor, mostBytes, beyond))
      for (ValueSet all : reads) {
        unite(all, ways);
        more.push_back(std::move(all));
      }
    reads = std::move(more);
  }
  return reads;
}

std::vector<ValueSet> PebblePredecessors::before(const ValueSet &after,
                                                 const ValueSet &made,
                                                 OpId anchor, int64_t mostBytes,
                                                 int64_t &beyond) {
  ValueSet rest = without(after, made), operands, inside;
  int64_t restBytes = bytesOf(rest);
  if (anchor != none) {
    const Op &op = problem.ops[anchor];
    restBytes += slotBytes(op.workspaceBytes);
    for (const Read &read : op.reads)
      unite(isMemoryRead(op, read) ? operands : inside, formsOf(read.value));
  }
  std::vector<ValueSet> operandForms =
      expand(rest, operands, /*viewsOnly=*/true, restBytes, mostBytes, beyond);
  if (operandForms.empty())
    return {};
  std::vector<ValueSet> reads =
      readsForAll(made, anchor, inside, mostBytes, beyond);
  std::vector<ValueSet> found;
  std::set<ValueSet> seen;
  for (const ValueSet &forms : operandForms) {
    int64_t staysBytes = restBytes + bytesOf(forms);
    if (!isWithin(staysBytes, mostBytes, beyond))
      continue;
    ValueSet stays = rest;
    unite(stays, forms);
    for (const ValueSet &ways : reads)
      for (const ValueSet &inner : expand(stays, ways, /*viewsOnly=*/false,
                                          staysBytes, mostBytes, beyond)) {
        int64_t bytes = staysBytes + bytesOf(inner);
        if (!isWithin(bytes, mostBytes, beyond))
          continue;
        bytes += writtenBytes(made, anchor, stays, inner);
        if (!isWithin(bytes, mostBytes, beyond))
          continue;
        ValueSet standing = stays;
        unite(standing, inner);
        if (seen.insert(standing).second)
          found.push_back(std::move(standing));
      }
  }
  return found;
}
