// A poison is any value, and the same one in every run and at every budget.
// RUN: ckpt-runner --verify --repeat=1 --budget=50%% %s | FileCheck %s
// RUN: ckpt-runner --verify --repeat=1 --device=emulator %s | FileCheck %s
// CHECK: results: bit-equal to the program as written
#id = affine_map<(d0) -> (d0)>
func.func @step(%a: tensor<4xf32>, %n: index)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
        tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i1>) {
  %tensor = ub.poison : tensor<4xf32>
  %read = arith.addf %a, %tensor : tensor<4xf32>
  %exp = linalg.exp ins(%a : tensor<4xf32>) outs(%tensor : tensor<4xf32>) -> tensor<4xf32>
  %scalar = ub.poison : f32
  %splat = tensor.splat %scalar : tensor<4xf32>
  %index = ub.poison : index
  %element = tensor.extract %a[%index] : tensor<4xf32>
  %elements = tensor.splat %element : tensor<4xf32>
  %pair = ub.poison : complex<f32>
  %pairs = ub.poison : tensor<4xcomplex<f32>>
  %other = tensor.extract %pairs[%index] : tensor<4xcomplex<f32>>
  %product = complex.mul %pair, %other : complex<f32>
  %real = complex.re %product : complex<f32>
  %body = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%tensor : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = ub.poison : f32
    %z = arith.addf %y, %real : f32
    linalg.yield %z : f32
  } -> tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %loop = scf.for %i = %c0 to %n step %c1 iter_args(%x = %tensor) -> tensor<4xf32> {
    %p = ub.poison : tensor<4xf32>
    %y = linalg.exp ins(%a : tensor<4xf32>) outs(%p : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  %bit = ub.poison : i1
  %bits = tensor.from_elements %bit : tensor<i1>
  return %tensor, %read, %exp, %splat, %elements, %body, %loop, %bits
    : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
      tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i1>
}
