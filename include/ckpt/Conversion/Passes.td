//===- Passes.td - From kernels on tensors to code ---------*- tablegen -*-===//

#ifndef CKPT_CONVERSION_PASSES_TD
#define CKPT_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def KernelsToCalls : Pass<"ckpt-kernels-to-calls", "::mlir::ModuleOp"> {
  let summary = "make a function of each distinct kernel and calls of the step";
  let description = [{
    A function that was planned, or that holds `ckpt.kernel` ops, becomes a
    function on memrefs: its arguments, then one memref per result, then the
    arena as one `memref<Nxi8>`. Its body is a list of calls in the order of the
    kernels; operands are arguments or views of the arena at the planned offsets.
    Planned and allocated bytes are therefore the same.

    Equal kernels become one private function, whatever layer they are from. It
    still computes on tensors: inputs come through `bufferization.to_tensor`,
    outputs leave through `bufferization.materialize_in_destination`. An i1
    takes a byte in memory.

    Results that no kernel writes to the caller's buffer (returned arguments,
    constants, duplicates) are copied there at the end. Constants that kernels
    hold, which with `own-constants` are all, are written by one more kernel.

    With `marks` the step calls `ckptMark`, which its caller provides, before
    each kernel and after the last: a clock there times every kernel.
  }];
  let options = [
    Option<"marks", "marks", "bool", /*default=*/"false",
           "call ckptMark before each kernel and after the last">,
    Option<"ownConstants", "own-constants", "bool", /*default=*/"false",
           "let kernels hold all constants that they read, as a GPU needs">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"];
}

def EmitKernels : Pass<"ckpt-emit-kernels", "::mlir::ModuleOp"> {
  let summary = "replace the tensor code of kernel functions by loops";
  let description = [{
    Works on the functions that `--ckpt-kernels-to-calls` makes. Values inside a
    kernel are emitted element by element where they are read, a contraction
    through a register tile, a reduction in an order that depends on its op alone.
    Large kernels get an outer `scf.parallel` that calls a function per task.
    Kernels of loops and of ops without emitters are bufferized one by one.

    `lanes` is the number of 32-bit elements of a vector of the target. With
    `threads`, large kernels are cut into more and smaller tasks. Neither has an
    influence on the numbers.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", /*default=*/"16",
           "number of elements of a vector">,
    Option<"threads", "threads", "bool", /*default=*/"true",
           "make tasks for many threads">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def EmitGpuKernels : Pass<"ckpt-emit-gpu-kernels", "::mlir::ModuleOp"> {
  let summary = "replace kernel functions by device code and launches of it";
  let description = [{
    Works on the functions that `--ckpt-kernels-to-calls` makes, with
    `own-constants`. Each becomes a `gpu.func` in one `gpu.module`, its calls
    become `gpu.launch_func`. The emitters of `--ckpt-emit-kernels` write the code
    of a thread, in the same order, so the bits are the same as on the CPU. With `tensor-cores=mma` or `wgmma`, contractions of bf16 or f16 are the
    exception: the device adds 16 products at a time in an order of its own.
    `wgmma` is for sm_90a only.

    | kernel | threads |
    |---|---|
    | elementwise | one per 128-bit access to the outputs, 256 in a block |
    | contraction | 64 to 256 in a block that makes a tile of results: 128 x 128 to 16 x 32, or 16 x 16 |
    | reduction with 16 running results | one per running result of each chunk |
    | other reductions | one per output element, and per chunk of it |
    | loops, and ops without emitters | one block, which shares all-parallel ops inside |

    Copies of the step (returned arguments, duplicates) become `gpu.memcpy`.

    With `offer-matmuls`, a call before the launch of a kernel that is a matmul and
    nothing else says so: operands as matrices with strides, in the kernel's
    arguments (`ckpt/Cuda/Matmul.h`). The launcher may then let a library compute
    it.

    Operands of `wgmma` that are boxes of a tensor come by tensor maps: parameters
    behind the kernel's own, for which launches pass null. Calls of
    `ckptCudaAddTensorMap` before the launch describe these maps
    (`ckpt/Cuda/TensorMap.h`).
  }];
  let options = [
    Option<"tensorCores", "tensor-cores", "::ckpt::TensorCores",
           /*default=*/"::ckpt::TensorCores::None",
           "instructions that multiply bf16 and f16", "::ckpt::tensorCoresValues()">,
    Option<"offerMatmuls", "offer-matmuls", "bool", /*default=*/"false",
           "call ckptCudaOfferMatmul before launches of matmuls">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::nvgpu::NVGPUDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def MathToIntrinsics : Pass<"ckpt-math-to-intrinsics"> {
  let summary = "turn functions that hardware rounds exactly into intrinsics";
  let description = [{
    `math.sqrt`, `math.fma` and their like become calls of intrinsics of LLVM,
    whose results are the same bits on a CPU and on a GPU.
    `--convert-gpu-to-nvvm` would call libdevice, which needs a CUDA toolkit.
    Other functions that `ckpt-expand-math` left are errors.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ExpandRemainders : Pass<"ckpt-expand-remainders"> {
  let summary = "compute remainders of floats by long division";
  let description = [{
    `arith.remf` becomes a loop of exact subtractions, whose results have the
    bits of C's `fmod`. A GPU has no instruction for it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def SetGpuTarget : Pass<"ckpt-set-gpu-target", "::mlir::ModuleOp"> {
  let summary = "say which device the device code is for";
  let description = [{
    Gives every `gpu.module` a target of NVVM, with the oldest version of PTX
    that knows the chip. A chip that LLVM does not know, or one before sm_80, is
    an error, and so is device code that calls a function outside itself, which upstream would leave
    unresolved in the PTX.
  }];
  let options = [Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"",
                        "the device, such as sm_90a">];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

def CheckKernelMemory : Pass<"ckpt-check-kernel-memory", "::mlir::ModuleOp"> {
  let summary = "check that no kernel allocates, and that its stack is small";
  let description = [{
    An error for every `memref.alloc`, and for functions whose `memref.alloca`s
    take more than 512 KiB together: a plan's promise holds only if all memory
    is in the arena.
  }];
}

def ExpandComposites : Pass<"ckpt-expand-composites"> {
  let summary = "expand functions that others make up";
  let description = [{
    `math.clampf`, powers with whole exponents and questions such
    as `math.isnan` become comparisons, products and simpler functions, in the
    element type that they have. A whole number to a negative power is 0, but for
    1 and -1. Whole numbers become narrow floats by way of f64, since f32 would
    round them too.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"];
}

def ExpandExtrema : Pass<"ckpt-expand-extrema"> {
  let summary = "expand maxima and minima of floats";
  let description = [{
    `arith.maximumf`, `arith.maxnumf` and the minima in f32 and f64 become
    comparisons. Of two zeros, -0 is the smaller one. Every order of operands
    therefore gives the same bits, and so does every order of a reduction.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExpandCasts : Pass<"ckpt-expand-casts"> {
  let summary = "expand conversions that LLVM calls a library for";
  let description = [{
    Conversions between floats of 8 bits that have a sign and wider ones become
    arithmetic on their bits. Conversions from f64 to bf16, f16 and 8 bits go by
    way of f32, whose last bit says whether bits were cut off. Each therefore
    rounds once, to nearest even. Numbers too large become infinite, or NaN where the
    type has no infinity.
    Conversions between indices and narrower integers go by way of i64, and those of
    integers to f64 and on to f32 round twice.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def SaturateCasts : Pass<"ckpt-saturate-casts"> {
  let summary = "convert numbers beyond an integer type to its nearest integer";
  let description = [{
    `arith.fptosi` and `arith.fptoui` make the largest integer of their type of
    larger numbers, the least of smaller ones, and 0 of NaN, as XLA does. LLVM
    leaves these open: results would depend on the device and on what a kernel
    fuses.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def DeviceBfloats : Pass<"ckpt-device-bfloats"> {
  let summary = "round to bf16 by instructions of a GPU";
  let description = [{
    Conversions from f32 to bf16 become the instruction of sm_80 that rounds two
    numbers, and take one for a number that is widened at once. A quotient of two
    bf16 that is rounded to bf16 is made by a reciprocal where that gives the
    same bf16, else by an exact division. The results have the bits of the CPU,
    but for those of a NaN.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def BfloatsToIntegers : Pass<"ckpt-bfloats-to-integers"> {
  let summary = "hold bf16 as integers of 16 bits in the LLVM dialect";
  let description = [{
    Types and constants of bf16 become integers of the same bits, and bitcasts
    between the two go. The pass runs last, on code whose arithmetic on bf16 is
    expanded. LLVM before version 23 takes the sign of a bf16 for zero where only
    that bit of it is read as an integer.
  }];
}

def ExpandMath : Pass<"ckpt-expand-math"> {
  let summary = "expand functions such as exp and tanh into arithmetic";
  let description = [{
    The same arithmetic for scalars and vectors, so that a value has the same
    bits in the remainder of a loop. bf16 and f16 are computed in f32 and rounded
    after each op. `erf`, `exp`, `expm1`, `log`, `log1p`, `log2` and `tanh` are
    upstream's polynomials in f32. All other functions are computed in f64, and
    rounded to f32.
    A quotient by one of two constants is a product where both are powers of two.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"];
}

#endif // CKPT_CONVERSION_PASSES_TD
