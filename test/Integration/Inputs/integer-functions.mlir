// Functions of integers, which are single instructions of a GPU.
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<67xi32>) -> tensor<67xi32> {
  %empty = tensor.empty() : tensor<67xi32>
  %result = linalg.generic
      {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%x : tensor<67xi32>) outs(%empty : tensor<67xi32>) {
  ^bb0(%in: i32, %out: i32):
    %size = math.absi %in : i32
    %ones = math.ctpop %in : i32
    %leading = math.ctlz %size : i32
    %trailing = math.cttz %in : i32
    %a = arith.muli %ones, %leading : i32
    %b = arith.addi %a, %trailing : i32
    linalg.yield %b : i32
  } -> tensor<67xi32>
  return %result : tensor<67xi32>
}
