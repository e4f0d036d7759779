// Every tile of the table, chosen by the number of results, with rows, columns
// and steps that do not fill it: with steps next to each other in memory on the
// left, then on the right.
// RUN: ckpt-execute %s | FileCheck %s
// RUN: ckpt-opt %s --ckpt-kernels-to-calls=own-constants=true --ckpt-emit-gpu-kernels --mlir-print-debuginfo=false | FileCheck %s --check-prefix=TILE

// CHECK: straight_128x128: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x8x132xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x8x132xf32,
// TILE-SAME: known_block_size = array<i32: 256, 1, 1>
func.func @straight_128x128(%x0: tensor<24x193x19xf32>, %x1: tensor<24x19x193xf32>) -> tensor<24x193x193xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<24x193x19xf32>, %b = %x1 : tensor<24x19x193xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<24x193x193xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<24x193x193xf32>) -> tensor<24x193x193xf32>
    %0 = linalg.batch_matmul ins(%a, %b : tensor<24x193x19xf32>, tensor<24x19x193xf32>) outs(%f : tensor<24x193x193xf32>) -> tensor<24x193x193xf32>
    ckpt.yield %0 : tensor<24x193x193xf32>
  } -> tensor<24x193x193xf32>
  return %r : tensor<24x193x193xf32>
}
// CHECK: turned_128x128: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x8x132xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x8x132xf32,
// TILE-SAME: known_block_size = array<i32: 256, 1, 1>
func.func @turned_128x128(%x0: tensor<24x19x193xf32>, %x1: tensor<24x193x19xf32>) -> tensor<24x193x193xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<24x19x193xf32>, %b = %x1 : tensor<24x193x19xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<24x193x193xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<24x193x193xf32>) -> tensor<24x193x193xf32>
    %u = tensor.empty() : tensor<24x193x19xf32>
    %l = linalg.transpose ins(%a : tensor<24x19x193xf32>) outs(%u : tensor<24x193x19xf32>) permutation = [0, 2, 1]
    %v = tensor.empty() : tensor<24x19x193xf32>
    %t = linalg.transpose ins(%b : tensor<24x193x19xf32>) outs(%v : tensor<24x19x193xf32>) permutation = [0, 2, 1]
    %0 = linalg.batch_matmul ins(%l, %t : tensor<24x193x19xf32>, tensor<24x19x193xf32>) outs(%f : tensor<24x193x193xf32>) -> tensor<24x193x193xf32>
    ckpt.yield %0 : tensor<24x193x193xf32>
  } -> tensor<24x193x193xf32>
  return %r : tensor<24x193x193xf32>
}
// CHECK: straight_192x96: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x8x196xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x8x100xf32,
// TILE-SAME: known_block_size = array<i32: 256, 1, 1>
func.func @straight_192x96(%x0: tensor<45x190x19xf32>, %x1: tensor<45x19x129xf32>) -> tensor<45x190x129xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<45x190x19xf32>, %b = %x1 : tensor<45x19x129xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<45x190x129xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<45x190x129xf32>) -> tensor<45x190x129xf32>
    %0 = linalg.batch_matmul ins(%a, %b : tensor<45x190x19xf32>, tensor<45x19x129xf32>) outs(%f : tensor<45x190x129xf32>) -> tensor<45x190x129xf32>
    ckpt.yield %0 : tensor<45x190x129xf32>
  } -> tensor<45x190x129xf32>
  return %r : tensor<45x190x129xf32>
}
// CHECK: turned_192x96: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x8x196xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x8x100xf32,
// TILE-SAME: known_block_size = array<i32: 256, 1, 1>
func.func @turned_192x96(%x0: tensor<45x19x190xf32>, %x1: tensor<45x129x19xf32>) -> tensor<45x190x129xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<45x19x190xf32>, %b = %x1 : tensor<45x129x19xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<45x190x129xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<45x190x129xf32>) -> tensor<45x190x129xf32>
    %u = tensor.empty() : tensor<45x190x19xf32>
    %l = linalg.transpose ins(%a : tensor<45x19x190xf32>) outs(%u : tensor<45x190x19xf32>) permutation = [0, 2, 1]
    %v = tensor.empty() : tensor<45x19x129xf32>
    %t = linalg.transpose ins(%b : tensor<45x129x19xf32>) outs(%v : tensor<45x19x129xf32>) permutation = [0, 2, 1]
    %0 = linalg.batch_matmul ins(%l, %t : tensor<45x190x19xf32>, tensor<45x19x129xf32>) outs(%f : tensor<45x190x129xf32>) -> tensor<45x190x129xf32>
    ckpt.yield %0 : tensor<45x190x129xf32>
  } -> tensor<45x190x129xf32>
  return %r : tensor<45x190x129xf32>
}
// CHECK: straight_128x96: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x8x132xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x8x100xf32,
// TILE-SAME: known_block_size = array<i32: 256, 1, 1>
func.func @straight_128x96(%x0: tensor<53x129x19xf32>, %x1: tensor<53x19x95xf32>) -> tensor<53x129x95xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<53x129x19xf32>, %b = %x1 : tensor<53x19x95xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<53x129x95xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<53x129x95xf32>) -> tensor<53x129x95xf32>
    %0 = linalg.batch_matmul ins(%a, %b : tensor<53x129x19xf32>, tensor<53x19x95xf32>) outs(%f : tensor<53x129x95xf32>) -> tensor<53x129x95xf32>
    ckpt.yield %0 : tensor<53x129x95xf32>
  } -> tensor<53x129x95xf32>
  return %r : tensor<53x129x95xf32>
}
// CHECK: turned_128x96: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x8x132xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x8x100xf32,
// TILE-SAME: known_block_size = array<i32: 256, 1, 1>
func.func @turned_128x96(%x0: tensor<53x19x129xf32>, %x1: tensor<53x95x19xf32>) -> tensor<53x129x95xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<53x19x129xf32>, %b = %x1 : tensor<53x95x19xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<53x129x95xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<53x129x95xf32>) -> tensor<53x129x95xf32>
    %u = tensor.empty() : tensor<53x129x19xf32>
    %l = linalg.transpose ins(%a : tensor<53x19x129xf32>) outs(%u : tensor<53x129x19xf32>) permutation = [0, 2, 1]
    %v = tensor.empty() : tensor<53x19x95xf32>
    %t = linalg.transpose ins(%b : tensor<53x95x19xf32>) outs(%v : tensor<53x19x95xf32>) permutation = [0, 2, 1]
    %0 = linalg.batch_matmul ins(%l, %t : tensor<53x129x19xf32>, tensor<53x19x95xf32>) outs(%f : tensor<53x129x95xf32>) -> tensor<53x129x95xf32>
    ckpt.yield %0 : tensor<53x129x95xf32>
  } -> tensor<53x129x95xf32>
  return %r : tensor<53x129x95xf32>
}
// CHECK: straight_64x128: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x16x68xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x16x132xf32,
// TILE-SAME: known_block_size = array<i32: 128, 1, 1>
func.func @straight_64x128(%x0: tensor<34x129x35xf32>, %x1: tensor<34x35x193xf32>) -> tensor<34x129x193xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<34x129x35xf32>, %b = %x1 : tensor<34x35x193xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<34x129x193xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<34x129x193xf32>) -> tensor<34x129x193xf32>
    %0 = linalg.batch_matmul ins(%a, %b : tensor<34x129x35xf32>, tensor<34x35x193xf32>) outs(%f : tensor<34x129x193xf32>) -> tensor<34x129x193xf32>
    ckpt.yield %0 : tensor<34x129x193xf32>
  } -> tensor<34x129x193xf32>
  return %r : tensor<34x129x193xf32>
}
// CHECK: turned_64x128: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x16x68xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x16x132xf32,
// TILE-SAME: known_block_size = array<i32: 128, 1, 1>
func.func @turned_64x128(%x0: tensor<34x35x129xf32>, %x1: tensor<34x193x35xf32>) -> tensor<34x129x193xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<34x35x129xf32>, %b = %x1 : tensor<34x193x35xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<34x129x193xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<34x129x193xf32>) -> tensor<34x129x193xf32>
    %u = tensor.empty() : tensor<34x129x35xf32>
    %l = linalg.transpose ins(%a : tensor<34x35x129xf32>) outs(%u : tensor<34x129x35xf32>) permutation = [0, 2, 1]
    %v = tensor.empty() : tensor<34x35x193xf32>
    %t = linalg.transpose ins(%b : tensor<34x193x35xf32>) outs(%v : tensor<34x35x193xf32>) permutation = [0, 2, 1]
    %0 = linalg.batch_matmul ins(%l, %t : tensor<34x129x35xf32>, tensor<34x35x193xf32>) outs(%f : tensor<34x129x193xf32>) -> tensor<34x129x193xf32>
    ckpt.yield %0 : tensor<34x129x193xf32>
  } -> tensor<34x129x193xf32>
  return %r : tensor<34x129x193xf32>
}
// CHECK: straight_128x64: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x16x132xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x16x68xf32,
// TILE-SAME: known_block_size = array<i32: 128, 1, 1>
func.func @straight_128x64(%x0: tensor<34x193x35xf32>, %x1: tensor<34x35x129xf32>) -> tensor<34x193x129xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<34x193x35xf32>, %b = %x1 : tensor<34x35x129xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<34x193x129xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<34x193x129xf32>) -> tensor<34x193x129xf32>
    %0 = linalg.batch_matmul ins(%a, %b : tensor<34x193x35xf32>, tensor<34x35x129xf32>) outs(%f : tensor<34x193x129xf32>) -> tensor<34x193x129xf32>
    ckpt.yield %0 : tensor<34x193x129xf32>
  } -> tensor<34x193x129xf32>
  return %r : tensor<34x193x129xf32>
}
// CHECK: turned_128x64: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x16x132xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x16x68xf32,
// TILE-SAME: known_block_size = array<i32: 128, 1, 1>
func.func @turned_128x64(%x0: tensor<34x35x193xf32>, %x1: tensor<34x129x35xf32>) -> tensor<34x193x129xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<34x35x193xf32>, %b = %x1 : tensor<34x129x35xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<34x193x129xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<34x193x129xf32>) -> tensor<34x193x129xf32>
    %u = tensor.empty() : tensor<34x193x35xf32>
    %l = linalg.transpose ins(%a : tensor<34x35x193xf32>) outs(%u : tensor<34x193x35xf32>) permutation = [0, 2, 1]
    %v = tensor.empty() : tensor<34x35x129xf32>
    %t = linalg.transpose ins(%b : tensor<34x129x35xf32>) outs(%v : tensor<34x35x129xf32>) permutation = [0, 2, 1]
    %0 = linalg.batch_matmul ins(%l, %t : tensor<34x193x35xf32>, tensor<34x35x129xf32>) outs(%f : tensor<34x193x129xf32>) -> tensor<34x193x129xf32>
    ckpt.yield %0 : tensor<34x193x129xf32>
  } -> tensor<34x193x129xf32>
  return %r : tensor<34x193x129xf32>
}
// CHECK: straight_64x96: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x16x68xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x16x100xf32,
// TILE-SAME: known_block_size = array<i32: 256, 1, 1>
func.func @straight_64x96(%x0: tensor<30x66x35xf32>, %x1: tensor<30x35x129xf32>) -> tensor<30x66x129xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<30x66x35xf32>, %b = %x1 : tensor<30x35x129xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<30x66x129xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<30x66x129xf32>) -> tensor<30x66x129xf32>
    %0 = linalg.batch_matmul ins(%a, %b : tensor<30x66x35xf32>, tensor<30x35x129xf32>) outs(%f : tensor<30x66x129xf32>) -> tensor<30x66x129xf32>
    ckpt.yield %0 : tensor<30x66x129xf32>
  } -> tensor<30x66x129xf32>
  return %r : tensor<30x66x129xf32>
}
// CHECK: turned_64x96: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x16x68xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x16x100xf32,
// TILE-SAME: known_block_size = array<i32: 256, 1, 1>
func.func @turned_64x96(%x0: tensor<30x35x66xf32>, %x1: tensor<30x129x35xf32>) -> tensor<30x66x129xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<30x35x66xf32>, %b = %x1 : tensor<30x129x35xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<30x66x129xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<30x66x129xf32>) -> tensor<30x66x129xf32>
    %u = tensor.empty() : tensor<30x66x35xf32>
    %l = linalg.transpose ins(%a : tensor<30x35x66xf32>) outs(%u : tensor<30x66x35xf32>) permutation = [0, 2, 1]
    %v = tensor.empty() : tensor<30x35x129xf32>
    %t = linalg.transpose ins(%b : tensor<30x129x35xf32>) outs(%v : tensor<30x35x129xf32>) permutation = [0, 2, 1]
    %0 = linalg.batch_matmul ins(%l, %t : tensor<30x66x35xf32>, tensor<30x35x129xf32>) outs(%f : tensor<30x66x129xf32>) -> tensor<30x66x129xf32>
    ckpt.yield %0 : tensor<30x66x129xf32>
  } -> tensor<30x66x129xf32>
  return %r : tensor<30x66x129xf32>
}
// CHECK: straight_64x64: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x16x68xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x16x68xf32,
// TILE-SAME: known_block_size = array<i32: 256, 1, 1>
func.func @straight_64x64(%x0: tensor<30x66x35xf32>, %x1: tensor<30x35x68xf32>) -> tensor<30x66x68xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<30x66x35xf32>, %b = %x1 : tensor<30x35x68xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<30x66x68xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<30x66x68xf32>) -> tensor<30x66x68xf32>
    %0 = linalg.batch_matmul ins(%a, %b : tensor<30x66x35xf32>, tensor<30x35x68xf32>) outs(%f : tensor<30x66x68xf32>) -> tensor<30x66x68xf32>
    ckpt.yield %0 : tensor<30x66x68xf32>
  } -> tensor<30x66x68xf32>
  return %r : tensor<30x66x68xf32>
}
// CHECK: turned_64x64: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x16x68xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x16x68xf32,
// TILE-SAME: known_block_size = array<i32: 256, 1, 1>
func.func @turned_64x64(%x0: tensor<30x35x66xf32>, %x1: tensor<30x68x35xf32>) -> tensor<30x66x68xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<30x35x66xf32>, %b = %x1 : tensor<30x68x35xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<30x66x68xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<30x66x68xf32>) -> tensor<30x66x68xf32>
    %u = tensor.empty() : tensor<30x66x35xf32>
    %l = linalg.transpose ins(%a : tensor<30x35x66xf32>) outs(%u : tensor<30x66x35xf32>) permutation = [0, 2, 1]
    %v = tensor.empty() : tensor<30x35x68xf32>
    %t = linalg.transpose ins(%b : tensor<30x68x35xf32>) outs(%v : tensor<30x35x68xf32>) permutation = [0, 2, 1]
    %0 = linalg.batch_matmul ins(%l, %t : tensor<30x66x35xf32>, tensor<30x35x68xf32>) outs(%f : tensor<30x66x68xf32>) -> tensor<30x66x68xf32>
    ckpt.yield %0 : tensor<30x66x68xf32>
  } -> tensor<30x66x68xf32>
  return %r : tensor<30x66x68xf32>
}
// CHECK: straight_32x64: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x16x36xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x16x68xf32,
// TILE-SAME: known_block_size = array<i32: 128, 1, 1>
func.func @straight_32x64(%x0: tensor<30x33x35xf32>, %x1: tensor<30x35x66xf32>) -> tensor<30x33x66xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<30x33x35xf32>, %b = %x1 : tensor<30x35x66xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<30x33x66xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<30x33x66xf32>) -> tensor<30x33x66xf32>
    %0 = linalg.batch_matmul ins(%a, %b : tensor<30x33x35xf32>, tensor<30x35x66xf32>) outs(%f : tensor<30x33x66xf32>) -> tensor<30x33x66xf32>
    ckpt.yield %0 : tensor<30x33x66xf32>
  } -> tensor<30x33x66xf32>
  return %r : tensor<30x33x66xf32>
}
// CHECK: turned_32x64: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x16x36xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x16x68xf32,
// TILE-SAME: known_block_size = array<i32: 128, 1, 1>
func.func @turned_32x64(%x0: tensor<30x35x33xf32>, %x1: tensor<30x66x35xf32>) -> tensor<30x33x66xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<30x35x33xf32>, %b = %x1 : tensor<30x66x35xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<30x33x66xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<30x33x66xf32>) -> tensor<30x33x66xf32>
    %u = tensor.empty() : tensor<30x33x35xf32>
    %l = linalg.transpose ins(%a : tensor<30x35x33xf32>) outs(%u : tensor<30x33x35xf32>) permutation = [0, 2, 1]
    %v = tensor.empty() : tensor<30x35x66xf32>
    %t = linalg.transpose ins(%b : tensor<30x66x35xf32>) outs(%v : tensor<30x35x66xf32>) permutation = [0, 2, 1]
    %0 = linalg.batch_matmul ins(%l, %t : tensor<30x33x35xf32>, tensor<30x35x66xf32>) outs(%f : tensor<30x33x66xf32>) -> tensor<30x33x66xf32>
    ckpt.yield %0 : tensor<30x33x66xf32>
  } -> tensor<30x33x66xf32>
  return %r : tensor<30x33x66xf32>
}
// CHECK: straight_32x32: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x16x36xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x16x36xf32,
// TILE-SAME: known_block_size = array<i32: 64, 1, 1>
func.func @straight_32x32(%x0: tensor<23x33x35xf32>, %x1: tensor<23x35x33xf32>) -> tensor<23x33x33xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<23x33x35xf32>, %b = %x1 : tensor<23x35x33xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<23x33x33xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<23x33x33xf32>) -> tensor<23x33x33xf32>
    %0 = linalg.batch_matmul ins(%a, %b : tensor<23x33x35xf32>, tensor<23x35x33xf32>) outs(%f : tensor<23x33x33xf32>) -> tensor<23x33x33xf32>
    ckpt.yield %0 : tensor<23x33x33xf32>
  } -> tensor<23x33x33xf32>
  return %r : tensor<23x33x33xf32>
}
// CHECK: turned_32x32: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x16x36xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x16x36xf32,
// TILE-SAME: known_block_size = array<i32: 64, 1, 1>
func.func @turned_32x32(%x0: tensor<23x35x33xf32>, %x1: tensor<23x33x35xf32>) -> tensor<23x33x33xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<23x35x33xf32>, %b = %x1 : tensor<23x33x35xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<23x33x33xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<23x33x33xf32>) -> tensor<23x33x33xf32>
    %u = tensor.empty() : tensor<23x33x35xf32>
    %l = linalg.transpose ins(%a : tensor<23x35x33xf32>) outs(%u : tensor<23x33x35xf32>) permutation = [0, 2, 1]
    %v = tensor.empty() : tensor<23x35x33xf32>
    %t = linalg.transpose ins(%b : tensor<23x33x35xf32>) outs(%v : tensor<23x35x33xf32>) permutation = [0, 2, 1]
    %0 = linalg.batch_matmul ins(%l, %t : tensor<23x33x35xf32>, tensor<23x35x33xf32>) outs(%f : tensor<23x33x33xf32>) -> tensor<23x33x33xf32>
    ckpt.yield %0 : tensor<23x33x33xf32>
  } -> tensor<23x33x33xf32>
  return %r : tensor<23x33x33xf32>
}
// CHECK: straight_16x32: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x32x20xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x32x36xf32,
// TILE-SAME: known_block_size = array<i32: 64, 1, 1>
func.func @straight_16x32(%x0: tensor<1x17x67xf32>, %x1: tensor<1x67x31xf32>) -> tensor<1x17x31xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<1x17x67xf32>, %b = %x1 : tensor<1x67x31xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<1x17x31xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<1x17x31xf32>) -> tensor<1x17x31xf32>
    %0 = linalg.batch_matmul ins(%a, %b : tensor<1x17x67xf32>, tensor<1x67x31xf32>) outs(%f : tensor<1x17x31xf32>) -> tensor<1x17x31xf32>
    ckpt.yield %0 : tensor<1x17x31xf32>
  } -> tensor<1x17x31xf32>
  return %r : tensor<1x17x31xf32>
}
// CHECK: turned_16x32: ok
// TILE: gpu.func @{{.*}} workgroup(%{{[^ ]*}} : memref<2x32x20xf32, {{[^%]*}}%{{[^ ]*}} : memref<2x32x36xf32,
// TILE-SAME: known_block_size = array<i32: 64, 1, 1>
func.func @turned_16x32(%x0: tensor<1x67x17xf32>, %x1: tensor<1x31x67xf32>) -> tensor<1x17x31xf32> {
  %r = ckpt.kernel(%a = %x0 : tensor<1x67x17xf32>, %b = %x1 : tensor<1x31x67xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<1x17x31xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<1x17x31xf32>) -> tensor<1x17x31xf32>
    %u = tensor.empty() : tensor<1x17x67xf32>
    %l = linalg.transpose ins(%a : tensor<1x67x17xf32>) outs(%u : tensor<1x17x67xf32>) permutation = [0, 2, 1]
    %v = tensor.empty() : tensor<1x67x31xf32>
    %t = linalg.transpose ins(%b : tensor<1x31x67xf32>) outs(%v : tensor<1x67x31xf32>) permutation = [0, 2, 1]
    %0 = linalg.batch_matmul ins(%l, %t : tensor<1x17x67xf32>, tensor<1x67x31xf32>) outs(%f : tensor<1x17x31xf32>) -> tensor<1x17x31xf32>
    ckpt.yield %0 : tensor<1x17x31xf32>
  } -> tensor<1x17x31xf32>
  return %r : tensor<1x17x31xf32>
}
