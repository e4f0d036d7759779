// Iterations carry their numbers in JAX's name stack; the backward loop runs from
// the last layer to the first.
// RUN: ckpt-opt %s --ckpt-prepare | FileCheck %s

func.func @names(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %forward = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %y = math.exp %a : tensor<4xf32> loc("jit(step)/jvp(while)/body/exp")
    scf.yield %y : tensor<4xf32>
  }
  // CHECK: math.tanh {{.*}} loc(#[[LAST:.*]])
  // CHECK: math.tanh {{.*}} loc(#[[FIRST:.*]])
  %backward = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %forward) -> tensor<4xf32> {
    %y = math.tanh %a : tensor<4xf32> loc("jit(step)/transpose(jvp(while))/body/tanh")
    scf.yield %y : tensor<4xf32>
  }
  %nested = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %backward) -> tensor<4xf32> {
    %r = scf.for %j = %c0 to %c2 step %c1 iter_args(%b = %a) -> tensor<4xf32> {
      %y = math.sin %b : tensor<4xf32> loc("jit(step)/outer/while/body/h/while/body/sin")
      scf.yield %y : tensor<4xf32>
    }
    scf.yield %r : tensor<4xf32>
  }
  %other = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %nested) -> tensor<4xf32> {
    %y = math.cos %a : tensor<4xf32> loc("jit(step)/awhile/while/body/cos")
    scf.yield %y : tensor<4xf32>
  }
  return %other : tensor<4xf32>
}
// CHECK-DAG: #[[LAST]] = loc("jit(step)/transpose(jvp(while_1))/tanh")
// CHECK-DAG: #[[FIRST]] = loc("jit(step)/transpose(jvp(while_0))/tanh")
// CHECK-DAG: loc("jit(step)/jvp(while_0)/exp")
// CHECK-DAG: loc("jit(step)/jvp(while_1)/exp")
// CHECK-DAG: loc("jit(step)/outer/while_0/h/while_1/sin")
// CHECK-DAG: loc("jit(step)/outer/while_1/h/while_1/sin")
// CHECK-DAG: loc("jit(step)/awhile/while_0/cos")
