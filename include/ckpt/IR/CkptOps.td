//===- CkptOps.td - Ops of the ckpt dialect ----------------*- tablegen -*-===//

#ifndef CKPT_IR_CKPTOPS_TD
#define CKPT_IR_CKPTOPS_TD

include "ckpt/IR/CkptAttrs.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Ckpt_Op<string mnemonic, list<Trait> traits = []>
    : Op<Ckpt_Dialect, mnemonic, traits>;

def Ckpt_LayerOp : Ckpt_Op<"layer", [
    NoRegionArguments, SingleBlockImplicitTerminator<"::ckpt::YieldOp">,
    RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "a named part of the forward pass";
  let description = [{
    Groups ops of the forward pass under a name that reports, strategies and pins
    use. Not isolated from above; the results are everything that is read
    outside. Several layers of one name are one layer in several places. Made by the user or by
    `--ckpt-form-layers`, dissolved by `--ckpt-apply-plan` (the kernels keep the
    name). Given figures are believed, the others are derived from the ops. The
    values that the layer makes take at most its `budget` in memory at any time:
    "200MiB", or "50%" of their bytes in the plan without a limit.

    - C1: the operands of the terminator have the types of the results.
    - C2: `activation_bytes`, `recompute_flops` and `parameters` are not negative.

    ```mlir
    %0 = ckpt.layer "h/0/attn" kind <attention> -> tensor<4xf32> {
      %1 = math.exp %x : tensor<4xf32>
      ckpt.yield %1 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins
    StrAttr:$name, OptionalAttr<Ckpt_LayerKindAttr>:$kind,
    OptionalAttr<I64Attr>:$activation_bytes,
    OptionalAttr<I64Attr>:$recompute_flops, OptionalAttr<I64Attr>:$parameters,
    OptionalAttr<Ckpt_PinAttr>:$pin, OptionalAttr<StrAttr>:$budget,
    OptionalAttr<Ckpt_DecisionAttr>:$decision);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name (`kind` $kind^)? (`pin` $pin^)? (`budget` $budget^)?
    (`decision` $decision^)?
    (`->` type($results)^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Ckpt_KernelOp : Ckpt_Op<"kernel", [
    AttrSizedOperandSegments, IsolatedFromAbove,
    SingleBlockImplicitTerminator<"::ckpt::YieldOp">,
    RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "a kernel, with its places in the arena";
  let description = [{
    Made by `--ckpt-apply-plan`, lowered by `--ckpt-lower-to-cpu-pipeline`. The
    order of the kernels is the order in which they run. Block arguments stand
    for `inputs`, all of which are read from memory. Result i lies at
    `offsets[i]` of the arena and takes `bytes[i]`; -1 means that it is a result
    of the function and lies in the caller's buffer. If `hosts[i]` is not -1, it
    lies at the offset in the buffer of that part of the function's results
    (most results are one part) until it is written, over it or after its last
    read: `slots [256 of 3 : 16]`. The workspace is used while the kernel runs.

    A kernel with `recompute` makes a value that an earlier kernel made too, or
    runs an anchor that an earlier kernel ran. Its `after` operands are values of the backward pass that it waits for: they count as
    reads, and they keep CSE from merging it with the original and code motion
    from moving it up. No rewrite needs to know about this.

    - C1: one entry of `offsets` and of `bytes` per result, and of `hosts` if
      there are any.
    - C2: offsets are -1 or a multiple of 256, with a host a multiple of 256;
      bytes are not negative.
    - C3: one block argument per input, of its type; the operands of the
      terminator have the types of the results.
    - C4: `after` only with `recompute`.
    - C5: `workspace_offset` is a multiple of 256 if `workspace_bytes` is
      positive, and -1 if it is 0.

    ```mlir
    %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] layer "h/0" {
      %1 = math.exp %a : tensor<4xf32>
      ckpt.yield %1 : tensor<4xf32>
    } -> tensor<4xf32>
    %2 = ckpt.kernel(%a = %x : tensor<4xf32>) after (%g : tensor<4xf32>)
        slots [256 : 16] layer "h/0" recompute {
      %3 = math.exp %a : tensor<4xf32>
      ckpt.yield %3 : tensor<4xf32>
    } -> tensor<4xf32>
    ```
  }];
  let arguments = (ins
    Variadic<AnyType>:$inputs, Variadic<AnyType>:$after,
    DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$bytes,
    OptionalAttr<DenseI64ArrayAttr>:$hosts,
    DefaultValuedAttr<I64Attr, "-1">:$workspace_offset,
    DefaultValuedAttr<I64Attr, "0">:$workspace_bytes,
    DefaultValuedAttr<StrAttr, "\"\"">:$layer,
    DefaultValuedAttr<BoolAttr, "false">:$recompute);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// The part of the function's results in whose buffer result \p result lies
    /// until a kernel writes it, or -1.
    int64_t getHost(unsigned result) {
      return getHosts() ? (*getHosts())[result] : -1;
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Ckpt_YieldOp : Ckpt_Op<"yield", [
    Pure, Terminator, ReturnLike, ParentOneOf<["LayerOp", "KernelOp"]>]> {
  let summary = "ends the body of a layer or kernel with its results";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), "build($_builder, $_state, {});">];
}

def Ckpt_BarrierOp : Ckpt_Op<"barrier", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite]>,
    TypesMatchWith<"result i has the type of value i", "values", "results",
                   "$_self", "::llvm::equal">]> {
  let summary = "passes values through; nothing moves or merges across it";
  let description = [{
    Only in the form for other compilers (`--ckpt-kernels-to-barriers`): the
    kernels of a plan read their inputs through barriers, which CSE, folding and
    code motion do not see through, and wait for the `after` values. A chain of
    barriers keeps the planned order.

    Result i has the type of value i.

    ```mlir
    %0 = ckpt.barrier %x after (%g : tensor<4xf32>) : tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values, Variadic<AnyType>:$after);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $values (`after` `(` $after^ `:` type($after) `)`)? attr-dict
    `:` type($values)
  }];
}

#endif // CKPT_IR_CKPTOPS_TD
