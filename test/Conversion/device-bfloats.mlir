// Roundings to bf16 by the instruction that rounds two numbers.
// RUN: ckpt-opt %s --ckpt-device-bfloats --canonicalize --split-input-file | FileCheck %s

// A number that is widened at once stays in the upper half.
// CHECK-LABEL: func.func @widened(
// CHECK-SAME: %[[X:[a-z0-9]*]]: f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[BITS:.*]] = llvm.inline_asm "cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f" %[[X]], %[[ZERO]]
// CHECK-NEXT: %[[SAME:.*]] = arith.bitcast %[[BITS]] : i32 to f32
// CHECK: return %[[SAME]]
func.func @widened(%x: f32) -> f32 {
  %narrow = arith.truncf %x : f32 to bf16
  %wide = arith.extf %narrow : bf16 to f32
  return %wide : f32
}

// -----

// CHECK-LABEL: func.func @scalar(
// CHECK-SAME: %[[X:[a-z0-9]*]]: f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[BITS:.*]] = llvm.inline_asm "cvt.rn.bf16x2.f32 {{.*}} %[[ZERO]], %[[X]]
// CHECK: %[[LOW:.*]] = arith.trunci %[[BITS]] : i32 to i16
// CHECK: arith.bitcast %[[LOW]] : i16 to bf16
func.func @scalar(%x: f32) -> bf16 {
  %narrow = arith.truncf %x : f32 to bf16
  return %narrow : bf16
}

// -----

// Neighbours share an instruction, the first in its lower half.
// CHECK-LABEL: func.func @pairs(
// CHECK: %[[LANES:.*]]:4 = vector.to_elements
// CHECK: %[[FIRST:.*]] = llvm.inline_asm {{.*}} %[[LANES]]#1, %[[LANES]]#0
// CHECK: %[[SECOND:.*]] = llvm.inline_asm {{.*}} %[[LANES]]#3, %[[LANES]]#2
// CHECK: %[[ALL:.*]] = vector.from_elements %[[FIRST]], %[[SECOND]] : vector<2xi32>
// CHECK: vector.bitcast %[[ALL]] : vector<2xi32> to vector<4xbf16>
func.func @pairs(%x: vector<4xf32>) -> vector<4xbf16> {
  %narrow = arith.truncf %x : vector<4xf32> to vector<4xbf16>
  return %narrow : vector<4xbf16>
}

// -----

// CHECK-LABEL: func.func @quotient(
// CHECK: nvvm.rcp.approx.ftz.f
// CHECK: scf.if
// CHECK: arith.divf
func.func @quotient(%x: bf16, %y: bf16) -> bf16 {
  %left = arith.extf %x : bf16 to f32
  %right = arith.extf %y : bf16 to f32
  %quotient = arith.divf %left, %right : f32
  %narrow = arith.truncf %quotient : f32 to bf16
  return %narrow : bf16
}

// -----

// An operand has more bits, and the rounded quotient might be another.
// CHECK-LABEL: func.func @wide(
// CHECK-NOT: nvvm.rcp
func.func @wide(%x: f32, %y: bf16) -> (bf16, f32) {
  %right = arith.extf %y : bf16 to f32
  %quotient = arith.divf %x, %right : f32
  %narrow = arith.truncf %quotient : f32 to bf16
  %tenth = arith.constant 0.1 : f32
  %other = arith.divf %right, %tenth : f32
  %otherNarrow = arith.truncf %other : f32 to bf16
  %exact = arith.divf %right, %right : f32
  return %narrow, %exact : bf16, f32
}

// -----

// CHECK-LABEL: func.func @others(
// CHECK-NOT: llvm.inline_asm
func.func @others(%x: f32, %y: f64) -> (f16, f32) {
  %half = arith.truncf %x : f32 to f16
  %single = arith.truncf %y : f64 to f32
  return %half, %single : f16, f32
}
