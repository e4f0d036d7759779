// Forms that frontends write and --ckpt-prepare brings into the planner's: each
// function with its values in numpy. frontend.py makes the .npz files of them.

// numpy: [s := x.sum(axis=(0,), keepdims=True) + 0, x - s]
func.func private @keep_vector(%x: tensor<5xf32>, %b: tensor<1xf32>) -> (tensor<1xf32>, tensor<5xf32>) {
  %z = arith.constant dense<0.0> : tensor<1xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (0)>], iterator_types = ["reduction"]} ins(%x : tensor<5xf32>) outs(%z : tensor<1xf32>) {
  ^bb0(%p: f32, %q: f32):
    %v = arith.addf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<1xf32>
  %e = tensor.empty() : tensor<5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x, %s : tensor<5xf32>, tensor<1xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.subf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<5xf32>
  return %s, %y : tensor<1xf32>, tensor<5xf32>
}

// numpy: [s := x.sum(axis=(1,), keepdims=True) + b + b, x - s]
func.func private @keep_rows(%x: tensor<7x9xi32>, %b: tensor<7x1xi32>) -> (tensor<7x1xi32>, tensor<7x9xi32>) {
  %z = arith.addi %b, %b : tensor<7x1xi32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<7x9xi32>) outs(%z : tensor<7x1xi32>) {
  ^bb0(%p: i32, %q: i32):
    %v = arith.addi %p, %q : i32
    linalg.yield %v : i32
  } -> tensor<7x1xi32>
  %e = tensor.empty() : tensor<7x9xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<7x9xi32>, tensor<7x1xi32>) outs(%e : tensor<7x9xi32>) {
  ^bb0(%p: i32, %q: i32, %o: i32):
    %v = arith.subi %p, %q : i32
    linalg.yield %v : i32
  } -> tensor<7x9xi32>
  return %s, %y : tensor<7x1xi32>, tensor<7x9xi32>
}

// numpy: [s := np.maximum(x.max(axis=(0,), keepdims=True), -1), x - s]
func.func private @keep_columns(%x: tensor<7x9xf64>, %b: tensor<1x9xf64>) -> (tensor<1x9xf64>, tensor<7x9xf64>) {
  %c = arith.constant -1.0 : f64
  %ze = tensor.empty() : tensor<1x9xf64>
  %z = linalg.fill ins(%c : f64) outs(%ze : tensor<1x9xf64>) -> tensor<1x9xf64>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0, d1)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<7x9xf64>) outs(%z : tensor<1x9xf64>) {
  ^bb0(%p: f64, %q: f64):
    %v = arith.maximumf %p, %q : f64
    linalg.yield %v : f64
  } -> tensor<1x9xf64>
  %e = tensor.empty() : tensor<7x9xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<7x9xf64>, tensor<1x9xf64>) outs(%e : tensor<7x9xf64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %v = arith.subf %p, %q : f64
    linalg.yield %v : f64
  } -> tensor<7x9xf64>
  return %s, %y : tensor<1x9xf64>, tensor<7x9xf64>
}

// numpy: [s := x.sum(axis=(0, 1), keepdims=True) + 1, x - s]
func.func private @keep_all(%x: tensor<7x9xf32>, %b: tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<7x9xf32>) {
  %c = arith.constant 1.0 : f32
  %ze = tensor.empty() : tensor<1x1xf32>
  %z = linalg.fill ins(%c : f32) outs(%ze : tensor<1x1xf32>) -> tensor<1x1xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0, 0)>], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<7x9xf32>) outs(%z : tensor<1x1xf32>) {
  ^bb0(%p: f32, %q: f32):
    %v = arith.addf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<1x1xf32>
  %e = tensor.empty() : tensor<7x9xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<7x9xf32>, tensor<1x1xf32>) outs(%e : tensor<7x9xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.subf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<7x9xf32>
  return %s, %y : tensor<1x1xf32>, tensor<7x9xf32>
}

// numpy: [s := x.sum(axis=(1,), keepdims=True) + b + b, x - s]
func.func private @keep_middle(%x: tensor<2x3x4xf32>, %b: tensor<2x1x4xf32>) -> (tensor<2x1x4xf32>, tensor<2x3x4xf32>) {
  %z = arith.addf %b, %b : tensor<2x1x4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, 0, d2)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : tensor<2x3x4xf32>) outs(%z : tensor<2x1x4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %v = arith.addf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<2x1x4xf32>
  %e = tensor.empty() : tensor<2x3x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, 0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s : tensor<2x3x4xf32>, tensor<2x1x4xf32>) outs(%e : tensor<2x3x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.subf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<2x3x4xf32>
  return %s, %y : tensor<2x1x4xf32>, tensor<2x3x4xf32>
}

// numpy: [s := x.sum(axis=(0, 2), keepdims=True) + 0, x - s]
func.func private @keep_outer(%x: tensor<2x3x4xi64>, %b: tensor<1x3x1xi64>) -> (tensor<1x3x1xi64>, tensor<2x3x4xi64>) {
  %z = arith.constant dense<0> : tensor<1x3x1xi64>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (0, d1, 0)>], iterator_types = ["reduction", "parallel", "reduction"]} ins(%x : tensor<2x3x4xi64>) outs(%z : tensor<1x3x1xi64>) {
  ^bb0(%p: i64, %q: i64):
    %v = arith.addi %p, %q : i64
    linalg.yield %v : i64
  } -> tensor<1x3x1xi64>
  %e = tensor.empty() : tensor<2x3x4xi64>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s : tensor<2x3x4xi64>, tensor<1x3x1xi64>) outs(%e : tensor<2x3x4xi64>) {
  ^bb0(%p: i64, %q: i64, %o: i64):
    %v = arith.subi %p, %q : i64
    linalg.yield %v : i64
  } -> tensor<2x3x4xi64>
  return %s, %y : tensor<1x3x1xi64>, tensor<2x3x4xi64>
}

// numpy: [s := np.maximum(x.max(axis=(1,), keepdims=True), 0), x - s]
func.func private @keep_one_row(%x: tensor<1x8xf32>, %b: tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<1x8xf32>) {
  %z = arith.constant dense<0.0> : tensor<1x1xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1x8xf32>) outs(%z : tensor<1x1xf32>) {
  ^bb0(%p: f32, %q: f32):
    %v = arith.maximumf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<1x1xf32>
  %e = tensor.empty() : tensor<1x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<1x8xf32>, tensor<1x1xf32>) outs(%e : tensor<1x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.subf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<1x8xf32>
  return %s, %y : tensor<1x1xf32>, tensor<1x8xf32>
}

// numpy: [s := x.sum(axis=(1,), keepdims=True) + 0, x - s]
func.func private @keep_one_column(%x: tensor<8x1xf32>, %b: tensor<8x1xf32>) -> (tensor<8x1xf32>, tensor<8x1xf32>) {
  %z = arith.constant dense<0.0> : tensor<8x1xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x1xf32>) outs(%z : tensor<8x1xf32>) {
  ^bb0(%p: f32, %q: f32):
    %v = arith.addf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<8x1xf32>
  %e = tensor.empty() : tensor<8x1xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<8x1xf32>, tensor<8x1xf32>) outs(%e : tensor<8x1xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.subf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<8x1xf32>
  return %s, %y : tensor<8x1xf32>, tensor<8x1xf32>
}

// numpy: [s := x.sum(axis=(0,), keepdims=True) + b + b, x - s]
func.func private @keep_one(%x: tensor<1x1xf64>, %b: tensor<1x1xf64>) -> (tensor<1x1xf64>, tensor<1x1xf64>) {
  %z = arith.addf %b, %b : tensor<1x1xf64>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0, d1)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<1x1xf64>) outs(%z : tensor<1x1xf64>) {
  ^bb0(%p: f64, %q: f64):
    %v = arith.addf %p, %q : f64
    linalg.yield %v : f64
  } -> tensor<1x1xf64>
  %e = tensor.empty() : tensor<1x1xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<1x1xf64>, tensor<1x1xf64>) outs(%e : tensor<1x1xf64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %v = arith.subf %p, %q : f64
    linalg.yield %v : f64
  } -> tensor<1x1xf64>
  return %s, %y : tensor<1x1xf64>, tensor<1x1xf64>
}

// numpy: [s := x.sum(axis=(2,), keepdims=True) + 0, x - s]
func.func private @keep_beside_one(%x: tensor<3x1x5xf32>, %b: tensor<3x1x1xf32>) -> (tensor<3x1x1xf32>, tensor<3x1x5xf32>) {
  %c = arith.constant 0.0 : f32
  %ze = tensor.empty() : tensor<3x1x1xf32>
  %z = linalg.fill ins(%c : f32) outs(%ze : tensor<3x1x1xf32>) -> tensor<3x1x1xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<3x1x5xf32>) outs(%z : tensor<3x1x1xf32>) {
  ^bb0(%p: f32, %q: f32):
    %v = arith.addf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<3x1x1xf32>
  %e = tensor.empty() : tensor<3x1x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s : tensor<3x1x5xf32>, tensor<3x1x1xf32>) outs(%e : tensor<3x1x5xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.subf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<3x1x5xf32>
  return %s, %y : tensor<3x1x1xf32>, tensor<3x1x5xf32>
}

// numpy: [s := x.sum(axis=(1,), keepdims=True) + 0, x - s]
func.func private @keep_long(%x: tensor<4x133xf32>, %b: tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4x133xf32>) {
  %z = arith.constant dense<0.0> : tensor<4x1xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x133xf32>) outs(%z : tensor<4x1xf32>) {
  ^bb0(%p: f32, %q: f32):
    %v = arith.addf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<4x1xf32>
  %e = tensor.empty() : tensor<4x133xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<4x133xf32>, tensor<4x1xf32>) outs(%e : tensor<4x133xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.subf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<4x133xf32>
  return %s, %y : tensor<4x1xf32>, tensor<4x133xf32>
}

// numpy: [x.max(axis=1, keepdims=True), x.argmax(axis=1)[:, None]]
func.func private @argmax(%x: tensor<6x9xf32>) -> (tensor<6x1xf32>, tensor<6x1xi64>) {
  %z = arith.constant dense<-100.0> : tensor<6x1xf32>
  %i = arith.constant dense<0> : tensor<6x1xi64>
  %s:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, 0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x9xf32>) outs(%z, %i : tensor<6x1xf32>, tensor<6x1xi64>) {
  ^bb0(%a: f32, %b: f32, %c: i64):
    %n = linalg.index 1 : index
    %k = arith.index_cast %n : index to i64
    %g = arith.cmpf ogt, %a, %b : f32
    %v = arith.select %g, %a, %b : f32
    %w = arith.select %g, %k, %c : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<6x1xf32>, tensor<6x1xi64>)
  return %s#0, %s#1 : tensor<6x1xf32>, tensor<6x1xi64>
}

// numpy: [(x @ w + b).reshape((1, 8))]
func.func private @behind_row(%x: tensor<1x16xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>) -> tensor<1x8xf32> {
  %z = arith.constant dense<0.0> : tensor<1x8xf32>
  %y = linalg.matmul ins(%x, %w : tensor<1x16xf32>, tensor<16x8xf32>) outs(%z : tensor<1x8xf32>) -> tensor<1x8xf32>
  %e = tensor.empty() : tensor<1x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%b, %y : tensor<8xf32>, tensor<1x8xf32>) outs(%e : tensor<1x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.addf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<1x8xf32>
  return %r : tensor<1x8xf32>
}

// numpy: [(x @ w + b).reshape((8, 1))]
func.func private @behind_column(%x: tensor<8x16xf32>, %w: tensor<16x1xf32>, %b: tensor<1xf32>) -> tensor<8x1xf32> {
  %z = arith.constant dense<0.0> : tensor<8x1xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x1xf32>) outs(%z : tensor<8x1xf32>) -> tensor<8x1xf32>
  %e = tensor.empty() : tensor<8x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%b, %y : tensor<1xf32>, tensor<8x1xf32>) outs(%e : tensor<8x1xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.addf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<8x1xf32>
  return %r : tensor<8x1xf32>
}

// numpy: [(x @ w + b).reshape((1, 1, 1))]
func.func private @behind_one(%x: tensor<1x5xf32>, %w: tensor<5x1xf32>, %b: tensor<1xf32>) -> tensor<1x1x1xf32> {
  %z = arith.constant dense<0.0> : tensor<1x1xf32>
  %y = linalg.matmul ins(%x, %w : tensor<1x5xf32>, tensor<5x1xf32>) outs(%z : tensor<1x1xf32>) -> tensor<1x1xf32>
  %e = tensor.empty() : tensor<1x1x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (0, 0)>, affine_map<(d0, d1) -> (d0, 0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%b, %y : tensor<1xf32>, tensor<1x1xf32>) outs(%e : tensor<1x1x1xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.addf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<1x1x1xf32>
  return %r : tensor<1x1x1xf32>
}

// numpy: [(x @ w + b).reshape((4, 1, 3))]
func.func private @behind_all(%x: tensor<4x5xf32>, %w: tensor<5x3xf32>, %b: tensor<3xf32>) -> tensor<4x1x3xf32> {
  %z = arith.constant dense<0.0> : tensor<4x3xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x5xf32>, tensor<5x3xf32>) outs(%z : tensor<4x3xf32>) -> tensor<4x3xf32>
  %e = tensor.empty() : tensor<4x1x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%b, %y : tensor<3xf32>, tensor<4x3xf32>) outs(%e : tensor<4x1x3xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.addf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<4x1x3xf32>
  return %r : tensor<4x1x3xf32>
}

// numpy: [np.abs(x).reshape(1)]
func.func private @scalar_into_one(%x: tensor<f32>) -> tensor<1xf32> {
  %e = tensor.empty() : tensor<1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> (0)>], iterator_types = []} ins(%x : tensor<f32>) outs(%e : tensor<1xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.absf %p : f32
    linalg.yield %v : f32
  } -> tensor<1xf32>
  %s = math.absf %r : tensor<1xf32>
  return %s : tensor<1xf32>
}

// numpy: [np.abs(x @ w)]
func.func private @product_of_one_batch(%x: tensor<1x4x8xf32>, %w: tensor<1x8x3xf32>) -> tensor<1x4x3xf32> {
  %z = arith.constant dense<0.0> : tensor<1x4x3xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<1x4x8xf32>, tensor<1x8x3xf32>) outs(%z : tensor<1x4x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %v = arith.addf %c, %p : f32
    linalg.yield %v : f32
  } -> tensor<1x4x3xf32>
  %t = math.absf %s : tensor<1x4x3xf32>
  return %t : tensor<1x4x3xf32>
}

// numpy: [y := x @ w + d, np.abs(y), np.abs(y)]
func.func private @copy_between(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %d: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %n = arith.constant dense<[4, 8]> : tensor<2xi64>
  %e = tensor.empty() : tensor<4x8xf32>
  %u = linalg.copy ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = linalg.matmul ins(%u, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%d : tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = linalg.copy ins(%y : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = math.absf %v : tensor<4x8xf32>
  %r = linalg.copy ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %v, %r, %r : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// numpy: [y := x @ w + d, np.abs(y), np.abs(y)]
func.func private @transpose_between(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %d: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %n = arith.constant dense<[4, 8]> : tensor<2xi64>
  %e = tensor.empty() : tensor<4x8xf32>
  %u = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) permutation = [0, 1]
  %y = linalg.matmul ins(%u, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%d : tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = linalg.transpose ins(%y : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) permutation = [0, 1]
  %a = math.absf %v : tensor<4x8xf32>
  %r = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) permutation = [0, 1]
  return %v, %r, %r : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// numpy: [y := x @ w + d, np.abs(y), np.abs(y)]
func.func private @slice_between(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %d: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %n = arith.constant dense<[4, 8]> : tensor<2xi64>
  %e = tensor.empty() : tensor<4x8xf32>
  %u = tensor.extract_slice %x[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> to tensor<4x8xf32>
  %y = linalg.matmul ins(%u, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%d : tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = tensor.extract_slice %y[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> to tensor<4x8xf32>
  %a = math.absf %v : tensor<4x8xf32>
  %r = tensor.extract_slice %a[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> to tensor<4x8xf32>
  return %v, %r, %r : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// numpy: [y := x @ w + d, np.abs(y), np.abs(y)]
func.func private @reshape_between(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %d: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %n = arith.constant dense<[4, 8]> : tensor<2xi64>
  %e = tensor.empty() : tensor<4x8xf32>
  %u = tensor.reshape %x(%n) : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  %y = linalg.matmul ins(%u, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%d : tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = tensor.reshape %y(%n) : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  %a = math.absf %v : tensor<4x8xf32>
  %r = tensor.reshape %a(%n) : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  return %v, %r, %r : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// numpy: [y := x @ w + d, np.abs(y), np.abs(y)]
func.func private @materialize_between(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %d: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %n = arith.constant dense<[4, 8]> : tensor<2xi64>
  %e = tensor.empty() : tensor<4x8xf32>
  %u = bufferization.materialize_in_destination %x in %e : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = linalg.matmul ins(%u, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%d : tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = bufferization.materialize_in_destination %y in %e : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = math.absf %v : tensor<4x8xf32>
  %r = bufferization.materialize_in_destination %a in %e : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %v, %r, %r : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// numpy: [y := x @ w + d, np.abs(y), np.abs(y)]
func.func private @alloc_between(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %d: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %n = arith.constant dense<[4, 8]> : tensor<2xi64>
  %e = tensor.empty() : tensor<4x8xf32>
  %u = bufferization.alloc_tensor() copy(%x) : tensor<4x8xf32>
  %y = linalg.matmul ins(%u, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%d : tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = bufferization.alloc_tensor() copy(%y) : tensor<4x8xf32>
  %a = math.absf %v : tensor<4x8xf32>
  %r = bufferization.alloc_tensor() copy(%a) : tensor<4x8xf32>
  return %v, %r, %r : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// numpy: [y := x @ w + d, np.abs(y), np.abs(y)]
func.func private @insert_between(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %d: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %n = arith.constant dense<[4, 8]> : tensor<2xi64>
  %e = tensor.empty() : tensor<4x8xf32>
  %u = tensor.insert_slice %x into %e[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<4x8xf32>
  %y = linalg.matmul ins(%u, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%d : tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = tensor.insert_slice %y into %e[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<4x8xf32>
  %a = math.absf %v : tensor<4x8xf32>
  %r = tensor.insert_slice %a into %e[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<4x8xf32>
  return %v, %r, %r : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// numpy: [y := x.reshape((33,)), np.max(y, initial=-3)]
func.func private @reshape_drop_one(%x: tensor<1x33xf32>) -> (tensor<33xf32>, tensor<f32>) {
  %n = arith.constant dense<[33]> : tensor<1xi64>
  %v = tensor.reshape %x(%n) : (tensor<1x33xf32>, tensor<1xi64>) -> tensor<33xf32>
  %z = arith.constant dense<-3.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%v : tensor<33xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %v, %r : tensor<33xf32>, tensor<f32>
}

// numpy: [y := x.reshape((1, 33)), np.max(y, initial=-3)]
func.func private @reshape_add_one(%x: tensor<33xf32>) -> (tensor<1x33xf32>, tensor<f32>) {
  %n = arith.constant dense<[1, 33]> : tensor<2xi64>
  %v = tensor.reshape %x(%n) : (tensor<33xf32>, tensor<2xi64>) -> tensor<1x33xf32>
  %z = arith.constant dense<-3.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%v : tensor<1x33xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %v, %r : tensor<1x33xf32>, tensor<f32>
}

// numpy: [y := x.reshape((3, 8)), np.max(y, initial=-3)]
func.func private @reshape_regroup(%x: tensor<6x4xf32>) -> (tensor<3x8xf32>, tensor<f32>) {
  %n = arith.constant dense<[3, 8]> : tensor<2xi64>
  %v = tensor.reshape %x(%n) : (tensor<6x4xf32>, tensor<2xi64>) -> tensor<3x8xf32>
  %z = arith.constant dense<-3.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%v : tensor<3x8xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %v, %r : tensor<3x8xf32>, tensor<f32>
}

// numpy: [y := x.reshape((4, 6)), np.max(y, initial=-3)]
func.func private @reshape_drop_inner(%x: tensor<4x1x6xf32>) -> (tensor<4x6xf32>, tensor<f32>) {
  %n = arith.constant dense<[4, 6]> : tensor<2xi64>
  %v = tensor.reshape %x(%n) : (tensor<4x1x6xf32>, tensor<2xi64>) -> tensor<4x6xf32>
  %z = arith.constant dense<-3.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%v : tensor<4x6xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %v, %r : tensor<4x6xf32>, tensor<f32>
}

// numpy: [y := x.reshape((4, 3, 2)), np.max(y, initial=-3)]
func.func private @reshape_swap(%x: tensor<2x3x4xf32>) -> (tensor<4x3x2xf32>, tensor<f32>) {
  %n = arith.constant dense<[4, 3, 2]> : tensor<3xi64>
  %v = tensor.reshape %x(%n) : (tensor<2x3x4xf32>, tensor<3xi64>) -> tensor<4x3x2xf32>
  %z = arith.constant dense<-3.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> ()>], iterator_types = ["reduction", "reduction", "reduction"]} ins(%v : tensor<4x3x2xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %v, %r : tensor<4x3x2xf32>, tensor<f32>
}

// numpy: [y := x.reshape(())]
func.func private @reshape_to_scalar(%x: tensor<1x1xf32>) -> tensor<f32> {
  %n = arith.constant dense<> : tensor<0xi64>
  %v = tensor.reshape %x(%n) : (tensor<1x1xf32>, tensor<0xi64>) -> tensor<f32>
  return %v : tensor<f32>
}

// numpy: [y := x.reshape((1, 1)), np.max(y, initial=-3)]
func.func private @reshape_from_scalar(%x: tensor<f32>) -> (tensor<1x1xf32>, tensor<f32>) {
  %n = arith.constant dense<[1, 1]> : tensor<2xi64>
  %v = tensor.reshape %x(%n) : (tensor<f32>, tensor<2xi64>) -> tensor<1x1xf32>
  %z = arith.constant dense<-3.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%v : tensor<1x1xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %v, %r : tensor<1x1xf32>, tensor<f32>
}

// numpy: [y := x.reshape((3, 0)), np.max(y, initial=-3)]
func.func private @reshape_no_elements(%x: tensor<0x3xf32>) -> (tensor<3x0xf32>, tensor<f32>) {
  %n = arith.constant dense<[3, 0]> : tensor<2xi64>
  %v = tensor.reshape %x(%n) : (tensor<0x3xf32>, tensor<2xi64>) -> tensor<3x0xf32>
  %z = arith.constant dense<-3.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%v : tensor<3x0xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %v, %r : tensor<3x0xf32>, tensor<f32>
}

// numpy: [np.asarray(x).view(np.int32), x]
func.func private @bits_of_matrix(%x: tensor<7x33xf32>) -> (tensor<7x33xi32>, tensor<7x33xf32>) {
  %v = tensor.bitcast %x : tensor<7x33xf32> to tensor<7x33xi32>
  %u = tensor.bitcast %v : tensor<7x33xi32> to tensor<7x33xf32>
  return %v, %u : tensor<7x33xi32>, tensor<7x33xf32>
}

// numpy: [np.asarray(x).view(np.float64), x]
func.func private @bits_of_vector(%x: tensor<3xi64>) -> (tensor<3xf64>, tensor<3xi64>) {
  %v = tensor.bitcast %x : tensor<3xi64> to tensor<3xf64>
  %u = tensor.bitcast %v : tensor<3xf64> to tensor<3xi64>
  return %v, %u : tensor<3xf64>, tensor<3xi64>
}

// numpy: [np.asarray(x).view(np.int32), x]
func.func private @bits_of_scalar(%x: tensor<f32>) -> (tensor<i32>, tensor<f32>) {
  %v = tensor.bitcast %x : tensor<f32> to tensor<i32>
  %u = tensor.bitcast %v : tensor<i32> to tensor<f32>
  return %v, %u : tensor<i32>, tensor<f32>
}

// numpy: [(e := np.exp(np.abs(x))) / e.sum(axis=0, keepdims=True)]
func.func private @softmax_of_vector(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = math.absf %x : tensor<5xf32>
  %e = tensor.empty() : tensor<5xf32>
  %s = linalg.softmax dimension(0) ins(%y : tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  return %s : tensor<5xf32>
}

// numpy: [(e := np.exp(np.abs(x))) / e.sum(axis=0, keepdims=True)]
func.func private @softmax_of_columns(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %y = math.absf %x : tensor<3x5xf32>
  %e = tensor.empty() : tensor<3x5xf32>
  %s = linalg.softmax dimension(0) ins(%y : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %s : tensor<3x5xf32>
}

// numpy: [(e := np.exp(np.abs(x))) / e.sum(axis=1, keepdims=True)]
func.func private @softmax_of_rows(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %y = math.absf %x : tensor<3x5xf32>
  %e = tensor.empty() : tensor<3x5xf32>
  %s = linalg.softmax dimension(1) ins(%y : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %s : tensor<3x5xf32>
}

// numpy: [(e := np.exp(np.abs(x))) / e.sum(axis=1, keepdims=True)]
func.func private @softmax_of_middle(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %y = math.absf %x : tensor<2x3x4xf32>
  %e = tensor.empty() : tensor<2x3x4xf32>
  %s = linalg.softmax dimension(1) ins(%y : tensor<2x3x4xf32>) outs(%e : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %s : tensor<2x3x4xf32>
}

// numpy: [(e := np.exp(np.abs(x))) / e.sum(axis=0, keepdims=True)]
func.func private @softmax_of_one(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %y = math.absf %x : tensor<1x4xf32>
  %e = tensor.empty() : tensor<1x4xf32>
  %s = linalg.softmax dimension(0) ins(%y : tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
  return %s : tensor<1x4xf32>
}

// numpy: [(y := np.abs(x), y[i])[1]]
func.func private @gather_rows(%x: tensor<3x5xf32>, %i: tensor<4x1xi32>) -> tensor<4x1x5xf32> {
  %y = math.absf %x : tensor<3x5xf32>
  %g = tensor.gather %y[%i] gather_dims([0]) : (tensor<3x5xf32>, tensor<4x1xi32>) -> tensor<4x1x5xf32>
  return %g : tensor<4x1x5xf32>
}

// numpy: [(y := np.abs(x), y[i[:, 0]])[1]]
func.func private @gather_rows_dropped(%x: tensor<3x5xf32>, %i: tensor<4x1xi32>) -> tensor<4x5xf32> {
  %y = math.absf %x : tensor<3x5xf32>
  %g = tensor.gather %y[%i] gather_dims([0]) : (tensor<3x5xf32>, tensor<4x1xi32>) -> tensor<4x5xf32>
  return %g : tensor<4x5xf32>
}

// numpy: [(y := np.abs(x), y[i[:, 0], :, i[:, 1]][:, None, :, None])[1]]
func.func private @gather_two(%x: tensor<3x5x7xf32>, %i: tensor<4x2xi32>) -> tensor<4x1x5x1xf32> {
  %y = math.absf %x : tensor<3x5x7xf32>
  %g = tensor.gather %y[%i] gather_dims([0, 2]) : (tensor<3x5x7xf32>, tensor<4x2xi32>) -> tensor<4x1x5x1xf32>
  return %g : tensor<4x1x5x1xf32>
}

// numpy: [(y := np.abs(x), y[i[:, 0], i[:, 1]])[1]]
func.func private @gather_elements(%x: tensor<4x5xf32>, %i: tensor<2x2xi32>) -> tensor<2xf32> {
  %y = math.absf %x : tensor<4x5xf32>
  %g = tensor.gather %y[%i] gather_dims([0, 1]) : (tensor<4x5xf32>, tensor<2x2xi32>) -> tensor<2xf32>
  return %g : tensor<2xf32>
}

// numpy: [(y := np.abs(x), y[i[0]])[1]]
func.func private @gather_one(%x: tensor<6xf32>, %i: tensor<1xi32>) -> tensor<f32> {
  %y = math.absf %x : tensor<6xf32>
  %g = tensor.gather %y[%i] gather_dims([0]) : (tensor<6xf32>, tensor<1xi32>) -> tensor<f32>
  return %g : tensor<f32>
}

// numpy: [np.abs(x)]
func.func private @pack_tiles(%x: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x4x2xf32>
  %p = linalg.pack %x padding_value(%z : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %e : tensor<8x6xf32> -> tensor<2x3x4x2xf32>
  %t = math.absf %p : tensor<2x3x4x2xf32>
  %u = tensor.empty() : tensor<8x6xf32>
  %r = linalg.unpack %t inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %u : tensor<2x3x4x2xf32> -> tensor<8x6xf32>
  return %r : tensor<8x6xf32>
}

// numpy: [np.abs(x)]
func.func private @pack_padded(%x: tensor<7x5xf32>) -> tensor<7x5xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x4x2xf32>
  %p = linalg.pack %x padding_value(%z : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %e : tensor<7x5xf32> -> tensor<2x3x4x2xf32>
  %t = math.absf %p : tensor<2x3x4x2xf32>
  %u = tensor.empty() : tensor<7x5xf32>
  %r = linalg.unpack %t inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %u : tensor<2x3x4x2xf32> -> tensor<7x5xf32>
  return %r : tensor<7x5xf32>
}

// numpy: [np.abs(x.T)]
func.func private @generate(%x: tensor<4x3xf32>) -> tensor<3x4xf32> {
  %g = tensor.generate {
  ^bb0(%i: index, %j: index):
    %v = tensor.extract %x[%j, %i] : tensor<4x3xf32>
    tensor.yield %v : f32
  } : tensor<3x4xf32>
  %r = math.absf %g : tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// numpy: [x[1, 2:4], np.concatenate([x[:3], np.concatenate([x[3:, :1], np.abs(x[1:2, 2:4]), x[3:, 3:]], axis=1)])]
func.func private @constant_offsets(%x: tensor<4x6xf32>) -> (tensor<2xf32>, tensor<4x6xf32>) {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %s = tensor.extract_slice %x[%one, %two] [1, 2] [1, 1] : tensor<4x6xf32> to tensor<2xf32>
  %a = math.absf %s : tensor<2xf32>
  %r = tensor.insert_slice %a into %x[%three, %one] [1, 2] [1, 1] : tensor<2xf32> into tensor<4x6xf32>
  return %s, %r : tensor<2xf32>, tensor<4x6xf32>
}

// numpy: [y := np.abs(x), y.T]
func.func private @undone_transposition(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6x4xf32>) {
  %a = math.absf %x : tensor<4x6xf32>
  %e = tensor.empty() : tensor<6x4xf32>
  %t = linalg.transpose ins(%a : tensor<4x6xf32>) outs(%e : tensor<6x4xf32>) permutation = [1, 0]
  %f = tensor.empty() : tensor<4x6xf32>
  %u = linalg.transpose ins(%t : tensor<6x4xf32>) outs(%f : tensor<4x6xf32>) permutation = [1, 0]
  return %u, %t : tensor<4x6xf32>, tensor<6x4xf32>
}

// numpy: [np.exp(np.abs(x)) if i > 0 else x]
func.func private @branch(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %k = tensor.extract %i[] : tensor<i32>
  %n = arith.constant 0 : i32
  %b = arith.cmpi sgt, %k, %n : i32
  %r = scf.if %b -> tensor<4xf32> {
    %a = func.call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = math.absf %x : tensor<4xf32>
  %e = math.exp %a : tensor<4xf32>
  return %e : tensor<4xf32>
}

func.func @main(%keep_vector_x: tensor<5xf32>,
    %keep_vector_b: tensor<1xf32>,
    %keep_rows_x: tensor<7x9xi32>,
    %keep_rows_b: tensor<7x1xi32>,
    %keep_columns_x: tensor<7x9xf64>,
    %keep_columns_b: tensor<1x9xf64>,
    %keep_all_x: tensor<7x9xf32>,
    %keep_all_b: tensor<1x1xf32>,
    %keep_middle_x: tensor<2x3x4xf32>,
    %keep_middle_b: tensor<2x1x4xf32>,
    %keep_outer_x: tensor<2x3x4xi64>,
    %keep_outer_b: tensor<1x3x1xi64>,
    %keep_one_row_x: tensor<1x8xf32>,
    %keep_one_row_b: tensor<1x1xf32>,
    %keep_one_column_x: tensor<8x1xf32>,
    %keep_one_column_b: tensor<8x1xf32>,
    %keep_one_x: tensor<1x1xf64>,
    %keep_one_b: tensor<1x1xf64>,
    %keep_beside_one_x: tensor<3x1x5xf32>,
    %keep_beside_one_b: tensor<3x1x1xf32>,
    %keep_long_x: tensor<4x133xf32>,
    %keep_long_b: tensor<4x1xf32>,
    %argmax_x: tensor<6x9xf32>,
    %behind_row_x: tensor<1x16xf32>,
    %behind_row_w: tensor<16x8xf32>,
    %behind_row_b: tensor<8xf32>,
    %behind_column_x: tensor<8x16xf32>,
    %behind_column_w: tensor<16x1xf32>,
    %behind_column_b: tensor<1xf32>,
    %behind_one_x: tensor<1x5xf32>,
    %behind_one_w: tensor<5x1xf32>,
    %behind_one_b: tensor<1xf32>,
    %behind_all_x: tensor<4x5xf32>,
    %behind_all_w: tensor<5x3xf32>,
    %behind_all_b: tensor<3xf32>,
    %scalar_into_one_x: tensor<f32>,
    %product_of_one_batch_x: tensor<1x4x8xf32>,
    %product_of_one_batch_w: tensor<1x8x3xf32>,
    %copy_between_x: tensor<4x8xf32>,
    %copy_between_w: tensor<8x8xf32>,
    %copy_between_d: tensor<4x8xf32>,
    %transpose_between_x: tensor<4x8xf32>,
    %transpose_between_w: tensor<8x8xf32>,
    %transpose_between_d: tensor<4x8xf32>,
    %slice_between_x: tensor<4x8xf32>,
    %slice_between_w: tensor<8x8xf32>,
    %slice_between_d: tensor<4x8xf32>,
    %reshape_between_x: tensor<4x8xf32>,
    %reshape_between_w: tensor<8x8xf32>,
    %reshape_between_d: tensor<4x8xf32>,
    %materialize_between_x: tensor<4x8xf32>,
    %materialize_between_w: tensor<8x8xf32>,
    %materialize_between_d: tensor<4x8xf32>,
    %alloc_between_x: tensor<4x8xf32>,
    %alloc_between_w: tensor<8x8xf32>,
    %alloc_between_d: tensor<4x8xf32>,
    %insert_between_x: tensor<4x8xf32>,
    %insert_between_w: tensor<8x8xf32>,
    %insert_between_d: tensor<4x8xf32>,
    %reshape_drop_one_x: tensor<1x33xf32>,
    %reshape_add_one_x: tensor<33xf32>,
    %reshape_regroup_x: tensor<6x4xf32>,
    %reshape_drop_inner_x: tensor<4x1x6xf32>,
    %reshape_swap_x: tensor<2x3x4xf32>,
    %reshape_to_scalar_x: tensor<1x1xf32>,
    %reshape_from_scalar_x: tensor<f32>,
    %reshape_no_elements_x: tensor<0x3xf32>,
    %bits_of_matrix_x: tensor<7x33xf32>,
    %bits_of_vector_x: tensor<3xi64>,
    %bits_of_scalar_x: tensor<f32>,
    %softmax_of_vector_x: tensor<5xf32>,
    %softmax_of_columns_x: tensor<3x5xf32>,
    %softmax_of_rows_x: tensor<3x5xf32>,
    %softmax_of_middle_x: tensor<2x3x4xf32>,
    %softmax_of_one_x: tensor<1x4xf32>,
    %gather_rows_x: tensor<3x5xf32>,
    %gather_rows_i: tensor<4x1xi32>,
    %gather_rows_dropped_x: tensor<3x5xf32>,
    %gather_rows_dropped_i: tensor<4x1xi32>,
    %gather_two_x: tensor<3x5x7xf32>,
    %gather_two_i: tensor<4x2xi32>,
    %gather_elements_x: tensor<4x5xf32>,
    %gather_elements_i: tensor<2x2xi32>,
    %gather_one_x: tensor<6xf32>,
    %gather_one_i: tensor<1xi32>,
    %pack_tiles_x: tensor<8x6xf32>,
    %pack_padded_x: tensor<7x5xf32>,
    %generate_x: tensor<4x3xf32>,
    %constant_offsets_x: tensor<4x6xf32>,
    %undone_transposition_x: tensor<4x6xf32>,
    %branch_x: tensor<4xf32>,
    %branch_i: tensor<i32>) -> (
    tensor<1xf32>,
    tensor<5xf32>,
    tensor<7x1xi32>,
    tensor<7x9xi32>,
    tensor<1x9xf64>,
    tensor<7x9xf64>,
    tensor<1x1xf32>,
    tensor<7x9xf32>,
    tensor<2x1x4xf32>,
    tensor<2x3x4xf32>,
    tensor<1x3x1xi64>,
    tensor<2x3x4xi64>,
    tensor<1x1xf32>,
    tensor<1x8xf32>,
    tensor<8x1xf32>,
    tensor<8x1xf32>,
    tensor<1x1xf64>,
    tensor<1x1xf64>,
    tensor<3x1x1xf32>,
    tensor<3x1x5xf32>,
    tensor<4x1xf32>,
    tensor<4x133xf32>,
    tensor<6x1xf32>,
    tensor<6x1xi64>,
    tensor<1x8xf32>,
    tensor<8x1xf32>,
    tensor<1x1x1xf32>,
    tensor<4x1x3xf32>,
    tensor<1xf32>,
    tensor<1x4x3xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<4x8xf32>,
    tensor<33xf32>,
    tensor<f32>,
    tensor<1x33xf32>,
    tensor<f32>,
    tensor<3x8xf32>,
    tensor<f32>,
    tensor<4x6xf32>,
    tensor<f32>,
    tensor<4x3x2xf32>,
    tensor<f32>,
    tensor<f32>,
    tensor<1x1xf32>,
    tensor<f32>,
    tensor<3x0xf32>,
    tensor<f32>,
    tensor<7x33xi32>,
    tensor<7x33xf32>,
    tensor<3xf64>,
    tensor<3xi64>,
    tensor<i32>,
    tensor<f32>,
    tensor<5xf32>,
    tensor<3x5xf32>,
    tensor<3x5xf32>,
    tensor<2x3x4xf32>,
    tensor<1x4xf32>,
    tensor<4x1x5xf32>,
    tensor<4x5xf32>,
    tensor<4x1x5x1xf32>,
    tensor<2xf32>,
    tensor<f32>,
    tensor<8x6xf32>,
    tensor<7x5xf32>,
    tensor<3x4xf32>,
    tensor<2xf32>,
    tensor<4x6xf32>,
    tensor<4x6xf32>,
    tensor<6x4xf32>,
    tensor<4xf32>) {
  %keep_vector:2 = call @keep_vector(%keep_vector_x, %keep_vector_b) : (tensor<5xf32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<5xf32>)
  %keep_rows:2 = call @keep_rows(%keep_rows_x, %keep_rows_b) : (tensor<7x9xi32>, tensor<7x1xi32>) -> (tensor<7x1xi32>, tensor<7x9xi32>)
  %keep_columns:2 = call @keep_columns(%keep_columns_x, %keep_columns_b) : (tensor<7x9xf64>, tensor<1x9xf64>) -> (tensor<1x9xf64>, tensor<7x9xf64>)
  %keep_all:2 = call @keep_all(%keep_all_x, %keep_all_b) : (tensor<7x9xf32>, tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<7x9xf32>)
  %keep_middle:2 = call @keep_middle(%keep_middle_x, %keep_middle_b) : (tensor<2x3x4xf32>, tensor<2x1x4xf32>) -> (tensor<2x1x4xf32>, tensor<2x3x4xf32>)
  %keep_outer:2 = call @keep_outer(%keep_outer_x, %keep_outer_b) : (tensor<2x3x4xi64>, tensor<1x3x1xi64>) -> (tensor<1x3x1xi64>, tensor<2x3x4xi64>)
  %keep_one_row:2 = call @keep_one_row(%keep_one_row_x, %keep_one_row_b) : (tensor<1x8xf32>, tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<1x8xf32>)
  %keep_one_column:2 = call @keep_one_column(%keep_one_column_x, %keep_one_column_b) : (tensor<8x1xf32>, tensor<8x1xf32>) -> (tensor<8x1xf32>, tensor<8x1xf32>)
  %keep_one:2 = call @keep_one(%keep_one_x, %keep_one_b) : (tensor<1x1xf64>, tensor<1x1xf64>) -> (tensor<1x1xf64>, tensor<1x1xf64>)
  %keep_beside_one:2 = call @keep_beside_one(%keep_beside_one_x, %keep_beside_one_b) : (tensor<3x1x5xf32>, tensor<3x1x1xf32>) -> (tensor<3x1x1xf32>, tensor<3x1x5xf32>)
  %keep_long:2 = call @keep_long(%keep_long_x, %keep_long_b) : (tensor<4x133xf32>, tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4x133xf32>)
  %argmax:2 = call @argmax(%argmax_x) : (tensor<6x9xf32>) -> (tensor<6x1xf32>, tensor<6x1xi64>)
  %behind_row = call @behind_row(%behind_row_x, %behind_row_w, %behind_row_b) : (tensor<1x16xf32>, tensor<16x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
  %behind_column = call @behind_column(%behind_column_x, %behind_column_w, %behind_column_b) : (tensor<8x16xf32>, tensor<16x1xf32>, tensor<1xf32>) -> tensor<8x1xf32>
  %behind_one = call @behind_one(%behind_one_x, %behind_one_w, %behind_one_b) : (tensor<1x5xf32>, tensor<5x1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  %behind_all = call @behind_all(%behind_all_x, %behind_all_w, %behind_all_b) : (tensor<4x5xf32>, tensor<5x3xf32>, tensor<3xf32>) -> tensor<4x1x3xf32>
  %scalar_into_one = call @scalar_into_one(%scalar_into_one_x) : (tensor<f32>) -> tensor<1xf32>
  %product_of_one_batch = call @product_of_one_batch(%product_of_one_batch_x, %product_of_one_batch_w) : (tensor<1x4x8xf32>, tensor<1x8x3xf32>) -> tensor<1x4x3xf32>
  %copy_between:3 = call @copy_between(%copy_between_x, %copy_between_w, %copy_between_d) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  %transpose_between:3 = call @transpose_between(%transpose_between_x, %transpose_between_w, %transpose_between_d) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  %slice_between:3 = call @slice_between(%slice_between_x, %slice_between_w, %slice_between_d) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  %reshape_between:3 = call @reshape_between(%reshape_between_x, %reshape_between_w, %reshape_between_d) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  %materialize_between:3 = call @materialize_between(%materialize_between_x, %materialize_between_w, %materialize_between_d) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  %alloc_between:3 = call @alloc_between(%alloc_between_x, %alloc_between_w, %alloc_between_d) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  %insert_between:3 = call @insert_between(%insert_between_x, %insert_between_w, %insert_between_d) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  %reshape_drop_one:2 = call @reshape_drop_one(%reshape_drop_one_x) : (tensor<1x33xf32>) -> (tensor<33xf32>, tensor<f32>)
  %reshape_add_one:2 = call @reshape_add_one(%reshape_add_one_x) : (tensor<33xf32>) -> (tensor<1x33xf32>, tensor<f32>)
  %reshape_regroup:2 = call @reshape_regroup(%reshape_regroup_x) : (tensor<6x4xf32>) -> (tensor<3x8xf32>, tensor<f32>)
  %reshape_drop_inner:2 = call @reshape_drop_inner(%reshape_drop_inner_x) : (tensor<4x1x6xf32>) -> (tensor<4x6xf32>, tensor<f32>)
  %reshape_swap:2 = call @reshape_swap(%reshape_swap_x) : (tensor<2x3x4xf32>) -> (tensor<4x3x2xf32>, tensor<f32>)
  %reshape_to_scalar = call @reshape_to_scalar(%reshape_to_scalar_x) : (tensor<1x1xf32>) -> tensor<f32>
  %reshape_from_scalar:2 = call @reshape_from_scalar(%reshape_from_scalar_x) : (tensor<f32>) -> (tensor<1x1xf32>, tensor<f32>)
  %reshape_no_elements:2 = call @reshape_no_elements(%reshape_no_elements_x) : (tensor<0x3xf32>) -> (tensor<3x0xf32>, tensor<f32>)
  %bits_of_matrix:2 = call @bits_of_matrix(%bits_of_matrix_x) : (tensor<7x33xf32>) -> (tensor<7x33xi32>, tensor<7x33xf32>)
  %bits_of_vector:2 = call @bits_of_vector(%bits_of_vector_x) : (tensor<3xi64>) -> (tensor<3xf64>, tensor<3xi64>)
  %bits_of_scalar:2 = call @bits_of_scalar(%bits_of_scalar_x) : (tensor<f32>) -> (tensor<i32>, tensor<f32>)
  %softmax_of_vector = call @softmax_of_vector(%softmax_of_vector_x) : (tensor<5xf32>) -> tensor<5xf32>
  %softmax_of_columns = call @softmax_of_columns(%softmax_of_columns_x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %softmax_of_rows = call @softmax_of_rows(%softmax_of_rows_x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %softmax_of_middle = call @softmax_of_middle(%softmax_of_middle_x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %softmax_of_one = call @softmax_of_one(%softmax_of_one_x) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %gather_rows = call @gather_rows(%gather_rows_x, %gather_rows_i) : (tensor<3x5xf32>, tensor<4x1xi32>) -> tensor<4x1x5xf32>
  %gather_rows_dropped = call @gather_rows_dropped(%gather_rows_dropped_x, %gather_rows_dropped_i) : (tensor<3x5xf32>, tensor<4x1xi32>) -> tensor<4x5xf32>
  %gather_two = call @gather_two(%gather_two_x, %gather_two_i) : (tensor<3x5x7xf32>, tensor<4x2xi32>) -> tensor<4x1x5x1xf32>
  %gather_elements = call @gather_elements(%gather_elements_x, %gather_elements_i) : (tensor<4x5xf32>, tensor<2x2xi32>) -> tensor<2xf32>
  %gather_one = call @gather_one(%gather_one_x, %gather_one_i) : (tensor<6xf32>, tensor<1xi32>) -> tensor<f32>
  %pack_tiles = call @pack_tiles(%pack_tiles_x) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %pack_padded = call @pack_padded(%pack_padded_x) : (tensor<7x5xf32>) -> tensor<7x5xf32>
  %generate = call @generate(%generate_x) : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %constant_offsets:2 = call @constant_offsets(%constant_offsets_x) : (tensor<4x6xf32>) -> (tensor<2xf32>, tensor<4x6xf32>)
  %undone_transposition:2 = call @undone_transposition(%undone_transposition_x) : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6x4xf32>)
  %branch = call @branch(%branch_x, %branch_i) : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return %keep_vector#0,
      %keep_vector#1,
      %keep_rows#0,
      %keep_rows#1,
      %keep_columns#0,
      %keep_columns#1,
      %keep_all#0,
      %keep_all#1,
      %keep_middle#0,
      %keep_middle#1,
      %keep_outer#0,
      %keep_outer#1,
      %keep_one_row#0,
      %keep_one_row#1,
      %keep_one_column#0,
      %keep_one_column#1,
      %keep_one#0,
      %keep_one#1,
      %keep_beside_one#0,
      %keep_beside_one#1,
      %keep_long#0,
      %keep_long#1,
      %argmax#0,
      %argmax#1,
      %behind_row,
      %behind_column,
      %behind_one,
      %behind_all,
      %scalar_into_one,
      %product_of_one_batch,
      %copy_between#0,
      %copy_between#1,
      %copy_between#2,
      %transpose_between#0,
      %transpose_between#1,
      %transpose_between#2,
      %slice_between#0,
      %slice_between#1,
      %slice_between#2,
      %reshape_between#0,
      %reshape_between#1,
      %reshape_between#2,
      %materialize_between#0,
      %materialize_between#1,
      %materialize_between#2,
      %alloc_between#0,
      %alloc_between#1,
      %alloc_between#2,
      %insert_between#0,
      %insert_between#1,
      %insert_between#2,
      %reshape_drop_one#0,
      %reshape_drop_one#1,
      %reshape_add_one#0,
      %reshape_add_one#1,
      %reshape_regroup#0,
      %reshape_regroup#1,
      %reshape_drop_inner#0,
      %reshape_drop_inner#1,
      %reshape_swap#0,
      %reshape_swap#1,
      %reshape_to_scalar,
      %reshape_from_scalar#0,
      %reshape_from_scalar#1,
      %reshape_no_elements#0,
      %reshape_no_elements#1,
      %bits_of_matrix#0,
      %bits_of_matrix#1,
      %bits_of_vector#0,
      %bits_of_vector#1,
      %bits_of_scalar#0,
      %bits_of_scalar#1,
      %softmax_of_vector,
      %softmax_of_columns,
      %softmax_of_rows,
      %softmax_of_middle,
      %softmax_of_one,
      %gather_rows,
      %gather_rows_dropped,
      %gather_two,
      %gather_elements,
      %gather_one,
      %pack_tiles,
      %pack_padded,
      %generate,
      %constant_offsets#0,
      %constant_offsets#1,
      %undone_transposition#0,
      %undone_transposition#1,
      %branch :
      tensor<1xf32>,
      tensor<5xf32>,
      tensor<7x1xi32>,
      tensor<7x9xi32>,
      tensor<1x9xf64>,
      tensor<7x9xf64>,
      tensor<1x1xf32>,
      tensor<7x9xf32>,
      tensor<2x1x4xf32>,
      tensor<2x3x4xf32>,
      tensor<1x3x1xi64>,
      tensor<2x3x4xi64>,
      tensor<1x1xf32>,
      tensor<1x8xf32>,
      tensor<8x1xf32>,
      tensor<8x1xf32>,
      tensor<1x1xf64>,
      tensor<1x1xf64>,
      tensor<3x1x1xf32>,
      tensor<3x1x5xf32>,
      tensor<4x1xf32>,
      tensor<4x133xf32>,
      tensor<6x1xf32>,
      tensor<6x1xi64>,
      tensor<1x8xf32>,
      tensor<8x1xf32>,
      tensor<1x1x1xf32>,
      tensor<4x1x3xf32>,
      tensor<1xf32>,
      tensor<1x4x3xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<33xf32>,
      tensor<f32>,
      tensor<1x33xf32>,
      tensor<f32>,
      tensor<3x8xf32>,
      tensor<f32>,
      tensor<4x6xf32>,
      tensor<f32>,
      tensor<4x3x2xf32>,
      tensor<f32>,
      tensor<f32>,
      tensor<1x1xf32>,
      tensor<f32>,
      tensor<3x0xf32>,
      tensor<f32>,
      tensor<7x33xi32>,
      tensor<7x33xf32>,
      tensor<3xf64>,
      tensor<3xi64>,
      tensor<i32>,
      tensor<f32>,
      tensor<5xf32>,
      tensor<3x5xf32>,
      tensor<3x5xf32>,
      tensor<2x3x4xf32>,
      tensor<1x4xf32>,
      tensor<4x1x5xf32>,
      tensor<4x5xf32>,
      tensor<4x1x5x1xf32>,
      tensor<2xf32>,
      tensor<f32>,
      tensor<8x6xf32>,
      tensor<7x5xf32>,
      tensor<3x4xf32>,
      tensor<2xf32>,
      tensor<4x6xf32>,
      tensor<4x6xf32>,
      tensor<6x4xf32>,
      tensor<4xf32>
}
