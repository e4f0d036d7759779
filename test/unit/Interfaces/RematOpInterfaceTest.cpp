//===- RematOpInterfaceTest.cpp - Dialects that ckpt does not know --------===//
//
// A dialect of somebody else takes part in planning by an external model alone.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Interfaces/RematOpInterface.h"
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Import/ProblemBuilder.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace ckpt;

namespace {

/// `theirs.attention`, pure, with one operand and one result.
class AttentionOp : public mlir::Op<AttentionOp, mlir::OpTrait::OneResult,
                                    mlir::OpTrait::OneOperand> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AttentionOp)
  using Op::Op;
  static StringRef getOperationName() { return "theirs.attention"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

class TheirDialect : public mlir::Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TheirDialect)
  static StringRef getDialectNamespace() { return "theirs"; }
  explicit TheirDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context,
                mlir::TypeID::get<TheirDialect>()) {
    addOperations<AttentionOp>();
  }
};

struct AttentionModel
    : RematOpInterface::ExternalModel<AttentionModel, AttentionOp> {
  plan::OpKind getRematKind(Operation *) const {
    return plan::OpKind::Contraction;
  }
  void getReads(Operation *op, SmallVectorImpl<RematRead> &reads) const {
    reads.push_back({op->getOperand(0), plan::Access::Any, plan::Need::Memory});
  }
  int64_t getFlops(Operation *) const { return 1234; }
  int64_t getWorkspaceBytes(Operation *) const { return 512; }
  bool hasSideEffects(Operation *) const { return false; }
};

class RematOpInterfaceTest : public testing::Test {
protected:
  RematOpInterfaceTest() {
    context.loadDialect<TheirDialect, CkptDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<ModuleOp>(R"(
      func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
        %0 = "theirs.attention"(%x) : (tensor<4xf32>) -> tensor<4xf32>
        return %0 : tensor<4xf32>
      })",
                                               &context);
  }

  /// The only op of the function, as the planner sees it.
  plan::Op read() {
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    auto program = buildProblem(function, knownDevices().front());
    EXPECT_TRUE(succeeded(program));
    EXPECT_EQ(program->problem.ops.size(), 1u);
    return program->problem.ops.front();
  }

  MLIRContext context;
  mlir::OwningOpRef<ModuleOp> module;
};

TEST_F(RematOpInterfaceTest, WithoutModelTheOpIsOpaqueAndRunsOnce) {
  plan::Op op = read();
  EXPECT_EQ(op.kind, plan::OpKind::Opaque);
  EXPECT_FALSE(op.mayRepeat);
  EXPECT_TRUE(op.hasEffects);
  EXPECT_EQ(op.reads.at(0).need, plan::Need::Contiguous);
}

TEST_F(RematOpInterfaceTest, ModelOfAnotherDialectIsAsked) {
  AttentionOp::attachInterface<AttentionModel>(context);
  plan::Op op = read();
  EXPECT_EQ(op.kind, plan::OpKind::Contraction);
  EXPECT_TRUE(op.mayRepeat);
  EXPECT_FALSE(op.hasEffects);
  EXPECT_EQ(op.reads.at(0).need, plan::Need::Memory);
  EXPECT_EQ(op.flops, 1234);
  EXPECT_EQ(op.workspaceBytes, 512);
}

TEST_F(RematOpInterfaceTest, CountsSaturate) {
  EXPECT_EQ(saturatingProduct(INT64_MAX / 2, 3), INT64_MAX);
  EXPECT_EQ(saturatingSum(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(saturatingProduct(6, 7), 42);
}

} // namespace
