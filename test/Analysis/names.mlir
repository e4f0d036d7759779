// Names and passes from the locations that JAX writes.
// RUN: ckpt-opt %s --split-input-file --ckpt-print-problem -o /dev/null | FileCheck %s

// The class of the whole model is left out where a part of it is named; a scope
// that differentiation wraps is kept. Calls: the callee, and on from the caller
// if it starts with a slash.
// CHECK: value 1 {{.*}} name="transformer/h/3/attn · dot_general"
// CHECK: value 2 {{.*}} name="layer0 · tanh"
// CHECK: value 3 {{.*}} name="layer1/inner · mul"
// CHECK: value 4 {{.*}} name="select_n"
// CHECK: value 5 {{.*}} name="Model · transpose"
// CHECK: value 6 {{.*}} name="wte · add"
// CHECK: value 7 {{.*}} name="head · exp"
// CHECK: value 8 {{.*}} name="arith.negf"
// CHECK: value 9 {{.*}} name="arith.negf"
// The backward pass, what depends on it, and nothing else.
// CHECK: op 4 {{.*}} name="arith.negf"
// CHECK-NOT: backward
// CHECK: op 5 {{.*}} backward name="arith.negf"
// CHECK: op 6 {{.*}} backward name="arith.negf"
// CHECK: op 7 {{.*}} backward name="arith.negf"
// CHECK-NOT: backward
func.func @names(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.negf %x : tensor<4xf32> loc("jit(step)/jit(main)/jvp(Model)/transformer/h/3/attn/dot_general"("a.py":1:1))
  %1 = arith.negf %0 : tensor<4xf32> loc("jit(step)/jit(main)/jvp(layer0)/tanh")
  %2 = arith.negf %1 : tensor<4xf32> loc("jit(step)/jit(main)/jvp(layer1)/inner/mul")
  %3 = arith.negf %2 : tensor<4xf32> loc(callsite("jit(step)/jit(main)/jvp(jit(_where))/select_n" at "jit(step)/jit(main)/pjit"))
  %4 = arith.negf %3 : tensor<4xf32> loc("jit(step)/jit(main)/jvp(Model)/transpose")
  %5 = arith.negf %4 : tensor<4xf32> loc(callsite("/add"("a.py":1:1) at "jit(step)/jit(main)/transpose(jvp(Model))/wte/jit(_take)/scatter"))
  %6 = arith.negf %5 : tensor<4xf32> loc(fused["a.py":1:1, "jit(main)/head/exp"])
  %7 = arith.negf %6 : tensor<4xf32> loc("a.py":1:1)
  %8 = arith.negf %4 : tensor<4xf32> loc(unknown)
  return %7, %8 : tensor<4xf32>, tensor<4xf32>
}
