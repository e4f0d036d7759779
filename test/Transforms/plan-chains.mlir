// The test vectors of the strategies, on annotated forward chains: six layers,
// attention (1024 B, 2 MFLOP) at 0, 2, 4 and ffn (512 B, 1 MFLOP) at 1, 3, 5.
// RUN: ckpt-opt --ckpt-plan="func=six strategy=none" %s -o /dev/null 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=full" %s -o /dev/null 2>&1 | FileCheck --check-prefix=FULL %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=all" %s -o /dev/null 2>&1 | FileCheck --check-prefix=ALL %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=every-nth n=2" %s -o /dev/null 2>&1 | FileCheck --check-prefix=NTH %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=alternate" %s -o /dev/null 2>&1 | FileCheck --check-prefix=ALTERNATE %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=attention-only" %s -o /dev/null 2>&1 | FileCheck --check-prefix=ATTENTION %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=ffn-only" %s -o /dev/null 2>&1 | FileCheck --check-prefix=FFN %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=largest top-k=2" %s -o /dev/null 2>&1 | FileCheck --check-prefix=LARGEST2 %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=largest top-k=10" %s -o /dev/null 2>&1 | FileCheck --check-prefix=LARGEST10 %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=selective ratio=0.5" %s -o /dev/null 2>&1 | FileCheck --check-prefix=SELECTIVE %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=selective ratio=0" %s -o /dev/null 2>&1 | FileCheck --check-prefix=SELECTIVE0 %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=layers layers=1,4" %s -o /dev/null 2>&1 | FileCheck --check-prefix=LAYERS %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=uniform interval=3" %s -o /dev/null 2>&1 | FileCheck --check-prefix=UNIFORM %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=boundaries boundaries=0,3" %s -o /dev/null 2>&1 | FileCheck --check-prefix=BOUNDARIES %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=dynamic memory-fraction=0.34" %s -o /dev/null 2>&1 | FileCheck --check-prefix=DYNAMIC %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=full recompute-attention=false" %s -o /dev/null 2>&1 | FileCheck --check-prefix=NOATTN %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=full recompute-ffn=false" %s -o /dev/null 2>&1 | FileCheck --check-prefix=NOFFN %s
// RUN: ckpt-opt --ckpt-plan="func=six budget=3KiB" %s -o /dev/null 2>&1 | FileCheck --check-prefix=BUDGET %s
// RUN: ckpt-opt --ckpt-plan="func=equal budget=3 budget-model=layer-sum" %s -o /dev/null 2>&1 | FileCheck --check-prefix=EQUAL %s
// RUN: ckpt-opt --ckpt-plan="func=three budget=100" %s -o /dev/null 2>&1 | FileCheck --check-prefix=FITS %s
// RUN: ckpt-opt --ckpt-plan="func=mixed strategy=attention-only" %s -o /dev/null 2>&1 | FileCheck --check-prefix=MIXED %s
// RUN: ckpt-opt --ckpt-plan="func=twelve strategy=uniform interval=3" %s -o /dev/null 2>&1 | FileCheck --check-prefix=TWELVE3 %s
// RUN: ckpt-opt --ckpt-plan="func=twelve strategy=boundaries boundaries=0,6" %s -o /dev/null 2>&1 | FileCheck --check-prefix=TWELVE6 %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=attention-only" %s 2>/dev/null | FileCheck --check-prefix=IR %s
// RUN: not ckpt-opt --ckpt-plan="func=six strategy=as-written" %s -o /dev/null 2>&1 | FileCheck --check-prefix=WHOLE %s
// RUN: not ckpt-opt --ckpt-plan="func=six strategy=chen-greedy" %s -o /dev/null 2>&1 | FileCheck --check-prefix=OTHERS %s
// RUN: ckpt-opt --ckpt-plan="func=six strategy=full quiet" --ckpt-apply-plan %s 2>&1 | FileCheck --check-prefix=APPLY %s

// WHOLE: error: a forward chain of layers takes a budget or a strategy of layers (docs/Strategies.md), but got 'as-written'
// OTHERS: error: a forward chain of layers takes a budget or a strategy of layers (docs/Strategies.md), but got 'chen-greedy'

// NONE: layers recomputed: none; saved: 0 1 2 3 4 5 (
// NONE: transient 0 bytes = {{.*}} recompute FLOPs 0;
// NONE-SAME: mean activation 768.0 bytes
// FULL: layers recomputed: 0 1 2 3 4 5; saved: none (
// FULL: transient 1024 bytes = {{.*}} recompute FLOPs 9000000;
// ALL: layers recomputed: 0 1 2 3 4 5; saved: none (
// ALL: transient 1024 bytes = {{.*}} recompute FLOPs 9000000;
// NTH: strategy: every-nth, every 2 layers
// NTH: layers recomputed: 0 2 4; saved: 1 3 5 (
// NTH: transient 1024 bytes = {{.*}} recompute FLOPs 6000000;
// ALTERNATE: layers recomputed: 0 2 4; saved: 1 3 5 (
// ALTERNATE: transient 1024 bytes = {{.*}} recompute FLOPs 6000000;
// ATTENTION: layers recomputed: 0 2 4; saved: 1 3 5 (
// ATTENTION: transient 1024 bytes = {{.*}} recompute FLOPs 6000000;
// FFN: layers recomputed: 1 3 5; saved: 0 2 4 (
// FFN: transient 512 bytes = {{.*}} recompute FLOPs 3000000;
// LARGEST2: layers recomputed: 0 2; saved: 1 3 4 5 (
// LARGEST2: transient 1024 bytes = {{.*}} recompute FLOPs 4000000;
// LARGEST10: layers recomputed: 0 1 2 3 4 5; saved: none (
// LARGEST10: transient 1024 bytes = {{.*}} recompute FLOPs 9000000;
// SELECTIVE: layers recomputed: 0 2 4; saved: 1 3 5 (
// SELECTIVE: transient 1024 bytes = {{.*}} recompute FLOPs 6000000;
// SELECTIVE0: layers recomputed: none; saved: 0 1 2 3 4 5 (
// SELECTIVE0: transient 0 bytes = {{.*}} recompute FLOPs 0;
// LAYERS: layers recomputed: 1 4; saved: 0 2 3 5 (
// LAYERS: transient 1024 bytes = {{.*}} recompute FLOPs 3000000;
// UNIFORM: strategy: uniform, every 3 layers
// UNIFORM: layers recomputed: 1 2 4 5; saved: 0 3 (
// UNIFORM: transient 1024 bytes = {{.*}} recompute FLOPs 6000000;
// BOUNDARIES: layers recomputed: 1 2 4 5; saved: 0 3 (
// BOUNDARIES: transient 1024 bytes = {{.*}} recompute FLOPs 6000000;
// DYNAMIC: strategy: dynamic, 6 layers, 34.0 % target
// DYNAMIC: layers recomputed: 1 3 5; saved: 0 2 4 (
// DYNAMIC: transient 512 bytes = {{.*}} recompute FLOPs 3000000;
// NOATTN: layers recomputed: 1 3 5; saved: 0 2 4 (
// NOATTN: transient 512 bytes = {{.*}} recompute FLOPs 3000000;
// NOFFN: layers recomputed: 0 2 4; saved: 1 3 5 (
// NOFFN: transient 1024 bytes = {{.*}} recompute FLOPs 6000000;
// BUDGET: layers recomputed: 0 2; saved: 1 3 4 5 (
// BUDGET: transient 1024 bytes = {{.*}} recompute FLOPs 4000000;
// EQUAL: layers recomputed: 0 1 2; saved: 3 4 5 (
// EQUAL: transient 1048576 bytes = {{.*}} recompute FLOPs 3000000;
// FITS: layers recomputed: none; saved: 0 1 2 (
// FITS: transient 0 bytes = {{.*}} recompute FLOPs 0;
// MIXED: layers recomputed: 1; saved: 0 2 (
// MIXED: transient 1024 bytes = {{.*}} recompute FLOPs 1;
// TWELVE3: layers recomputed: 1 2 4 5 7 8 10 11; saved: 0 3 6 9 (
// TWELVE3: transient 1024 bytes = {{.*}} recompute FLOPs 8;
// TWELVE3: boundaries saved: 0 3 6 9; in closed form 66.7 % of activation memory saved, 1.125 times the work
// TWELVE6: layers recomputed: 1 2 3 4 5 7 8 9 10 11; saved: 0 6 (
// TWELVE6: transient 1024 bytes = {{.*}} recompute FLOPs 10;
// TWELVE6: boundaries saved: 0 6; in closed form 83.3 % of activation memory saved
// IR: ckpt.layer "0" kind <attention> decision <recompute>
// IR: ckpt.layer "1" kind <ffn> decision <save>
// APPLY: remark: 'six' is a forward chain of layers: it is left as it is
// APPLY-COUNT-6: ckpt.layer "{{[0-5]}}"

func.func @six(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ckpt.layer "0" kind <attention> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 2000000 : i64} {
    %y = math.exp %x : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %1 = ckpt.layer "1" kind <ffn> -> tensor<4xf32>
      attributes {activation_bytes = 512 : i64, recompute_flops = 1000000 : i64} {
    %y = math.exp %0 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %2 = ckpt.layer "2" kind <attention> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 2000000 : i64} {
    %y = math.exp %1 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %3 = ckpt.layer "3" kind <ffn> -> tensor<4xf32>
      attributes {activation_bytes = 512 : i64, recompute_flops = 1000000 : i64} {
    %y = math.exp %2 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %4 = ckpt.layer "4" kind <attention> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 2000000 : i64} {
    %y = math.exp %3 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %5 = ckpt.layer "5" kind <ffn> -> tensor<4xf32>
      attributes {activation_bytes = 512 : i64, recompute_flops = 1000000 : i64} {
    %y = math.exp %4 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  return %5 : tensor<4xf32>
}
func.func @equal(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ckpt.layer "0" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1048576 : i64, recompute_flops = 1000000 : i64} {
    %y = math.exp %x : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %1 = ckpt.layer "1" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1048576 : i64, recompute_flops = 1000000 : i64} {
    %y = math.exp %0 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %2 = ckpt.layer "2" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1048576 : i64, recompute_flops = 1000000 : i64} {
    %y = math.exp %1 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %3 = ckpt.layer "3" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1048576 : i64, recompute_flops = 1000000 : i64} {
    %y = math.exp %2 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %4 = ckpt.layer "4" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1048576 : i64, recompute_flops = 1000000 : i64} {
    %y = math.exp %3 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %5 = ckpt.layer "5" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1048576 : i64, recompute_flops = 1000000 : i64} {
    %y = math.exp %4 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  return %5 : tensor<4xf32>
}
func.func @three(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ckpt.layer "0" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %x : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %1 = ckpt.layer "1" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %0 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %2 = ckpt.layer "2" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %1 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  return %2 : tensor<4xf32>
}
func.func @mixed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ckpt.layer "0" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 512 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %x : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %1 = ckpt.layer "1" kind <attention> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %0 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %2 = ckpt.layer "2" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 512 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %1 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  return %2 : tensor<4xf32>
}
func.func @twelve(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ckpt.layer "0" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %x : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %1 = ckpt.layer "1" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %0 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %2 = ckpt.layer "2" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %1 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %3 = ckpt.layer "3" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %2 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %4 = ckpt.layer "4" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %3 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %5 = ckpt.layer "5" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %4 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %6 = ckpt.layer "6" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %5 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %7 = ckpt.layer "7" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %6 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %8 = ckpt.layer "8" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %7 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %9 = ckpt.layer "9" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %8 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %10 = ckpt.layer "10" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %9 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %11 = ckpt.layer "11" kind <other> -> tensor<4xf32>
      attributes {activation_bytes = 1024 : i64, recompute_flops = 1 : i64} {
    %y = math.exp %10 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  return %11 : tensor<4xf32>
}
