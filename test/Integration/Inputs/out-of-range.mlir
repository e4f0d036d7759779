// Indices out of range: results 0 and 1, 2 and 3, ... are the same. The second
// argument is an index outside; reads take the nearest element or slice inside,
// which the third says, and writes are left out.
#at = affine_map<(d0) -> (d0)>

func.func @main(%x: tensor<8xf32>, %i: tensor<i64>, %j: tensor<i64>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c5 = arith.constant 5.0 : f32
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i3 = arith.constant 3 : index
  %i5 = arith.constant 5 : index
  %e = tensor.extract %i[] : tensor<i64>
  %outside = arith.index_cast %e : i64 to index
  %f = tensor.extract %j[] : tensor<i64>
  %inside = arith.index_cast %f : i64 to index
  %start = arith.minsi %inside, %i5 : index
  %y = math.exp %x : tensor<8xf32>
  %empty = tensor.empty() : tensor<8xf32>
  %three = arith.constant dense<3.0> : tensor<3xf32>

  // One element: left out, and the nearest.
  %inserted = tensor.insert %c5 into %y[%outside] : tensor<8xf32>
  %looked = linalg.generic {indexing_maps = [#at, #at], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = tensor.extract %y[%outside] : tensor<8xf32>
    %s = arith.addf %p, %v : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %found = linalg.generic {indexing_maps = [#at, #at], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = tensor.extract %y[%inside] : tensor<8xf32>
    %s = arith.addf %p, %v : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>

  // Slices: the nearest that is inside, and left out.
  %cut = tensor.extract_slice %y[%outside] [3] [1] : tensor<8xf32> to tensor<3xf32>
  %nearest = tensor.extract_slice %y[%start] [3] [1] : tensor<8xf32> to tensor<3xf32>
  %put = tensor.insert_slice %three into %y[%outside] [3] [1] : tensor<3xf32> into tensor<8xf32>

  // The same in loops.
  %n = arith.divsi %i3, %i1 : index
  %many = scf.for %k = %i0 to %n step %i1 iter_args(%t = %y) -> (tensor<8xf32>) {
    %old = tensor.extract %t[%outside] : tensor<8xf32>
    %new = arith.addf %old, %c5 : f32
    %u = tensor.insert %new into %t[%outside] : tensor<8xf32>
    %part = tensor.extract_slice %u[%outside] [3] [1] : tensor<8xf32> to tensor<3xf32>
    %w = tensor.insert_slice %part into %u[%outside] [3] [1] : tensor<3xf32> into tensor<8xf32>
    scf.yield %w : tensor<8xf32>
  }
  %total = scf.for %k = %i0 to %n step %i1 iter_args(%t = %zero) -> (tensor<8xf32>) {
    %v = tensor.extract %y[%outside] : tensor<8xf32>
    %part = tensor.extract_slice %y[%outside] [3] [1] : tensor<8xf32> to tensor<3xf32>
    %u = tensor.insert_slice %part into %t[4] [3] [1] : tensor<3xf32> into tensor<8xf32>
    %w = tensor.insert %v into %u[%k] : tensor<8xf32>
    scf.yield %w : tensor<8xf32>
  }
  %same = scf.for %k = %i0 to %n step %i1 iter_args(%t = %zero) -> (tensor<8xf32>) {
    %v = tensor.extract %y[%inside] : tensor<8xf32>
    %part = tensor.extract_slice %y[%start] [3] [1] : tensor<8xf32> to tensor<3xf32>
    %u = tensor.insert_slice %part into %t[4] [3] [1] : tensor<3xf32> into tensor<8xf32>
    %w = tensor.insert %v into %u[%k] : tensor<8xf32>
    scf.yield %w : tensor<8xf32>
  }
  // Two writes at one place.
  %twice = scf.for %k = %i0 to %n step %i1 iter_args(%t = %y) -> (tensor<8xf32>) {
    %u = tensor.insert_slice %three into %t[%outside] [3] [1] : tensor<3xf32> into tensor<8xf32>
    %w = tensor.insert_slice %three into %u[%outside] [3] [1] : tensor<3xf32> into tensor<8xf32>
    scf.yield %w : tensor<8xf32>
  }
  return %inserted, %y, %looked, %found, %cut, %nearest, %put, %y, %many, %y, %total, %same, %twice, %y : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
