// NaNs have no sign that a program could rely on: where code is folded it may be another.
// RUN: ckpt-runner %s --repeat=1 --verify | FileCheck %s
// CHECK: results: bit-equal to the program as written
func.func @main(%x: tensor<2x2x2xf32>) -> tensor<2x2x2xf32> {
  %e = tensor.empty() : tensor<2x2x2xf64>
  %n = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%e : tensor<2x2x2xf64>) {
  ^bb0(%a: f64):
    %i = linalg.index 2 : index
    %j = arith.index_castui %i : index to i64
    %f = arith.sitofp %j : i64 to f64
    linalg.yield %f : f64
  } -> tensor<2x2x2xf64>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%n : tensor<2x2x2xf64>) outs(%x : tensor<2x2x2xf32>) {
  ^bb0(%a: f64, %b: f32):
    %d = arith.divf %a, %a : f64
    %t = arith.truncf %d : f64 to f32
    linalg.yield %t : f32
  } -> tensor<2x2x2xf32>
  return %q : tensor<2x2x2xf32>
}
