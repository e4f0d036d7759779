// Device code calls nothing that is not in it: functions of libdevice are not
// those of the CPU.
// RUN: ckpt-opt %s --ckpt-lower-to-nvvm-pipeline --verify-diagnostics

func.func @step(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = ckpt.kernel(%a = %x : tensor<8xf32>, %b = %y : tensor<8xf32>) slots [-1 : 32] {
    // expected-error@+1 {{expected functions that are expanded or that a GPU has in hardware, but got a call of '__nv_fmodf'}}
    %1 = arith.remf %a, %b : tensor<8xf32>
    ckpt.yield %1 : tensor<8xf32>
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
