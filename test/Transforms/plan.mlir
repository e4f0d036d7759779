// A file that nobody annotated: decisions, a schedule, and a report.
// RUN: ckpt-opt --ckpt-plan=budget=1 %s 2>%t.report | FileCheck %s
// RUN: FileCheck --check-prefix=REPORT %s < %t.report
// RUN: ckpt-opt --ckpt-plan="budget=70%% report=%t.json quiet" %s | FileCheck --check-prefix=LESS %s
// RUN: FileCheck --check-prefix=JSON %s < %t.json

// Two matmuls whose results the backward pass reads, and a tanh between them.
// In 1 MiB everything is saved but the tanh, which is made inside a kernel.

// CHECK-LABEL: func.func @step
// CHECK-SAME: ckpt.plan = #ckpt.plan<body [{{.*}}] decisions {{[0-9]+}} arena {{[0-9]+}} kernels [{ops [
// CHECK: linalg.fill {ckpt.decision = #ckpt.decision<inline>}
// CHECK: linalg.matmul {ckpt.decision = #ckpt.decision<save>}
func.func @step(%x: tensor<64x64xf32>, %w0: tensor<64x64xf32>, %w1: tensor<64x64xf32>)
    -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = linalg.matmul ins(%x, %w0 : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32> loc("layer/0/dot")
  %b = math.tanh %a : tensor<64x64xf32> loc("layer/0/tanh")
  %c = linalg.matmul ins(%b, %w1 : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32> loc("layer/1/dot")
  %d = math.tanh %c : tensor<64x64xf32> loc("layer/1/tanh")
  %gd = arith.mulf %d, %c : tensor<64x64xf32>
  %gw1 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%b, %gd : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %gb = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%gd, %w1 : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %ga = arith.mulf %gb, %a : tensor<64x64xf32>
  %gw0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %ga : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %gw0, %gw1 : tensor<64x64xf32>, tensor<64x64xf32>
}

// REPORT: ckpt: @step, 10 ops in {{[0-9]+}} kernels; strategy: budget, 1,024.0 KiB
// REPORT: as written
// REPORT: baseline
// REPORT: plan
// REPORT: extra work 0.00 % of the step's FLOPs
// REPORT: gap 0.00 %
// REPORT: live at the peak
// REPORT: 16.0 KiB  layer/0 · dot
// REPORT: nothing that stands in memory is recomputed
// REPORT: planned in {{[0-9]+}} ms

// LESS: ckpt.plan

// JSON-DAG: "baseline_peak_bytes": {{[0-9]+}}
// JSON-DAG: "feasible": true
// JSON-DAG: "gap": 0
// JSON-DAG: "written_peak_bytes": {{[0-9]+}}
