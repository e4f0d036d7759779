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

// A quotient by one or two is a product with one or a half.
// CHECK-LABEL: func.func @chosen_power_of_two(
// CHECK: %[[FACTOR:.*]] = arith.select %arg1, %{{.*}}, %{{.*}} : vector<4xi1>, vector<4xf32>
// CHECK-NEXT: arith.mulf %arg0, %[[FACTOR]] : vector<4xf32>
// CHECK-NOT: arith.divf
func.func @chosen_power_of_two(%x: vector<4xf32>, %condition: vector<4xi1>) -> vector<4xf32> {
  %one = arith.constant dense<1.0> : vector<4xf32>
  %two = arith.constant 2.0 : f32
  %twos = vector.broadcast %two : f32 to vector<4xf32>
  %divisor = arith.select %condition, %twos, %one : vector<4xi1>, vector<4xf32>
  %0 = arith.divf %x, %divisor : vector<4xf32>
  return %0 : vector<4xf32>
}

// CHECK-LABEL: func.func @chosen_narrow(
// CHECK: %[[FACTOR:.*]] = arith.select %arg1, %{{.*}}, %{{.*}} : bf16
// CHECK: %[[WIDE:.*]] = arith.extf %[[FACTOR]] : bf16 to f32
// CHECK-NEXT: arith.mulf %arg0, %[[WIDE]] : f32
func.func @chosen_narrow(%x: f32, %condition: i1) -> f32 {
  %one = arith.constant 1.0 : bf16
  %four = arith.constant 4.0 : bf16
  %divisor = arith.select %condition, %four, %one : bf16
  %wide = arith.extf %divisor : bf16 to f32
  %0 = arith.divf %x, %wide : f32
  return %0 : f32
}

// A third is not exact.
// CHECK-LABEL: func.func @chosen_three(
// CHECK: arith.divf
func.func @chosen_three(%x: f32, %condition: i1) -> f32 {
  %one = arith.constant 1.0 : f32
  %three = arith.constant 3.0 : f32
  %divisor = arith.select %condition, %three, %one : f32
  %0 = arith.divf %x, %divisor : f32
  return %0 : f32
}
