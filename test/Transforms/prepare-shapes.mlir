// Shapes whose sizes are constants are static behind --ckpt-prepare. A second run
// finds nothing to do.
// RUN: ckpt-opt %s --split-input-file --ckpt-prepare --mlir-print-debuginfo=false -o %t.mlir
// RUN: FileCheck %s --implicit-check-not='x?' --implicit-check-not='<?' < %t.mlir
// RUN: ckpt-opt %t.mlir --split-input-file --ckpt-prepare --mlir-print-debuginfo=false | diff %t.mlir -

// CHECK-LABEL: func.func @empties
// CHECK: tensor.empty() : tensor<4x3xf32>
// CHECK: linalg.fill {{.*}} -> tensor<4x3xf32>
// CHECK: linalg.add {{.*}} -> tensor<4x3xf32>
func.func @empties(%a: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %c4 = arith.constant 4 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 1.0 : f32
  %e = tensor.empty(%c4, %c3) : tensor<?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %b = tensor.cast %a : tensor<4x3xf32> to tensor<?x?xf32>
  %g = linalg.add ins(%b, %f : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = tensor.cast %g : tensor<?x?xf32> to tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func.func @slices
// CHECK: arith.addf {{.*}} : tensor<2x3xf32>
// CHECK: math.exp {{.*}} : tensor<2x3xf32>
func.func @slices(%a: tensor<4x3xf32>) -> tensor<2x3xf32> {
  %c2 = arith.constant 2 : index
  %s = tensor.extract_slice %a[0, 0] [%c2, 3] [1, 1] : tensor<4x3xf32> to tensor<?x3xf32>
  %g = arith.addf %s, %s : tensor<?x3xf32>
  %h = math.exp %g : tensor<?x3xf32>
  %r = tensor.cast %h : tensor<?x3xf32> to tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @dims
// CHECK: linalg.exp {{.*}} -> tensor<3x3xf32>
func.func @dims(%a: tensor<4x3xf32>) -> tensor<3x3xf32> {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<4x3xf32>
  %k = arith.subi %d, %c1 : index
  %s = tensor.extract_slice %a[0, 0] [%k, 3] [1, 1] : tensor<4x3xf32> to tensor<?x3xf32>
  %d2 = tensor.dim %s, %c0 : tensor<?x3xf32>
  %e = tensor.empty(%d2) : tensor<?x3xf32>
  %g = linalg.exp ins(%s : tensor<?x3xf32>) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = tensor.cast %g : tensor<?x3xf32> to tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

// -----

// CHECK-LABEL: func.func @reduce
// CHECK: linalg.reduce {{.*}} outs({{.*}} : tensor<3xf32>)
func.func @reduce(%a: tensor<4x3xf32>) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.cast %a : tensor<4x3xf32> to tensor<?x?xf32>
  %d = tensor.dim %b, %c1 : tensor<?x?xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%d) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce { arith.addf } ins(%b : tensor<?x?xf32>) outs(%f : tensor<?xf32>) dimensions = [0]
  %r = tensor.cast %s : tensor<?xf32> to tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @concat
// CHECK: tensor.concat dim(0) {{.*}} -> tensor<8x3xf32>
func.func @concat(%a: tensor<4x3xf32>) -> tensor<8x3xf32> {
  %b = tensor.cast %a : tensor<4x3xf32> to tensor<?x3xf32>
  %s = tensor.concat dim(0) %b, %b : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = tensor.cast %s : tensor<?x3xf32> to tensor<8x3xf32>
  return %r : tensor<8x3xf32>
}

// -----

// CHECK-LABEL: func.func @generate
// CHECK: linalg.generic
func.func @generate(%a: tensor<4xf32>) -> tensor<2x2xf32> {
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %g = tensor.generate %c4 {
  ^bb0(%i: index):
    %x = tensor.extract %a[%i] : tensor<4xf32>
    %y = arith.negf %x : f32
    tensor.yield %y : f32
  } : tensor<?xf32>
  %h = tensor.expand_shape %g [[0, 1]] output_shape [%c2, 2] : tensor<?xf32> into tensor<?x2xf32>
  %r = tensor.cast %h : tensor<?x2xf32> to tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// -----

// CHECK-LABEL: func.func @loop
// CHECK: linalg.exp
// CHECK: linalg.exp
// CHECK: linalg.exp
func.func @loop(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %b = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%x = %b) -> (tensor<?xf32>) {
    %y = linalg.exp ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  %r = tensor.cast %l : tensor<?xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @matmul
// CHECK: linalg.matmul {{.*}} -> tensor<4x5xf32>
func.func @matmul(%a: tensor<4x3xf32>, %w: tensor<3x5xf32>) -> tensor<4x5xf32> {
  %c4 = arith.constant 4 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%c4) : tensor<?x5xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x5xf32>) -> tensor<?x5xf32>
  %b = tensor.cast %a : tensor<4x3xf32> to tensor<?x3xf32>
  %s = linalg.matmul ins(%b, %w : tensor<?x3xf32>, tensor<3x5xf32>) outs(%f : tensor<?x5xf32>) -> tensor<?x5xf32>
  %r = tensor.cast %s : tensor<?x5xf32> to tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

// -----

// CHECK-LABEL: func.func @insert
// CHECK: tensor.insert_slice {{.*}} : tensor<2x3xf32> into tensor<4x3xf32>
func.func @insert(%a: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %c2 = arith.constant 2 : index
  %s = tensor.extract_slice %a[0, 0] [%c2, 3] [1, 1] : tensor<4x3xf32> to tensor<?x3xf32>
  %r = tensor.insert_slice %s into %a[1, 0] [%c2, 3] [1, 1] : tensor<?x3xf32> into tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// -----

// The counter of the loop decides, and its iterations are known.
// CHECK-LABEL: func.func @counter
// CHECK: math.exp {{.*}} : tensor<2xf32>
func.func @counter(%a: tensor<4xf32>, %sum: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %a) -> tensor<4xf32> {
    %n = arith.subi %c2, %c0 : index
    %s = tensor.extract_slice %x[%i] [%n] [1] : tensor<4xf32> to tensor<?xf32>
    %e = math.exp %s : tensor<?xf32>
    %y = tensor.insert_slice %e into %x[0] [%n] [1] : tensor<?xf32> into tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
