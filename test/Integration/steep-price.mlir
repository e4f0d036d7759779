// Six products stand until the largest element of all is known: in little memory each
// is made twice. All tools print the warning that names the larger budget.
// RUN: ckpt-opt %s --ckpt-plan="budget=20% report=%t.json" -o /dev/null 2>&1 | FileCheck %s
// RUN: ckpt-runner %s --budget=20% --repeat=1 | FileCheck %s
// RUN: %python -m json.tool %t.json | FileCheck %s
// RUN: ckpt-opt %s --ckpt-plan=budget=90% -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHEAP
// CHECK: warning: within this budget a step takes {{.*}} ms with {{.*}} % extra work; {{.*}} KiB are enough for {{.*}} ms with {{.*}} %, by plans that were found
// CHEAP-NOT: warning
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0, d1) -> ()>
func.func @main(%x: tensor<64x64xf32>, %w0: tensor<64x64xf32>, %w1: tensor<64x64xf32>, %w2: tensor<64x64xf32>, %w3: tensor<64x64xf32>, %w4: tensor<64x64xf32>, %w5: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m0 = arith.constant dense<0.0> : tensor<f32>
  %r = arith.constant dense<0.0> : tensor<64xf32>
  %p0 = linalg.matmul ins(%x, %w0 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m1 = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction", "reduction"]} ins(%p0 : tensor<64x64xf32>) outs(%m0 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  %p1 = linalg.matmul ins(%x, %w1 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m2 = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction", "reduction"]} ins(%p1 : tensor<64x64xf32>) outs(%m1 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  %p2 = linalg.matmul ins(%x, %w2 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m3 = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction", "reduction"]} ins(%p2 : tensor<64x64xf32>) outs(%m2 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  %p3 = linalg.matmul ins(%x, %w3 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m4 = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction", "reduction"]} ins(%p3 : tensor<64x64xf32>) outs(%m3 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  %p4 = linalg.matmul ins(%x, %w4 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m5 = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction", "reduction"]} ins(%p4 : tensor<64x64xf32>) outs(%m4 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  %p5 = linalg.matmul ins(%x, %w5 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m6 = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction", "reduction"]} ins(%p5 : tensor<64x64xf32>) outs(%m5 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  %o0 = linalg.generic {indexing_maps = [#all, #one, #row], iterator_types = ["parallel", "reduction"]} ins(%p0, %m6 : tensor<64x64xf32>, tensor<f32>) outs(%r : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32, %b: f32):
    %c = arith.mulf %a, %s : f32
    %d = arith.addf %c, %b : f32
    linalg.yield %d : f32
  } -> tensor<64xf32>
  %o1 = linalg.generic {indexing_maps = [#all, #one, #row], iterator_types = ["parallel", "reduction"]} ins(%p1, %m6 : tensor<64x64xf32>, tensor<f32>) outs(%r : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32, %b: f32):
    %c = arith.mulf %a, %s : f32
    %d = arith.addf %c, %b : f32
    linalg.yield %d : f32
  } -> tensor<64xf32>
  %o2 = linalg.generic {indexing_maps = [#all, #one, #row], iterator_types = ["parallel", "reduction"]} ins(%p2, %m6 : tensor<64x64xf32>, tensor<f32>) outs(%r : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32, %b: f32):
    %c = arith.mulf %a, %s : f32
    %d = arith.addf %c, %b : f32
    linalg.yield %d : f32
  } -> tensor<64xf32>
  %o3 = linalg.generic {indexing_maps = [#all, #one, #row], iterator_types = ["parallel", "reduction"]} ins(%p3, %m6 : tensor<64x64xf32>, tensor<f32>) outs(%r : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32, %b: f32):
    %c = arith.mulf %a, %s : f32
    %d = arith.addf %c, %b : f32
    linalg.yield %d : f32
  } -> tensor<64xf32>
  %o4 = linalg.generic {indexing_maps = [#all, #one, #row], iterator_types = ["parallel", "reduction"]} ins(%p4, %m6 : tensor<64x64xf32>, tensor<f32>) outs(%r : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32, %b: f32):
    %c = arith.mulf %a, %s : f32
    %d = arith.addf %c, %b : f32
    linalg.yield %d : f32
  } -> tensor<64xf32>
  %o5 = linalg.generic {indexing_maps = [#all, #one, #row], iterator_types = ["parallel", "reduction"]} ins(%p5, %m6 : tensor<64x64xf32>, tensor<f32>) outs(%r : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32, %b: f32):
    %c = arith.mulf %a, %s : f32
    %d = arith.addf %c, %b : f32
    linalg.yield %d : f32
  } -> tensor<64xf32>
  return %o0, %o1, %o2, %o3, %o4, %o5 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
