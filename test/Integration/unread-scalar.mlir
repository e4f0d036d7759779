// Scalars that an op takes and does not read, with an element, an argument or a
// constant behind them.
// RUN: ckpt-runner %s --verify --repeat=1 | FileCheck %s
// RUN: ckpt-runner %s --verify --repeat=1 --device=emulator | FileCheck %s
// RUN: ckpt-opt %s --ckpt-plan=quiet=true --ckpt-apply-plan -o %t.mlir
// RUN: ckpt-opt %t.mlir --ckpt-verify=original=%s -o %t.same
// CHECK: results: bit-equal

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#scalar = affine_map<(d0, d1) -> ()>
func.func @main(%s: tensor<f32>, %t: f32, %x: tensor<2x3xf32>)
    -> (tensor<2x3xf32>, tensor<2xf32>) {
  %element = tensor.extract %s[] : tensor<f32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %y = linalg.generic
      {indexing_maps = [#map, #scalar, #scalar, #scalar, #map],
       iterator_types = ["parallel", "parallel"]}
      ins(%x, %element, %t, %zero : tensor<2x3xf32>, f32, f32, f32)
      outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<2x3xf32>
  %r = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.generic
      {indexing_maps = [#map, #scalar, #row],
       iterator_types = ["parallel", "reduction"]}
      ins(%y, %element : tensor<2x3xf32>, f32) outs(%f : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %a, %o : f32
    linalg.yield %v : f32
  } -> tensor<2xf32>
  return %y, %sum : tensor<2x3xf32>, tensor<2xf32>
}
