// Functions of libdevice are not those of the CPU: one that is not expanded is an
// error at its op.
// RUN: ckpt-opt %s --ckpt-math-to-intrinsics --verify-diagnostics

func.func @sine(%x: f32) -> f32 {
  // expected-error@+1 {{expected a function that is expanded or that a GPU has in hardware, but got 'math.sin' in 'f32'}}
  %0 = math.sin %x : f32
  return %0 : f32
}
