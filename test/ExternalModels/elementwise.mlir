// Arithmetic on tensors and on scalars.
// RUN: ckpt-opt %s --split-input-file --ckpt-print-problem=prepare=false -o /dev/null | FileCheck %s

// CHECK: value 3 bytes=4 elements=4 {{.*}} name="arith.cmpf"
// CHECK: op 0 fusible reads=0:pointwise,1:pointwise results=3 flops=4 compute=200 name="arith.cmpf"
// CHECK: op 1 fusible reads=3:pointwise,0:pointwise,1:pointwise results=4 {{.*}} name="arith.select"
// CHECK: op 2 fusible reads=2:any,4:pointwise,0:pointwise results=5 {{.*}} name="arith.select"
// CHECK: op 3 fusible reads=5:pointwise results=6 {{.*}} name="math.exp"
// CHECK: op 4 fusible reads=6:pointwise results=7 {{.*}} name="arith.truncf"
// CHECK: op 5 fusible reads=7:pointwise,7:pointwise results=8 {{.*}} name="arith.mulf"
func.func @tensors(%x: tensor<4xf32>, %y: tensor<4xf32>, %choice: i1) -> tensor<4xbf16> {
  %0 = arith.cmpf ogt, %x, %y : tensor<4xf32>
  %1 = arith.select %0, %x, %y : tensor<4xi1>, tensor<4xf32>
  %2 = arith.select %choice, %1, %x : tensor<4xf32>
  %3 = math.exp %2 : tensor<4xf32>
  %4 = arith.truncf %3 : tensor<4xf32> to tensor<4xbf16>
  %5 = arith.mulf %4, %4 : tensor<4xbf16>
  return %5 : tensor<4xbf16>
}

// -----

// Scalar constants are no values of the problem, computed scalars are.
// CHECK: value 1 bytes=4 elements=1
// CHECK: value 2 bytes=8 elements=1
// CHECK: op 0 fusible reads=0:pointwise results=1 flops=1
// CHECK: op 1 fusible reads=1:pointwise results=2
func.func @scalars(%x: f32) -> tensor<index> {
  %two = arith.constant 2.0 : f32
  %0 = arith.mulf %x, %two : f32
  %1 = arith.fptosi %0 : f32 to i64
  %2 = arith.index_cast %1 : i64 to index
  %3 = tensor.from_elements %2 : tensor<index>
  return %3 : tensor<index>
}
