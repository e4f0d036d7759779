// Loops and conditionals, bufferized one by one.
// RUN: ckpt-execute %s | FileCheck %s

// CHECK: scatter: ok
func.func @scatter(%x0: tensor<9x20xf32>, %x1: tensor<9xi32>) -> (tensor<5x20xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<9x20xf32>, %a1 = %x1 : tensor<9xi32>) slots [-1 : 4] {
    %c = arith.constant dense<0.0> : tensor<5x20xf32>
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %n = arith.constant 9 : index
    %0 = scf.for %i = %z to %n step %one iter_args(%s = %c) -> (tensor<5x20xf32>) {
      %r = tensor.extract %a1[%i] : tensor<9xi32>
      %k = arith.index_cast %r : i32 to index
      %u = tensor.extract_slice %a0[%i, 0] [1, 20] [1, 1] : tensor<9x20xf32> to tensor<20xf32>
      %v = tensor.extract_slice %s[%k, 0] [1, 20] [1, 1] : tensor<5x20xf32> to tensor<20xf32>
      %w = linalg.add ins(%u, %v : tensor<20xf32>, tensor<20xf32>) outs(%v : tensor<20xf32>) -> tensor<20xf32>
      %q = tensor.insert_slice %w into %s[%k, 0] [1, 20] [1, 1] : tensor<20xf32> into tensor<5x20xf32>
      scf.yield %q : tensor<5x20xf32>
    }
    ckpt.yield %0 : tensor<5x20xf32>
  } -> tensor<5x20xf32>
  return %r1 : tensor<5x20xf32>
}
// More updates than are asked for at a time, and a rest. Rows are written again by
// many of them.
// CHECK: scatter_many: ok
func.func @scatter_many(%x0: tensor<37x20xf32>, %x1: tensor<37xi32>, %x2: tensor<40x20xf32>) -> (tensor<40x20xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<37x20xf32>, %a1 = %x1 : tensor<37xi32>, %a2 = %x2 : tensor<40x20xf32>) slots [-1 : 4] {
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %n = arith.constant 37 : index
    %five = arith.constant 5 : i32
    %0 = scf.for %i = %z to %n step %one iter_args(%s = %a2) -> (tensor<40x20xf32>) {
      %r = tensor.extract %a1[%i] : tensor<37xi32>
      %five_rows = arith.remui %r, %five : i32
      %at = arith.index_cast %five_rows : i32 to index
      %u = tensor.extract_slice %a0[%i, 0] [1, 20] [1, 1] : tensor<37x20xf32> to tensor<20xf32>
      %o = tensor.extract_slice %s[%at, 0] [1, 20] [1, 1] : tensor<40x20xf32> to tensor<20xf32>
      %w = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%u : tensor<20xf32>) outs(%o : tensor<20xf32>) {
      ^bb0(%p: f32, %q: f32):
        %t = arith.addf %q, %p : f32
        linalg.yield %t : f32
      } -> tensor<20xf32>
      %next = tensor.insert_slice %w into %s[%at, 0] [1, 20] [1, 1] : tensor<20xf32> into tensor<40x20xf32>
      scf.yield %next : tensor<40x20xf32>
    }
    ckpt.yield %0 : tensor<40x20xf32>
  } -> tensor<40x20xf32>
  return %r1 : tensor<40x20xf32>
}
// An element that every step reads and writes is not read ahead.
// CHECK: in_turn: ok
func.func @in_turn(%x0: tensor<37xf32>, %x1: tensor<3xf32>) -> (tensor<3xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<37xf32>, %a1 = %x1 : tensor<3xf32>) slots [-1 : 4] {
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %n = arith.constant 37 : index
    %0 = scf.for %i = %z to %n step %one iter_args(%s = %a1) -> (tensor<3xf32>) {
      %u = tensor.extract %a0[%i] : tensor<37xf32>
      %o = tensor.extract %s[%one] : tensor<3xf32>
      %t = arith.addf %o, %u : f32
      %next = tensor.insert %t into %s[%one] : tensor<3xf32>
      scf.yield %next : tensor<3xf32>
    }
    ckpt.yield %0 : tensor<3xf32>
  } -> tensor<3xf32>
  return %r1 : tensor<3xf32>
}
// CHECK: scatter_into: ok
func.func @scatter_into(%x0: tensor<9x20xf32>, %x1: tensor<9xi32>, %x2: tensor<5x20xf32>) -> (tensor<5x20xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<9x20xf32>, %a1 = %x1 : tensor<9xi32>, %a2 = %x2 : tensor<5x20xf32>) slots [-1 : 4] {
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %n = arith.constant 9 : index
    %0 = scf.for %i = %z to %n step %one iter_args(%s = %a2) -> (tensor<5x20xf32>) {
      %r = tensor.extract %a1[%i] : tensor<9xi32>
      %k = arith.index_cast %r : i32 to index
      %u = tensor.extract_slice %a0[%i, 0] [1, 20] [1, 1] : tensor<9x20xf32> to tensor<20xf32>
      %v = tensor.extract_slice %s[%k, 0] [1, 20] [1, 1] : tensor<5x20xf32> to tensor<20xf32>
      %w = linalg.add ins(%u, %v : tensor<20xf32>, tensor<20xf32>) outs(%v : tensor<20xf32>) -> tensor<20xf32>
      %q = tensor.insert_slice %w into %s[%k, 0] [1, 20] [1, 1] : tensor<20xf32> into tensor<5x20xf32>
      scf.yield %q : tensor<5x20xf32>
    }
    ckpt.yield %0 : tensor<5x20xf32>
  } -> tensor<5x20xf32>
  return %r1 : tensor<5x20xf32>
}
// CHECK: scatter_in_place: ok
func.func @scatter_in_place(%x0: tensor<9x20xf32>, %x1: tensor<9xi32>, %x2: tensor<5x20xf32>) -> (tensor<5x20xf32>) attributes {test.same_as = @scatter_into} {
  %r1 = ckpt.kernel(%a = %x2 : tensor<5x20xf32>) slots [0 : 65536] {
    %m = arith.negf %a : tensor<5x20xf32>
    %0 = arith.negf %m : tensor<5x20xf32>
    ckpt.yield %0 : tensor<5x20xf32>
  } -> tensor<5x20xf32>
  %r2 = ckpt.kernel(%a0 = %x0 : tensor<9x20xf32>, %a1 = %x1 : tensor<9xi32>, %a2 = %r1 : tensor<5x20xf32>) slots [0 : 65536] {
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %n = arith.constant 9 : index
    %0 = scf.for %i = %z to %n step %one iter_args(%s = %a2) -> (tensor<5x20xf32>) {
      %r = tensor.extract %a1[%i] : tensor<9xi32>
      %k = arith.index_cast %r : i32 to index
      %u = tensor.extract_slice %a0[%i, 0] [1, 20] [1, 1] : tensor<9x20xf32> to tensor<20xf32>
      %v = tensor.extract_slice %s[%k, 0] [1, 20] [1, 1] : tensor<5x20xf32> to tensor<20xf32>
      %w = linalg.add ins(%u, %v : tensor<20xf32>, tensor<20xf32>) outs(%v : tensor<20xf32>) -> tensor<20xf32>
      %q = tensor.insert_slice %w into %s[%k, 0] [1, 20] [1, 1] : tensor<20xf32> into tensor<5x20xf32>
      scf.yield %q : tensor<5x20xf32>
    }
    ckpt.yield %0 : tensor<5x20xf32>
  } -> tensor<5x20xf32>
  %r3 = ckpt.kernel(%a = %r2 : tensor<5x20xf32>) slots [-1 : 4] {
    %m = arith.negf %a : tensor<5x20xf32>
    %0 = arith.negf %m : tensor<5x20xf32>
    ckpt.yield %0 : tensor<5x20xf32>
  } -> tensor<5x20xf32>
  return %r3 : tensor<5x20xf32>
}
// CHECK: conditional: ok
func.func @conditional(%x0: tensor<6xf32>, %x1: tensor<i32>) -> (tensor<6xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<6xf32>, %a1 = %x1 : tensor<i32>) slots [-1 : 4] {
    %r = tensor.extract %a1[] : tensor<i32>
    %z = arith.constant 1 : i32
    %c = arith.cmpi sgt, %r, %z : i32
    %0 = scf.if %c -> (tensor<6xf32>) {
      %u = math.absf %a0 : tensor<6xf32>
      scf.yield %u : tensor<6xf32>
    } else {
      %u = arith.negf %a0 : tensor<6xf32>
      scf.yield %u : tensor<6xf32>
    }
    ckpt.yield %0 : tensor<6xf32>
  } -> tensor<6xf32>
  return %r1 : tensor<6xf32>
}
// What an iteration makes elsewhere is the next one's value.
// CHECK: new_values: ok
func.func @new_values(%x0: tensor<7xf32>) -> (tensor<7xf32>, tensor<i32>) {
  %r:2 = ckpt.kernel(%a0 = %x0 : tensor<7xf32>) slots [-1 : 28, -1 : 4] {
    %c = arith.constant dense<0> : tensor<i32>
    %k = arith.constant dense<3> : tensor<i32>
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %n = arith.constant 5 : index
    %0:2 = scf.for %i = %z to %n step %one iter_args(%s = %a0, %t = %c) -> (tensor<7xf32>, tensor<i32>) {
      %u = math.sin %s : tensor<7xf32>
      %v = arith.addf %u, %s : tensor<7xf32>
      %w = arith.addi %t, %k : tensor<i32>
      scf.yield %v, %w : tensor<7xf32>, tensor<i32>
    }
    ckpt.yield %0#0, %0#1 : tensor<7xf32>, tensor<i32>
  } -> tensor<7xf32>, tensor<i32>
  return %r#0, %r#1 : tensor<7xf32>, tensor<i32>
}
// CHECK: rotation: ok
func.func @rotation(%x0: tensor<3xf32>, %x1: tensor<3xf32>, %x2: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %r:3 = ckpt.kernel(%a0 = %x0 : tensor<3xf32>, %a1 = %x1 : tensor<3xf32>, %a2 = %x2 : tensor<3xf32>) slots [-1 : 12, -1 : 12, -1 : 12] {
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %n = arith.constant 5 : index
    %0:3 = scf.for %i = %z to %n step %one iter_args(%s = %a0, %t = %a1, %u = %a2) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
      scf.yield %t, %u, %s : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
    }
    ckpt.yield %0#0, %0#1, %0#2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  } -> tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return %r#0, %r#1, %r#2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
// One tensor.empty for ops inside and outside of a loop that keeps or replaces
// its value.
// CHECK: shared_undefined: ok
func.func @shared_undefined(%x0: tensor<6x6xf32>, %x1: tensor<i32>) -> (tensor<6x6xf32>, tensor<6x6xf32>) {
  %r:2 = ckpt.kernel(%a0 = %x0 : tensor<6x6xf32>, %a1 = %x1 : tensor<i32>) slots [-1 : 144, -1 : 144] {
    %z = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %n = arith.constant 5 : i32
    %k = tensor.extract %a1[] : tensor<i32>
    %c = arith.cmpi sge, %k, %z : i32
    %0:2 = scf.if %c -> (tensor<6x6xf32>, tensor<6x6xf32>) {
      %e = tensor.empty() : tensor<6x6xf32>
      %l = scf.for %i = %z to %n step %one iter_args(%s = %a0) -> (tensor<6x6xf32>) : i32 {
        %d = arith.cmpi slt, %i, %k : i32
        %u = scf.if %d -> (tensor<6x6xf32>) {
          scf.yield %s : tensor<6x6xf32>
        } else {
          %v = linalg.transpose ins(%s : tensor<6x6xf32>) outs(%e : tensor<6x6xf32>) permutation = [1, 0]
          %w = linalg.add ins(%v, %a0 : tensor<6x6xf32>, tensor<6x6xf32>) outs(%e : tensor<6x6xf32>) -> tensor<6x6xf32>
          scf.yield %w : tensor<6x6xf32>
        }
        scf.yield %u : tensor<6x6xf32>
      }
      %t = linalg.transpose ins(%l : tensor<6x6xf32>) outs(%e : tensor<6x6xf32>) permutation = [1, 0]
      scf.yield %l, %t : tensor<6x6xf32>, tensor<6x6xf32>
    } else {
      scf.yield %a0, %a0 : tensor<6x6xf32>, tensor<6x6xf32>
    }
    ckpt.yield %0#0, %0#1 : tensor<6x6xf32>, tensor<6x6xf32>
  } -> tensor<6x6xf32>, tensor<6x6xf32>
  return %r#0, %r#1 : tensor<6x6xf32>, tensor<6x6xf32>
}
// The branch that keeps the value also passes on an argument, and the other
// gives one value twice.
// CHECK: kept_or_replaced: ok
func.func @kept_or_replaced(%x0: tensor<5xf32>, %x1: tensor<5xf32>, %x2: tensor<i32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %r:2 = ckpt.kernel(%a0 = %x0 : tensor<5xf32>, %a1 = %x1 : tensor<5xf32>, %a2 = %x2 : tensor<i32>) slots [-1 : 20, -1 : 20] {
    %z = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %n = arith.constant 5 : i32
    %k = tensor.extract %a2[] : tensor<i32>
    %0:2 = scf.for %i = %z to %n step %one iter_args(%s = %a0, %t = %a0) -> (tensor<5xf32>, tensor<5xf32>) : i32 {
      %d = arith.cmpi sle, %i, %k : i32
      %u:2 = scf.if %d -> (tensor<5xf32>, tensor<5xf32>) {
        scf.yield %s, %a1 : tensor<5xf32>, tensor<5xf32>
      } else {
        %v = math.sin %s : tensor<5xf32>
        scf.yield %v, %v : tensor<5xf32>, tensor<5xf32>
      }
      %w = arith.addf %t, %u#1 : tensor<5xf32>
      scf.yield %u#0, %w : tensor<5xf32>, tensor<5xf32>
    }
    ckpt.yield %0#0, %0#1 : tensor<5xf32>, tensor<5xf32>
  } -> tensor<5xf32>, tensor<5xf32>
  return %r#0, %r#1 : tensor<5xf32>, tensor<5xf32>
}
// CHECK: while: ok
func.func @while(%x0: tensor<i32>, %x1: tensor<5xf32>) -> (tensor<5xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<i32>, %a1 = %x1 : tensor<5xf32>) slots [-1 : 20] {
    %one = arith.constant dense<1> : tensor<i32>
    %end = arith.constant 9 : i32
    %0:2 = scf.while (%s = %a0, %t = %a1) : (tensor<i32>, tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>) {
      %c = tensor.extract %s[] : tensor<i32>
      %d = arith.cmpi slt, %c, %end : i32
      scf.condition(%d) %s, %t : tensor<i32>, tensor<5xf32>
    } do {
    ^bb0(%s: tensor<i32>, %t: tensor<5xf32>):
      %u = arith.addi %s, %one : tensor<i32>
      %v = math.cos %t : tensor<5xf32>
      scf.yield %u, %v : tensor<i32>, tensor<5xf32>
    }
    ckpt.yield %0#1 : tensor<5xf32>
  } -> tensor<5xf32>
  return %r1 : tensor<5xf32>
}
