// The advice for TOSA leads to a step that runs, also for ops that become loops,
// conditionals, other ops of TOSA or integers with a scale.
// RUN: not ckpt-runner %s 2>&1 | sed -n "s/.*\(--pass-pipeline=[^ ]*\)'.*/\1/p" | sed "s/'//" > %t.rsp
// RUN: ckpt-opt %s @%t.rsp -o %t.mlir
// RUN: ckpt-runner %t.mlir --verify --repeat=1 | FileCheck %s
// CHECK: results: bit-equal to the program as written
func.func @step(%image: tensor<1x4x4x2xf32>, %w: tensor<3x3x3x2xf32>,
    %b: tensor<3xf32>, %places: tensor<1x5xi32>, %rows: tensor<1x5x3xf32>,
    %table: tensor<1x8x3xf32>, %bytes: tensor<8xi8>, %n: tensor<i32>)
    -> (tensor<1x9x9x3xf32>, tensor<1x8x3xf32>, tensor<8xi8>, tensor<i32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %conv = tosa.transpose_conv2d %image, %w, %b, %z, %z
      {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
      : (tensor<1x4x4x2xf32>, tensor<3x3x3x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x9x9x3xf32>
  %scattered = tosa.scatter %table, %places, %rows
      : (tensor<1x8x3xf32>, tensor<1x5xi32>, tensor<1x5x3xf32>) -> tensor<1x8x3xf32>
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %shift = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %scaled = tosa.rescale %bytes, %m, %shift, %zero, %zero
      {rounding_mode = SINGLE_ROUND, scale32 = true, per_channel = false, input_unsigned = false, output_unsigned = false}
      : (tensor<8xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<8xi8>
  %count = tosa.while_loop (%i = %n) : (tensor<i32>) -> tensor<i32> {
    %end = "tosa.const"() <{values = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %goes_on = tosa.greater %end, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %goes_on : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>):
    %one = "tosa.const"() <{values = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %next = tosa.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tosa.yield %next : tensor<i32>
  }
  return %conv, %scattered, %scaled, %count
      : tensor<1x9x9x3xf32>, tensor<1x8x3xf32>, tensor<8xi8>, tensor<i32>
}
