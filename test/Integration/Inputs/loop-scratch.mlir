// What loops and conditionals make inside lies beside all that is alive: results
// 0 and 1, 2 and 3, ... are the same, once by a loop and once without. The
// second argument is 3.

func.func @main(%x: tensor<2048xf32>, %n: tensor<i32>) -> (tensor<2048xf32>, tensor<2048xf32>, tensor<i32>, tensor<i32>, tensor<2048xf32>, tensor<2048xf32>, tensor<2048xf32>, tensor<2048xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %half = arith.constant dense<0.5> : tensor<2048xf32>
  %e = tensor.extract %n[] : tensor<i32>
  %end = arith.index_cast %e : i32 to index

  // Without loops.
  %exp0 = math.exp %x : tensor<2048xf32>
  %exp1 = math.exp %exp0 : tensor<2048xf32>
  %exp2 = math.exp %exp1 : tensor<2048xf32>
  %once = arith.mulf %x, %half : tensor<2048xf32>
  %branched0 = arith.addf %once, %half : tensor<2048xf32>
  %branched1 = arith.addf %branched0, %half : tensor<2048xf32>
  %branched2 = arith.addf %branched1, %half : tensor<2048xf32>

  // The tensor passes through; a number is returned beside it.
  %w:2 = scf.while (%i = %c0, %t = %x) : (i32, tensor<2048xf32>) -> (i32, tensor<2048xf32>) {
    %c = arith.cmpi slt, %i, %e : i32
    scf.condition(%c) %i, %t : i32, tensor<2048xf32>
  } do {
  ^bb0(%j: i32, %u: tensor<2048xf32>):
    %k = arith.addi %j, %c1 : i32
    %h = math.exp %u : tensor<2048xf32>
    scf.yield %k, %h : i32, tensor<2048xf32>
  }
  %r = tensor.from_elements %w#0 : tensor<i32>

  // A conditional in a loop makes one of two values.
  %b = scf.for %i = %i0 to %end step %i1 iter_args(%t = %x) -> (tensor<2048xf32>) {
    %isFirst = arith.cmpi eq, %i, %i0 : index
    %d = scf.if %isFirst -> (tensor<2048xf32>) {
      %p = arith.mulf %t, %half : tensor<2048xf32>
      scf.yield %p : tensor<2048xf32>
    } else {
      scf.yield %t : tensor<2048xf32>
    }
    %s = arith.addf %d, %half : tensor<2048xf32>
    scf.yield %s : tensor<2048xf32>
  }

  // A loop in a loop, whose value is needed after another one was made.
  %l = scf.for %i = %i0 to %end step %i1 iter_args(%t = %x) -> (tensor<2048xf32>) {
    %inner:2 = scf.while (%k = %i, %u = %t) : (index, tensor<2048xf32>) -> (index, tensor<2048xf32>) {
      %c = arith.cmpi sle, %k, %i : index
      scf.condition(%c) %k, %u : index, tensor<2048xf32>
    } do {
    ^bb0(%k: index, %u: tensor<2048xf32>):
      %next = arith.addi %k, %i1 : index
      %m = math.exp %u : tensor<2048xf32>
      scf.yield %next, %m : index, tensor<2048xf32>
    }
    %negative = arith.negf %t : tensor<2048xf32>
    %sum = arith.addf %inner#1, %negative : tensor<2048xf32>
    %rest = arith.subf %sum, %negative : tensor<2048xf32>
    %none = arith.subf %rest, %sum : tensor<2048xf32>
    %same = arith.addf %none, %negative : tensor<2048xf32>
    %isSame = arith.cmpf oeq, %same, %same : tensor<2048xf32>
    %value = arith.select %isSame, %inner#1, %same : tensor<2048xi1>, tensor<2048xf32>
    scf.yield %value : tensor<2048xf32>
  }
  return %w#1, %exp2, %r, %n, %b, %branched2, %l, %exp2 : tensor<2048xf32>, tensor<2048xf32>, tensor<i32>, tensor<i32>, tensor<2048xf32>, tensor<2048xf32>, tensor<2048xf32>, tensor<2048xf32>
}
