// Scalars come to device code in 8, 16, 32 or 64 bits: PTX has no other parameters.
// RUN: ckpt-opt %s --ckpt-kernels-to-calls --ckpt-emit-gpu-kernels | FileCheck %s
// RUN: ckpt-opt %s --ckpt-lower-to-nvvm-pipeline=chip=sm_80 | FileCheck %s --check-prefix=PTX

// CHECK: gpu.func @{{.*}}(%[[BYTE:[a-z0-9]+]]: i8 {{.*}}%[[WORD:[a-z0-9]+]]: i32
// CHECK: arith.trunci %[[BYTE]] : i8 to i4
// CHECK: arith.trunci %[[WORD]] : i32 to i24
// CHECK: func.func @scalars(
// CHECK-SAME: %[[S:[a-z0-9]+]]: i4 {{.*}}%[[T:[a-z0-9]+]]: i24
// CHECK: %[[BYTE:.*]] = arith.extui %[[S]] : i4 to i8
// CHECK: %[[WORD:.*]] = arith.extui %[[T]] : i24 to i32
// CHECK: gpu.launch_func {{.*}}%[[BYTE]] : i8, %[[WORD]] : i32
// PTX-NOT: .u4
// PTX-NOT: .u24
func.func @scalars(%s: i4, %t: i24) -> tensor<4xi32> {
  %0 = ckpt.kernel(%a = %s : i4, %b = %t : i24) slots [-1 : 16] {
    %1 = arith.extsi %a : i4 to i32
    %2 = arith.extsi %b : i24 to i32
    %3 = arith.addi %1, %2 : i32
    %4 = tensor.splat %3 : tensor<4xi32>
    ckpt.yield %4 : tensor<4xi32>
  } -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
