// What cannot be planned is said at its place.
// RUN: ckpt-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics --ckpt-print-problem

func.func @dynamic(%x: tensor<4xf32>, %n: index) -> tensor<?xf32> {
  // expected-error @+1 {{'tensor.extract_slice' op expected a static shape, but got 'tensor<?xf32>': give it sizes that are constants}}
  %0 = tensor.extract_slice %x[0] [%n] [1] : tensor<4xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// expected-error @+1 {{argument 0: expected a static shape, but got 'tensor<?xf32>', which is not supported yet}}
func.func @dynamic_argument(%x: tensor<?xf32>) {
  return
}

// -----

func.func @unranked(%x: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{'tensor.cast' op expected ranked tensors and scalars of numbers, but got 'tensor<*xf32>'}}
  %0 = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// expected-error @+1 {{argument 1: expected ranked tensors and scalars of numbers, but got 'tensor<*xf32>'}}
func.func @unranked_argument(%x: tensor<4xf32>, %y: tensor<*xf32>) {
  return
}

// -----

func.func @buffer(%x: tensor<4xf32>) -> memref<4xf32> {
  // expected-error @+1 {{'memref.alloc' op expected ranked tensors and scalars of numbers, but got 'memref<4xf32>'}}
  %0 = memref.alloc() : memref<4xf32>
  return %0 : memref<4xf32>
}

// -----

// expected-error @+1 {{expected one block in 'blocks', but got 2}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}

// -----

func.func @planned(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ckpt.kernel' op stands in a function that was planned already}}
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [-1 : 16] {
    %1 = arith.negf %a : tensor<4xf32>
    ckpt.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @pinned(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'other.random' op is pinned to be recomputed, but may run only once}}
  %0 = "other.random"(%x) {ckpt.pin = #ckpt.pin<recompute>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected one public function with a body, but got 2; name one with func=}}
module {
  // expected-note @+1 {{'a'}}
  func.func @a() {
    return
  }
  // expected-note @+1 {{'b'}}
  func.func @b() {
    return
  }
  func.func private @c() {
    return
  }
}

// -----

func.func @beyond_any_machine(%x: tensor<4xf32>) -> tensor<4294967296x4194304xf32> {
  // expected-error @+1 {{'tensor.empty' op expected at most 2^50 bytes in a tensor, but got 'tensor<4294967296x4194304xf32>'}}
  %y = tensor.empty() : tensor<4294967296x4194304xf32>
  return %y : tensor<4294967296x4194304xf32>
}
