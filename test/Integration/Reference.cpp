//===- Reference.cpp - Kernels as upstream's plain loops ------------------===//

#include "Reference.h"
#include "ckpt/IR/CkptDialect.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/TensorToLinalg/TensorToLinalgPass.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

static void dissolve(ckpt::KernelOp kernel) {
  OpBuilder builder(kernel);
  IRMapping mapping;
  Block &body = kernel.getBody().front();
  mapping.map(body.getArguments(), kernel.getInputs());
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  for (auto [result, yielded] : llvm::zip_equal(
           kernel.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookup(yielded));
  kernel.erase();
}

static void buildPipeline(OpPassManager &manager) {
  manager.addPass(createConvertTensorToLinalgPass());
  manager.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.allowReturnAllocsFromLoops = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  manager.addPass(bufferization::createOneShotBufferizePass(bufferize));
  bufferization::BufferResultsToOutParamsPassOptions outParams;
  outParams.modifyPublicFunctions = true;
  manager.addPass(bufferization::createBufferResultsToOutParamsPass(outParams));
  manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  manager.addPass(createConvertComplexToStandardPass());
  math::MathExpandOpsPassOptions expand;
  expand.opMnemonics = {"rsqrt"};
  manager.addPass(math::createMathExpandOpsPass(expand));
  arith::ArithExpandOpsPassOptions arith;
  arith.includeBf16 = true;
  arith::ArithEmulateUnsupportedFloatsOptions narrow;
  narrow.sourceTypeStrs = {"bf16", "f16"};
  manager.addPass(arith::createArithEmulateUnsupportedFloats(narrow));
  manager.addPass(arith::createArithExpandOpsPass(arith));
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertComplexToLLVMPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions functions;
  functions.useBarePtrCallConv = true;
  manager.addPass(createConvertFuncToLLVMPass(functions));
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

llvm::Expected<std::unique_ptr<ExecutionEngine>>
compileReference(ModuleOp module, StringRef name) {
  OwningOpRef<ModuleOp> copy(module.clone());
  for (auto function : llvm::to_vector(copy->getOps<func::FuncOp>())) {
    if (function.getName() != name)
      function.erase();
    else
      for (auto kernel :
           llvm::to_vector(function.front().getOps<ckpt::KernelOp>()))
        dissolve(kernel);
  }
  RewritePatternSet patterns(copy->getContext());
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  (void)applyPatternsGreedily(*copy, std::move(patterns));
  PassManager manager(copy->getContext());
  buildPipeline(manager);
  if (failed(manager.run(*copy)))
    return llvm::createStringError("the reference did not lower");
  ExecutionEngineOptions options;
  auto transformer = makeOptimizingTransformer(1, 0, nullptr);
  options.transformer = transformer;
  return ExecutionEngine::create(*copy, options);
}
