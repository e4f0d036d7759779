// Steps without a kernel run, too: what they return is copied.
// DEFINE: %{function} =
// DEFINE: %{run} = ckpt-runner %s --repeat=1 --verify --profile --func=%{function}
// DEFINE: %{cuda} = env LD_LIBRARY_PATH=%fake_cuda %{run} --device=cuda --gpu-options=format=llvm
// DEFINE: %{check} = FileCheck %s

// CHECK: results: bit-equal to the program as written

// REDEFINE: %{function} = nothing
// RUN: %{run} | %{check}
// RUN: %{run} --device=emulator | %{check}
// RUN: %{cuda} | %{check}
func.func @nothing() {
  return
}

// REDEFINE: %{function} = constants
// RUN: %{run} | %{check}
// RUN: %{run} --device=emulator | %{check}
// RUN: %{cuda} | %{check}
func.func @constants() -> (tensor<3xf32>, tensor<2xi1>, tensor<3x0xf32>) {
  %0 = arith.constant dense<[3.0, 1.0, 2.0]> : tensor<3xf32>
  %1 = arith.constant dense<[true, false]> : tensor<2xi1>
  %2 = arith.constant dense<> : tensor<3x0xf32>
  return %0, %1, %2 : tensor<3xf32>, tensor<2xi1>, tensor<3x0xf32>
}

// REDEFINE: %{function} = arguments
// RUN: %{run} | %{check}
// RUN: %{run} --device=emulator | %{check}
// RUN: %{cuda} | %{check}
func.func @arguments(%x: tensor<6xf32>, %y: tensor<0x3xf32>)
    -> (tensor<0x3xf32>, tensor<6xf32>, tensor<6xf32>, tensor<2x3xf32>) {
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  return %y, %x, %x, %0 : tensor<0x3xf32>, tensor<6xf32>, tensor<6xf32>, tensor<2x3xf32>
}

// REDEFINE: %{function} = unused
// RUN: %{run} | %{check}
// RUN: %{run} --device=emulator | %{check}
// RUN: %{cuda} | %{check}
func.func @unused(%x: tensor<4xf32>) {
  %0 = math.exp %x : tensor<4xf32>
  return
}
