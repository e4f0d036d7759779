// Bad options and what they say. Nothing is written to stdout then.
// RUN: not ckpt-opt --ckpt-plan=budget=0 %s 2>&1 | FileCheck --check-prefix=ZERO %s
// RUN: not ckpt-opt --ckpt-plan=budget=-5 %s 2>&1 | FileCheck --check-prefix=NEGATIVE %s
// RUN: not ckpt-opt --ckpt-plan=budget=abc %s 2>&1 | FileCheck --check-prefix=WORD %s
// RUN: not ckpt-opt --ckpt-plan=budget=nan %s 2>&1 | FileCheck --check-prefix=NAN %s
// RUN: not ckpt-opt --ckpt-plan=budget=5XB %s 2>&1 | FileCheck --check-prefix=UNIT %s
// RUN: not ckpt-opt --ckpt-plan=budget=9223372036854775808B %s 2>&1 | FileCheck --check-prefix=BEYOND %s
// RUN: not ckpt-opt --ckpt-plan=strategy=budget %s 2>&1 | FileCheck --check-prefix=NEEDS %s
// RUN: not ckpt-opt --ckpt-plan=strategy=magic %s 2>&1 | FileCheck --check-prefix=MAGIC %s
// RUN: not ckpt-opt --ckpt-plan="strategy=save-all budget=300B" %s 2>&1 | FileCheck --check-prefix=OTHERS %s
// RUN: not ckpt-opt --ckpt-plan="strategy=selective ratio=1.5" %s 2>&1 | FileCheck --check-prefix=RATIO %s
// RUN: not ckpt-opt --ckpt-plan="strategy=every-nth n=0" %s 2>&1 | FileCheck --check-prefix=NTH %s
// RUN: not ckpt-opt --ckpt-plan="strategy=layers layers=9" %s 2>&1 | FileCheck --check-prefix=RANGE %s
// RUN: not ckpt-opt --ckpt-plan="strategy=custom policy=none-such" %s 2>&1 | FileCheck --check-prefix=POLICY %s
// RUN: not ckpt-opt --ckpt-plan=magic=3 %s 2>&1 | FileCheck --check-prefix=OPTION %s
// RUN: not ckpt-opt --ckpt-plan=func=g %s 2>&1 | FileCheck --check-prefix=FUNC %s
// RUN: not ckpt-opt --ckpt-plan=device=abacus %s 2>&1 | FileCheck --check-prefix=DEVICE %s
// RUN: not ckpt-opt --ckpt-plan=time-limit=-3 %s 2>&1 | FileCheck --check-prefix=TIME %s
// RUN: not ckpt-opt --ckpt-plan=effort=-3 %s 2>&1 | FileCheck --check-prefix=EFFORT %s
// RUN: not ckpt-opt --ckpt-plan="report=%t.none/r.json" %s 2>&1 | FileCheck --check-prefix=REPORT %s
// RUN: not ckpt-opt --ckpt-plan="budget=300B report=%t.json" %s 2>%t.err | count 0
// RUN: FileCheck --check-prefix=INFEASIBLE %s < %t.err
// RUN: FileCheck --check-prefix=JSON %s < %t.json
// RUN: not ckpt-opt --ckpt-plan="budget=300B count-arguments" %s 2>&1 | FileCheck --check-prefix=COUNTED %s
// RUN: sed 's/%%w: tensor<100x100xf32>/& loc("p[0]")/' %s > %t.named.mlir
// RUN: not ckpt-opt --ckpt-plan="budget=300B count-arguments" %t.named.mlir 2>&1 | FileCheck --check-prefix=NAMED %s
// RUN: not ckpt-opt --ckpt-plan=frontier=1 %s 2>&1 | FileCheck --check-prefix=FRONTIER %s

// ZERO: error: expected a budget such as 4096 (MiB), 512KiB, 1.5GB or 50%, but got '0': a budget is at least one byte
// NEGATIVE: error: expected a budget such as 4096 (MiB), 512KiB, 1.5GB or 50%, but got '-5', which is negative
// WORD: error: expected a budget such as 4096 (MiB), 512KiB, 1.5GB or 50%, but got 'abc'{{$}}
// NAN: error: expected a budget such as 4096 (MiB), 512KiB, 1.5GB or 50%, but got 'nan'{{$}}
// UNIT: error: expected a budget such as 4096 (MiB), 512KiB, 1.5GB or 50%, but got '5XB': unknown unit 'XB'
// BEYOND: error: expected a budget such as 4096 (MiB), 512KiB, 1.5GB or 50%, but got '9223372036854775808B': a budget is below 2^63 bytes
// NEEDS: error: strategy 'budget' needs a budget, such as budget=4096
// MAGIC: error: expected a strategy of docs/Strategies.md, but got 'magic'
// OTHERS: error: strategy 'save-all' has no plan within 300 bytes; its smallest takes 512 bytes
// RATIO: error: expected 'ratio' to be in [0, 1], but got 1.500000
// NTH: error: expected 'n' to be at least 1, but got 0{{$}}
// RANGE: error: expected layer to be in [0, 1), but got 9{{$}}
// POLICY: error: no policy is registered as 'none-such'
// OPTION: error: <Pass-Options-Parser>: no such option magic{{$}}
// FUNC: error: expected a function 'g', but there is none
// DEVICE: error: expected a known device or the path of a file, but got 'abacus'; known are cpu a100 h100 h200 b200 l40s rtx4090{{$}}
// TIME: error: expected 'time-limit' not to be negative, but got -3{{$}}
// EFFORT: error: expected 'effort' not to be negative, but got -3{{$}}
// REPORT: error: cannot write '{{[^']*}}.none/r.json': No such file or directory
// INFEASIBLE: error: no plan was found for a budget of 300 bytes, which is not proven infeasible; the smallest budget for which one was found is 512 bytes
// INFEASIBLE: note: {{.*}}'linalg.vecmat' (a · dot) alone needs 512 bytes for its reads and writes in the arena and the results (512 B): that is the proven bound, which takes each op as one piece, and only a smaller op would lower it
// INFEASIBLE: note: 'a · math.exp' takes 512 B there and is read or written by the kernel at the peak, of 'math.exp' (a · math.exp): a smaller op would lower it
// COUNTED: error: a budget of 300 bytes is proven infeasible: no plan does with less than 39.8 KiB (40800 bytes); the smallest budget for which one was found is 40.3 KiB (41312 bytes); arguments and results count, with 40800 bytes
// COUNTED: note: argument 'argument 1' takes 39.1 KiB throughout, which 'count-arguments' counts
// NAMED: named.mlir:{{[0-9]+:[0-9]+}}: note: argument 'p[0]' takes 39.1 KiB throughout
// FRONTIER: error: expected 'frontier' to be a number of budgets from 2 to 10000, but got 1{{$}}
// JSON: "feasible": false
func.func @f(%x: tensor<100xf32>, %w: tensor<100x100xf32>) -> tensor<100xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<100xf32>
  %0 = ckpt.layer "a" -> tensor<100xf32> {
    %1 = math.exp %x : tensor<100xf32>
    ckpt.yield %1 : tensor<100xf32>
  }
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<100xf32>) -> tensor<100xf32>
  %2 = linalg.vecmat ins(%0, %w : tensor<100xf32>, tensor<100x100xf32>)
      outs(%init : tensor<100xf32>) -> tensor<100xf32> loc("transpose(jvp(a))/dot")
  return %2 : tensor<100xf32>
}
