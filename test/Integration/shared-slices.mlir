// A kernel gets the address of the slice that it reads, also where that is no
// stretch: the time steps of an unrolled loop share one function.
// RUN: ckpt-runner %s --repeat=1 --verify --func=steps | FileCheck %s
// RUN: ckpt-runner %s --repeat=1 --verify --func=steps --device=emulator | FileCheck %s
// RUN: ckpt-opt %s --ckpt-plan="func=steps quiet=true" --ckpt-apply-plan --ckpt-kernels-to-calls \
// RUN:   | FileCheck %s --check-prefix=CALLS
// CHECK: results: bit-equal to the program as written
// CALLS-LABEL: func @steps(%{{.*}}: memref<512xi8>
// CALLS: call @[[STEP:kernel_[0-9]+]]_
// CALLS: call @[[STEP]]_
// CALLS: call @[[STEP]]_
// CALLS-NOT: call
// CALLS: return
func.func @steps(%x: tensor<8x4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %x1 = tensor.extract_slice %x[0, 1, 0] [8, 1, 4] [1, 1, 1] : tensor<8x4x4xf32> to tensor<8x4xf32>
  %x2 = tensor.extract_slice %x[0, 2, 0] [8, 1, 4] [1, 1, 1] : tensor<8x4x4xf32> to tensor<8x4xf32>
  %x3 = tensor.extract_slice %x[0, 3, 0] [8, 1, 4] [1, 1, 1] : tensor<8x4x4xf32> to tensor<8x4xf32>
  %y1 = linalg.reduce { arith.addf } ins(%x1 : tensor<8x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
  %y2 = linalg.reduce { arith.addf } ins(%x2 : tensor<8x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
  %y3 = linalg.reduce { arith.addf } ins(%x3 : tensor<8x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
  return %y1, %y2, %y3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// One element begins anywhere.
// RUN: ckpt-runner %s --repeat=1 --verify --func=elements | FileCheck %s
// RUN: ckpt-runner %s --repeat=1 --verify --func=elements --device=emulator | FileCheck %s
// RUN: ckpt-opt %s --ckpt-plan="func=elements quiet=true" --ckpt-apply-plan --ckpt-kernels-to-calls \
// RUN:   | FileCheck %s --check-prefix=ELEMENTS
// ELEMENTS-LABEL: func @elements(
// ELEMENTS: call @[[ONE:kernel_[0-9]+]]_scf_for
// ELEMENTS: call @[[ONE]]_scf_for
// ELEMENTS: return
func.func @elements(%x: tensor<8xf32>, %n: tensor<index>) -> (tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = tensor.extract %n[] : tensor<index>
  %x1 = tensor.extract_slice %x[1] [1] [1] : tensor<8xf32> to tensor<f32>
  %x3 = tensor.extract_slice %x[3] [1] [1] : tensor<8xf32> to tensor<f32>
  %y1 = scf.for %i = %zero to %end step %one iter_args(%y = %x1) -> tensor<f32> {
    %next = math.sin %y : tensor<f32>
    scf.yield %next : tensor<f32>
  }
  %y3 = scf.for %i = %zero to %end step %one iter_args(%y = %x3) -> tensor<f32> {
    %next = math.sin %y : tensor<f32>
    scf.yield %next : tensor<f32>
  }
  return %y1, %y3 : tensor<f32>, tensor<f32>
}

// A stretch of a constant that stands in memory begins where it should.
// RUN: ckpt-runner %s --repeat=1 --func=table --range=arg000:0:1 --outputs=%t.npz
// RUN: %python -c "import zipfile, struct, sys; raw = zipfile.ZipFile(sys.argv[1]).read('out000.npy')[-16:]; print([int(x) for x in struct.unpack('<4f', raw)])" %t.npz \
// RUN:   | FileCheck %s --check-prefix=TABLE
// TABLE: [50, 60, 70, 80]
func.func @table(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[[10.0, 20.0, 30.0, 40.0], [50.0, 60.0, 70.0, 80.0]]> : tensor<2x4xf32>
  %s = tensor.extract_slice %c[1, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
  %r = ckpt.kernel(%a = %x : tensor<4xf32>, %b = %s : tensor<4xf32>) slots [-1 : 16] {
    %y = arith.addf %a, %b : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
