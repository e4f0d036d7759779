// Real training steps are read completely: nothing but the scatter loops is
// opaque, and the figures of the program as written are those of an independent
// reader, to the byte.
// RUN: ckpt-opt %models/mlp.mlir --ckpt-print-problem -o /dev/null | FileCheck %s --check-prefix=MLP
// RUN: ckpt-opt %models/gpt2-tiny.mlir --ckpt-print-problem -o /dev/null | FileCheck %s --check-prefix=TINY
// RUN: ckpt-opt %models/resnet-tiny.mlir --ckpt-print-problem -o /dev/null | FileCheck %s --check-prefix=RESNET
// RUN: ckpt-opt %models/gpt2-mid.mlir --ckpt-print-problem -o /dev/null | FileCheck %s --check-prefix=MID

// MLP-NOT: opaque
// MLP: // as written: peak 2384936 bytes, {{.*}} flops 113696810

// TINY: value {{[0-9]+}} bytes=49152 {{.*}} name="transformer/h/0/attn/c_attn · dot_general"
// TINY-NOT: opaque
// TINY: opaque {{.*}} name="scf.for"
// TINY-NOT: opaque
// TINY: opaque {{.*}} name="scf.for"
// TINY-NOT: opaque
// TINY: // as written: peak 2325550 bytes, {{.*}} flops 49123275

// Reversed filters are views: their indices are no work.
// RESNET-NOT: opaque
// RESNET: // as written: peak 629216 bytes, {{.*}} flops 13189062

// The independent reader gives 46.224 GFLOP.
// MID-NOT: opaque
// MID: opaque {{.*}} name="scf.for"
// MID-NOT: opaque
// MID: opaque {{.*}} name="scf.for"
// MID-NOT: opaque
// MID: // as written: peak 386609646 bytes, {{.*}} flops 46224417771
