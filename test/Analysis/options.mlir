// The named function on the named device.
// RUN: ckpt-opt %s --ckpt-print-problem="func=second device=h100" -o /dev/null | FileCheck %s
// RUN: not ckpt-opt %s --ckpt-print-problem=func=third 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not ckpt-opt %s --ckpt-print-problem=func=declared 2>&1 | FileCheck %s --check-prefix=BODY
// RUN: not ckpt-opt %s --ckpt-print-problem="func=first device=h101" 2>&1 | FileCheck %s --check-prefix=DEVICE

// A matmul of bf16 runs at 989 TFLOP/s, one of f32 at 67, exp at 33.5.
// CHECK: bandwidth=3350000
// CHECK-NEXT: launch=2000
// CHECK: op 0 contraction {{.*}} flops=2000000000 compute=2022245 name="linalg.matmul"
// CHECK: op 1 fusible {{.*}} flops=1000000 compute=477612 name="math.exp"
// FUNCTION: expected a function 'third', but there is none
// BODY: expected a body of 'declared', but got a declaration
// DEVICE: expected a known device or the path of a file, but got 'h101'
func.func private @declared(tensor<4xf32>)
func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @second(%a: tensor<1000x1000xbf16>, %b: tensor<1000x1000xbf16>, %c: tensor<1000x1000xf32>) -> tensor<1000x1000xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<1000x1000xbf16>, tensor<1000x1000xbf16>) outs(%c : tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %1 = math.exp %0 : tensor<1000x1000xf32>
  return %1 : tensor<1000x1000xf32>
}
