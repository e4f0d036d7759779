// Calls, and ops that nobody described.
// RUN: ckpt-opt %s --split-input-file --allow-unregistered-dialect --ckpt-print-problem="func=step prepare=false" -o /dev/null | FileCheck %s

// A call of a pure function may run again; of a declaration or of a function
// that calls in turn nothing is known. Effects keep ops that nobody reads.
// CHECK: op 0 opaque reads=0:any:contiguous results=1 flops=4 compute=200 name="func.call"
// CHECK: op 1 opaque reads=1:any:contiguous results=2 once effects name="func.call"
// CHECK: op 2 opaque reads=2:any:contiguous results=3 once effects name="func.call"
// CHECK: op 3 opaque reads=0:any:contiguous results=4 once effects name="func.call"
// CHECK-NOT: op 4
func.func private @external(tensor<4xf32>) -> tensor<4xf32>
func.func private @pure(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @recursive(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @recursive(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @pure(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @external(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = call @recursive(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = call @external(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = call @pure(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Dialects that ckpt does not know are lowered by their owner: an op without the
// interface is opaque, and runs once unless it is pure and speculatable. Effects
// keep ops that nobody reads.
// CHECK: op 0 opaque reads=0:any:contiguous results=1 once effects name="other.op"
// CHECK: op 1 opaque reads=1:any:contiguous results=2 once effects name="other.sink"
// CHECK-NOT: op 2
func.func @step(%x: tensor<4xf32>) -> tensor<2x1xf32> {
  %0 = "other.op"(%x) : (tensor<4xf32>) -> tensor<2x1xf32>
  %1 = "other.sink"(%0) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}
