// A rewrite may let an earlier one match: preparation goes on until none does.
// RUN: ckpt-opt %s --split-input-file --ckpt-prepare --mlir-print-debuginfo=false -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: ckpt-opt %t.mlir --split-input-file --ckpt-prepare --mlir-print-debuginfo=false | diff %t.mlir -

// Without its unread result, a reduction goes over the pieces of a stack.
// CHECK-LABEL: func.func @pieces
// CHECK-NOT: tensor.insert_slice
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2xf32>)
func.func @pieces(%a: tensor<2x4xf32>, %b: tensor<2x2xf32>, %init: tensor<f32>)
    -> tensor<f32> {
  %stack = tensor.insert_slice %b into %a[0, 1] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<2x4xf32>
  %r:2 = linalg.generic
      {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>,
                        affine_map<(d0, d1) -> ()>],
       iterator_types = ["reduction", "reduction"]}
      ins(%stack : tensor<2x4xf32>) outs(%init, %init : tensor<f32>, tensor<f32>) {
  ^bb0(%x: f32, %o: f32, %p: f32):
    %m = arith.maximumf %x, %o : f32
    %n = arith.minimumf %x, %p : f32
    linalg.yield %m, %n : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %r#0 : tensor<f32>
}

// -----

// Without its unread result, an op hands on its input.
// CHECK-LABEL: func.func @handed
// CHECK-NEXT: return %arg0
func.func @handed(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r:2 = linalg.generic
      {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
       iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e, %e : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32, %p: f32):
    %n = math.exp %x : f32
    linalg.yield %x, %n : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %r#0 : tensor<4xf32>
}
