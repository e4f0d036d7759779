// Round trip of every op, in the pretty and in the generic form.
// RUN: ckpt-opt %s | ckpt-opt --mlir-print-debuginfo=false | FileCheck %s
// RUN: ckpt-opt --mlir-print-op-generic %s | ckpt-opt --mlir-print-debuginfo=false | FileCheck %s

// CHECK-LABEL: func.func @layer
func.func @layer(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: ckpt.layer "h/0/attn" kind <attention> pin <save> decision <recompute> -> tensor<4xf32>
  // CHECK-SAME: attributes {activation_bytes = 16 : i64}
  %0 = ckpt.layer "h/0/attn" kind <attention> pin <save> decision <recompute>
      -> tensor<4xf32> attributes {activation_bytes = 16 : i64} {
    %1 = math.exp %x : tensor<4xf32>
    // CHECK: ckpt.yield %{{.*}} : tensor<4xf32>
    ckpt.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @kernel
func.func @kernel(%x: tensor<4xf32>, %g: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: ckpt.kernel(%[[A:.*]] = %{{.*}} : tensor<4xf32>) slots [0 : 16] layer "h/0" {
  // CHECK-NEXT: math.exp %[[A]]
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] layer "h/0" {
    %1 = math.exp %a : tensor<4xf32>
    ckpt.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  // CHECK: after (%{{.*}} : tensor<4xf32>) slots [256 : 16] workspace [512 : 256] layer "h/0" recompute {
  %2 = ckpt.kernel(%a = %x : tensor<4xf32>) after (%g : tensor<4xf32>)
      slots [256 : 16] workspace [512 : 256] layer "h/0" recompute {
    %3 = math.exp %a : tensor<4xf32>
    ckpt.yield %3 : tensor<4xf32>
  } -> tensor<4xf32>
  return %0, %2 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @barrier
func.func @barrier(%x: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: ckpt.barrier %{{.*}} after(%{{.*}} : tensor<4xf32>) : tensor<4xf32>
  %0 = ckpt.barrier %x after (%g : tensor<4xf32>) : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @attributes
// CHECK-SAME: #ckpt.plan<body [11, 7, 9] decisions 4 arena 512 kernels [{ops [0, 1] outputs [1 : 0 at 0]}, {ops [2] outputs [2 : 0 at -1] workspace 256}]>
func.func @attributes(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.plan = #ckpt.plan<body [11, 7, 9] decisions 4 arena 512 kernels [
      {ops [0, 1] outputs [1 : 0 at 0]},
      {ops [2] outputs [2 : 0 at -1] workspace 256}]>} {
  // CHECK: math.exp %{{.*}} {ckpt.decision = #ckpt.decision<inline>, ckpt.pin = #ckpt.pin<recompute>}
  %0 = math.exp %x {ckpt.decision = #ckpt.decision<inline>,
                    ckpt.pin = #ckpt.pin<recompute>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
