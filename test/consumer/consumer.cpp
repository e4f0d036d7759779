// Plans a problem given as text with the planner alone, and reads a kernel with
// the dialect: the two ends from which other projects use ckpt.
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Plan/Solvers.h"
#include "ckpt/Plan/Text.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <cstdio>

static const char problemText[] = R"(
value 0 bytes=4096 elements=1024 home=argument
value 1 bytes=4096 elements=1024
value 2 bytes=4096 elements=1024 home=result
op 0 fusible reads=0:pointwise results=1 flops=1024
op 1 fusible reads=1:pointwise results=2 flops=1024
)";

static const char kernelText[] = R"(
%x = "test.value"() : () -> tensor<4xf32>
%y = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] layer "h/0" {
  ckpt.yield %a : tensor<4xf32>
} -> tensor<4xf32>
)";

int main() {
  ckpt::plan::Problem problem;
  std::string error;
  if (!ckpt::plan::parseProblem(problemText, problem, error)) {
    std::printf("error: %s\n", error.c_str());
    return 1;
  }
  ckpt::plan::Solution solution = ckpt::plan::solveUnlimited(problem, {});
  std::printf("kernels: %zu, arena: %lld bytes\n", solution.plan.kernels.size(),
              static_cast<long long>(solution.plan.arenaBytes));

  mlir::MLIRContext context;
  context.loadDialect<ckpt::CkptDialect>();
  context.allowUnregisteredDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kernelText, &context);
  if (!module)
    return 1;
  module->walk([](ckpt::KernelOp kernel) {
    std::printf("kernel of layer %s\n", kernel.getLayer().str().c_str());
  });
  return 0;
}
