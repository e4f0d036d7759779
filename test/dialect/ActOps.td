//===- ActOps.td - Activations of somebody else ------------*- tablegen -*-===//

include "ckpt/Interfaces/RematOpInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Act_Dialect : Dialect {
  let name = "act";
  let cppNamespace = "::act";
}

def Act_SiluOp : Op<Act_Dialect, "silu",
    [Pure, SameOperandsAndResultType,
     DeclareOpInterfaceMethods<Ckpt_RematOpInterface, ["checkSupported"]>]> {
  let summary = "x / (1 + exp(-x)), element by element";
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
