// Names, kinds and data flow on small programs.
// RUN: ckpt-opt %s --split-input-file --ckpt-form-layers | FileCheck %s
// RUN: ckpt-opt %s --split-input-file --ckpt-form-layers="depth=2" | FileCheck %s --check-prefix=DEPTH
// RUN: ckpt-opt %s --split-input-file --ckpt-form-layers="pattern=/(h/[0-9]+/[a-z]+)" | FileCheck %s --check-prefix=PATTERN

// A transformer block is split into its parts; the residual joins the part
// before it; loss, backward pass and update stay outside.

// CHECK-LABEL: @block
// CHECK: %[[ATTN:.*]] = ckpt.layer "h/0/attn" kind <attention> -> tensor<4xf32> {
// CHECK-NEXT: math.exp %arg0
// CHECK-NEXT: arith.addf
// CHECK-NEXT: ckpt.yield
// CHECK: %[[MLP:.*]] = ckpt.layer "h/0/mlp" kind <ffn> -> tensor<4xf32> {
// CHECK-NEXT: math.tanh %[[ATTN]]
// CHECK-NEXT: ckpt.yield
// CHECK: %[[NORM:.*]] = ckpt.layer "ln_f" kind <norm> -> tensor<4xf32> {
// CHECK-NEXT: math.rsqrt %[[MLP]]
// CHECK-NEXT: ckpt.yield
// CHECK: }
// CHECK-NEXT: math.log %[[NORM]]
// CHECK-NEXT: arith.mulf {{.*}}, %[[MLP]]
// CHECK-NEXT: arith.mulf {{.*}}, %arg0
// CHECK-NEXT: return

// DEPTH-LABEL: @block
// DEPTH: ckpt.layer "h/0" kind <other> -> tensor<4xf32> {
// DEPTH-NEXT: math.exp
// DEPTH-NEXT: arith.addf
// DEPTH-NEXT: math.tanh
// DEPTH-NEXT: ckpt.yield

// PATTERN-LABEL: @block
// PATTERN: ckpt.layer "h/0/attn" kind <attention>
// PATTERN: ckpt.layer "h/0/mlp" kind <ffn>
// PATTERN-NOT: ckpt.layer
// PATTERN: return
func.func @block(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32> loc("jit(step)/jit(main)/jvp(M)/t/h/0/attn/softmax/exp")
  %1 = arith.addf %0, %x : tensor<4xf32> loc("jit(step)/jit(main)/jvp(M)/t/h/0/add")
  %2 = math.tanh %1 : tensor<4xf32> loc("jit(step)/jit(main)/jvp(M)/t/h/0/mlp/tanh")
  %3 = math.rsqrt %2 : tensor<4xf32> loc("jit(step)/jit(main)/jvp(M)/t/ln_f/rsqrt")
  %4 = math.log %3 : tensor<4xf32> loc("jit(step)/jit(main)/log")
  %5 = arith.mulf %4, %2 : tensor<4xf32> loc("jit(step)/jit(main)/transpose(jvp(M))/t/h/0/mlp/mul")
  %6 = arith.mulf %5, %x : tensor<4xf32> loc("jit(step)/jit(main)/mul")
  return %6 : tensor<4xf32>
}

// -----

// Plain blocks are layers as they are. The body of a cached function has the
// name of its first call; it joins the layer that made its operand.

// CHECK-LABEL: @cached
// CHECK: ckpt.layer "stages/0/layers/0" kind <other>
// CHECK-NEXT: math.exp
// CHECK-NEXT: math.absf
// CHECK: ckpt.layer "stages/0/layers/1" kind <other>
// CHECK-NEXT: math.exp
// CHECK-NEXT: math.absf
// CHECK-NEXT: ckpt.yield
// CHECK-NOT: ckpt.layer
// CHECK: return
func.func @cached(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32> loc("jit(f)/jvp(M)/stages/0/layers/0/conv/exp")
  %1 = math.absf %0 : tensor<4xf32> loc("jit(f)/jvp(M)/stages/0/layers/0/jit(relu)/max")
  %2 = math.exp %1 : tensor<4xf32> loc("jit(f)/jvp(M)/stages/0/layers/1/conv/exp")
  %3 = math.absf %2 : tensor<4xf32> loc("jit(f)/jvp(M)/stages/0/layers/0/jit(relu)/max")
  return %3 : tensor<4xf32>
}

// -----

// `jax.named_scope("layers/0")` is wrapped as one.

// CHECK-LABEL: @scope_of_two
// CHECK: ckpt.layer "layers/0/attn" kind <attention>
// CHECK: ckpt.layer "layers/0/mlp" kind <ffn>
// CHECK-NOT: ckpt.layer
// CHECK: return
// DEPTH-LABEL: @scope_of_two
// PATTERN-LABEL: @scope_of_two
func.func @scope_of_two(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32> loc("jit(f)/jvp(layers/0)/attn/exp")
  %1 = math.tanh %0 : tensor<4xf32> loc("jit(f)/jvp(layers/0)/mlp/tanh")
  %2 = arith.mulf %1, %x : tensor<4xf32> loc("jit(f)/transpose(jvp(layers/0))/mlp/mul")
  return %2 : tensor<4xf32>
}

// -----

// What depends on no input joins its only layer, or stays outside if several
// read it. It does not cut the region of a layer in two.

// CHECK-LABEL: @shared
// CHECK: %[[SHARED:.*]] = tensor.empty() : tensor<4xf32>
// CHECK: ckpt.layer "layer_0"
// CHECK-NEXT: linalg.exp {{.*}} outs(%[[SHARED]]
// CHECK-NEXT: linalg.exp {{.*}} outs(%[[SHARED]]
// CHECK: ckpt.layer "layer_1"
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: linalg.exp
// CHECK-NEXT: linalg.exp {{.*}} outs(%[[SHARED]]
// CHECK-NOT: ckpt.layer
func.func @shared(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32> loc("jit(f)/jvp(layer_0)/exp")
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/jvp(layer_0)/exp")
  %c = arith.constant 1.0 : f32
  %1 = linalg.exp ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/jvp(layer_0)/exp")
  %m = tensor.empty() : tensor<4xf32> loc("jit(f)/jvp(layer_0)/exp")
  %2 = linalg.exp ins(%1 : tensor<4xf32>) outs(%m : tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/jvp(layer_1)/exp")
  %3 = linalg.exp ins(%2 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/jvp(layer_1)/exp")
  return %3 : tensor<4xf32>
}

// -----

// Interleaved layers get several regions of one name, in program order. Layers
// that the user wrote stay, and take part in the data flow.

// CHECK-LABEL: @interleaved
// CHECK: %[[MINE:.*]] = ckpt.layer "mine" kind <other> pin <save>
// CHECK-NEXT: math.exp
// CHECK: %[[A:.*]] = ckpt.layer "layer0"
// CHECK-NEXT: math.sin %[[MINE]]
// CHECK: ckpt.layer "layer1"
// CHECK-NEXT: math.cos
// CHECK: ckpt.layer "layer0"
// CHECK-NEXT: math.tan %[[A]]
// CHECK-NOT: ckpt.layer
func.func @interleaved(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = ckpt.layer "mine" kind <other> pin <save> -> tensor<4xf32> {
    %4 = math.exp %x : tensor<4xf32>
    ckpt.yield %4 : tensor<4xf32>
  }
  %1 = math.sin %0 : tensor<4xf32> loc("jit(f)/layer0/sin")
  %2 = math.cos %1 : tensor<4xf32> loc("jit(f)/layer1/cos")
  %3 = math.tan %1 : tensor<4xf32> loc("jit(f)/layer0/tan")
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Uses inside the regions of other ops count, in both directions.

// CHECK-LABEL: @nested
// CHECK: %[[TABLE:.*]] = ckpt.layer "wte" kind <embedding> -> tensor<4xf32> {
// CHECK: ckpt.layer "wpe" kind <embedding> -> tensor<4xf32> {
// CHECK: tensor.extract %[[TABLE]]
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32> loc("jit(f)/jvp(M)/wte/exp")
  %1 = tensor.generate {
  ^bb0(%i: index):
    %2 = tensor.extract %0[%i] : tensor<4xf32>
    tensor.yield %2 : f32
  } : tensor<4xf32> loc("jit(f)/jvp(M)/wpe/gather")
  return %1 : tensor<4xf32>
}

// -----

// Without names there are no layers.

// CHECK-LABEL: @plain
// CHECK-NOT: ckpt.layer
// CHECK: return
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
