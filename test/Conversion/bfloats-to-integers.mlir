// RUN: ckpt-opt %s --ckpt-bfloats-to-integers | FileCheck %s

// CHECK: @numbers(dense<[16256, -32768]> : tensor<2xi16>) {{.*}} : !llvm.array<2 x i16>
llvm.mlir.global internal constant @numbers(dense<[1.0, -0.0]> : tensor<2xbf16>) : !llvm.array<2 x bf16>

// CHECK: llvm.func @either(%[[X:[a-z0-9]*]]: i16 {{.*}}, %[[C:[a-z0-9]*]]: i1 {{.*}}
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(16256 : i16) : i16
// CHECK: llvm.mlir.constant(dense<-32768> : vector<4xi16>) : vector<4xi16>
// CHECK: %[[EITHER:.*]] = llvm.select %[[C]], %[[X]], %[[ONE]] : i1, i16
// CHECK-NOT: llvm.bitcast
// CHECK: llvm.lshr %[[EITHER]]
// CHECK: llvm.bitcast %{{.*}} : f16 to i16
// CHECK: llvm.store {{.*}} : i16, !llvm.ptr
llvm.func @either(%x: bf16, %c: i1, %h: f16, %p: !llvm.ptr) -> i16 {
  %one = llvm.mlir.constant(1.0 : bf16) : bf16
  %zeros = llvm.mlir.constant(dense<-0.0> : vector<4xbf16>) : vector<4xbf16>
  %either = llvm.select %c, %x, %one : i1, bf16
  %bits = llvm.bitcast %either : bf16 to i16
  %fifteen = llvm.mlir.constant(15 : i16) : i16
  %sign = llvm.lshr %bits, %fifteen : i16
  %half = llvm.bitcast %h : f16 to i16
  %sum = llvm.add %sign, %half : i16
  llvm.store %either, %p : bf16, !llvm.ptr
  llvm.store %zeros, %p : vector<4xbf16>, !llvm.ptr
  llvm.return %sum : i16
}
