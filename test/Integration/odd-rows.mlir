// Rows of odd length on tensor cores, read in aligned vectors: the last one ends
// where memory does, before a guard page.
// RUN: ckpt-runner %s --repeat=1 --outputs=%t.cpu.npz
// RUN: ckpt-runner %s --repeat=1 --device=emulator --gpu-options="chip=sm_90a tensor-cores=wgmma" --outputs=%t.wgmma.npz
// RUN: cmp %t.cpu.npz %t.wgmma.npz
// RUN: ckpt-runner %s --repeat=1 --device=emulator --gpu-options="chip=sm_90a tensor-cores=mma" --outputs=%t.mma.npz
// RUN: cmp %t.cpu.npz %t.mma.npz

func.func @main(%x: tensor<64x263xbf16>, %y: tensor<263x64xbf16>, %z: tensor<64x64xbf16>) -> (tensor<64x64xf32>, tensor<263x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%x, %y : tensor<64x263xbf16>, tensor<263x64xbf16>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  %u = tensor.empty() : tensor<263x64xbf16>
  %t = linalg.transpose ins(%x : tensor<64x263xbf16>) outs(%u : tensor<263x64xbf16>) permutation = [1, 0]
  %f = tensor.empty() : tensor<263x64xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<263x64xf32>) -> tensor<263x64xf32>
  %q = linalg.matmul ins(%t, %z : tensor<263x64xbf16>, tensor<64x64xbf16>) outs(%j : tensor<263x64xf32>) -> tensor<263x64xf32>
  return %p, %q : tensor<64x64xf32>, tensor<263x64xf32>
}
