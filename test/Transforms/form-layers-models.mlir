// Layers of the real models; every name, kind and number of regions.
// RUN: ckpt-opt %models/mlp.mlir --ckpt-form-layers -o %t.mlp.mlir
// RUN: ckpt-opt %models/gpt2-tiny.mlir --ckpt-form-layers -o %t.gpt2.mlir
// RUN: ckpt-opt %models/resnet-tiny.mlir --ckpt-form-layers -o %t.resnet.mlir
// RUN: FileCheck %s --check-prefix=MLP --input-file=%t.mlp.mlir
// RUN: FileCheck %s --check-prefix=GPT2 --input-file=%t.gpt2.mlir
// RUN: FileCheck %s --check-prefix=RESNET --input-file=%t.resnet.mlir
// RUN: ckpt-opt %models/gpt2-tiny.mlir --ckpt-form-layers=depth=2 | FileCheck %s --check-prefix=BLOCKS

// The text reads back, and upstream passes leave it valid.
// RUN: ckpt-opt %t.gpt2.mlir -o %t.again.mlir
// RUN: diff %t.gpt2.mlir %t.again.mlir
// RUN: ckpt-opt %t.mlp.mlir -canonicalize -cse -loop-invariant-code-motion -o /dev/null
// RUN: ckpt-opt %t.gpt2.mlir -canonicalize -cse -loop-invariant-code-motion -o /dev/null
// RUN: ckpt-opt %t.resnet.mlir -canonicalize -cse -loop-invariant-code-motion -o /dev/null

// MLP: ckpt.layer "layer0"
// MLP: ckpt.layer "layer1"
// MLP: ckpt.layer "layer2"
// MLP: ckpt.layer "layer3"
// MLP-NOT: ckpt.layer

// GPT2: ckpt.layer "wte" kind <embedding>
// GPT2: ckpt.layer "wte" kind <embedding>
// GPT2: ckpt.layer "wpe" kind <embedding>
// GPT2: ckpt.layer "h/0/ln_1" kind <norm>
// GPT2: ckpt.layer "h/0/attn" kind <attention>
// GPT2: ckpt.layer "h/0/attn" kind <attention>
// GPT2: ckpt.layer "h/0/attn" kind <attention>
// GPT2: ckpt.layer "h/0/ln_2" kind <norm>
// GPT2: ckpt.layer "h/0/mlp" kind <ffn>
// GPT2: ckpt.layer "h/1/ln_1" kind <norm>
// GPT2: ckpt.layer "h/1/attn" kind <attention>
// GPT2: ckpt.layer "h/1/ln_2" kind <norm>
// GPT2: ckpt.layer "h/1/mlp" kind <ffn>
// GPT2: ckpt.layer "ln_f" kind <norm>
// GPT2: ckpt.layer "lm_head" kind <other>
// GPT2-NOT: ckpt.layer

// RESNET: ckpt.layer "embedder" kind <embedding>
// RESNET: ckpt.layer "stages/0/layers/0/layer/layer_0" kind <other>
// RESNET: ckpt.layer "stages/0/layers/0/layer/layer_1" kind <other>
// RESNET: ckpt.layer "stages/1/layers/0/layer/layer_0" kind <other>
// RESNET: ckpt.layer "stages/1/layers/0/layer/layer_1" kind <other>
// RESNET: ckpt.layer "stages/1/layers/0/shortcut" kind <other>
// RESNET: ckpt.layer "stages/1/layers/0/shortcut" kind <other>
// RESNET: ckpt.layer "classifier/1" kind <other>
// RESNET-NOT: ckpt.layer

// BLOCKS: ckpt.layer "wpe"
// BLOCKS: ckpt.layer "h/0" kind <other>
// BLOCKS: ckpt.layer "h/1" kind <other>
// BLOCKS-NOT: ckpt.layer "h/
// BLOCKS: ckpt.layer "ln_f"
