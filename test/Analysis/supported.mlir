// What cannot be run is refused before it is planned, at the op, with what to
// write instead.
// RUN: ckpt-opt %s --split-input-file --verify-diagnostics --ckpt-plan="quiet=true prepare=false"

func.func @tosa(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected ops that ckpt lowers, but got 'tosa.exp': lower TOSA first, with --pass-pipeline='builtin.module(func.func(tosa-optional-decompositions,tosa-to-scf,tosa-to-linalg-named,tosa-to-linalg,tosa-to-tensor,tosa-to-arith{include-apply-rescale=true}))'}}
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @print(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = arith.constant 0 : index
  %e = tensor.extract %x[%c] : tensor<8xf32>
  // expected-error @+1 {{but got 'vector.print': write it on tensors}}
  vector.print %e : f32
  return %x : tensor<8xf32>
}

// -----

func.func @vector(%a: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  // expected-error @+1 {{but got 'vector.transfer_read': write it on tensors}}
  %v = vector.transfer_read %a[%c0], %z : tensor<8xf32>, vector<8xf32>
  %r = vector.transfer_write %v, %a[%c0] : vector<8xf32>, tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @assertion(%x: tensor<8xf32>, %ok: i1) -> tensor<8xf32> {
  // expected-error @+1 {{but got 'cf.assert': leave assertions and branches out}}
  cf.assert %ok, "no"
  return %x : tensor<8xf32>
}

// -----

ml_program.global private mutable @seed(dense<0> : tensor<i64>) : tensor<i64>
func.func @state(%x: tensor<8xf32>) -> tensor<i64> {
  // expected-error @+1 {{but got 'ml_program.global_load': make the state an argument and a result of the step}}
  %0 = ml_program.global_load @seed : tensor<i64>
  return %0 : tensor<i64>
}

// -----

func.func @rounding(%x: tensor<8xf32>) -> tensor<8xbf16> {
  // expected-error @+1 {{expected rounding to the nearest number, of two the even one}}
  %0 = arith.truncf %x toward_zero : tensor<8xf32> to tensor<8xbf16>
  return %0 : tensor<8xbf16>
}

// -----

func.func @lookup(%y: tensor<3x5xf32>, %i: tensor<4x1xi32>) -> tensor<4x1x5xf32> {
  // expected-error @+1 {{but got 'tensor.gather': write it as 'linalg.generic' ops}}
  %0 = tensor.gather %y[%i] gather_dims([0]) : (tensor<3x5xf32>, tensor<4x1xi32>) -> tensor<4x1x5xf32>
  return %0 : tensor<4x1x5xf32>
}

// -----

func.func @in_a_loop(%y: tensor<3x5xf32>, %i: tensor<3x1xi32>, %n: index) -> tensor<3x1x5xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<3x1x5xf32>
  %0 = scf.for %k = %zero to %n step %one iter_args(%a = %e) -> tensor<3x1x5xf32> {
    // expected-error @+1 {{but got 'tensor.gather': write it as 'linalg.generic' ops}}
    %1 = tensor.gather %y[%i] gather_dims([0]) : (tensor<3x5xf32>, tensor<3x1xi32>) -> tensor<3x1x5xf32>
    scf.yield %1 : tensor<3x1x5xf32>
  }
  return %0 : tensor<3x1x5xf32>
}

// -----

func.func @affine_loop(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{but got 'affine.for': lower it first, with --lower-affine}}
  %0 = affine.for %i = 0 to 3 iter_args(%a = %x) -> tensor<8xf32> {
    %1 = arith.addf %a, %x : tensor<8xf32>
    affine.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

func.func @narrow(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected floats of 8 bits that have a sign, f16, bf16, f32 or f64, but got 'tensor<8xf6E3M2FN>'}}
  %0 = arith.truncf %x : tensor<8xf32> to tensor<8xf6E3M2FN>
  %1 = arith.extf %0 : tensor<8xf6E3M2FN> to tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// expected-error @+1 {{argument 0: expected integers of at most 64 bits, but got 'tensor<8xi128>'}}
func.func @wide(%x: tensor<8xi128>) -> tensor<8xi128> {
  return %x : tensor<8xi128>
}

// -----

// expected-error @+1 {{argument 0: expected integers without a sign in their type, but got 'tensor<8xui8>'}}
func.func @signed(%x: tensor<8xui8>) -> tensor<8xui8> {
  return %x : tensor<8xui8>
}

// -----

func.func @scalar(%x: tensor<f32>) -> f32 {
  %0 = tensor.extract %x[] : tensor<f32>
  // expected-error @+1 {{expected results to be tensors, but result 0 is 'f32': make it one with 'tensor.from_elements'}}
  return %0 : f32
}

// -----

// expected-error @+1 {{argument 0: expected ranked tensors and scalars of numbers, but got 'memref<8xf32>'}}
func.func @buffer(%x: memref<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  return %y : tensor<8xf32>
}

// -----

func.func @unbounded(%x: tensor<16xf32>, %n: index) -> tensor<16xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{'scf.for' op expected buffers of static shape inside, but got one of type 'memref<?xf32>'}}
  %0 = scf.for %k = %zero to %n step %one iter_args(%a = %x) -> tensor<16xf32> {
    %1 = tensor.extract_slice %x[0] [%k] [1] : tensor<16xf32> to tensor<?xf32>
    %2 = math.exp %1 : tensor<?xf32>
    %3 = tensor.insert_slice %2 into %a[0] [%k] [1] : tensor<?xf32> into tensor<16xf32>
    scf.yield %3 : tensor<16xf32>
  }
  return %0 : tensor<16xf32>
}

// -----

func.func @other_order(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'scf.while' op expected 'scf.condition' to hand on the tensors of the loop in their order, and no others}}
  %0:2 = scf.while (%a = %x) : (tensor<f32>) -> (f32, tensor<f32>) {
    %1 = tensor.extract %a[] : tensor<f32>
    %2 = arith.cmpf olt, %1, %1 : f32
    scf.condition(%2) %1, %a : f32, tensor<f32>
  } do {
  ^bb0(%b: f32, %a: tensor<f32>):
    %1 = arith.addf %a, %a : tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  return %0#1 : tensor<f32>
}

// -----

func.func @in_destination(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{but got 'bufferization.materialize_in_destination': '--ckpt-prepare' takes it for its contents}}
  %0 = bufferization.materialize_in_destination %x in %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @elided(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{expected the resource of the constant, but the file does not hold it: make the constant an argument}}
  %w = arith.constant dense_resource<__elided__> : tensor<2xf32>
  %0 = arith.mulf %x, %w : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @short(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{expected the resource of the constant, but it takes 4 bytes instead of 8}}
  %w = arith.constant dense_resource<short> : tensor<2xf32>
  %0 = arith.mulf %x, %w : tensor<2xf32>
  return %0 : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      short: "0x040000000000803f"
    }
  }
#-}
