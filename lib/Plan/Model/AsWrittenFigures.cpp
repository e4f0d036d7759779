//===- AsWrittenFigures.cpp - Figures of the program before planning ------===//
//
// The reference point that users know: one kernel per op in program order.
// Reshapes and slices share the storage of their operand; a permutation is a
// copy here, since it is an op of its own in the program as written. Reports
// call it once per plan.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Validate.h"

#include <algorithm>
#include <map>

using namespace ckpt::plan;

namespace {

class Walk {
public:
  explicit Walk(const Problem &problem)
      : problem(problem), storages(problem.values.size()),
        storageOf(problem.values.size()) {}

  AsWritten run() {
    findStorages();
    for (OpId id = 0; id < static_cast<OpId>(problem.ops.size()); ++id)
      execute(id);
    return figures;
  }

private:
  /// Memory that a value and its views share, named by the value.
  struct Storage {
    OpId lastUse = none;
    /// Neither an argument nor a result of the step.
    bool counted = false;
    /// Overwritten by a result of the op in which it dies.
    bool taken = false;
  };

  /// Padding takes memory as written.
  bool sharesStorage(const Op &op) const {
    return op.kind == OpKind::View && op.reads[0].access != Access::Permute &&
           problem.values[op.results[0]].bytes <=
               problem.values[op.reads[0].value].bytes;
  }

  void findStorages();
  void execute(OpId id);
  bool diesIn(OpId id, ValueId storage) const;
  bool onlyReadInPlace(const Op &op, ValueId storage) const;
  bool overwritesInput(OpId id, size_t result);
  bool take(OpId id, size_t result, const Read &read);

  const Problem &problem;
  AsWritten figures;
  /// By the value that names it.
  std::vector<Storage> storages;
  std::vector<ValueId> storageOf;
  int64_t liveBytes = 0;
};

void Walk::findStorages() {
  for (ValueId id = 0; id < static_cast<ValueId>(problem.values.size()); ++id)
    storageOf[id] = id;
  for (const Op &op : problem.ops)
    if (sharesStorage(op))
      storageOf[op.results[0]] = storageOf[op.reads[0].value];
  for (Storage &storage : storages)
    storage.counted = true;
  for (ValueId id = 0; id < static_cast<ValueId>(problem.values.size()); ++id) {
    const Value &value = problem.values[id];
    Storage &storage = storages[storageOf[id]];
    storage.counted &= value.home == Home::Arena || value.home == Home::Hosted;
    storages[id].lastUse = value.op;
  }
  for (OpId id = 0; id < static_cast<OpId>(problem.ops.size()); ++id)
    if (!sharesStorage(problem.ops[id]))
      for (const Read &read : problem.ops[id].reads)
        storages[storageOf[read.value]].lastUse = id;
}

bool Walk::diesIn(OpId id, ValueId storage) const {
  return storages[storage].counted && storages[storage].lastUse == id;
}

/// A fusible op overwrites only storage that it reads element by element.
bool Walk::onlyReadInPlace(const Op &op, ValueId storage) const {
  for (const Read &read : op.reads)
    if (storageOf[read.value] == storage && !read.destination &&
        read.access != Access::Pointwise)
      return false;
  return true;
}

bool Walk::take(OpId id, size_t result, const Read &read) {
  ValueId storage = storageOf[read.value];
  ValueId target = problem.ops[id].results[result];
  if (!diesIn(id, storage) || storages[storage].taken ||
      problem.values[storage].bytes != problem.values[target].bytes)
    return false;
  storages[storage].taken = true;
  return true;
}

/// Destination k belongs to result k; it is tried before other inputs.
bool Walk::overwritesInput(OpId id, size_t result) {
  const Op &op = problem.ops[id];
  size_t destinations = 0;
  for (const Read &read : op.reads)
    if (read.destination && destinations++ == result && take(id, result, read))
      return true;
  if (op.kind != OpKind::Fusible)
    return false;
  for (const Read &read : op.reads)
    if (read.access == Access::Pointwise &&
        onlyReadInPlace(op, storageOf[read.value]) && take(id, result, read))
      return true;
  return false;
}

void Walk::execute(OpId id) {
  const Op &op = problem.ops[id];
  figures.flops += op.flops;
  if (sharesStorage(op))
    return;
  std::map<ValueId, int64_t> touched;
  for (const Read &read : op.reads) {
    int64_t &bytes = touched[read.value];
    bytes = std::min(problem.values[read.value].bytes,
                     bytes + bytesRead(problem, op, read));
  }
  for (auto [value, bytes] : touched)
    figures.bytesMoved += bytes;

  for (size_t k = 0; k < op.results.size(); ++k) {
    const Value &value = problem.values[op.results[k]];
    figures.bytesMoved += value.bytes;
    if (storages[op.results[k]].counted && !overwritesInput(id, k))
      liveBytes += value.bytes;
  }
  // A loop needs the values that it makes inside while it runs.
  figures.peakBytes =
      std::max(figures.peakBytes, liveBytes + op.workspaceBytes);
  // Storages that die here, read or made, each once.
  std::vector<ValueId> dead(op.results.begin(), op.results.end());
  for (auto [value, bytes] : touched)
    dead.push_back(storageOf[value]);
  std::sort(dead.begin(), dead.end());
  dead.erase(std::unique(dead.begin(), dead.end()), dead.end());
  for (ValueId storage : dead)
    if (diesIn(id, storage) && !storages[storage].taken)
      liveBytes -= problem.values[storage].bytes;
}

} // namespace

AsWritten ckpt::plan::asWritten(const Problem &problem) {
  return Walk(problem).run();
}
