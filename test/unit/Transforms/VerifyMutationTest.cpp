//===- VerifyMutationTest.cpp - Is every wrong rewrite caught? ------------===//
//
// Plans and rewrites training steps, breaks the result in one place, asks
// `verifyRewrite`, and mends it again. What changes the meaning must be
// refused, every time. What only moves kernels or places is judged by a small
// simulation of the arena: what it finds overwritten must be refused too.
//
//===----------------------------------------------------------------------===//

#include "Mutations.h"
#include "ckpt/ExternalModels/ExternalModels.h"
#include "ckpt/Transforms/Passes.h"
#include "ckpt/Verify/Verify.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace ckpt;

namespace {

/// Two draws and a log, which all have effects, in a step whose exponential is
/// cheap to make again.
constexpr const char *effectsProgram = R"(
func.func private @draw() -> tensor<64x64xf32>
func.func private @log(tensor<64x64xf32>)
func.func @step(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = call @draw() : () -> tensor<64x64xf32>
  %1 = arith.addf %0, %x : tensor<64x64xf32>
  call @log(%1) : (tensor<64x64xf32>) -> ()
  %2 = call @draw() : () -> tensor<64x64xf32>
  call @log(%2) : (tensor<64x64xf32>) -> ()
  %3 = arith.mulf %1, %2 : tensor<64x64xf32>
  %4 = linalg.matmul ins(%3, %w : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%x : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}
)";

/// Enough of each kind in a large program, evenly spread.
constexpr size_t mostOfAKind = 80;

SmallVector<Mutation> spread(ArrayRef<Mutation> all) {
  SmallVector<Mutation> some;
  size_t count = std::min(all.size(), mostOfAKind);
  for (size_t i = 0; i < count; ++i)
    some.push_back(all[i * all.size() / count]);
  return some;
}

class VerifyMutationTest : public ::testing::Test {
protected:
  VerifyMutationTest() {
    mlir::DialectRegistry registry;
    registry
        .insert<CkptDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                mlir::scf::SCFDialect, mlir::tensor::TensorDialect>();
    registerExternalModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  void rewrite(mlir::OwningOpRef<ModuleOp> program, const std::string &budget);
  void rewriteModel(const std::string &name, const std::string &budget) {
    rewrite(mlir::parseSourceFile<ModuleOp>(
                std::string(CKPT_TEST_MODELS) + "/" + name + ".mlir", &context),
            budget);
  }

  bool isAccepted();
  bool isCaught(const Mutation &mutation);
  void expectAllCaught(const std::string &what, ArrayRef<Mutation> all,
                       size_t least);
  void expectUnsoundCaught(const std::string &what, ArrayRef<Mutation> all,
                           size_t least);

  void breakMeaning();
  void breakPlaces();

  MLIRContext context;
  mlir::OwningOpRef<ModuleOp> original, rewritten;
  mlir::func::FuncOp step;
  SmallVector<KernelOp> kernels;
};

void VerifyMutationTest::rewrite(mlir::OwningOpRef<ModuleOp> program,
                                 const std::string &budget) {
  ASSERT_TRUE(program);
  original = std::move(program);
  rewritten = original->clone();
  mlir::PassManager manager(&context);
  PlanPassOptions options;
  options.budget = budget;
  options.timeLimitMs = 200;
  options.quiet = true;
  // Calls of declared functions are effects here.
  options.prepare = false;
  manager.addPass(createPlanPass(options));
  manager.addPass(createApplyPlanPass());
  ASSERT_TRUE(succeeded(manager.run(*rewritten)));
  for (auto function : rewritten->getOps<mlir::func::FuncOp>())
    if (!function.isDeclaration())
      step = function;
  kernels = llvm::to_vector(step.getOps<KernelOp>());
  ASSERT_FALSE(kernels.empty());
  ASSERT_TRUE(isSound(step));
  ASSERT_TRUE(isAccepted());
}

bool VerifyMutationTest::isAccepted() {
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) {});
  return succeeded(verifyRewrite(*rewritten, *original));
}

bool VerifyMutationTest::isCaught(const Mutation &mutation) {
  mutation.apply();
  bool accepted = isAccepted();
  mutation.undo();
  return !accepted;
}

void VerifyMutationTest::expectAllCaught(const std::string &what,
                                         ArrayRef<Mutation> all, size_t least) {
  size_t caught = 0;
  SmallVector<Mutation> mutations = spread(all);
  for (const Mutation &mutation : mutations)
    caught += isCaught(mutation);
  RecordProperty(what, std::to_string(caught) + " of " +
                           std::to_string(mutations.size()));
  EXPECT_EQ(caught, mutations.size()) << what;
  EXPECT_GE(mutations.size(), least) << what;
  EXPECT_TRUE(isAccepted()) << what << " were not taken back";
}

/// Of mutations that may be harmless, all that are not must be caught.
void VerifyMutationTest::expectUnsoundCaught(const std::string &what,
                                             ArrayRef<Mutation> all,
                                             size_t least) {
  size_t caught = 0, unsound = 0;
  for (const Mutation &mutation : spread(all)) {
    mutation.apply();
    bool sound = isSound(step);
    mutation.undo();
    unsound += !sound;
    caught += !sound && isCaught(mutation);
  }
  RecordProperty(what, std::to_string(caught) + " of " +
                           std::to_string(unsound) + " unsound");
  EXPECT_EQ(caught, unsound) << what;
  EXPECT_GE(unsound, least) << what;
}

/// Everything that changes what is computed.
void VerifyMutationTest::breakMeaning() {
  expectAllCaught("wrong operands", wrongOperands(step), 10);
  expectAllCaught("wrong inputs", wrongInputs(step), 2);
  expectAllCaught("wrong attributes", wrongAttributes(step), 10);
  expectAllCaught("removed kernels", removedKernels(step), 1);
}

void VerifyMutationTest::breakPlaces() {
  expectUnsoundCaught("moved places", movedPlaces(kernels), 1);
  expectUnsoundCaught("moved kernels", movedKernels(kernels), 1);
}

TEST_F(VerifyMutationTest, Mlp) {
  rewriteModel("mlp", "50%");
  breakMeaning();
  breakPlaces();
  expectAllCaught("wrong results", wrongResults(step), 1);
  expectAllCaught("dropped waits", droppedWaits(kernels), 1);
}

TEST_F(VerifyMutationTest, Transformer) {
  rewriteModel("gpt2-tiny", "40%");
  breakMeaning();
  breakPlaces();
  expectAllCaught("wrong results", wrongResults(step), 1);
  expectAllCaught("dropped waits", droppedWaits(kernels), 1);
}

TEST_F(VerifyMutationTest, Barriers) {
  rewriteModel("gpt2-tiny", "50%");
  mlir::PassManager manager(&context);
  manager.addPass(createKernelsToBarriersPass());
  ASSERT_TRUE(succeeded(manager.run(*rewritten)));
  ASSERT_TRUE(isAccepted());
  expectAllCaught("wrong operands", wrongOperands(step), 10);
  expectAllCaught("wrong attributes", wrongAttributes(step), 10);
}

TEST_F(VerifyMutationTest, Effects) {
  rewrite(mlir::parseSourceString<ModuleOp>(effectsProgram, &context), "100%");
  expectAllCaught("wrong inputs", wrongInputs(step), 2);
  expectAllCaught("removed kernels", removedKernels(step), 4);
  expectAllCaught("repeated effects", repeatedEffects(kernels), 4);
  expectAllCaught("exchanged effects", exchangedEffects(kernels), 1);
}

} // namespace
