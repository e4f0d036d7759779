// Loops whose trip count is known become their iterations.
// RUN: ckpt-opt %s --split-input-file --ckpt-prepare --mlir-print-debuginfo=false | FileCheck %s

// A scan as JAX exports it: a counter of 32 bits that is clamped, slices of a
// stacked argument, a stack of results.

// CHECK-LABEL: @scan
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<2x4xf32>)
// CHECK-NEXT: %[[W0:.*]] = tensor.extract_slice %[[W]][0, 0] [1, 4] [1, 1]
// CHECK-NEXT: %[[X1:.*]] = arith.addf %[[X]], %[[W0]]
// CHECK-NEXT: %[[P0:.*]] = tensor.expand_shape %[[X1]]
// CHECK-NEXT: %[[W1:.*]] = tensor.extract_slice %[[W]][1, 0] [1, 4] [1, 1]
// CHECK-NEXT: %[[X2:.*]] = arith.addf %[[X1]], %[[W1]]
// CHECK-NEXT: %[[P1:.*]] = tensor.expand_shape %[[X2]]
// CHECK-NEXT: %[[STACK:.*]] = tensor.concat dim(0) %[[P0]], %[[P1]]
// CHECK-NEXT: return %[[X2]], %[[STACK]]
func.func @scan(%x: tensor<4xf32>, %w: tensor<2x4xf32>)
    -> (tensor<4xf32>, tensor<2x4xf32>) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %c2_i32 = arith.constant 2 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<2x4xf32>
  %r:2 = scf.for %i = %c0_i32 to %c2_i32 step %c1_i32
      iter_args(%c = %x, %s = %zero) -> (tensor<4xf32>, tensor<2x4xf32>) : i32 {
    %i0 = tensor.from_elements %i : tensor<i32>
    %e = tensor.empty() : tensor<i32>
    %wrapped = linalg.generic {
        indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>],
        iterator_types = []}
        ins(%i0 : tensor<i32>) outs(%e : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %negative = arith.cmpi slt, %in, %c0_i32 : i32
        %shifted = arith.addi %in, %c2_i32 : i32
        %k = arith.select %negative, %shifted, %in : i32
        linalg.yield %k : i32
    } -> tensor<i32>
    %j = tensor.extract %wrapped[] : tensor<i32>
    %k0 = arith.index_cast %j : i32 to index
    %k1 = arith.maxsi %k0, %c0 : index
    %k = arith.minsi %k1, %c1 : index
    %row = tensor.extract_slice %w[%k, 0] [1, 4] [1, 1]
        : tensor<2x4xf32> to tensor<4xf32>
    %next = arith.addf %c, %row : tensor<4xf32>
    %s1 = tensor.insert_slice %next into %s[%k, 0] [1, 4] [1, 1]
        : tensor<4xf32> into tensor<2x4xf32>
    scf.yield %next, %s1 : tensor<4xf32>, tensor<2x4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<2x4xf32>
}

// -----

// Nested, the inner bound depends on the outer counter; no trip and one trip;
// down by a reversed index; trip counts that the step does not divide.

// CHECK-LABEL: @nested
// CHECK-COUNT-3: math.exp
// CHECK-NOT: math.exp
// CHECK: return
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %s = scf.for %j = %c0 to %i step %c1 iter_args(%b = %a) -> tensor<4xf32> {
      %y = math.exp %b : tensor<4xf32>
      scf.yield %y : tensor<4xf32>
    }
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: @no_trip
// CHECK-NEXT: return %arg0
func.func @no_trip(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c1 to %c1 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %y = math.exp %a : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: @uneven
// CHECK-COUNT-3: math.exp
// CHECK-NOT: math.exp
// CHECK: return
func.func @uneven(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c2 to %c9 step %c3 iter_args(%a = %x) -> tensor<4xf32> {
    %y = math.exp %a : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: @counted_while
// CHECK-NOT: scf
// CHECK-COUNT-2: math.exp
// CHECK-NOT: math.exp
// CHECK: return
func.func @counted_while(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r:2 = scf.while (%i = %c0, %a = %x) : (index, tensor<4xf32>)
      -> (index, tensor<4xf32>) {
    %more = arith.cmpi slt, %i, %c2 : index
    scf.condition(%more) %i, %a : index, tensor<4xf32>
  } do {
  ^bb0(%i: index, %a: tensor<4xf32>):
    %y = math.exp %a : tensor<4xf32>
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %y : index, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// -----

// A branch that the counter decides is no branch.

// CHECK-LABEL: @even_layers
// CHECK-NEXT: math.exp
// CHECK-NEXT: math.tanh
// CHECK-NEXT: return
func.func @even_layers(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %even = arith.cmpi eq, %i, %c0 : index
    %y = scf.if %even -> tensor<4xf32> {
      %z = math.exp %a : tensor<4xf32>
      scf.yield %z : tensor<4xf32>
    } else {
      %z = math.tanh %a : tensor<4xf32>
      scf.yield %z : tensor<4xf32>
    }
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Floating-point arithmetic on constants stays: kernels compute its bits.

// CHECK-LABEL: @float_carry
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00>
// CHECK: %[[E:.*]] = math.exp %[[ONE]]
// CHECK: math.exp %[[E]]
func.func @float_carry() -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %one) -> tensor<4xf32> {
    %y = math.exp %a : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A table of indices that constants decide: the permutation of a reversed scan.

// CHECK-LABEL: @table
// CHECK: tensor.extract_slice %arg0[2] [1] [1]
// CHECK: tensor.extract_slice %arg0[1] [1] [1]
// CHECK: tensor.extract_slice %arg0[0] [1] [1]
func.func @table(%w: tensor<3xf32>) -> tensor<1xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %x = arith.constant dense<0.0> : tensor<1xf32>
  %e = tensor.empty() : tensor<3xi32>
  %order = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} outs(%e : tensor<3xi32>) {
    ^bb0(%out: i32):
      %i = linalg.index 0 : index
      %j = arith.subi %c2, %i : index
      %k = arith.index_cast %j : index to i32
      linalg.yield %k : i32
  } -> tensor<3xi32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<1xf32> {
    %k = tensor.extract %order[%i] : tensor<3xi32>
    %at = arith.index_cast %k : i32 to index
    %row = tensor.extract_slice %w[%at] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %y = arith.addf %a, %row : tensor<1xf32>
    scf.yield %y : tensor<1xf32>
  }
  return %r : tensor<1xf32>
}

// -----

// A scatter stays one op: its places are data.

// CHECK-LABEL: @scatter
// CHECK: scf.for
// CHECK: tensor.insert_slice
func.func @scatter(%table: tensor<8x4xf32>, %ids: tensor<3xi32>,
                   %rows: tensor<3x4xf32>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %table) -> tensor<8x4xf32> {
    %id = tensor.extract %ids[%i] : tensor<3xi32>
    %k = arith.index_cast %id : i32 to index
    %row = tensor.extract_slice %rows[%i, 0] [1, 4] [1, 1]
        : tensor<3x4xf32> to tensor<1x4xf32>
    %old = tensor.extract_slice %a[%k, 0] [1, 4] [1, 1]
        : tensor<8x4xf32> to tensor<1x4xf32>
    %new = arith.addf %old, %row : tensor<1x4xf32>
    %y = tensor.insert_slice %new into %a[%k, 0] [1, 4] [1, 1]
        : tensor<1x4xf32> into tensor<8x4xf32>
    scf.yield %y : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// -----

// So does a loop whose trip count is an argument.

// CHECK-LABEL: @unknown
// CHECK: scf.for
func.func @unknown(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %y = math.exp %a : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// One whose places are a table of constants, too: the gradient of position
// embeddings.

// CHECK-LABEL: @positions
// CHECK: scf.for
// CHECK: tensor.insert_slice
func.func @positions(%table: tensor<8x4xf32>, %rows: tensor<3x4xf32>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %ids = arith.constant dense<[4, 0, 2]> : tensor<3xi32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %table) -> tensor<8x4xf32> {
    %id = tensor.extract %ids[%i] : tensor<3xi32>
    %k = arith.index_cast %id : i32 to index
    %row = tensor.extract_slice %rows[%i, 0] [1, 4] [1, 1]
        : tensor<3x4xf32> to tensor<1x4xf32>
    %old = tensor.extract_slice %a[%k, 0] [1, 4] [1, 1]
        : tensor<8x4xf32> to tensor<1x4xf32>
    %new = arith.addf %old, %row : tensor<1x4xf32>
    %y = tensor.insert_slice %new into %a[%k, 0] [1, 4] [1, 1]
        : tensor<1x4xf32> into tensor<8x4xf32>
    scf.yield %y : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// -----

// And one that goes from element to element.

// CHECK-LABEL: @elements
// CHECK: scf.for
// CHECK: tensor.insert
func.func @elements(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %e = tensor.extract %x[%i] : tensor<4xf32>
    %n = arith.negf %e : f32
    %y = tensor.insert %n into %a[%i] : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A loop stays where it asks to, counted as `scf.while` or not.

// CHECK-LABEL: @rolled
// CHECK: scf.for {{.*}}
// CHECK: } {ckpt.rolled}
// CHECK: scf.for {{.*}}
// CHECK: } {ckpt.rolled}
func.func @rolled(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %y = math.exp %a : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } {ckpt.rolled}
  %n, %s = scf.while (%i = %c0, %a = %r) : (index, tensor<4xf32>) -> (index, tensor<4xf32>) {
    %more = arith.cmpi slt, %i, %c3 : index
    scf.condition(%more) %i, %a : index, tensor<4xf32>
  } do {
  ^bb0(%i: index, %a: tensor<4xf32>):
    %next = arith.addi %i, %c1 : index
    %y = math.exp %a : tensor<4xf32>
    scf.yield %next, %y : index, tensor<4xf32>
  } attributes {ckpt.rolled}
  return %s : tensor<4xf32>
}

// -----

// A loop hands on all that it carries, in order, though only its condition reads
// a value, and though the condition hands values on in another order.

// CHECK-LABEL: @order
// CHECK: scf.while (%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}}) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>)
// CHECK: scf.condition({{.*}}) %[[A]], %[[B]], %[[C]] :
// CHECK: ^bb0(%[[A2:.*]]: tensor<4xf32>, %[[B2:.*]]: tensor<4xf32>, %{{.*}}: tensor<f32>):
// CHECK: %[[N:.*]] = math.exp %[[B2]]
// CHECK: scf.yield %[[N]], %[[A2]],
func.func @order(%x: tensor<4xf32>, %y: tensor<4xf32>, %e: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = arith.constant 1.0 : f32
  %r:2 = scf.while (%a = %x, %b = %y, %c = %e) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %error = tensor.extract %c[] : tensor<f32>
    %more = arith.cmpf ogt, %error, %one : f32
    scf.condition(%more) %b, %a : tensor<4xf32>, tensor<4xf32>
  } do {
  ^bb0(%b: tensor<4xf32>, %a: tensor<4xf32>):
    %n = math.exp %b : tensor<4xf32>
    %zero = arith.constant 0 : index
    %first = tensor.extract %n[%zero] : tensor<4xf32>
    %c = tensor.from_elements %first : tensor<f32>
    scf.yield %n, %a, %c : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  }
  return %r#1, %r#0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A sum that a loop begins with zeros begins with the number, filled or
// constant. The second op has no other operand that says how long it runs.

// CHECK-LABEL: @sum
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<4xf32>) {{.*}} {
// CHECK: arith.addf %[[ZERO]], %in
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[X]] : tensor<4xf32>, tensor<4xf32>)
// CHECK: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<4xf32>) {{.*}} {
// CHECK: arith.addf %[[TWO]], %in
// CHECK: linalg.generic {{.*}} ins(%cst{{.*}} : tensor<4xf32>) outs(%{{.*}} : tensor<f32>)
#element = affine_map<(d0) -> (d0)>
#whole = affine_map<(d0) -> ()>
func.func @sum(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %two = arith.constant 2.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %twos = linalg.fill ins(%two : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%sum = %zeros) -> tensor<4xf32> {
    %next = linalg.generic {indexing_maps = [#element, #element, #element], iterator_types = ["parallel"]}
        ins(%sum, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%a: f32, %b: f32, %out: f32):
        %s = arith.addf %a, %b : f32
        linalg.yield %s : f32
    } -> tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  %filled = linalg.generic {indexing_maps = [#element, #element, #element], iterator_types = ["parallel"]}
      ins(%twos, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<4xf32>
  %e0 = tensor.empty() : tensor<f32>
  %length = linalg.generic {indexing_maps = [#element, #whole], iterator_types = ["reduction"]}
      ins(%zeros : tensor<4xf32>) outs(%e0 : tensor<f32>) {
    ^bb0(%a: f32, %out: f32):
      %s = arith.addf %a, %out : f32
      linalg.yield %s : f32
  } -> tensor<f32>
  return %r, %filled, %length : tensor<4xf32>, tensor<4xf32>, tensor<f32>
}
