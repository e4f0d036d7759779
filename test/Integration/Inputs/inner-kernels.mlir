// Iterations whose number an argument says: matmuls by slices that move, sums of
// rows in f16, long sums, and a product with a border.
func.func @main(%x: tensor<24x40xf32>, %w: tensor<3x40x40xf32>, %image: tensor<2x9x9xf32>, %filter: tensor<2x3x3xf32>, %count: tensor<i32>)
    -> (tensor<24x40xf32>, tensor<24xf16>, tensor<3x3xf32>, tensor<2x7x7xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %f = arith.constant 0.0 : f32
  %h = arith.constant 0.0 : f16
  %scale = arith.constant 0.125 : f32
  %said = tensor.extract %count[] : tensor<i32>
  %end = arith.index_cast %said : i32 to index
  %e0 = tensor.empty() : tensor<24xf16>
  %s0 = linalg.fill ins(%h : f16) outs(%e0 : tensor<24xf16>) -> tensor<24xf16>
  %e1 = tensor.empty() : tensor<3x3xf32>
  %g0 = linalg.fill ins(%f : f32) outs(%e1 : tensor<3x3xf32>) -> tensor<3x3xf32>
  %e2 = tensor.empty() : tensor<2x7x7xf32>
  %c0 = linalg.fill ins(%f : f32) outs(%e2 : tensor<2x7x7xf32>) -> tensor<2x7x7xf32>
  %r:4 = scf.for %i = %zero to %end step %one iter_args(%y = %x, %s = %s0, %g = %g0, %c = %c0)
      -> (tensor<24x40xf32>, tensor<24xf16>, tensor<3x3xf32>, tensor<2x7x7xf32>) {
    %j = arith.remui %i, %three : index
    %part = tensor.extract_slice %w[%j, 0, 0] [1, 40, 40] [1, 1, 1] : tensor<3x40x40xf32> to tensor<40x40xf32>
    %e = tensor.empty() : tensor<24x40xf32>
    %start = linalg.fill ins(%f : f32) outs(%e : tensor<24x40xf32>) -> tensor<24x40xf32>
    %product = linalg.matmul ins(%y, %part : tensor<24x40xf32>, tensor<40x40xf32>) outs(%start : tensor<24x40xf32>) -> tensor<24x40xf32>
    %next = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%product : tensor<24x40xf32>) outs(%e : tensor<24x40xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.mulf %a, %scale : f32
      %t = math.tanh %m : f32
      linalg.yield %t : f32
    } -> tensor<24x40xf32>
    %sums = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
        ins(%next : tensor<24x40xf32>) outs(%s : tensor<24xf16>) {
    ^bb0(%a: f32, %b: f16):
      %n = arith.truncf %a : f32 to f16
      %t = arith.addf %b, %n : f16
      linalg.yield %t : f16
    } -> tensor<24xf16>
    %gradient = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d2, d0 + d3, d1 + d4)>,
        affine_map<(d0, d1, d2, d3, d4) -> (d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1)>],
        iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%image, %c : tensor<2x9x9xf32>, tensor<2x7x7xf32>) outs(%g : tensor<3x3xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %t = arith.addf %o, %m : f32
      linalg.yield %t : f32
    } -> tensor<3x3xf32>
    %convolved = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 + d3, d2 + d4)>,
        affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%image, %filter : tensor<2x9x9xf32>, tensor<2x3x3xf32>) outs(%c : tensor<2x7x7xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %t = arith.addf %o, %m : f32
      linalg.yield %t : f32
    } -> tensor<2x7x7xf32>
    scf.yield %next, %sums, %gradient, %convolved : tensor<24x40xf32>, tensor<24xf16>, tensor<3x3xf32>, tensor<2x7x7xf32>
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<24x40xf32>, tensor<24xf16>, tensor<3x3xf32>, tensor<2x7x7xf32>
}
