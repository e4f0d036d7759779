//===- Passes.td - Passes on programs before lowering ------*- tablegen -*-===//

#ifndef CKPT_TRANSFORMS_PASSES_TD
#define CKPT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PrintProblem : Pass<"ckpt-print-problem", "::mlir::ModuleOp"> {
  let summary = "prints the planning problem of the step as text";
  let description = [{
    Writes what the planner would see of a function to standard output, in the
    text form that `ckpt-plan` reads; the program is not changed. Use it with
    `-o /dev/null`, since the program follows on standard output. A comment at the
    end holds the figures of the program as written: its peak, the bytes that it
    moves and its work.
  }];
  let options = [
    Option<"func", "func", "std::string", /*default=*/"",
           "the step; by default the only public function with a body">,
    Option<"device", "device", "std::string", /*default=*/"\"cpu\"",
           "the described device that costs refer to">,
  ];
}

#endif // CKPT_TRANSFORMS_PASSES_TD
