//===- PlanStateTest.cpp - The state of edited plans and the simulator ----===//

#include "Plan/Improve/PlanState.h"
#include "Plan/Model/PlanEdit.h"
#include "ProblemBuilder.h"
#include "RandomProblem.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

/// Live bytes of each kernel, from the instances of the simulator.
std::vector<int64_t> liveBytes(const Problem &problem, const Plan &plan,
                               const Verdict &verdict) {
  std::vector<int64_t> bytes;
  for (const Kernel &kernel : plan.kernels)
    bytes.push_back(slotBytes(analyze(problem, kernel).workspaceBytes));
  for (const Instance &instance : verdict.instances) {
    const Value &value = problem.values[instance.value];
    if (value.home != Home::Arena)
      continue;
    for (int32_t k = instance.kernel + (instance.takesOver != none);
         k <= instance.lastRead; ++k)
      bytes[k] += slotBytes(value.bytes);
  }
  return bytes;
}

std::vector<std::vector<ValueId>> outputsOf(const Plan &plan) {
  std::vector<std::vector<ValueId>> outputs;
  for (const Kernel &kernel : plan.kernels)
    outputs.push_back(kernel.outputs);
  return outputs;
}

/// Random edits of one plan without dead outputs.
class Editor {
public:
  Editor(const Problem &problem, uint32_t seed)
      : problem(problem), random(seed), kernels(problem),
        state(problem, onePerOp(problem), kernels) {}

  PlanState &plan() { return state; }
  Edit randomEdit() {
    Edit edit;
    int32_t place = pick(), other = pick();
    Kernel kernel = state.kernel(place);
    switch (random() % 7) {
    case 0: // Recompute.
      edit.inserted.emplace_back(other, kernel);
      break;
    case 1: // Delay or hoist.
      edit.move(place, kernel, other);
      break;
    case 2: // Erase.
      edit.replaced.emplace_back(place, Kernel());
      break;
    case 3: // Merge.
      if (place != other) {
        edit.replaced.emplace_back(other, Kernel());
        edit.replaced.emplace_back(place, merge(kernel, state.kernel(other)));
      }
      break;
    case 4: // Inline: compute an operand inside.
      edit.replaced.emplace_back(place, inlined(kernel));
      break;
    case 5: // Two copies at once.
      edit.inserted.emplace_back(place, kernel);
      edit.inserted.emplace_back(other, kernel);
      break;
    default: // Split: one output moves, the others stay. With a copy at once.
      edit.replaced.emplace_back(place, part(kernel, 1));
      edit.inserted.emplace_back(pick(), part(kernel, 0));
      Edit copy;
      copy.inserted.emplace_back(other, state.kernel(other));
      edit.add(copy);
    }
    return edit;
  }

  /// The figures are those of the simulator, which finds errors where the state
  /// does. Returns whether the plan is valid.
  bool check() {
    Plan plan = state.plan();
    Verdict verdict = validate(problem, plan, /*slots=*/false);
    if (!state.isLegal()) {
      EXPECT_NE(verdict.error, "");
    }
    if (!verdict.error.empty())
      return false;
    EXPECT_TRUE(state.isLegal());
    Plan trimmed = plan;
    removeDeadOutputs(problem, trimmed);
    EXPECT_EQ(outputsOf(trimmed), outputsOf(plan));
    EXPECT_EQ(state.timeNs(), verdict.timeNs);
    EXPECT_EQ(state.extraFlops(), verdict.extraFlops);
    EXPECT_EQ(state.peakBytes(), verdict.livePeakBytes);
    std::vector<int64_t> bytes = liveBytes(problem, plan, verdict);
    int64_t excess = 0, limit = verdict.livePeakBytes / 2;
    size_t k = 0;
    for (int32_t place = 0; place < state.size(); ++place)
      if (!state.isEmpty(place)) {
        excess += std::max<int64_t>(0, bytes[k] - limit);
        EXPECT_EQ(state.bytesAt(place), bytes[k++]);
      }
    EXPECT_EQ(state.excessBytes(limit), excess);
    for (int32_t first = 0; first < state.size(); ++first)
      for (int32_t end = first + 1, most = first; end <= state.size(); ++end) {
        if (state.bytesAt(end - 1) > state.bytesAt(most))
          most = end - 1;
        EXPECT_EQ(state.peakBytes(first, end), state.bytesAt(most));
      }
    return true;
  }

private:
  static Plan onePerOp(const Problem &problem) {
    Plan plan;
    for (size_t op = 0; op < problem.ops.size(); ++op)
      plan.kernels.push_back(
          {{static_cast<OpId>(op)}, problem.ops[op].results, {}});
    removeDeadOutputs(problem, plan);
    return plan;
  }
  int32_t pick() {
    return static_cast<int32_t>(random() % static_cast<uint32_t>(state.size()));
  }
  static Kernel merge(const Kernel &a, const Kernel &b) {
    Kernel both;
    std::set_union(a.ops.begin(), a.ops.end(), b.ops.begin(), b.ops.end(),
                   std::back_inserter(both.ops));
    std::set_union(a.outputs.begin(), a.outputs.end(), b.outputs.begin(),
                   b.outputs.end(), std::back_inserter(both.outputs));
    return both;
  }
  /// The part that makes every second output, from number \p first.
  Kernel part(const Kernel &kernel, size_t first) const {
    Kernel part;
    for (size_t i = first; i < kernel.outputs.size(); i += 2)
      part.outputs.push_back(kernel.outputs[i]);
    if (part.outputs.empty())
      return part;
    part.ops = kernel.ops;
    trimOps(problem, part);
    return part;
  }
  Kernel inlined(const Kernel &kernel) {
    for (OpId op : kernel.ops)
      for (const Read &read : problem.ops[op].reads)
        if (OpId maker = problem.values[read.value].op;
            maker != none && random() % 2)
          return merge(kernel, {{maker}, {}, {}});
    return kernel;
  }

  const Problem &problem;
  std::mt19937 random;
  KernelCache kernels;
  PlanState state;
};

struct Figures {
  int64_t timeNs, extraFlops;
  std::vector<int64_t> bytes;
  bool isLegal;
  explicit Figures(const PlanState &state)
      : timeNs(state.timeNs()), extraFlops(state.extraFlops()),
        bytes(state.bytes()), isLegal(state.isLegal()) {}
  bool operator==(const Figures &other) const {
    return timeNs == other.timeNs && extraFlops == other.extraFlops &&
           bytes == other.bytes && isLegal == other.isLegal;
  }
};

TEST(PlanState, EqualsTheSimulatorAfterRandomEdits) {
  int valid = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomOptions options;
    options.ops = 4 + static_cast<int32_t>(seed % 20);
    Problem problem = RandomProblem(seed, options).make();
    Editor editor(problem, static_cast<uint32_t>(seed));
    editor.check();
    for (int step = 0; step < 40; ++step) {
      Figures before(editor.plan());
      editor.plan().apply(editor.randomEdit());
      bool isValid = editor.check();
      valid += isValid;
      if (!isValid || step % 3 == 0) {
        editor.plan().undo();
        ASSERT_TRUE(Figures(editor.plan()) == before) << seed << " " << step;
      } else if (step % 5 == 0) {
        editor.plan().compact();
      }
      ASSERT_FALSE(HasFailure()) << seed << " " << step;
    }
  }
  EXPECT_GT(valid, 1000);
}

/// Places are those before the edit, in whatever order it names them.
TEST(PlanState, RunsKernelsBeforeTheirPlaces) {
  ProblemBuilder b;
  ValueId source = b.contraction({memory(b.argument(64))}, 64);
  std::vector<ValueId> results;
  for (int i = 0; i < 3; ++i) {
    results.push_back(b.contraction({memory(source)}, 64));
    b.result(results.back());
  }
  Plan plan;
  for (size_t op = 0; op < b.problem.ops.size(); ++op)
    plan.kernels.push_back(
        {{static_cast<OpId>(op)}, b.problem.ops[op].results, {}});
  KernelCache kernels(b.problem);
  PlanState state(b.problem, plan, kernels);
  Edit edit;
  edit.move(1, state.kernel(1), 4);
  edit.move(3, state.kernel(3), 2);
  state.apply(edit);
  EXPECT_TRUE(state.isLegal());
  std::vector<std::vector<ValueId>> expected = {
      {source}, {results[2]}, {results[1]}, {results[0]}};
  EXPECT_EQ(outputsOf(state.plan()), expected);
}

} // namespace
