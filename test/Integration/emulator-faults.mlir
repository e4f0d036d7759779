// What the emulator has to catch in device code.
// RUN: not ckpt-execute %s --plant=no-barriers | FileCheck %s
// RUN: not ckpt-execute %s --plant=divergent-barrier 2>&1 | FileCheck %s --check-prefix=DIVERGENT
// RUN: not ckpt-execute %s --plant=off-by-one | FileCheck %s --check-prefix=BOUND
// RUN: not ckpt-execute %s --plant=weak-wait | FileCheck %s --check-prefix=WAIT
// RUN: not ckpt-execute %s --plant=no-waits | FileCheck %s --check-prefix=WAIT

// BOUND: add: expected writes inside results only
// WAIT: matmul: ok
// CHECK: matmul: result 0 differs at {{.*}} with the emulator
// DIVERGENT: error: in kernel 'kernel_0_linalg_matmul', 255 of 256 threads of block {{[0-9]+}} never reach the barrier where the others wait
func.func @matmul(%a: tensor<10x20xf32>, %b: tensor<20x17xf32>) -> tensor<10x17xf32> {
  %0 = ckpt.kernel(%x = %a : tensor<10x20xf32>, %y = %b : tensor<20x17xf32>) slots [-1 : 680] {
    %zero = arith.constant 0.0 : f32
    %1 = tensor.empty() : tensor<10x17xf32>
    %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<10x17xf32>) -> tensor<10x17xf32>
    %3 = linalg.matmul ins(%x, %y : tensor<10x20xf32>, tensor<20x17xf32>) outs(%2 : tensor<10x17xf32>) -> tensor<10x17xf32>
    ckpt.yield %3 : tensor<10x17xf32>
  } -> tensor<10x17xf32>
  return %0 : tensor<10x17xf32>
}

// CHECK: sum: result 0 differs at {{.*}} with the emulator
func.func @sum(%a: tensor<3x100xf32>) -> tensor<3xf32> {
  %0 = ckpt.kernel(%x = %a : tensor<3x100xf32>) slots [-1 : 12] {
    %zero = arith.constant 0.0 : f32
    %1 = tensor.empty() : tensor<3xf32>
    %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<3xf32>) -> tensor<3xf32>
    %3 = linalg.reduce { arith.addf } ins(%x : tensor<3x100xf32>) outs(%2 : tensor<3xf32>) dimensions = [1]
    ckpt.yield %3 : tensor<3xf32>
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

func.func @add(%a: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = ckpt.kernel(%x = %a : tensor<1000xf32>) slots [-1 : 4000] {
    %1 = arith.addf %x, %x : tensor<1000xf32>
    ckpt.yield %1 : tensor<1000xf32>
  } -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}

// CHECK: transposed: result 0 differs at {{.*}} with the emulator
func.func @transposed(%a: tensor<40x33xf32>) -> tensor<33x40xf32> {
  %0 = ckpt.kernel(%x = %a : tensor<40x33xf32>) slots [-1 : 5280] {
    %1 = tensor.empty() : tensor<33x40xf32>
    %2 = linalg.transpose ins(%x : tensor<40x33xf32>) outs(%1 : tensor<33x40xf32>) permutation = [1, 0]
    ckpt.yield %2 : tensor<33x40xf32>
  } -> tensor<33x40xf32>
  return %0 : tensor<33x40xf32>
}

// CHECK: tile: result 0 differs at {{.*}} with the emulator
func.func @tile(%a: tensor<40x50xf32>, %b: tensor<50x40xf32>) -> tensor<40x40xf32> {
  %0 = ckpt.kernel(%x = %a : tensor<40x50xf32>, %y = %b : tensor<50x40xf32>) slots [-1 : 6400] {
    %zero = arith.constant 0.0 : f32
    %1 = tensor.empty() : tensor<40x40xf32>
    %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<40x40xf32>) -> tensor<40x40xf32>
    %3 = linalg.matmul ins(%x, %y : tensor<40x50xf32>, tensor<50x40xf32>) outs(%2 : tensor<40x40xf32>) -> tensor<40x40xf32>
    ckpt.yield %3 : tensor<40x40xf32>
  } -> tensor<40x40xf32>
  return %0 : tensor<40x40xf32>
}

// CHECK: tensor_cores: result 0 differs at {{.*}} with
// WAIT: tensor_cores: result 0 differs at {{.*}} with mma on the emulator
func.func @tensor_cores(%a: tensor<40x96xbf16>, %b: tensor<96x40xbf16>) -> tensor<40x40xf32> {
  %0 = ckpt.kernel(%x = %a : tensor<40x96xbf16>, %y = %b : tensor<96x40xbf16>) slots [-1 : 6400] {
    %zero = arith.constant 0.0 : f32
    %1 = tensor.empty() : tensor<40x40xf32>
    %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<40x40xf32>) -> tensor<40x40xf32>
    %3 = linalg.matmul ins(%x, %y : tensor<40x96xbf16>, tensor<96x40xbf16>) outs(%2 : tensor<40x40xf32>) -> tensor<40x40xf32>
    ckpt.yield %3 : tensor<40x40xf32>
  } -> tensor<40x40xf32>
  return %0 : tensor<40x40xf32>
}
