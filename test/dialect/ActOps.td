//===- ActOps.td - Activations of somebody else ------------*- tablegen -*-===//

include "ckpt/Interfaces/RematOpInterface.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
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

def Act_CumsumOp : Op<Act_Dialect, "cumsum",
    [Pure, DestinationStyleOpInterface, AllTypesMatch<["x", "out", "result"]>,
     DeclareOpInterfaceMethods<Ckpt_RematOpInterface, ["checkSupported"]>,
     DeclareOpInterfaceMethods<BufferizableOpInterface,
        ["bufferizesToMemoryRead", "bufferizesToMemoryWrite",
         "getAliasingValues", "bufferize"]>]> {
  let summary = "sums from the begin of each row up to each element";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$out);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`ins` `(` $x `)` `outs` `(` $out `)` attr-dict `:` type($x)";
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
  }];
}
