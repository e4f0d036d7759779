//===- Passes.td - Passes that plan and rewrite ------------*- tablegen -*-===//

#ifndef CKPT_TRANSFORMS_PASSES_TD
#define CKPT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def FormLayersPass : Pass<"ckpt-form-layers", "::mlir::func::FuncOp"> {
  let summary = "Find layers in the locations and wrap their forward ops";
  let description = [{
    Reads the name stack that JAX leaves in the locations
    (`jit(step)/jit(main)/jvp(Model)/transformer/h/0/attn/dot_general`) and
    wraps the forward ops of each layer in `ckpt.layer` regions with a name and
    a kind. Several regions may have one name: they are one layer.

    The deepest numbered path (`stages/2/layers/1`, `layer_3`) is a block. A
    block with attention or a feed-forward part is split into its parts
    (`h/0/ln_1`, `h/0/attn`, `h/0/mlp`); any other block is one layer, and each
    module beside the blocks (`wte`, `lm_head`) is one by itself. With `depth`
    that many components of such a name are kept instead: `depth=2` makes `h/0`
    of `h/0/attn`.

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

def PreparePass : Pass<"ckpt-prepare", "::mlir::ModuleOp"> {
  let summary = "Bring a step into the form that the planner understands";
  let description = [{
    Frontends write calls, loops, composite ops and many kinds of views; the
    planner decides about single ops in one block. This pass leads from the one
    to the other, with upstream's own rewrites wherever they exist. It changes no
    bits of results, except for sums over the values that a loop stacks
    (docs/Preparation.md).

    `--ckpt-plan`, `--ckpt-print-problem` and `ckpt-runner` run it first, and
    `--ckpt-verify` on the original; `prepare=false` leaves it out there. Plans
    refer to the prepared step. A step that needs nothing comes out as it was,
    and so does one that has a plan or consists of kernels. A remark at the step
    says how much was rewritten.
  }];
  let options = [
    Option<"function", "func", "std::string", "\"\"",
           "The step; by default the only public function with a body">,
    Option<"unrollLimit", "unroll-limit", "int64_t", "300000",
           "Loops are unrolled as long as their iterations have at most so many ops">,
  ];
}

def PlanPass : Pass<"ckpt-plan", "::mlir::ModuleOp"> {
  let summary = "Decide which values stand in memory, under a byte budget";
  let description = [{
    Decides for every value of a training step whether it stands in memory, is
    computed inside the kernels that read it, or is recomputed; which ops share a
    kernel; in which order kernels run; and where in one arena each value lies.
    Brings the step into its form first (`--ckpt-prepare`), and then changes
    nothing but attributes: `ckpt.decision` on every op and layer, for people,
    and `ckpt.plan` on the function, the exact schedule that `--ckpt-apply-plan`
    follows. A report goes to stderr.

    `--ckpt-plan=budget=4096` is all that is needed: no annotations. A bare
    number is MiB; `512KiB`, `1.5GB`, `4294967296B` and `50%` (of the baseline)
    are understood. The baseline is this tool's own plan without a budget: fused
    and ordered for speed, nothing that stands in memory recomputed.

    Without `budget` a named strategy says which layers are recomputed
    (docs/Strategies.md); fusion, order and places are planned all the same. The
    same options can stand in a `ckpt.strategy` attribute on the function.

    Results may lie in the buffers of donated arguments: arguments with
    `tf.aliasing_output` or `jax.buffer_donor`, as JAX marks them, with
    `ckpt.donated` (alone, or the number of the result), and arguments of
    `donate`.
    A plan writes such a result after the last read of the argument where it
    can. `--ckpt-apply-plan` writes `ckpt.donated = N` on the argument in whose
    buffer result N lies; a caller may pass one buffer as both.

    `save-plan` keeps the plan in a file, line by line, to be stored beside the
    program and compared with `ckpt-plan --diff`. `plan-file` replays such a
    file, exactly and without a search, and refuses it with an error at the first
    op that is not the planned one.

    `certificate` writes evidence for the plan and its bounds, which
    `ckpt-plan --check` verifies against the output of `--ckpt-print-problem`
    (docs/Certificates.md).

    Fails when no plan is found for the budget, with the smallest one for which
    a plan was found and a lower bound on any feasible one; calls the budget
    infeasible only with proof. Notes name the source of the bound and the
    reason why each large value stands at the peak. The IR stays as it was, and
    the report file is still written.

    `--ckpt-plan=frontier=20` prints the costs of 20 budgets, from the smallest for
    which a plan is found to the baseline, with bounds, in about the time of one
    plan (docs/Frontier.md). Without a budget or a strategy that is all that it
    does.
  }];
  let options = [
    Option<"budget", "budget", "std::string", "\"\"",
           "Largest arena: 4096 (MiB), 512KiB, 1.5GB, 50% (of the baseline)">,
    Option<"strategy", "strategy", "std::string", "\"\"",
           "budget (default with a budget), none (default without), full, "
           "selective, attention-only, ffn-only, every-nth, alternate, largest, "
           "heavy-ops, auto, custom, layers, uniform, boundaries, dynamic, "
           "as-written">,
    Option<"function", "func", "std::string", "\"\"",
           "The step; by default the only public function with a body">,
    Option<"device", "device", "std::string", "\"cpu\"",
           "Costs: cpu, a100, h100, h200, b200, l40s, rtx4090, or a file "
           "(docs/Devices.md)">,
    Option<"fusion", "fusion", "bool", "true",
           "false: one kernel per op, for comparison">,
    Option<"reorder", "reorder", "bool", "true",
           "false: kernels in program order, for comparison">,
    Option<"scratchInResults", "scratch-in-results", "bool", "true",
           "false: no value lies in the buffer of a result before that, as for "
           "compilers that place values themselves (docs/Embedding.md)">,
    Option<"countArguments", "count-arguments", "bool", "false",
           "The budget also holds the caller's arguments and results">,
    Option<"donate", "donate", "std::string", "\"\"",
           "Arguments whose buffers results may take: all, or numbers such as "
           "0,1; besides the arguments that the program marks">,
    Option<"pin", "pin", "std::string", "\"\"",
           "Layers to keep or to recompute, by patterns on their names: "
           "*/ln_*=recompute,wte=keep (docs/Regions.md)">,
    Option<"regionBudget", "region-budget", "std::string", "\"\"",
           "Largest bytes of the values of layers, by patterns on their names: "
           "h/*/attn=200MiB, or 50% of the plan without a limit "
           "(docs/Regions.md)">,
    Option<"reserve", "reserve", "std::string", "\"\"",
           "Bytes for other software, taken off a budget that is given in bytes: "
           "512MiB">,
    Option<"timeLimitMs", "time-limit", "int64_t", "5000",
           "Milliseconds after which plans are improved no more; 0: one round">,
    Option<"effortMs", "effort", "int64_t", "0",
           "Instead of a time limit, milliseconds of counted work: the same "
           "plan on every machine">,
    Option<"reportFile", "report", "std::string", "\"\"",
           "Also write the report to this file: a page (.html), a picture (.svg), "
           "else JSON (docs/Report.md)">,
    Option<"savePlan", "save-plan", "std::string", "\"\"",
           "Also write the plan to this file (docs/PlanFormat.md)">,
    Option<"certificate", "certificate", "std::string", "\"\"",
           "Also write evidence for the plan and its bounds to this file">,
    Option<"planFile", "plan-file", "std::string", "\"\"",
           "Replay the plan of this file instead of searching for one">,
    Option<"quiet", "quiet", "bool", "false", "No report on stderr">,
    Option<"frontier", "frontier", "int32_t", "0",
           "Print the curve of peak against time for so many budgets">,
    Option<"frontierJson", "frontier-json", "std::string", "\"\"",
           "Also write the curve to this file, as JSON">,
    Option<"frontierSvg", "frontier-svg", "std::string", "\"\"",
           "Also write the curve to this file, as a picture">,
    Option<"prepare", "prepare", "bool", "true",
           "false: plan the step as it is, without --ckpt-prepare">,
    Option<"unrollLimit", "unroll-limit", "int64_t", "300000",
           "As for --ckpt-prepare">,
    Option<"ratio", "ratio", "std::string", "\"\"", "selective: share of layers">,
    Option<"every", "n", "std::string", "\"\"", "every-nth: the distance">,
    Option<"topK", "top-k", "std::string", "\"\"", "largest: how many layers">,
    Option<"ops", "ops", "std::string", "\"\"",
           "heavy-ops: layer kinds or op names">,
    Option<"heavyFlops", "heavy-flops", "std::string", "\"\"",
           "heavy-ops: work from which a matmul or convolution is heavy">,
    Option<"minParameters", "min-params", "std::string", "\"\"",
           "auto: layers with more parameters are recomputed">,
    Option<"policy", "policy", "std::string", "\"\"",
           "custom: a policy registered from C++">,
    Option<"policyScript", "policy-script", "std::string", "\"\"",
           "custom: a transform-dialect file whose @ckpt_policy pins layers">,
    Option<"layers", "layers", "std::string", "\"\"", "layers: their indices">,
    Option<"interval", "interval", "std::string", "\"\"",
           "uniform: layers between two saved boundaries">,
    Option<"boundaries", "boundaries", "std::string", "\"\"",
           "boundaries: indices of the layers whose input is saved">,
    Option<"memoryFraction", "memory-fraction", "std::string", "\"\"",
           "dynamic: interval as a share of the number of layers">,
    Option<"minInterval", "min-interval", "std::string", "\"\"",
           "At least so many layers between two saved boundaries">,
    Option<"recomputeAttention", "recompute-attention", "std::string", "\"\"",
           "false: attention layers stay saved">,
    Option<"recomputeFFN", "recompute-ffn", "std::string", "\"\"",
           "false: feed-forward layers stay saved">,
    Option<"budgetModel", "budget-model", "std::string", "\"\"",
           "layer-sum: the greedy budget over sums of layers">,
  ];
  let dependentDialects = ["::ckpt::CkptDialect",
                           "::mlir::transform::TransformDialect"];
}

def PrintProblemPass : Pass<"ckpt-print-problem", "::mlir::ModuleOp"> {
  let summary = "Print the planning problem of the step as text";
  let description = [{
    Writes the planner's view of a function to standard output, in the text
    form that `ckpt-plan` reads (docs/PlanFormat.md), after `--ckpt-prepare` on a
    copy; the program is not changed.
    Use it with `-o /dev/null`, since the program follows on standard output. A
    comment at the end holds the figures of the program as written: its peak, the
    bytes that it moves and its work.
  }];
  let options = [
    Option<"function", "func", "std::string", "\"\"",
           "The step; by default the only public function with a body">,
    Option<"device", "device", "std::string", "\"cpu\"",
           "Device of the costs: a known one or a file (docs/Devices.md)">,
    Option<"prepare", "prepare", "bool", "true",
           "false: the problem of the step as it is, without --ckpt-prepare">,
    Option<"unrollLimit", "unroll-limit", "int64_t", "300000",
           "As for --ckpt-prepare">,
  ];
}

def ApplyPlanPass : Pass<"ckpt-apply-plan", "::mlir::ModuleOp"> {
  let summary = "Rewrite a planned function into kernels";
  let description = [{
    Follows the `ckpt.plan` of each function: `ckpt.kernel` ops in the planned
    order, each result with its place in the arena, recomputations marked and
    tied to the backward pass by their `after` operands. Layers are dissolved;
    kernels keep their names.

    If only the decisions were edited, or there is no schedule, the pass derives
    one from the decisions, with a remark. A body that is not the planned one is
    an error at the first op that differs. A function without a plan
    and without decisions, or a forward chain of layers, is left as it is.
  }];
  let options = [
    Option<"device", "device", "std::string", "\"cpu\"",
           "Costs, if a schedule is derived from decisions: a known device or a "
           "file (docs/Devices.md)">,
  ];
  let dependentDialects = ["::ckpt::CkptDialect"];
}

def VerifySlotsPass : Pass<"ckpt-verify-slots", "::mlir::ModuleOp"> {
  let summary = "Check the places of all kernels from the IR alone";
  let description = [{
    Two values that live at the same time never overlap, unless the later takes
    over the place of an input that dies there; everything ends within
    `ckpt.arena_bytes`. A value lives from its kernel to its last use as input or
    `after` operand. Reads nothing but the kernels; the lowering runs it.
  }];
}

def VerifyPass : Pass<"ckpt-verify", "::mlir::ModuleOp"> {
  let summary = "Prove that a rewritten program computes the original";
  let description = [{
    Compares a file after `--ckpt-apply-plan`, and perhaps
    `--ckpt-kernels-to-barriers`, with the file before. Values of both are
    numbered by their meaning: the same ops with the same attributes on the
    same operands, exactly, without algebra. Then

    - every op that runs is an op of the original on the same operands;
    - every result is that of the original;
    - ops with effects run once each and in their order, and a run-once op runs
      no more often than in the original;
    - places hold the values that are read, as in `--ckpt-verify-slots`, and a
      kernel that writes a result over one of its inputs reads each element of
      it only to make the element at its place;
    - a kernel that makes a value again is marked, and waits for a value younger
      than the original: without such an `after` operand CSE could merge the
      two. If no younger value lives past the kernel, it is enough that the
      kernel reads one. Barriers have to do the same for dissolved kernels.

    The original of a function that was rewritten is brought into its form first
    (`--ckpt-prepare`), as `--ckpt-plan` did. The pass trusts no plan. It compares all functions
    and symbols of the file with their namesakes. An error stands at the op of the rewritten file,
    with a note at the original:

    ```
    step.mlir:9:10: error: 'arith.mulf': operand 1 of this op is argument 0, in the original it is result 0 of op 3 ('math.exp')
    original.mlir:7:8: note: the original
    ```
  }];
  let options = [
    Option<"original", "original", "std::string", "\"\"",
           "The file before the rewrite">,
    Option<"prepare", "prepare", "bool", "true",
           "false: compare with the original as it is, without --ckpt-prepare">,
    Option<"unrollLimit", "unroll-limit", "int64_t", "300000",
           "As for --ckpt-prepare">,
  ];
}

def KernelsToBarriersPass
    : Pass<"ckpt-kernels-to-barriers", "::mlir::ModuleOp"> {
  let summary = "Dissolve kernels for other compilers";
  let description = [{
    Moves the bodies of all kernels into the function, in order. Each reads its
    inputs through a barrier that also takes the results of the kernel before it,
    so that CSE, fusion and schedulers keep recomputations and the planned order.
    Places in the arena are lost.

    `form=ckpt` writes `ckpt.barrier`, `form=stablehlo` and `form=util` (IREE) write
    the `optimization_barrier` of these dialects, which takes no argument, result
    or constant of the function.
  }];
  let options = [
    Option<"form", "form", "std::string", "\"ckpt\"",
           "The barriers: ckpt, stablehlo or util">,
  ];
  let dependentDialects = ["::ckpt::CkptDialect"];
}

#endif // CKPT_TRANSFORMS_PASSES_TD
