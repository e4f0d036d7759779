// Contractions in tiles of registers: sides above 32, steps of any number.
// RUN: ckpt-execute %s | FileCheck %s

// Nothing past the end.
// CHECK: full_64x64x32: ok
func.func @full_64x64x32(%x0: tensor<64x32xf32>, %x1: tensor<32x64xf32>) -> (tensor<64x64xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<64x32xf32>, %a1 = %x1 : tensor<32x64xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<64x32xf32>, tensor<32x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    ckpt.yield %0 : tensor<64x64xf32>
  } -> tensor<64x64xf32>
  return %r1 : tensor<64x64xf32>
}
// Fewer steps than stand in shared memory; rows and columns of odd length.
// CHECK: rest_only_33x35x7: ok
func.func @rest_only_33x35x7(%x0: tensor<33x7xf32>, %x1: tensor<7x35xf32>) -> (tensor<33x35xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<33x7xf32>, %a1 = %x1 : tensor<7x35xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<33x35xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<33x35xf32>) -> tensor<33x35xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<33x7xf32>, tensor<7x35xf32>) outs(%f : tensor<33x35xf32>) -> tensor<33x35xf32>
    ckpt.yield %0 : tensor<33x35xf32>
  } -> tensor<33x35xf32>
  return %r1 : tensor<33x35xf32>
}
// CHECK: steps_1_40x36x1: ok
func.func @steps_1_40x36x1(%x0: tensor<40x1xf32>, %x1: tensor<1x36xf32>) -> (tensor<40x36xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<40x1xf32>, %a1 = %x1 : tensor<1x36xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<40x36xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<40x36xf32>) -> tensor<40x36xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<40x1xf32>, tensor<1x36xf32>) outs(%f : tensor<40x36xf32>) -> tensor<40x36xf32>
    ckpt.yield %0 : tensor<40x36xf32>
  } -> tensor<40x36xf32>
  return %r1 : tensor<40x36xf32>
}
// CHECK: vectors_70x68x37: ok
func.func @vectors_70x68x37(%x0: tensor<70x37xf32>, %x1: tensor<37x68xf32>) -> (tensor<70x68xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<70x37xf32>, %a1 = %x1 : tensor<37x68xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<70x68xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<70x68xf32>) -> tensor<70x68xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<70x37xf32>, tensor<37x68xf32>) outs(%f : tensor<70x68xf32>) -> tensor<70x68xf32>
    ckpt.yield %0 : tensor<70x68xf32>
  } -> tensor<70x68xf32>
  return %r1 : tensor<70x68xf32>
}
// CHECK: primes_67x71x53: ok
func.func @primes_67x71x53(%x0: tensor<67x53xf32>, %x1: tensor<53x71xf32>) -> (tensor<67x71xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<67x53xf32>, %a1 = %x1 : tensor<53x71xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<67x71xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<67x71xf32>) -> tensor<67x71xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<67x53xf32>, tensor<53x71xf32>) outs(%f : tensor<67x71xf32>) -> tensor<67x71xf32>
    ckpt.yield %0 : tensor<67x71xf32>
  } -> tensor<67x71xf32>
  return %r1 : tensor<67x71xf32>
}
// CHECK: ta_66x72x40: ok
func.func @ta_66x72x40(%x0: tensor<40x66xf32>, %x1: tensor<40x72xf32>) -> (tensor<66x72xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<40x66xf32>, %a1 = %x1 : tensor<40x72xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<66x72xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<66x72xf32>) -> tensor<66x72xf32>
    %u = tensor.empty() : tensor<66x40xf32>
    %l = linalg.transpose ins(%a0 : tensor<40x66xf32>) outs(%u : tensor<66x40xf32>) permutation = [1, 0]
    %0 = linalg.matmul ins(%l, %a1 : tensor<66x40xf32>, tensor<40x72xf32>) outs(%f : tensor<66x72xf32>) -> tensor<66x72xf32>
    ckpt.yield %0 : tensor<66x72xf32>
  } -> tensor<66x72xf32>
  return %r1 : tensor<66x72xf32>
}
// CHECK: tb_66x72x40: ok
func.func @tb_66x72x40(%x0: tensor<66x40xf32>, %x1: tensor<72x40xf32>) -> (tensor<66x72xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<66x40xf32>, %a1 = %x1 : tensor<72x40xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<66x72xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<66x72xf32>) -> tensor<66x72xf32>
    %v = tensor.empty() : tensor<40x72xf32>
    %r = linalg.transpose ins(%a1 : tensor<72x40xf32>) outs(%v : tensor<40x72xf32>) permutation = [1, 0]
    %0 = linalg.matmul ins(%a0, %r : tensor<66x40xf32>, tensor<40x72xf32>) outs(%f : tensor<66x72xf32>) -> tensor<66x72xf32>
    ckpt.yield %0 : tensor<66x72xf32>
  } -> tensor<66x72xf32>
  return %r1 : tensor<66x72xf32>
}
// CHECK: ta_tb_66x72x40: ok
func.func @ta_tb_66x72x40(%x0: tensor<40x66xf32>, %x1: tensor<72x40xf32>) -> (tensor<66x72xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<40x66xf32>, %a1 = %x1 : tensor<72x40xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<66x72xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<66x72xf32>) -> tensor<66x72xf32>
    %u = tensor.empty() : tensor<66x40xf32>
    %l = linalg.transpose ins(%a0 : tensor<40x66xf32>) outs(%u : tensor<66x40xf32>) permutation = [1, 0]
    %v = tensor.empty() : tensor<40x72xf32>
    %r = linalg.transpose ins(%a1 : tensor<72x40xf32>) outs(%v : tensor<40x72xf32>) permutation = [1, 0]
    %0 = linalg.matmul ins(%l, %r : tensor<66x40xf32>, tensor<40x72xf32>) outs(%f : tensor<66x72xf32>) -> tensor<66x72xf32>
    ckpt.yield %0 : tensor<66x72xf32>
  } -> tensor<66x72xf32>
  return %r1 : tensor<66x72xf32>
}
// CHECK: bf16_f32_40x48x24: ok
func.func @bf16_f32_40x48x24(%x0: tensor<40x24xbf16>, %x1: tensor<24x48xbf16>) -> (tensor<40x48xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<40x24xbf16>, %a1 = %x1 : tensor<24x48xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<40x48xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<40x48xf32>) -> tensor<40x48xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<40x24xbf16>, tensor<24x48xbf16>) outs(%f : tensor<40x48xf32>) -> tensor<40x48xf32>
    ckpt.yield %0 : tensor<40x48xf32>
  } -> tensor<40x48xf32>
  return %r1 : tensor<40x48xf32>
}
// CHECK: bf16_tb_65x44x3: ok
func.func @bf16_tb_65x44x3(%x0: tensor<65x3xbf16>, %x1: tensor<44x3xbf16>) -> (tensor<65x44xbf16>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<65x3xbf16>, %a1 = %x1 : tensor<44x3xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.0 : bf16
    %e = tensor.empty() : tensor<65x44xbf16>
    %f = linalg.fill ins(%c : bf16) outs(%e : tensor<65x44xbf16>) -> tensor<65x44xbf16>
    %v = tensor.empty() : tensor<3x44xbf16>
    %r = linalg.transpose ins(%a1 : tensor<44x3xbf16>) outs(%v : tensor<3x44xbf16>) permutation = [1, 0]
    %0 = linalg.matmul ins(%a0, %r : tensor<65x3xbf16>, tensor<3x44xbf16>) outs(%f : tensor<65x44xbf16>) -> tensor<65x44xbf16>
    ckpt.yield %0 : tensor<65x44xbf16>
  } -> tensor<65x44xbf16>
  return %r1 : tensor<65x44xbf16>
}
// Enough blocks for the larger tile.
// CHECK: large_130x132x19: ok
func.func @large_130x132x19(%x0: tensor<33x130x19xf32>, %x1: tensor<33x19x132xf32>) -> (tensor<33x130x132xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<33x130x19xf32>, %a1 = %x1 : tensor<33x19x132xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<33x130x132xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<33x130x132xf32>) -> tensor<33x130x132xf32>
    %0 = linalg.batch_matmul ins(%a0, %a1 : tensor<33x130x19xf32>, tensor<33x19x132xf32>) outs(%f : tensor<33x130x132xf32>) -> tensor<33x130x132xf32>
    ckpt.yield %0 : tensor<33x130x132xf32>
  } -> tensor<33x130x132xf32>
  return %r1 : tensor<33x130x132xf32>
}
// CHECK: large_ta_tb_129x131x9: ok
func.func @large_ta_tb_129x131x9(%x0: tensor<33x9x129xf32>, %x1: tensor<33x131x9xf32>) -> (tensor<33x129x131xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<33x9x129xf32>, %a1 = %x1 : tensor<33x131x9xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<33x129x131xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<33x129x131xf32>) -> tensor<33x129x131xf32>
    %u = tensor.empty() : tensor<33x129x9xf32>
    %l = linalg.transpose ins(%a0 : tensor<33x9x129xf32>) outs(%u : tensor<33x129x9xf32>) permutation = [0, 2, 1]
    %v = tensor.empty() : tensor<33x9x131xf32>
    %r = linalg.transpose ins(%a1 : tensor<33x131x9xf32>) outs(%v : tensor<33x9x131xf32>) permutation = [0, 2, 1]
    %0 = linalg.batch_matmul ins(%l, %r : tensor<33x129x9xf32>, tensor<33x9x131xf32>) outs(%f : tensor<33x129x131xf32>) -> tensor<33x129x131xf32>
    ckpt.yield %0 : tensor<33x129x131xf32>
  } -> tensor<33x129x131xf32>
  return %r1 : tensor<33x129x131xf32>
}
// Nothing to make.
// CHECK: no_rows_0x40x8: ok
func.func @no_rows_0x40x8(%x0: tensor<0x8xf32>, %x1: tensor<8x40xf32>) -> (tensor<0x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<0x8xf32>, %a1 = %x1 : tensor<8x40xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<0x40xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<0x40xf32>) -> tensor<0x40xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<0x8xf32>, tensor<8x40xf32>) outs(%f : tensor<0x40xf32>) -> tensor<0x40xf32>
    ckpt.yield %0 : tensor<0x40xf32>
  } -> tensor<0x40xf32>
  return %r1 : tensor<0x40xf32>
}
// Four columns at a time, and one by one.
// CHECK: epilogue_unfused: ok
func.func @epilogue_unfused(%x0: tensor<71x41xf32>, %x1: tensor<76x41xf32>, %x2: tensor<76xf32>) -> (tensor<71x76xf32>, tensor<71x76xf32>) {
  %r1 = ckpt.kernel(%b = %x1 : tensor<76x41xf32>) slots [0 : 65536] {
    %te = tensor.empty() : tensor<41x76xf32>
    %t = linalg.transpose ins(%b : tensor<76x41xf32>) outs(%te : tensor<41x76xf32>) permutation = [1, 0]
    ckpt.yield %t : tensor<41x76xf32>
  } -> tensor<41x76xf32>
  %r2 = ckpt.kernel(%a = %x0 : tensor<71x41xf32>, %t = %r1 : tensor<41x76xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<71x76xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<71x76xf32>) -> tensor<71x76xf32>
    %m = linalg.matmul ins(%a, %t : tensor<71x41xf32>, tensor<41x76xf32>) outs(%f : tensor<71x76xf32>) -> tensor<71x76xf32>
    ckpt.yield %m : tensor<71x76xf32>
  } -> tensor<71x76xf32>
  %r3 = ckpt.kernel(%m = %r2 : tensor<71x76xf32>, %d = %x2 : tensor<76xf32>) slots [-1 : 4] {
    %g = tensor.empty() : tensor<71x76xf32>
    %u = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%m, %d : tensor<71x76xf32>, tensor<76xf32>) outs(%g : tensor<71x76xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %x = arith.addf %i, %j : f32
      %y = math.tanh %x : f32
      linalg.yield %y : f32
    } -> tensor<71x76xf32>
    ckpt.yield %u : tensor<71x76xf32>
  } -> tensor<71x76xf32>
  return %r3, %r2 : tensor<71x76xf32>, tensor<71x76xf32>
}
// CHECK: epilogue_fused: ok
func.func @epilogue_fused(%x0: tensor<71x41xf32>, %x1: tensor<76x41xf32>, %x2: tensor<76xf32>) -> (tensor<71x76xf32>, tensor<71x76xf32>) attributes {test.same_as = @epilogue_unfused} {
  %r1, %r2 = ckpt.kernel(%a = %x0 : tensor<71x41xf32>, %b = %x1 : tensor<76x41xf32>, %d = %x2 : tensor<76xf32>) slots [-1 : 4, -1 : 4] {
    %te = tensor.empty() : tensor<41x76xf32>
    %t = linalg.transpose ins(%b : tensor<76x41xf32>) outs(%te : tensor<41x76xf32>) permutation = [1, 0]
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<71x76xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<71x76xf32>) -> tensor<71x76xf32>
    %m = linalg.matmul ins(%a, %t : tensor<71x41xf32>, tensor<41x76xf32>) outs(%f : tensor<71x76xf32>) -> tensor<71x76xf32>
    %g = tensor.empty() : tensor<71x76xf32>
    %u = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%m, %d : tensor<71x76xf32>, tensor<76xf32>) outs(%g : tensor<71x76xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %x = arith.addf %i, %j : f32
      %y = math.tanh %x : f32
      linalg.yield %y : f32
    } -> tensor<71x76xf32>
    ckpt.yield %u, %m : tensor<71x76xf32>, tensor<71x76xf32>
  } -> tensor<71x76xf32>, tensor<71x76xf32>
  return %r1, %r2 : tensor<71x76xf32>, tensor<71x76xf32>
}
// CHECK: scalar_epilogue_unfused: ok
func.func @scalar_epilogue_unfused(%x0: tensor<71x41xf32>, %x1: tensor<77x41xf32>, %x2: tensor<77xf32>) -> (tensor<71x77xf32>, tensor<71x77xf32>) {
  %r1 = ckpt.kernel(%b = %x1 : tensor<77x41xf32>) slots [0 : 65536] {
    %te = tensor.empty() : tensor<41x77xf32>
    %t = linalg.transpose ins(%b : tensor<77x41xf32>) outs(%te : tensor<41x77xf32>) permutation = [1, 0]
    ckpt.yield %t : tensor<41x77xf32>
  } -> tensor<41x77xf32>
  %r2 = ckpt.kernel(%a = %x0 : tensor<71x41xf32>, %t = %r1 : tensor<41x77xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<71x77xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<71x77xf32>) -> tensor<71x77xf32>
    %m = linalg.matmul ins(%a, %t : tensor<71x41xf32>, tensor<41x77xf32>) outs(%f : tensor<71x77xf32>) -> tensor<71x77xf32>
    ckpt.yield %m : tensor<71x77xf32>
  } -> tensor<71x77xf32>
  %r3 = ckpt.kernel(%m = %r2 : tensor<71x77xf32>, %d = %x2 : tensor<77xf32>) slots [-1 : 4] {
    %g = tensor.empty() : tensor<71x77xf32>
    %u = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%m, %d : tensor<71x77xf32>, tensor<77xf32>) outs(%g : tensor<71x77xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %x = arith.addf %i, %j : f32
      %y = math.tanh %x : f32
      linalg.yield %y : f32
    } -> tensor<71x77xf32>
    ckpt.yield %u : tensor<71x77xf32>
  } -> tensor<71x77xf32>
  return %r3, %r2 : tensor<71x77xf32>, tensor<71x77xf32>
}
// CHECK: scalar_epilogue_fused: ok
func.func @scalar_epilogue_fused(%x0: tensor<71x41xf32>, %x1: tensor<77x41xf32>, %x2: tensor<77xf32>) -> (tensor<71x77xf32>, tensor<71x77xf32>) attributes {test.same_as = @scalar_epilogue_unfused} {
  %r1, %r2 = ckpt.kernel(%a = %x0 : tensor<71x41xf32>, %b = %x1 : tensor<77x41xf32>, %d = %x2 : tensor<77xf32>) slots [-1 : 4, -1 : 4] {
    %te = tensor.empty() : tensor<41x77xf32>
    %t = linalg.transpose ins(%b : tensor<77x41xf32>) outs(%te : tensor<41x77xf32>) permutation = [1, 0]
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<71x77xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<71x77xf32>) -> tensor<71x77xf32>
    %m = linalg.matmul ins(%a, %t : tensor<71x41xf32>, tensor<41x77xf32>) outs(%f : tensor<71x77xf32>) -> tensor<71x77xf32>
    %g = tensor.empty() : tensor<71x77xf32>
    %u = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%m, %d : tensor<71x77xf32>, tensor<77xf32>) outs(%g : tensor<71x77xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %x = arith.addf %i, %j : f32
      %y = math.tanh %x : f32
      linalg.yield %y : f32
    } -> tensor<71x77xf32>
    ckpt.yield %u, %m : tensor<71x77xf32>, tensor<71x77xf32>
  } -> tensor<71x77xf32>, tensor<71x77xf32>
  return %r1, %r2 : tensor<71x77xf32>, tensor<71x77xf32>
}
// CHECK: windows: ok
func.func @windows(%x0: tensor<2x9x9x5xf32>, %x1: tensor<3x3x5x40xf32>) -> (tensor<2x7x7x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x9x9x5xf32>, %a1 = %x1 : tensor<3x3x5x40xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x7x7x40xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x7x7x40xf32>) -> tensor<2x7x7x40xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x9x9x5xf32>, tensor<3x3x5x40xf32>) outs(%f : tensor<2x7x7x40xf32>) -> tensor<2x7x7x40xf32>
    ckpt.yield %0 : tensor<2x7x7x40xf32>
  } -> tensor<2x7x7x40xf32>
  return %r1 : tensor<2x7x7x40xf32>
}
// CHECK: heads_scores: ok
func.func @heads_scores(%x0: tensor<2x44x120xf32>, %x1: tensor<2x44x120xf32>) -> (tensor<6x44x44xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x44x120xf32>, %a1 = %x1 : tensor<2x44x120xf32>) slots [-1 : 4] {
    %q = tensor.expand_shape %a0 [[0], [1], [2, 3]] output_shape [2, 44, 3, 40] : tensor<2x44x120xf32> into tensor<2x44x3x40xf32>
    %k = tensor.expand_shape %a1 [[0], [1], [2, 3]] output_shape [2, 44, 3, 40] : tensor<2x44x120xf32> into tensor<2x44x3x40xf32>
    %qte = tensor.empty() : tensor<2x3x44x40xf32>
    %qt = linalg.transpose ins(%q : tensor<2x44x3x40xf32>) outs(%qte : tensor<2x3x44x40xf32>) permutation = [0, 2, 1, 3]
    %kte = tensor.empty() : tensor<2x3x40x44xf32>
    %kt = linalg.transpose ins(%k : tensor<2x44x3x40xf32>) outs(%kte : tensor<2x3x40x44xf32>) permutation = [0, 2, 3, 1]
    %qc = tensor.collapse_shape %qt [[0, 1], [2], [3]] : tensor<2x3x44x40xf32> into tensor<6x44x40xf32>
    %kc = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<2x3x40x44xf32> into tensor<6x40x44xf32>
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<6x44x44xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<6x44x44xf32>) -> tensor<6x44x44xf32>
    %0 = linalg.batch_matmul ins(%qc, %kc : tensor<6x44x40xf32>, tensor<6x40x44xf32>) outs(%f : tensor<6x44x44xf32>) -> tensor<6x44x44xf32>
    ckpt.yield %0 : tensor<6x44x44xf32>
  } -> tensor<6x44x44xf32>
  return %r1 : tensor<6x44x44xf32>
}
// CHECK: heads_values: ok
func.func @heads_values(%x0: tensor<6x44x44xf32>, %x1: tensor<2x44x120xf32>) -> (tensor<2x44x120xf32>, tensor<6x40x44xf32>) {
  %r1, %r2 = ckpt.kernel(%a0 = %x0 : tensor<6x44x44xf32>, %a1 = %x1 : tensor<2x44x120xf32>) slots [-1 : 4, -1 : 4] {
    %v = tensor.expand_shape %a1 [[0], [1], [2, 3]] output_shape [2, 44, 3, 40] : tensor<2x44x120xf32> into tensor<2x44x3x40xf32>
    %vte = tensor.empty() : tensor<2x3x40x44xf32>
    %vt = linalg.transpose ins(%v : tensor<2x44x3x40xf32>) outs(%vte : tensor<2x3x40x44xf32>) permutation = [0, 2, 3, 1]
    %vc = tensor.collapse_shape %vt [[0, 1], [2], [3]] : tensor<2x3x40x44xf32> into tensor<6x40x44xf32>
    %pte = tensor.empty() : tensor<6x44x44xf32>
    %pt = linalg.transpose ins(%a0 : tensor<6x44x44xf32>) outs(%pte : tensor<6x44x44xf32>) permutation = [0, 2, 1]
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<6x40x44xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<6x40x44xf32>) -> tensor<6x40x44xf32>
    %0 = linalg.batch_matmul ins(%vc, %pt : tensor<6x40x44xf32>, tensor<6x44x44xf32>) outs(%f : tensor<6x40x44xf32>) -> tensor<6x40x44xf32>
    %x = tensor.expand_shape %0 [[0, 1], [2], [3]] output_shape [2, 3, 40, 44] : tensor<6x40x44xf32> into tensor<2x3x40x44xf32>
    %ye = tensor.empty() : tensor<2x44x3x40xf32>
    %y = linalg.transpose ins(%x : tensor<2x3x40x44xf32>) outs(%ye : tensor<2x44x3x40xf32>) permutation = [0, 3, 1, 2]
    %z = tensor.collapse_shape %y [[0], [1], [2, 3]] : tensor<2x44x3x40xf32> into tensor<2x44x120xf32>
    %w = math.tanh %z : tensor<2x44x120xf32>
    ckpt.yield %w, %0 : tensor<2x44x120xf32>, tensor<6x40x44xf32>
  } -> tensor<2x44x120xf32>, tensor<6x40x44xf32>
  return %r1, %r2 : tensor<2x44x120xf32>, tensor<6x40x44xf32>
}
// A full band of rows of squares and a part of one.
// CHECK: bands_1220x136x3: ok
func.func @bands_1220x136x3(%x0: tensor<1220x3xf32>, %x1: tensor<3x136xf32>) -> (tensor<1220x136xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<1220x3xf32>, %a1 = %x1 : tensor<3x136xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<1220x136xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<1220x136xf32>) -> tensor<1220x136xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<1220x3xf32>, tensor<3x136xf32>) outs(%f : tensor<1220x136xf32>) -> tensor<1220x136xf32>
    ckpt.yield %0 : tensor<1220x136xf32>
  } -> tensor<1220x136xf32>
  return %r1 : tensor<1220x136xf32>
}

// A left operand that does not stay in the cache from one panel to the next:
// two blocks of rows by two groups of panels, the last of them smaller.
// CHECK: groups_520x520x1100: ok
func.func @groups_520x520x1100(%x0: tensor<520x1100xf32>, %x1: tensor<1100x520xf32>) -> (tensor<520x520xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<520x1100xf32>, %a1 = %x1 : tensor<1100x520xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<520x520xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<520x520xf32>) -> tensor<520x520xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<520x1100xf32>, tensor<1100x520xf32>) outs(%f : tensor<520x520xf32>) -> tensor<520x520xf32>
    %h = arith.constant dense<0.03125> : tensor<520x520xf32>
    %1 = arith.mulf %0, %h : tensor<520x520xf32>
    ckpt.yield %1 : tensor<520x520xf32>
  } -> tensor<520x520xf32>
  return %r1 : tensor<520x520xf32>
}

// A left operand along its rows: tiles of 6 x 64 sums, the last panel smaller.
// CHECK: wide_70x250x300: ok
func.func @wide_70x250x300(%x0: tensor<300x70xf32>, %x1: tensor<300x250xf32>) -> (tensor<70x250xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<300x70xf32>, %a1 = %x1 : tensor<300x250xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<70x250xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<70x250xf32>) -> tensor<70x250xf32>
    %u = tensor.empty() : tensor<70x300xf32>
    %l = linalg.transpose ins(%a0 : tensor<300x70xf32>) outs(%u : tensor<70x300xf32>) permutation = [1, 0]
    %0 = linalg.matmul ins(%l, %a1 : tensor<70x300xf32>, tensor<300x250xf32>) outs(%f : tensor<70x250xf32>) -> tensor<70x250xf32>
    ckpt.yield %0 : tensor<70x250xf32>
  } -> tensor<70x250xf32>
  return %r1 : tensor<70x250xf32>
}
