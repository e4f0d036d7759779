// Functions of libdevice are not those of the CPU: one that is not expanded is an
// error at its op.
// RUN: ckpt-opt %s --ckpt-lower-to-nvvm-pipeline --verify-diagnostics

func.func @remainder(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = ckpt.kernel(%a = %x : tensor<8xf32>, %b = %y : tensor<8xf32>) slots [-1 : 32] {
    // expected-error@+1 {{expected a function that is expanded or that a GPU has in hardware, but got 'arith.remf' in 'f32'}}
    %1 = arith.remf %a, %b : tensor<8xf32>
    ckpt.yield %1 : tensor<8xf32>
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
