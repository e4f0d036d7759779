//===- CkptAttrs.td - Attributes of the ckpt dialect -------*- tablegen -*-===//

#ifndef CKPT_IR_CKPTATTRS_TD
#define CKPT_IR_CKPTATTRS_TD

include "ckpt/IR/CkptDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Ckpt_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::ckpt";
  let genSpecializedAttr = 0;
}

def Ckpt_Decision : Ckpt_Enum<"Decision", "the decision of a plan about a value", [
  I32EnumAttrCase<"Save", 0, "save">,
  I32EnumAttrCase<"Recompute", 1, "recompute">,
  I32EnumAttrCase<"Inline", 2, "inline">]>;

def Ckpt_DecisionAttr : EnumAttr<Ckpt_Dialect, Ckpt_Decision, "decision"> {
  let summary = "save, recompute or inline";
  let description = [{
    Written by `--ckpt-plan` on every op and layer: `save` (stands in memory until
    its last reader), `recompute` (made again), `inline` (computed inside the
    kernels that read it). Can be edited;
    `--ckpt-apply-plan` then derives a schedule from the decisions.
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Ckpt_Pin : Ckpt_Enum<"Pin", "a demand of the user on a value", [
  I32EnumAttrCase<"Save", 0, "save">,
  I32EnumAttrCase<"Recompute", 1, "recompute">]>;

def Ckpt_PinAttr : EnumAttr<Ckpt_Dialect, Ckpt_Pin, "pin"> {
  let summary = "a demand that every strategy obeys: save or recompute";
  let assemblyFormat = "`<` $value `>`";
}

def Ckpt_LayerKind : Ckpt_Enum<"LayerKind", "the kind of a layer", [
  I32EnumAttrCase<"Other", 0, "other">,
  I32EnumAttrCase<"Attention", 1, "attention">,
  I32EnumAttrCase<"FFN", 2, "ffn">,
  I32EnumAttrCase<"Embedding", 3, "embedding">,
  I32EnumAttrCase<"Norm", 4, "norm">]>;

def Ckpt_LayerKindAttr : EnumAttr<Ckpt_Dialect, Ckpt_LayerKind, "kind"> {
  let summary = "attention, ffn, embedding, norm or other";
  let assemblyFormat = "`<` $value `>`";
}

def Ckpt_PlanAttr : AttrDef<Ckpt_Dialect, "Plan"> {
  let mnemonic = "plan";
  let summary = "the exact schedule of a function";
  let description = [{
    Kernels in the order in which they run, by op numbers: the position of an op
    in the function when regions of layers are read in place, constants and empty
    tensors left out. `body` has a hash of each op, `decisions` is one of all
    decisions, so that an edit of either is noticed, at its place.

    ```mlir
    #ckpt.plan<body [11, 7, 9, 4, 2] decisions 4 arena 512 kernels [
      {ops [2, 3] outputs [3 : 0 at 0]},
      {ops [4] outputs [4 : 0 at -1] workspace 256} ]>
    ```

    An output is `op : result at offset`; offset -1 is a buffer of the
    caller. With `of part` the offset is one in the buffer of that part of the
    function's results.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$ops, "uint64_t":$decisionsHash,
    "int64_t":$arenaBytes, ArrayRefParameter<"int64_t">:$code);
  let hasCustomAssemblyFormat = 1;
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$ops,
      "uint64_t":$decisionsHash, "int64_t":$arenaBytes,
      "::llvm::ArrayRef<::ckpt::PlannedKernel>":$kernels)>];
  let extraClassDeclaration = [{
    /// The kernels; `getCode` is their flat form, for storage only.
    ::llvm::SmallVector<::ckpt::PlannedKernel> getKernels() const;
  }];
}

#endif // CKPT_IR_CKPTATTRS_TD
