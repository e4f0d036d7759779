// RUN: ckpt-opt %s --ckpt-kernels-to-calls | FileCheck %s

// A scalar that a kernel makes stands in memory; one of the caller is passed.
// CHECK: func.func private @kernel_{{.*}}(%{{.*}}: memref<index>{{.*}}, %[[S:[a-z0-9]+]]: f32{{.*}}, %[[OUT:[a-z0-9]+]]: memref<i8>
// CHECK: tensor.extract
// CHECK: %[[T:.*]] = tensor.from_elements %{{.*}} : tensor<i1>
// CHECK: %[[W:.*]] = arith.extui %[[T]] : tensor<i1> to tensor<i8>
// CHECK: materialize_in_destination %[[W]] in restrict writable %[[OUT]]
// CHECK-LABEL: func.func @scalars(
// CHECK-SAME: %{{[a-z0-9]+}}: f32
// CHECK: %[[I:.*]] = memref.view {{.*}} to memref<index>
// CHECK: call {{.*}}, %[[I]])
func.func @scalars(%x: tensor<i32>, %s: f32) -> tensor<4xf32> {
  %0 = ckpt.kernel(%a = %x : tensor<i32>) slots [0 : 8] {
    %1 = tensor.extract %a[] : tensor<i32>
    %2 = arith.index_cast %1 : i32 to index
    ckpt.yield %2 : index
  } -> index
  %3 = ckpt.kernel(%a = %0 : index, %b = %s : f32) slots [256 : 1] {
    %1 = arith.index_cast %a : index to i32
    %2 = arith.sitofp %1 : i32 to f32
    %4 = arith.cmpf olt, %2, %b : f32
    ckpt.yield %4 : i1
  } -> i1
  %5 = ckpt.kernel(%a = %3 : i1) slots [-1 : 16] {
    %1 = arith.uitofp %a : i1 to f32
    %2 = tensor.splat %1 : tensor<4xf32>
    ckpt.yield %2 : tensor<4xf32>
  } -> tensor<4xf32>
  return %5 : tensor<4xf32>
}
