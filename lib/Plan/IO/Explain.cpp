//===- Explain.cpp - Why a plan needs its bytes ---------------------------===//
//
// Explains the peak of a plan and a budget without a plan. Reports and errors
// of passes and tools call it, once per plan.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Explain.h"
#include "ckpt/Plan/Budget.h"
#include "ckpt/Plan/ResultScratch.h"

#include <algorithm>

using namespace ckpt::plan;

/// The anchor of a kernel, or its last op.
static OpId mainOp(const Problem &problem, const Kernel &kernel) {
  OpId anchor = analyze(problem, kernel).anchor;
  return anchor != none || kernel.ops.empty() ? anchor : kernel.ops.back();
}

std::vector<HeldAtPeak> ckpt::plan::explainPeak(const Problem &problem,
                                                const Plan &plan,
                                                const Verdict &verdict) {
  std::vector<HeldAtPeak> all;
  if (verdict.peakKernel == none)
    return all;
  const Kernel &peak = plan.kernels[verdict.peakKernel];
  KernelInfo info = analyze(problem, peak);
  std::vector<char> isTakenOver(verdict.instances.size(), 0);
  for (const Instance &instance : verdict.instances)
    if (instance.takesOver != none && instance.kernel == verdict.peakKernel)
      isTakenOver[instance.takesOver] = 1;
  for (size_t i = 0; i < verdict.instances.size(); ++i) {
    const Instance &instance = verdict.instances[i];
    const Value &value = problem.values[instance.value];
    if (!isInArena(problem, instance) || isTakenOver[i] ||
        instance.kernel > verdict.peakKernel ||
        instance.lastRead < verdict.peakKernel)
      continue;
    HeldAtPeak held;
    held.value = instance.value;
    held.bytes = slotBytes(value.bytes);
    bool isRead = std::find(info.memoryReads.begin(), info.memoryReads.end(),
                            instance.value) != info.memoryReads.end();
    if (isRead || instance.kernel == verdict.peakKernel)
      held.holder = Holder::Kernel;
    else if (!problem.ops[value.op].mayRepeat)
      held.holder = Holder::Once;
    else if (value.keep == Keep::Save)
      held.holder = Holder::Pin;
    held.reader = mainOp(problem, held.holder == Holder::Kernel
                                      ? peak
                                      : plan.kernels[instance.lastRead]);
    all.push_back(held);
  }
  int64_t workspace = 0;
  for (OpId op : peak.ops)
    workspace += problem.ops[op].workspaceBytes;
  if (workspace > 0)
    all.push_back(
        {none, slotBytes(workspace), Holder::Kernel, mainOp(problem, peak)});
  std::stable_sort(all.begin(), all.end(),
                   [](const HeldAtPeak &left, const HeldAtPeak &right) {
                     return left.bytes > right.bytes;
                   });
  return all;
}

/// "'linalg.matmul' (h/0/attn · dot)".
static std::string opName(const Problem &problem, OpId op) {
  if (op == none)
    return "nothing";
  std::string name = "'" + problem.ops[op].name + "'";
  const std::vector<ValueId> &results = problem.ops[op].results;
  return results.empty()
             ? name
             : name + " (" + problem.values[results.front()].name + ")";
}

/// How the memory that \p op needs alone can become less.
static std::string wayToLess(const Problem &problem, OpId op) {
  bool isOpaque = op != none && problem.ops[op].kind == OpKind::Opaque;
  if (!isOpaque)
    return "a smaller op would lower it";
  const std::string &name = problem.ops[op].name;
  if (name == "scf.if" || name == "scf.index_switch")
    return "a conditional runs as one op, with all that it reads and makes: "
           "with 'arith.select' its sides are planned like other ops";
  if (name.rfind("scf.", 0) == 0)
    return "a loop runs as one op, with all that it carries and stacks: "
           "'--ckpt-prepare' unrolls a loop whose number of iterations is "
           "known, up to 'unroll-limit' ops";
  return "it runs as one op, with all that it reads and makes: smaller ops in "
         "its place would lower it";
}

std::string ckpt::plan::describe(const Problem &problem,
                                 const HeldAtPeak &held) {
  std::string reader = opName(problem, held.reader);
  std::string what = held.value == none
                         ? "the workspace of " + reader
                         : "'" + problem.values[held.value].name + "'";
  what += " takes " + formatBytes(held.bytes) + " there and ";
  switch (held.holder) {
  case Holder::Kernel:
    return what + "is read or written by the kernel at the peak, of " + reader +
           ": " + wayToLess(problem, held.reader);
  case Holder::Pin:
    return what +
           "is to be saved, by a pin, the strategy or the caller, until " +
           reader + " has read it: without that it could be made again";
  case Holder::Once:
    return what + "cannot be made again until " + reader + " has read it: " +
           (problem.ops[problem.values[held.value].op].hasEffects
                ? "its op has effects or is not known to be pure"
                : "its op runs only once");
  case Holder::Reader:
    return what + "waits for " + reader +
           ": every plan that was found keeps it";
  }
  return what;
}

/// To read, and exactly, to ask for: "8.0 KiB (8192 bytes)".
static std::string readableAndExact(int64_t bytes) {
  std::string exact = std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  return bytes < 1024 ? exact : formatBytes(bytes) + " (" + exact + ")";
}

std::string ckpt::plan::describeBudget(int64_t budgetBytes,
                                       int64_t smallestBytes,
                                       int64_t boundBytes) {
  std::string budget = "a budget of " + readableAndExact(budgetBytes);
  std::string smallest = readableAndExact(smallestBytes);
  std::string bound = readableAndExact(boundBytes);
  if (budgetBytes >= boundBytes)
    return "no plan was found for " + budget +
           ", which is not proven infeasible; the smallest budget for which "
           "one was found is " +
           smallest +
           (boundBytes > 0 ? ", and no plan does with less than " + bound : "");
  if (smallestBytes == boundBytes)
    return budget + " is proven infeasible: the least possible is " + bound +
           ", for which there is a plan";
  return budget + " is proven infeasible: no plan does with less than " +
         bound + "; the smallest budget for which one was found is " + smallest;
}

std::string ckpt::plan::describeShortage(const Problem &problem,
                                         const RegionShortage &shortage,
                                         const Bound &bound) {
  const Region &region = problem.regions[shortage.region];
  return "region '" + region.name + "': " +
         describeBudget(region.budgetBytes, shortage.smallestBytes,
                        minimumArenaBytes(problem, bound.minimumRegionBytes(
                                                       shortage.region)));
}

/// The bytes of a bound lie in the arena, or in results.
static std::string whereBytesAre(const Problem &problem) {
  int64_t most = mostScratchBytes(problem);
  return most == 0
             ? ""
             : " in the arena and the results (" + formatBytes(most) + ")";
}

/// \p op takes \p bytes alone, in one kernel.
static std::string describeKernel(const Problem &problem, OpId number,
                                  const std::string &bytes) {
  const Op &op = problem.ops[number];
  return opName(problem, number) + " alone needs " + bytes +
         " for its reads and writes" +
         (op.workspaceBytes > 0 ? " and the values inside" : "") +
         whereBytesAre(problem) +
         ": that is the proven bound, which takes each op as one piece, and " +
         (op.kind == OpKind::Opaque ? "" : "only ") +
         wayToLess(problem, number);
}

std::string ckpt::plan::describeBound(const Problem &problem,
                                      const Bound &bound) {
  std::string bytes = readableAndExact(bound.minimumBytes());
  auto [kind, op] = bound.minimumCause();
  if (op == none)
    return "";
  switch (kind) {
  case MinimumCause::Kind::Kernel:
    return describeKernel(problem, op, bytes);
  case MinimumCause::Kind::Operands:
    return "while the last operand of " + opName(problem, op) +
           " is made, the others stand in memory, or their sources: in every "
           "plan this takes " +
           bytes + whereBytesAre(problem) +
           " at some moment, which is the proven bound";
  case MinimumCause::Kind::Search:
    return "until " + opName(problem, op) +
           " has its operands, every plan takes " + bytes +
           whereBytesAre(problem) +
           " at some moment: a search through all sets of values in memory "
           "finds no way with less";
  case MinimumCause::Kind::Moment:
    break;
  }
  return "";
}
