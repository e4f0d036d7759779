//===- XlaRemat.cpp - Remats as XLA chooses them --------------------------===//
//
// The walk of XLA's HloRematerialization (Published/XlaGreedy.cpp): while the
// live bytes at a kernel exceed the limit, the block of kernels that frees most
// moves behind it.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/Greedy/XlaRemat.h"

#include "Plan/Model/Work.h"

#include <algorithm>
#include <optional>

using namespace ckpt::plan;

namespace {

class Walker {
public:
  Walker(const KernelGraph &graph, int64_t limitBytes,
         const XlaRematOptions &options)
      : graph(graph), limit(limitBytes), options(options),
        wasMoved(graph.nodes.size(), 0) {
    for (size_t node = 0; node < graph.nodes.size(); ++node)
      runs.push_back(graph.firstRun(static_cast<int32_t>(node)));
  }

  std::vector<KernelRun> run() {
    for (here = 0; here < runs.size(); ++here) {
      bindReads();
      // Every step frees bytes here, but adds runs that need some later.
      while (runs.size() <= mostPerNode * graph.nodes.size() &&
             liveBytes() > limit && step())
        bindReads();
    }
    return std::move(runs);
  }

private:
  /// One value as one run wrote it.
  struct Instance {
    ValueId value;
    size_t writer;
    size_t lastRead;
    /// The first read behind the current run; `never` if there is none.
    size_t nextRead;
    bool readBefore;
  };
  /// Runs [first, first + parts.size()) again before run `place`.
  struct Candidate {
    size_t first = 0, place = 0;
    std::vector<KernelRun> parts;
    int64_t freedBytes = 0;
    int64_t timeNs = 0;
    /// No kernel has read the results yet: the runs themselves move.
    bool isMove = false;
  };

  static constexpr size_t never = SIZE_MAX;
  /// A limit out of reach would otherwise make everything again for each
  /// reader.
  static constexpr size_t mostPerNode = 2;

  void bindReads();
  int64_t liveBytes() const;
  bool isLive(const Instance &instance) const {
    return instance.writer <= here && instance.lastRead >= here;
  }
  bool isReadHere(ValueId value) const {
    const std::vector<ValueId> &reads = graph.nodes[runs[here].node].reads;
    return std::find(reads.begin(), reads.end(), value) != reads.end();
  }
  bool isFreed(const Instance &instance) const {
    return isLive(instance) && instance.nextRead != never &&
           graph.slot(instance.value) > 0 && !isReadHere(instance.value);
  }
  void findHolders();
  bool isBetter(const Candidate &a, const Candidate &b) const;
  bool step();
  bool makeCandidate(size_t first, size_t count, Candidate &candidate) const;
  bool findFreed(size_t first, size_t count, Candidate &candidate) const;
  bool addParts(size_t count, Candidate &candidate) const;
  int64_t revivedBytes(const Candidate &candidate) const;
  void apply(const Candidate &candidate);

  const KernelGraph &graph;
  const int64_t limit;
  const XlaRematOptions options;
  size_t here = 0;
  /// By node: neighbours must not push each other ahead for ever.
  std::vector<char> wasMoved;
  std::vector<KernelRun> runs;
  std::vector<Instance> instances;
  /// By run: its first instance.
  std::vector<size_t> firstInstance;
  /// Runs of which something could be freed here, ascending.
  std::vector<size_t> holders;
  /// By value: its instances in the order of their runs.
  std::vector<std::vector<int32_t>> instancesOf;
};

} // namespace

/// A read sees the latest write before it.
void Walker::bindReads() {
  instances.clear();
  firstInstance.clear();
  instancesOf.resize(graph.problem.values.size());
  for (std::vector<int32_t> &list : instancesOf)
    list.clear();
  for (size_t run = 0; run < runs.size(); ++run) {
    for (ValueId value : graph.nodes[runs[run].node].reads) {
      Instance &instance = instances[instancesOf[value].back()];
      instance.lastRead = run;
      instance.readBefore |= run <= here;
      if (run > here && instance.nextRead == never)
        instance.nextRead = run;
    }
    firstInstance.push_back(instances.size());
    for (ValueId value : runs[run].outputs) {
      instancesOf[value].push_back(static_cast<int32_t>(instances.size()));
      instances.push_back({value, run, run, never, false});
    }
  }
  firstInstance.push_back(instances.size());
  Work::spend(10 * static_cast<int64_t>(runs.size() + instances.size()));
}

int64_t Walker::liveBytes() const {
  int64_t bytes = graph.nodes[runs[here].node].workspaceBytes;
  for (const Instance &instance : instances)
    if (isLive(instance))
      bytes += graph.slot(instance.value);
  return bytes;
}

void Walker::findHolders() {
  holders.clear();
  for (const Instance &instance : instances)
    if (instance.writer < here && isFreed(instance) &&
        (holders.empty() || holders.back() != instance.writer))
      holders.push_back(instance.writer);
}

/// Finds the values that the block holds in memory across this run, and their
/// next read.
bool Walker::findFreed(size_t first, size_t count, Candidate &candidate) const {
  candidate.first = first;
  candidate.place = never;
  candidate.isMove = true;
  for (size_t run = first; run < first + count; ++run) {
    candidate.parts.push_back({runs[run].node, {}});
    if (!graph.nodes[runs[run].node].mayRepeat)
      return false;
    for (size_t i = firstInstance[run]; i < firstInstance[run + 1]; ++i) {
      const Instance &instance = instances[i];
      if (graph.slot(instance.value) == 0)
        candidate.isMove = false;
      candidate.isMove &= !instance.readBefore;
      if (!isFreed(instance))
        continue;
      candidate.parts.back().outputs.push_back(instance.value);
      candidate.freedBytes += graph.slot(instance.value);
      candidate.place = std::min(candidate.place, instance.nextRead);
    }
  }
  candidate.isMove &= count == 1;
  if (candidate.isMove && wasMoved[runs[first].node])
    return false;
  return candidate.freedBytes > 0;
}

/// Completes the block by the reads of its own members from each other.
bool Walker::addParts(size_t count, Candidate &candidate) const {
  for (size_t part = count; part-- > 0;) {
    const KernelRun &original = runs[candidate.first + part];
    std::vector<ValueId> &outputs = candidate.parts[part].outputs;
    for (size_t later = part + 1; later < count; ++later) {
      if (candidate.parts[later].outputs.empty())
        continue;
      const std::vector<ValueId> &reads =
          graph.nodes[candidate.parts[later].node].reads;
      for (ValueId value : original.outputs)
        if (std::count(reads.begin(), reads.end(), value) &&
            !std::count(outputs.begin(), outputs.end(), value))
          outputs.push_back(value);
    }
  }
  // A block of which less would do is tried as that.
  return !candidate.parts.front().outputs.empty() &&
         !candidate.parts.back().outputs.empty();
}

/// Bytes of operands that are dead here and would have to live on.
int64_t Walker::revivedBytes(const Candidate &candidate) const {
  int64_t bytes = 0;
  std::vector<ValueId> counted;
  for (const KernelRun &part : candidate.parts) {
    if (part.outputs.empty())
      continue;
    for (ValueId value : graph.nodes[part.node].reads) {
      bool inside = std::count(counted.begin(), counted.end(), value);
      for (const KernelRun &other : candidate.parts)
        inside |= std::count(other.outputs.begin(), other.outputs.end(), value);
      if (inside)
        continue;
      counted.push_back(value);
      // The latest instance before the place is the one that would be read.
      const Instance *read = nullptr;
      for (int32_t i : instancesOf[value])
        if (instances[i].writer < candidate.place)
          read = &instances[i];
      if (read->writer <= here && !isLive(*read))
        bytes += graph.slot(value);
    }
  }
  return bytes;
}

bool Walker::makeCandidate(size_t first, size_t count,
                           Candidate &candidate) const {
  if (!findFreed(first, count, candidate) || !addParts(count, candidate))
    return false;
  candidate.freedBytes -= revivedBytes(candidate);
  for (const KernelRun &part : candidate.parts)
    candidate.timeNs +=
        part.outputs.empty() ? 0 : graph.nodes[part.node].timeNs;
  return candidate.freedBytes > 0;
}

/// Moves cost nothing and go first.
bool Walker::isBetter(const Candidate &a, const Candidate &b) const {
  if (a.isMove != b.isMove)
    return a.isMove;
  if (!options.weighTime)
    return a.freedBytes > b.freedBytes;
  return static_cast<double>(a.freedBytes) * static_cast<double>(b.timeNs) >
         static_cast<double>(b.freedBytes) * static_cast<double>(a.timeNs);
}

/// Applies the best block, of as few instructions as will do; false if nothing
/// frees bytes.
bool Walker::step() {
  findHolders();
  for (size_t count = 1; count <= options.mostInBlock; count *= 2) {
    std::optional<Candidate> best;
    for (size_t last : holders) {
      Candidate candidate;
      if (last + 1 < count ||
          !makeCandidate(last + 1 - count, count, candidate))
        continue;
      if (!best || isBetter(candidate, *best))
        best = std::move(candidate);
    }
    if (best) {
      apply(*best);
      return true;
    }
  }
  return false;
}

void Walker::apply(const Candidate &candidate) {
  std::vector<KernelRun> parts;
  for (const KernelRun &part : candidate.parts)
    if (!part.outputs.empty())
      parts.push_back(part);
  if (candidate.isMove)
    parts = {runs[candidate.first]};
  runs.insert(runs.begin() + static_cast<ptrdiff_t>(candidate.place),
              parts.begin(), parts.end());
  if (candidate.isMove) {
    wasMoved[runs[candidate.first].node] = 1;
    runs.erase(runs.begin() + static_cast<ptrdiff_t>(candidate.first));
    --here;
  }
}

std::vector<KernelRun>
ckpt::plan::rematLikeXla(const KernelGraph &graph, int64_t limitBytes,
                         const XlaRematOptions &options) {
  return Walker(graph, limitBytes, options).run();
}
