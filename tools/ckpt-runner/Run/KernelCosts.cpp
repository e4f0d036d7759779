//===- KernelCosts.cpp - Predicted costs of the kernels of a plan ---------===//

#include "Run/KernelCosts.h"
#include "ckpt/Transforms/PlanStep.h"

using namespace ckpt;

/// The problem of \p step on \p device, with the plan that it has.
static FailureOr<std::pair<ProgramProblem, plan::Plan>>
readPlanned(mlir::func::FuncOp step, const Device &device) {
  FailureOr<ProgramProblem> program = buildProblem(step, device);
  if (failed(program))
    return failure();
  FailureOr<plan::Solution> solution = readPlan(*program);
  if (failed(solution))
    return failure();
  return std::pair(std::move(*program), std::move(solution->plan));
}

static std::string titleOf(const plan::Problem &problem,
                           const plan::Kernel &kernel) {
  for (plan::OpId id : kernel.ops)
    if (plan::isAnchor(problem.ops[id]) && !problem.ops[id].results.empty())
      return problem.values[problem.ops[id].results.front()].name;
  return kernel.outputs.empty() ? problem.ops[kernel.ops.back()].name
                                : problem.values[kernel.outputs.front()].name;
}

FailureOr<std::vector<PredictedKernel>>
ckpt::predictKernels(mlir::func::FuncOp step, const Device &device) {
  auto planned = readPlanned(step, device);
  if (failed(planned))
    return failure();
  auto &[program, plan] = *planned;
  std::vector<PredictedKernel> kernels;
  for (const plan::Kernel &kernel : plan.kernels)
    kernels.push_back({titleOf(program.problem, kernel),
                       plan::analyze(program.problem, kernel)});
  return kernels;
}

/// \p device where a unit of one kind of work takes a microsecond and
/// everything else next to nothing.
static Device pricing(Device device, WorkType type, WorkKind kind) {
  constexpr int64_t immense = 1000000000000000;
  device.bytesPerMicrosecond = immense;
  for (Cache &cache : device.caches)
    cache.bytesPerMicrosecond = immense;
  device.launchNs = 0;
  for (auto &rates : device.rates)
    rates.fill(immense);
  device.rate(type, kind) = 1;
  return device;
}

FailureOr<std::vector<KernelWork>> ckpt::countWork(mlir::func::FuncOp step,
                                                   const Device &device) {
  auto planned =
      readPlanned(step, pricing(device, WorkType::F32, WorkKind::Elementwise));
  if (failed(planned))
    return failure();
  const plan::Plan &plan = planned->second;
  std::vector<KernelWork> kernels(plan.kernels.size());
  for (unsigned i = 0; i < workTypeCount * workKindCount; ++i) {
    auto type = static_cast<WorkType>(i / workKindCount);
    auto kind = static_cast<WorkKind>(i % workKindCount);
    auto program = buildProblem(step, pricing(device, type, kind));
    if (failed(program))
      return failure();
    for (auto [kernel, counted] : llvm::zip_equal(plan.kernels, kernels)) {
      plan::KernelInfo info = plan::analyze(program->problem, kernel);
      counted.bytesMoved = info.bytesMoved;
      counted.stepBytes = program->outsideBytes;
      if (int64_t amount = info.timeNs / 1000)
        counted.work.push_back({type, kind, amount});
    }
  }
  return kernels;
}
