// A step so small that its results can be computed by hand: looks up rows of a
// table and doubles them; sums a vector.
#row = affine_map<(d0, d1) -> (d0)>
#both = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
func.func @step(%table: tensor<8x2xf32> loc("params['table']"),
                %ids: tensor<3xi32> loc("ids"), %x: tensor<4xf32> loc("x"))
    -> (tensor<3x2xf32>, tensor<f32>, tensor<3xi1>) {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2 : i32
  %e0 = tensor.empty() : tensor<3x2xf32>
  %rows = linalg.generic {indexing_maps = [#row, #both],
      iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<3xi32>) outs(%e0 : tensor<3x2xf32>) {
  ^bb0(%id: i32, %out: f32):
    %i = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<8x2xf32>
    %d = arith.addf %v, %v : f32
    linalg.yield %d : f32
  } -> tensor<3x2xf32>
  %e1 = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [#one, #none],
      iterator_types = ["reduction"]}
      ins(%x : tensor<4xf32>) outs(%f : tensor<f32>) {
  ^bb0(%v: f32, %acc: f32):
    %s = arith.addf %acc, %v : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %e2 = tensor.empty() : tensor<3xi1>
  %large = linalg.generic {indexing_maps = [#one, #one],
      iterator_types = ["parallel"]}
      ins(%ids : tensor<3xi32>) outs(%e2 : tensor<3xi1>) {
  ^bb0(%id: i32, %out: i1):
    %c = arith.cmpi sge, %id, %two : i32
    linalg.yield %c : i1
  } -> tensor<3xi1>
  return %rows, %sum, %large : tensor<3x2xf32>, tensor<f32>, tensor<3xi1>
}
