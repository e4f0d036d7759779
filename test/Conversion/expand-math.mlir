// A square is one product; what is narrow or a vector is expanded as well.
// RUN: ckpt-opt %s --ckpt-expand-math | FileCheck %s

// CHECK-LABEL: func.func @square(
// CHECK-NEXT: %[[SQUARE:.*]] = arith.mulf %arg0, %arg0 : vector<4xf32>
// CHECK-NEXT: return %[[SQUARE]]
func.func @square(%x: vector<4xf32>) -> vector<4xf32> {
  %two = arith.constant dense<2.0> : vector<4xf32>
  %0 = math.powf %x, %two : vector<4xf32>
  return %0 : vector<4xf32>
}

// CHECK-LABEL: func.func @power(
// CHECK: arith.extf %arg0 : f32 to f64
// CHECK-NOT: math.{{powf|log|exp}}
// CHECK: arith.truncf %{{.*}} : f64 to f32
func.func @power(%x: f32, %y: f32) -> f32 {
  %0 = math.powf %x, %y : f32
  return %0 : f32
}
