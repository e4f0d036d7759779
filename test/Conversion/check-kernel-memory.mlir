// Nothing is allocated, and scratch memory is small.
// RUN: ckpt-opt %s --split-input-file --verify-diagnostics --ckpt-check-kernel-memory

func.func @heap() {
  // expected-error@+1 {{expected a kernel not to allocate, but got a buffer of type 'memref<4xf32>'}}
  %0 = memref.alloc() : memref<4xf32>
  return
}

// -----

func.func @small() {
  %0 = memref.alloca() : memref<131072xf32>
  return
}

// -----

// expected-error@+1 {{expected at most 524288 bytes of stack, but got 524292}}
func.func @large() {
  %0 = memref.alloca() : memref<131072xf32>
  %1 = memref.alloca() : memref<1xf32>
  return
}
