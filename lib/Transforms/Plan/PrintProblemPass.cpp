//===- PrintProblemPass.cpp - The planning problem as text ----------------===//
//
// The pass `--ckpt-print-problem`, for people and for `ckpt-plan`, which reads
// that text. See Passes.td.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Analysis/Step.h"
#include "ckpt/Import/ProblemBuilder.h"
#include "ckpt/Plan/Text.h"
#include "ckpt/Plan/Validate.h"
#include "ckpt/Support/OutputFile.h"
#include "ckpt/Transforms/Passes.h"
#include "ckpt/Transforms/Prepare.h"

#include <sstream>

namespace ckpt {
#define GEN_PASS_DEF_PRINTPROBLEMPASS
#include "ckpt/Transforms/Passes.h.inc"
} // namespace ckpt

using namespace ckpt;

namespace {

struct PrintProblemPass : impl::PrintProblemPassBase<PrintProblemPass> {
  using PrintProblemPassBase::PrintProblemPassBase;

  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    PrintProblemPassBase::getDependentDialects(registry);
    registerPreparedDialects(registry);
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    mlir::OwningOpRef<ModuleOp> copy(getOperation().clone());
    auto step = findStep(*copy, function);
    if (failed(step) || (prepare && failed(prepareStep(*step, {unrollLimit}))))
      return signalPassFailure();
    auto program = buildProblem(*step, device);
    if (failed(program))
      return signalPassFailure();
    std::ostringstream text;
    plan::printProblem(program->problem, text);
    plan::AsWritten written = plan::asWritten(program->problem);
    text << "// as written: peak " << written.peakBytes << " bytes, moved "
         << written.bytesMoved << " bytes, flops " << written.flops << "\n";
    if (llvm::Error error = writeOutputFile(
            "-", [&](llvm::raw_ostream &os) { os << text.str(); })) {
      step->emitError() << llvm::toString(std::move(error));
      signalPassFailure();
    }
  }
};

} // namespace
