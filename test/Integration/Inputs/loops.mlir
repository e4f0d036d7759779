// A loop whose iterations make more than the stack holds, and pass two values on
// in each other's place.
func.func @step(%x: tensor<96x300xf32>, %y: tensor<96x300xf32>) -> (tensor<96x300xf32>, tensor<96x300xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %five = arith.constant 5 : index
  %0:2 = scf.for %i = %zero to %five step %one iter_args(%s = %x, %t = %y) -> (tensor<96x300xf32>, tensor<96x300xf32>) {
    %a = math.sin %s : tensor<96x300xf32>
    %b = arith.addf %a, %t : tensor<96x300xf32>
    %c = math.cos %b : tensor<96x300xf32>
    %d = arith.mulf %c, %a : tensor<96x300xf32>
    scf.yield %d, %s : tensor<96x300xf32>, tensor<96x300xf32>
  }
  return %0#0, %0#1 : tensor<96x300xf32>, tensor<96x300xf32>
}
