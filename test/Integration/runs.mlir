// Elements of which some lanes of a vector are neighbours in memory: runs of
// columns shorter than a vector, columns past the end, and padding along rows.
// RUN: ckpt-execute %s | FileCheck %s

// Vectors begin inside of runs, and hold parts of three or four.
// CHECK: seven: ok
func.func @seven(%x0: tensor<2x3x7x7xf32>, %x1: tensor<3x3x3xf32>) -> tensor<2x3x7x7xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<2x3x7x7xf32>, %a1 = %x1 : tensor<3x3x3xf32>) slots [-1 : 1176] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x3x7x7xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x3x7x7xf32>) -> tensor<2x3x7x7xf32>
    %p = tensor.pad %a0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<2x3x7x7xf32> to tensor<2x3x9x9xf32>
    %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<2x3x9x9xf32>, tensor<3x3x3xf32>) outs(%f : tensor<2x3x7x7xf32>) -> tensor<2x3x7x7xf32>
    ckpt.yield %0 : tensor<2x3x7x7xf32>
  } -> tensor<2x3x7x7xf32>
  return %r : tensor<2x3x7x7xf32>
}

// Zeros beside the first and the last two of each run.
// CHECK: fourteen: ok
func.func @fourteen(%x0: tensor<1x2x5x14xf32>, %x1: tensor<2x3x3xf32>) -> tensor<1x2x5x14xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<1x2x5x14xf32>, %a1 = %x1 : tensor<2x3x3xf32>) slots [-1 : 560] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x2x5x14xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x5x14xf32>) -> tensor<1x2x5x14xf32>
    %p = tensor.pad %a0 low[0, 0, 2, 2] high[0, 0, 2, 2] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<1x2x5x14xf32> to tensor<1x2x9x18xf32>
    %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<1x2x9x18xf32>, tensor<2x3x3xf32>) outs(%f : tensor<1x2x5x14xf32>) -> tensor<1x2x5x14xf32>
    ckpt.yield %0 : tensor<1x2x5x14xf32>
  } -> tensor<1x2x5x14xf32>
  return %r : tensor<1x2x5x14xf32>
}

// Whole runs, without padding.
// CHECK: eight: ok
func.func @eight(%x0: tensor<3x2x10x10xf32>, %x1: tensor<2x3x3xf32>) -> tensor<3x2x8x8xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<3x2x10x10xf32>, %a1 = %x1 : tensor<2x3x3xf32>) slots [-1 : 1536] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<3x2x8x8xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x2x8x8xf32>) -> tensor<3x2x8x8xf32>
    %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<3x2x10x10xf32>, tensor<2x3x3xf32>) outs(%f : tensor<3x2x8x8xf32>) -> tensor<3x2x8x8xf32>
    ckpt.yield %0 : tensor<3x2x8x8xf32>
  } -> tensor<3x2x8x8xf32>
  return %r : tensor<3x2x8x8xf32>
}

// Runs of several vectors.
// CHECK: thirty_two: ok
func.func @thirty_two(%x0: tensor<1x2x9x32xf32>, %x1: tensor<2x7x7xf32>) -> tensor<1x2x9x32xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<1x2x9x32xf32>, %a1 = %x1 : tensor<2x7x7xf32>) slots [-1 : 2304] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x2x9x32xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x9x32xf32>) -> tensor<1x2x9x32xf32>
    %p = tensor.pad %a0 low[0, 0, 3, 3] high[0, 0, 3, 3] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<1x2x9x32xf32> to tensor<1x2x15x38xf32>
    %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<1x2x15x38xf32>, tensor<2x7x7xf32>) outs(%f : tensor<1x2x9x32xf32>) -> tensor<1x2x9x32xf32>
    ckpt.yield %0 : tensor<1x2x9x32xf32>
  } -> tensor<1x2x9x32xf32>
  return %r : tensor<1x2x9x32xf32>
}

// Windows that see nothing but zeros.
// CHECK: windows_in_padding: ok
func.func @windows_in_padding(%x0: tensor<1x2x2x5xf32>, %x1: tensor<2x3x3xf32>) -> tensor<1x2x8x11xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<1x2x2x5xf32>, %a1 = %x1 : tensor<2x3x3xf32>) slots [-1 : 704] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x2x8x11xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x8x11xf32>) -> tensor<1x2x8x11xf32>
    %p = tensor.pad %a0 low[0, 0, 4, 4] high[0, 0, 4, 4] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<1x2x2x5xf32> to tensor<1x2x10x13xf32>
    %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<1x2x10x13xf32>, tensor<2x3x3xf32>) outs(%f : tensor<1x2x8x11xf32>) -> tensor<1x2x8x11xf32>
    ckpt.yield %0 : tensor<1x2x8x11xf32>
  } -> tensor<1x2x8x11xf32>
  return %r : tensor<1x2x8x11xf32>
}

// Vectors of half as many elements.
// CHECK: double_runs: ok
func.func @double_runs(%x0: tensor<2x2x6x12xf64>, %x1: tensor<2x3x3xf64>) -> tensor<2x2x6x12xf64> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<2x2x6x12xf64>, %a1 = %x1 : tensor<2x3x3xf64>) slots [-1 : 2304] {
    %z = arith.constant 0.0 : f64
    %e = tensor.empty() : tensor<2x2x6x12xf64>
    %f = linalg.fill ins(%z : f64) outs(%e : tensor<2x2x6x12xf64>) -> tensor<2x2x6x12xf64>
    %p = tensor.pad %a0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f64
    } : tensor<2x2x6x12xf64> to tensor<2x2x8x14xf64>
    %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<2x2x8x14xf64>, tensor<2x3x3xf64>) outs(%f : tensor<2x2x6x12xf64>) -> tensor<2x2x6x12xf64>
    ckpt.yield %0 : tensor<2x2x6x12xf64>
  } -> tensor<2x2x6x12xf64>
  return %r : tensor<2x2x6x12xf64>
}

// The gradient of a filter: runs of seven, read with the steps of another row.
// CHECK: filter: ok
func.func @filter(%x0: tensor<2x3x13x16xf32>, %x1: tensor<2x3x7x10xf32>) -> tensor<3x7x7xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<2x3x13x16xf32>, %a1 = %x1 : tensor<2x3x7x10xf32>) slots [-1 : 588] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<3x7x7xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x7x7xf32>) -> tensor<3x7x7xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(c, i, j, n, h, w) -> (n, c, h + i, w + j)>, affine_map<(c, i, j, n, h, w) -> (n, c, h, w)>, affine_map<(c, i, j, n, h, w) -> (c, i, j)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%a0, %a1 : tensor<2x3x13x16xf32>, tensor<2x3x7x10xf32>) outs(%f : tensor<3x7x7xf32>) {
    ^bb0(%x: f32, %g: f32, %s: f32):
      %m = arith.mulf %x, %g : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
    } -> tensor<3x7x7xf32>
    ckpt.yield %0 : tensor<3x7x7xf32>
  } -> tensor<3x7x7xf32>
  return %r : tensor<3x7x7xf32>
}

// Fewer columns than lanes.
// CHECK: few_columns: ok
func.func @few_columns(%x0: tensor<5x9xf32>, %x1: tensor<9x10xf32>) -> tensor<5x10xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<5x9xf32>, %a1 = %x1 : tensor<9x10xf32>) slots [-1 : 200] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<5x10xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<5x10xf32>) -> tensor<5x10xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<5x9xf32>, tensor<9x10xf32>) outs(%f : tensor<5x10xf32>) -> tensor<5x10xf32>
    ckpt.yield %0 : tensor<5x10xf32>
  } -> tensor<5x10xf32>
  return %r : tensor<5x10xf32>
}

// A last panel that is not full.
// CHECK: some_columns: ok
func.func @some_columns(%x0: tensor<5x9xf32>, %x1: tensor<9x50xf32>) -> tensor<5x50xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<5x9xf32>, %a1 = %x1 : tensor<9x50xf32>) slots [-1 : 1000] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<5x50xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<5x50xf32>) -> tensor<5x50xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<5x9xf32>, tensor<9x50xf32>) outs(%f : tensor<5x50xf32>) -> tensor<5x50xf32>
    ckpt.yield %0 : tensor<5x50xf32>
  } -> tensor<5x50xf32>
  return %r : tensor<5x50xf32>
}

// Windows whose padding is no zero.
// CHECK: largest_of_windows: ok
func.func @largest_of_windows(%x0: tensor<1x2x9x40xf32>) -> tensor<1x2x9x40xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<1x2x9x40xf32>) slots [-1 : 2880] {
    %low = arith.constant -3.0 : f32
    %e = tensor.empty() : tensor<1x2x9x40xf32>
    %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x2x9x40xf32>) -> tensor<1x2x9x40xf32>
    %p = tensor.pad %a0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %low : f32
    } : tensor<1x2x9x40xf32> to tensor<1x2x11x42xf32>
    %w = tensor.empty() : tensor<3x3xf32>
    %0 = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<1x2x11x42xf32>, tensor<3x3xf32>) outs(%f : tensor<1x2x9x40xf32>) -> tensor<1x2x9x40xf32>
    ckpt.yield %0 : tensor<1x2x9x40xf32>
  } -> tensor<1x2x9x40xf32>
  return %r : tensor<1x2x9x40xf32>
}

// A padded value of its own, in whole numbers.
// CHECK: whole_numbers: ok
func.func @whole_numbers(%x0: tensor<5x33xi32>) -> tensor<8x40xi32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<5x33xi32>) slots [-1 : 1280] {
    %v = arith.constant 7 : i32
    %p = tensor.pad %a0 low[1, 3] high[2, 4] {
    ^bb0(%i: index, %j: index):
      tensor.yield %v : i32
    } : tensor<5x33xi32> to tensor<8x40xi32>
    %e = tensor.empty() : tensor<8x40xi32>
    %0 = linalg.add ins(%p, %p : tensor<8x40xi32>, tensor<8x40xi32>) outs(%e : tensor<8x40xi32>) -> tensor<8x40xi32>
    ckpt.yield %0 : tensor<8x40xi32>
  } -> tensor<8x40xi32>
  return %r : tensor<8x40xi32>
}

// Rows turned round by one and by three, of values that are turned themselves:
// the neighbours that a vector takes from the other end are one more access.
// CHECK: turned: ok
func.func @turned(%x0: tensor<5x37xf32>, %x1: tensor<5x37xf32>) -> tensor<5x37xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<5x37xf32>, %a1 = %x1 : tensor<5x37xf32>) slots [-1 : 740] {
    %e = tensor.empty() : tensor<5x37xf32>
    %last = tensor.extract_slice %a0[0, 36] [5, 1] [1, 1] : tensor<5x37xf32> to tensor<5x1xf32>
    %others = tensor.extract_slice %a0[0, 0] [5, 36] [1, 1] : tensor<5x37xf32> to tensor<5x36xf32>
    %by_one = tensor.concat dim(1) %last, %others : (tensor<5x1xf32>, tensor<5x36xf32>) -> tensor<5x37xf32>
    %s = linalg.mul ins(%by_one, %a1 : tensor<5x37xf32>, tensor<5x37xf32>) outs(%e : tensor<5x37xf32>) -> tensor<5x37xf32>
    %left = tensor.extract_slice %s[0, 3] [5, 34] [1, 1] : tensor<5x37xf32> to tensor<5x34xf32>
    %right = tensor.extract_slice %s[0, 0] [5, 3] [1, 1] : tensor<5x37xf32> to tensor<5x3xf32>
    %by_three = tensor.concat dim(1) %left, %right : (tensor<5x34xf32>, tensor<5x3xf32>) -> tensor<5x37xf32>
    %low = tensor.extract_slice %by_three[4, 0] [1, 37] [1, 1] : tensor<5x37xf32> to tensor<1x37xf32>
    %high = tensor.extract_slice %by_three[0, 0] [4, 37] [1, 1] : tensor<5x37xf32> to tensor<4x37xf32>
    %down = tensor.concat dim(0) %low, %high : (tensor<1x37xf32>, tensor<4x37xf32>) -> tensor<5x37xf32>
    %0 = linalg.add ins(%down, %by_one : tensor<5x37xf32>, tensor<5x37xf32>) outs(%e : tensor<5x37xf32>) -> tensor<5x37xf32>
    ckpt.yield %0 : tensor<5x37xf32>
  } -> tensor<5x37xf32>
  return %r : tensor<5x37xf32>
}

// Lanes that are not used divide by elements too: none of them is zero.
// CHECK: divisors: ok
func.func @divisors(%x0: tensor<3x1033xi32>) -> tensor<3x1033xi32> {
  %one = ckpt.kernel(%a0 = %x0 : tensor<3x1033xi32>) slots [0 : 12396] {
    %e = tensor.empty() : tensor<3x1033xi32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<3x1033xi32>) outs(%e : tensor<3x1033xi32>) {
    ^bb0(%in: i32, %out: i32):
      %bit = arith.constant 1 : i32
      %odd = arith.ori %in, %bit : i32
      linalg.yield %odd : i32
    } -> tensor<3x1033xi32>
    ckpt.yield %0 : tensor<3x1033xi32>
  } -> tensor<3x1033xi32>
  %r = ckpt.kernel(%a0 = %one : tensor<3x1033xi32>) slots [-1 : 12396] {
    %c = arith.constant dense<1000> : tensor<3x1033xi32>
    %e = tensor.empty() : tensor<3x1033xi32>
    %q = linalg.div_unsigned ins(%c, %a0 : tensor<3x1033xi32>, tensor<3x1033xi32>) outs(%e : tensor<3x1033xi32>) -> tensor<3x1033xi32>
    %left = tensor.extract_slice %q[0, 7] [3, 1026] [1, 1] : tensor<3x1033xi32> to tensor<3x1026xi32>
    %m = linalg.mul ins(%c, %a0 : tensor<3x1033xi32>, tensor<3x1033xi32>) outs(%e : tensor<3x1033xi32>) -> tensor<3x1033xi32>
    %right = tensor.extract_slice %m[0, 0] [3, 7] [1, 1] : tensor<3x1033xi32> to tensor<3x7xi32>
    %0 = tensor.concat dim(1) %left, %right : (tensor<3x1026xi32>, tensor<3x7xi32>) -> tensor<3x1033xi32>
    ckpt.yield %0 : tensor<3x1033xi32>
  } -> tensor<3x1033xi32>
  return %r : tensor<3x1033xi32>
}

// A padded sum in the middle of rows, and columns that others replace.
// CHECK: inserted: ok
func.func @inserted(%x0: tensor<4x20xf32>, %x1: tensor<4x11xf32>) -> tensor<4x24xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<4x20xf32>, %a1 = %x1 : tensor<4x11xf32>) slots [-1 : 384] {
    %z = arith.constant 2.0 : f32
    %e = tensor.empty() : tensor<4x20xf32>
    %n = linalg.exp ins(%a0 : tensor<4x20xf32>) outs(%e : tensor<4x20xf32>) -> tensor<4x20xf32>
    %i = tensor.insert_slice %a1 into %n[0, 6] [4, 11] [1, 1] : tensor<4x11xf32> into tensor<4x20xf32>
    %p = tensor.pad %i low[0, 3] high[0, 1] {
    ^bb0(%i0: index, %i1: index):
      tensor.yield %z : f32
    } : tensor<4x20xf32> to tensor<4x24xf32>
    ckpt.yield %p : tensor<4x24xf32>
  } -> tensor<4x24xf32>
  return %r : tensor<4x24xf32>
}
