// Functions of constants inside an op that runs by itself, with results in two
// orders: each target gives the bits that its kernels give.
// RUN: ckpt-runner %s --repeat=1 --outputs=%t.cpu.npz
// RUN: ckpt-runner %s --repeat=1 --device=emulator --outputs=%t.gpu.npz
// RUN: cmp %t.cpu.npz %t.gpu.npz

#map = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>)
    -> (tensor<2x3xf32>, tensor<3x2xf32>) {
  %r:2 = linalg.generic
      {indexing_maps = [#map, #transposed],
       iterator_types = ["parallel", "parallel"]}
      outs(%x, %y : tensor<2x3xf32>, tensor<3x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %k = arith.constant -1.25 : f32
    %l = arith.constant 0.7 : f32
    %s = math.sinh %k : f32
    %t = math.tanh %l : f32
    %e = math.erf %l : f32
    %f = math.erf %k : f32
    %st = arith.addf %s, %t : f32
    %ef = arith.addf %e, %f : f32
    linalg.yield %st, %ef : f32, f32
  } -> (tensor<2x3xf32>, tensor<3x2xf32>)
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<3x2xf32>
}
