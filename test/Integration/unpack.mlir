// Tiles of some of the dimensions, one tile in a dimension and several, with rests.
// RUN: ckpt-runner %s --verify --repeat=1 --range=arg000:-99:99 --range=arg001:-99:99 --outputs=%t.npz | FileCheck %s
// RUN: ckpt-runner %s --verify --repeat=1 --device=emulator | FileCheck %s
// RUN: %python -c "import zipfile, sys; z = zipfile.ZipFile(sys.argv[1]); sys.exit(any(z.read('out00%%d.npy' %% i) != z.read('out00%%d.npy' %% (i + 4)) for i in range(4)))" %t.npz
// CHECK: results: bit-equal

// Each value is packed and unpacked, and returned as it was.
func.func @main(%a: tensor<3x1xi32>, %b: tensor<4x2xi32>)
    -> (tensor<3x1xi32>, tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>,
        tensor<3x1xi32>, tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>) {
  %zero = arith.constant 0 : i32
  %e0 = tensor.empty() : tensor<1x1x4xi32>
  %p0 = linalg.pack %a padding_value(%zero : i32) inner_dims_pos = [0] inner_tiles = [4] into %e0 : tensor<3x1xi32> -> tensor<1x1x4xi32>
  %f0 = tensor.empty() : tensor<3x1xi32>
  %u0 = linalg.unpack %p0 inner_dims_pos = [0] inner_tiles = [4] into %f0 : tensor<1x1x4xi32> -> tensor<3x1xi32>
  %e1 = tensor.empty() : tensor<4x1x3xi32>
  %p1 = linalg.pack %b padding_value(%zero : i32) inner_dims_pos = [1] inner_tiles = [3] into %e1 : tensor<4x2xi32> -> tensor<4x1x3xi32>
  %f1 = tensor.empty() : tensor<4x2xi32>
  %u1 = linalg.unpack %p1 inner_dims_pos = [1] inner_tiles = [3] into %f1 : tensor<4x1x3xi32> -> tensor<4x2xi32>
  %e2 = tensor.empty() : tensor<1x1x5x3xi32>
  %p2 = linalg.pack %b padding_value(%zero : i32) inner_dims_pos = [0, 1] inner_tiles = [5, 3] into %e2 : tensor<4x2xi32> -> tensor<1x1x5x3xi32>
  %u2 = linalg.unpack %p2 inner_dims_pos = [0, 1] inner_tiles = [5, 3] into %f1 : tensor<1x1x5x3xi32> -> tensor<4x2xi32>
  %e3 = tensor.empty() : tensor<2x2x3xi32>
  %p3 = linalg.pack %b padding_value(%zero : i32) inner_dims_pos = [0] inner_tiles = [3] into %e3 : tensor<4x2xi32> -> tensor<2x2x3xi32>
  %u3 = linalg.unpack %p3 inner_dims_pos = [0] inner_tiles = [3] into %f1 : tensor<2x2x3xi32> -> tensor<4x2xi32>
  return %u0, %u1, %u2, %u3, %a, %b, %b, %b
      : tensor<3x1xi32>, tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>,
        tensor<3x1xi32>, tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>
}
