// The cause of the least budget lies at the op that needs its operands, also
// where no kernel alone needs any memory.
// RUN: not ckpt-opt --ckpt-plan=budget=1B %s -o /dev/null 2>&1 | FileCheck %s

// CHECK: error: no plan was found for a budget of 1 byte, which is not proven infeasible; the smallest budget for which one was found is 256 bytes
// CHECK: :[[#@LINE+8]]:{{[0-9]+}}: note: while the last operand of 'linalg.generic' {{.*}} this takes 256 bytes in the arena and the results (512 B)
func.func @main(%arg0: tensor<1x1x1x1xi32>, %arg1: tensor<1x1x1xi32>, %arg2: tensor<2x3x1xi64>, %arg3: tensor<1xi8>, %arg4: tensor<1x1x1xi32>) -> (tensor<1x1x1xi32>, tensor<1xi8>) {
  %v2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d2, d0, d3, d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>], iterator_types = ["parallel", "reduction", "parallel", "parallel"]} ins(%arg0, %arg1 : tensor<1x1x1x1xi32>, tensor<1x1x1xi32>) outs(%arg4 : tensor<1x1x1xi32>) {
  ^bb0(%b1_0: i32, %b1_1: i32, %b1_2: i32):
    %b1_7 = arith.muli %b1_0, %b1_1 : i32
    %b1_y0 = arith.addi %b1_2, %b1_7 : i32
    linalg.yield %b1_y0 : i32
  } -> tensor<1x1x1xi32>
  %v4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0 + 1, d1 * 2 + 2, d2)>, affine_map<(d0, d1, d2) -> (d0)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%arg1, %v2, %arg2 : tensor<1x1x1xi32>, tensor<1x1x1xi32>, tensor<2x3x1xi64>) outs(%arg3 : tensor<1xi8>) {
  ^bb0(%b3_0: i32, %b3_1: i32, %b3_2: i64, %b3_3: i8):
    %b3_5 = linalg.index 1 : index
    %b3_7 = arith.uitofp %b3_1 : i32 to bf16
    %b3_8 = arith.index_castui %b3_5 : index to i32
    %b3_9 = arith.constant 3 : i32
    %b3_10 = arith.andi %b3_0, %b3_9 : i32
    %b3_11 = arith.shrsi %b3_8, %b3_10 : i32
    %b3_12 = arith.trunci %b3_11 : i32 to i8
    %b3_y0 = arith.addi %b3_3, %b3_12 : i8
    linalg.yield %b3_y0 : i8
  } -> tensor<1xi8>
  %v5 = arith.minsi %v2, %arg4 : tensor<1x1x1xi32>
  return %v5, %v4 : tensor<1x1x1xi32>, tensor<1xi8>
}
