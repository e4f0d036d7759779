// Each level looks two elements up. One kernel of 24 levels would make the first
// one 2^24 times: a value in between stands in memory.
// RUN: ckpt-opt --ckpt-plan=quiet=true --ckpt-apply-plan %s | FileCheck %s
// CHECK: func.func @main
// CHECK-COUNT-4: ckpt.kernel
#m = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<64xf32>, %i: tensor<64xi32>, %j: tensor<64xi32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %s0 = math.tanh %x : tensor<64xf32>
  %s1 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s0[%p] : tensor<64xf32>
    %v = tensor.extract %s0[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s2 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s1[%p] : tensor<64xf32>
    %v = tensor.extract %s1[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s3 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s2[%p] : tensor<64xf32>
    %v = tensor.extract %s2[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s4 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s3[%p] : tensor<64xf32>
    %v = tensor.extract %s3[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s5 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s4[%p] : tensor<64xf32>
    %v = tensor.extract %s4[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s6 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s5[%p] : tensor<64xf32>
    %v = tensor.extract %s5[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s7 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s6[%p] : tensor<64xf32>
    %v = tensor.extract %s6[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s8 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s7[%p] : tensor<64xf32>
    %v = tensor.extract %s7[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s9 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s8[%p] : tensor<64xf32>
    %v = tensor.extract %s8[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s10 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s9[%p] : tensor<64xf32>
    %v = tensor.extract %s9[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s11 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s10[%p] : tensor<64xf32>
    %v = tensor.extract %s10[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s12 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s11[%p] : tensor<64xf32>
    %v = tensor.extract %s11[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s13 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s12[%p] : tensor<64xf32>
    %v = tensor.extract %s12[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s14 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s13[%p] : tensor<64xf32>
    %v = tensor.extract %s13[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s15 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s14[%p] : tensor<64xf32>
    %v = tensor.extract %s14[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s16 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s15[%p] : tensor<64xf32>
    %v = tensor.extract %s15[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s17 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s16[%p] : tensor<64xf32>
    %v = tensor.extract %s16[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s18 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s17[%p] : tensor<64xf32>
    %v = tensor.extract %s17[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s19 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s18[%p] : tensor<64xf32>
    %v = tensor.extract %s18[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s20 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s19[%p] : tensor<64xf32>
    %v = tensor.extract %s19[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s21 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s20[%p] : tensor<64xf32>
    %v = tensor.extract %s20[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s22 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s21[%p] : tensor<64xf32>
    %v = tensor.extract %s21[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s23 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s22[%p] : tensor<64xf32>
    %v = tensor.extract %s22[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %s24 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%i, %j : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %p = arith.index_cast %a : i32 to index
    %q = arith.index_cast %b : i32 to index
    %u = tensor.extract %s23[%p] : tensor<64xf32>
    %v = tensor.extract %s23[%q] : tensor<64xf32>
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  return %s24 : tensor<64xf32>
}
