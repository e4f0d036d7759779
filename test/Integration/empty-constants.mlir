// Upstream asks a divisor for its range where a division may run at any time,
// and reads the first element of a constant that has none. The step takes a
// scalar, and holds no op on tensors that would load their dialect.
// RUN: ckpt-runner %s --budget=100% --verify --repeat=1 | FileCheck %s
// RUN: ckpt-opt %s --ckpt-prepare | FileCheck %s --check-prefix=PREPARED
// CHECK: results: bit-equal to the program as written
// PREPARED: tensor.empty() : tensor<0x4xi8>

func.func @main(%a: tensor<0x4xi8>, %b: tensor<4xf32>, %c: i1) -> (tensor<0x4xi8>, tensor<4xf32>) {
  %three = arith.constant dense<3> : tensor<0x4xi8>
  %r = scf.if %c -> (tensor<0x4xi8>) {
    %q = arith.ceildivsi %a, %three : tensor<0x4xi8>
    scf.yield %q : tensor<0x4xi8>
  } else {
    scf.yield %a : tensor<0x4xi8>
  }
  %t = math.tanh %b : tensor<4xf32>
  return %r, %t : tensor<0x4xi8>, tensor<4xf32>
}
