//===- RematOpInterface.td - Ops, as the planner sees them -*- tablegen -*-===//

#ifndef CKPT_INTERFACES_REMATOPINTERFACE_TD
#define CKPT_INTERFACES_REMATOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def Ckpt_RematOpInterface : OpInterface<"RematOpInterface"> {
  let cppNamespace = "::ckpt";
  let description = [{
    The properties of an op by which the planner decides where its results
    stand: in memory or inside the kernels that read them, computed once or
    again. Dialects that `ckpt` does not know take part by this interface;
    upstream dialects have external models (`ckpt/ExternalModels`). An op without it is
    opaque: it runs as a kernel of its own, reads all of its operands from
    memory, and is made again only if it is pure and speculatable.

    Terms:

    - A *kernel* runs as one piece: fusible ops that compute the elements that
      an anchor reads, at most one *anchor*, and fusible ops on the elements of
      its results (the *epilogue*).
    - A *read* is a tensor or scalar that the op takes from outside: an operand
      whose elements it uses, or a value that its region captures. An `outs`
      operand that is only written is no read.
    - The *access* of a read says which elements of it make one element of the
      results; the *need* of a read says whether it has to stand in memory.
    - A read is the *destination* of a result if the op updates it: the result
      may take over its place when it is not needed any longer. Destination k
      belongs to result k.

    An op that claims to be fusible or a view promises that any element of its
    results can be computed alone, any number of times; the lowering then needs
    to know how (`ckpt/Conversion`). Shapes are static when the planner asks.
  }];
  let methods = [
    InterfaceMethod<[{
        Fusible, view, contraction, reduction or opaque; see `plan::OpKind`.
      }], "::ckpt::plan::OpKind", "getRematKind", (ins)>,
    InterfaceMethod<[{
        Appends the reads of the op in a fixed order, destinations in the order
        of the results. Values that cost nothing (scalar constants,
        `tensor.empty`) may be appended; the planner leaves them out.
      }], "void", "getReads",
      (ins "::llvm::SmallVectorImpl<::ckpt::RematRead> &":$reads)>,
    InterfaceMethod<[{
        Work of one execution: 2 per multiply-add of a contraction or
        convolution, else 1 per arithmetic operation and element.
      }], "int64_t", "getFlops", (ins)>,
    InterfaceMethod<[{
        Scratch memory beside operands and results while the op runs.
      }], "int64_t", "getWorkspaceBytes", (ins), "", "return 0;">,
    InterfaceMethod<[{
        Whether the op does more than compute its results from its reads: it
        then runs exactly once, in its place among the other such ops.
      }], "bool", "hasSideEffects", (ins), "",
      "return !::mlir::isMemoryEffectFree($_op);">,
    InterfaceMethod<[{
        Says at the op why it cannot be run, such as a type that its lowering
        does not know. Planning asks before it begins.
      }], "::llvm::LogicalResult", "checkSupported", (ins), "",
      "return ::llvm::success();">,
  ];
}

#endif // CKPT_INTERFACES_REMATOPINTERFACE_TD
