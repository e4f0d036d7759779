//===- Passes.td - Passes on programs before lowering ------*- tablegen -*-===//

#ifndef CKPT_TRANSFORMS_PASSES_TD
#define CKPT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def FormLayers : Pass<"ckpt-form-layers", "::mlir::func::FuncOp"> {
  let summary = "finds layers in the locations and wraps their forward ops";
  let description = [{
    Reads the name stack that JAX leaves in the locations
    (`jit(step)/jit(main)/jvp(Model)/transformer/h/0/attn/dot_general`) and
    wraps the forward ops of each layer in `ckpt.layer` regions with a name and
    a kind. Several regions may have one name: they are one layer.

    What a layer is: the deepest numbered path (`stages/2/layers/1`, `layer_3`)
    is a block. A block with attention or a feed-forward part is split into its
    parts (`h/0/ln_1`, `h/0/attn`, `h/0/mlp`), any other block is one layer, and
    what stands beside the blocks (`wte`, `lm_head`) is one by itself. With
    `depth` that many components of such a name are kept instead: `depth=2`
    makes `h/0` of `h/0/attn`.

    Names vote, data flow decides: an op whose scope only holds layers (a
    residual `h/0/add`), or that comes from a function that is traced once and
    called often (`jit(relu)`, which has the name of its first call), joins the
    layer that made its latest operand. Ops that depend on no tensor argument
    (constants, masks, `tensor.empty`) join the layer that alone uses them, and
    stay outside otherwise. Ops of the backward pass, of the loss and of the
    update stay outside, and so do layers that the user wrote.

    ```mlir
    %0 = math.exp %x : tensor<4xf32> loc("jit(f)/jvp(M)/h/0/attn/exp")
    // becomes
    %0 = ckpt.layer "h/0/attn" kind <attention> -> tensor<4xf32> {
      %1 = math.exp %x : tensor<4xf32>
      ckpt.yield %1 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::ckpt::CkptDialect"];
  let options = [
    Option<"depth", "depth", "unsigned", /*default=*/"0",
           "components of a layer's name to keep; 0 chooses as described">,
    Option<"pattern", "pattern", "std::string", /*default=*/"",
           "regular expression on the scopes, such as 'Model/h/0/attn/c_attn'; "
           "its first group names the layer, and ops that it does not match "
           "belong to none">,
  ];
  let statistics = [
    Statistic<"numLayers", "layers", "layers formed">,
    Statistic<"numRegions", "regions", "regions that hold them">,
  ];
}

#endif // CKPT_TRANSFORMS_PASSES_TD
