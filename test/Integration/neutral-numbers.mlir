// Long reductions start partial results at the number that changes nothing, also
// in types without infinities and in 'index': as in wider types.
// RUN: rm -rf %t && mkdir %t
// RUN: ckpt-runner %s --repeat=1 --outputs=%t/cpu.npz
// RUN: %python %S/../Inputs/check_pairs.py %t/cpu.npz | FileCheck %s
// RUN: ckpt-runner %s --device=emulator --repeat=1 --outputs=%t/emulator.npz
// RUN: cmp %t/cpu.npz %t/emulator.npz

// CHECK: 10 pairs are the same
func.func @step(%x: tensor<64xf32>, %n: tensor<64xi64>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) {
  %f0 = arith.truncf %x : tensor<64xf32> to tensor<64xf8E4M3FN>
  %fw0 = arith.extf %f0 : tensor<64xf8E4M3FN> to tensor<64xf32>
  %fi0 = arith.constant dense<0.0> : tensor<f8E4M3FN>
  %fwi0 = arith.constant dense<0.0> : tensor<f32>
  %fr0 = linalg.reduce { arith.maximumf } ins(%f0 : tensor<64xf8E4M3FN>) outs(%fi0 : tensor<f8E4M3FN>) dimensions = [0]
  %fn0 = arith.extf %fr0 : tensor<f8E4M3FN> to tensor<f32>
  %fwr0 = linalg.reduce { arith.maximumf } ins(%fw0 : tensor<64xf32>) outs(%fwi0 : tensor<f32>) dimensions = [0]
  %f1 = arith.truncf %x : tensor<64xf32> to tensor<64xf8E4M3FN>
  %fw1 = arith.extf %f1 : tensor<64xf8E4M3FN> to tensor<64xf32>
  %fi1 = arith.constant dense<0.0> : tensor<f8E4M3FN>
  %fwi1 = arith.constant dense<0.0> : tensor<f32>
  %fr1 = linalg.reduce { arith.minimumf } ins(%f1 : tensor<64xf8E4M3FN>) outs(%fi1 : tensor<f8E4M3FN>) dimensions = [0]
  %fn1 = arith.extf %fr1 : tensor<f8E4M3FN> to tensor<f32>
  %fwr1 = linalg.reduce { arith.minimumf } ins(%fw1 : tensor<64xf32>) outs(%fwi1 : tensor<f32>) dimensions = [0]
  %f2 = arith.truncf %x : tensor<64xf32> to tensor<64xf8E4M3FNUZ>
  %fw2 = arith.extf %f2 : tensor<64xf8E4M3FNUZ> to tensor<64xf32>
  %fi2 = arith.constant dense<0.0> : tensor<f8E4M3FNUZ>
  %fwi2 = arith.constant dense<0.0> : tensor<f32>
  %fr2 = linalg.reduce { arith.maximumf } ins(%f2 : tensor<64xf8E4M3FNUZ>) outs(%fi2 : tensor<f8E4M3FNUZ>) dimensions = [0]
  %fn2 = arith.extf %fr2 : tensor<f8E4M3FNUZ> to tensor<f32>
  %fwr2 = linalg.reduce { arith.maximumf } ins(%fw2 : tensor<64xf32>) outs(%fwi2 : tensor<f32>) dimensions = [0]
  %f3 = arith.truncf %x : tensor<64xf32> to tensor<64xf8E5M2FNUZ>
  %fw3 = arith.extf %f3 : tensor<64xf8E5M2FNUZ> to tensor<64xf32>
  %fi3 = arith.constant dense<0.0> : tensor<f8E5M2FNUZ>
  %fwi3 = arith.constant dense<0.0> : tensor<f32>
  %fr3 = linalg.reduce { arith.minimumf } ins(%f3 : tensor<64xf8E5M2FNUZ>) outs(%fi3 : tensor<f8E5M2FNUZ>) dimensions = [0]
  %fn3 = arith.extf %fr3 : tensor<f8E5M2FNUZ> to tensor<f32>
  %fwr3 = linalg.reduce { arith.minimumf } ins(%fw3 : tensor<64xf32>) outs(%fwi3 : tensor<f32>) dimensions = [0]
  %index = arith.index_cast %n : tensor<64xi64> to tensor<64xindex>
  %ii0 = arith.constant dense<7> : tensor<index>
  %wi0 = arith.constant dense<7> : tensor<i64>
  %ir0 = linalg.reduce { arith.minui } ins(%index : tensor<64xindex>) outs(%ii0 : tensor<index>) dimensions = [0]
  %in0 = arith.index_cast %ir0 : tensor<index> to tensor<i64>
  %wr0 = linalg.reduce { arith.minui } ins(%n : tensor<64xi64>) outs(%wi0 : tensor<i64>) dimensions = [0]
  %ii1 = arith.constant dense<7> : tensor<index>
  %wi1 = arith.constant dense<7> : tensor<i64>
  %ir1 = linalg.reduce { arith.maxui } ins(%index : tensor<64xindex>) outs(%ii1 : tensor<index>) dimensions = [0]
  %in1 = arith.index_cast %ir1 : tensor<index> to tensor<i64>
  %wr1 = linalg.reduce { arith.maxui } ins(%n : tensor<64xi64>) outs(%wi1 : tensor<i64>) dimensions = [0]
  %ii2 = arith.constant dense<7> : tensor<index>
  %wi2 = arith.constant dense<7> : tensor<i64>
  %ir2 = linalg.reduce { arith.minsi } ins(%index : tensor<64xindex>) outs(%ii2 : tensor<index>) dimensions = [0]
  %in2 = arith.index_cast %ir2 : tensor<index> to tensor<i64>
  %wr2 = linalg.reduce { arith.minsi } ins(%n : tensor<64xi64>) outs(%wi2 : tensor<i64>) dimensions = [0]
  %ii3 = arith.constant dense<7> : tensor<index>
  %wi3 = arith.constant dense<7> : tensor<i64>
  %ir3 = linalg.reduce { arith.maxsi } ins(%index : tensor<64xindex>) outs(%ii3 : tensor<index>) dimensions = [0]
  %in3 = arith.index_cast %ir3 : tensor<index> to tensor<i64>
  %wr3 = linalg.reduce { arith.maxsi } ins(%n : tensor<64xi64>) outs(%wi3 : tensor<i64>) dimensions = [0]
  %ii4 = arith.constant dense<7> : tensor<index>
  %wi4 = arith.constant dense<7> : tensor<i64>
  %ir4 = linalg.reduce { arith.andi } ins(%index : tensor<64xindex>) outs(%ii4 : tensor<index>) dimensions = [0]
  %in4 = arith.index_cast %ir4 : tensor<index> to tensor<i64>
  %wr4 = linalg.reduce { arith.andi } ins(%n : tensor<64xi64>) outs(%wi4 : tensor<i64>) dimensions = [0]
  %ii5 = arith.constant dense<7> : tensor<index>
  %wi5 = arith.constant dense<7> : tensor<i64>
  %ir5 = linalg.reduce { arith.muli } ins(%index : tensor<64xindex>) outs(%ii5 : tensor<index>) dimensions = [0]
  %in5 = arith.index_cast %ir5 : tensor<index> to tensor<i64>
  %wr5 = linalg.reduce { arith.muli } ins(%n : tensor<64xi64>) outs(%wi5 : tensor<i64>) dimensions = [0]
  return %fn0, %fwr0, %fn1, %fwr1, %fn2, %fwr2, %fn3, %fwr3, %in0, %wr0, %in1, %wr1, %in2, %wr2, %in3, %wr3, %in4, %wr4, %in5, %wr5 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>
}
