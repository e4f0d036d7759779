//===- EmitGpuKernels.cpp - Device code and launches of kernels -----------===//
//
// The other end of `--ckpt-kernels-to-calls`, as --ckpt-emit-kernels is for the
// CPU. See Passes.td.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Gpu/GpuEmitters.h"
#include "Conversion/Gpu/OfferLibraryMatmul.h"
#include "Conversion/Gpu/ReadAhead.h"
#include "Conversion/Kernel/BufferizeOpaque.h"
#include "Conversion/Kernel/ContractionBody.h"
#include "ckpt/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace ckpt {
#define GEN_PASS_DEF_EMITGPUKERNELS
#include "ckpt/Conversion/Passes.h.inc"
} // namespace ckpt

using namespace ckpt;
using namespace mlir;

namespace {

struct DeviceKernel {
  gpu::GPUFuncOp function;
  LaunchSize size;
  /// How a library would compute it.
  std::optional<cuda::MatmulShape> matmul;
};

/// Makes the functions of the device.
class DeviceCode {
public:
  DeviceCode(ModuleOp module, TensorCores tensorCores)
      : device(makeModule(module)), symbols(device), tensorCores(tensorCores) {}

  FailureOr<DeviceKernel> emit(func::FuncOp function);

private:
  static gpu::GPUModuleOp makeModule(ModuleOp module) {
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    builder.getUnitAttr());
    return gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
  }

  gpu::GPUFuncOp makeFunction(func::FuncOp function);
  void takeGlobals(gpu::GPUFuncOp function);
  FailureOr<LaunchSize> emitOpaque(KernelCode &code, gpu::GPUFuncOp function);

  gpu::GPUModuleOp device;
  SymbolTable symbols;
  TensorCores tensorCores;
};

} // namespace

gpu::GPUFuncOp DeviceCode::makeFunction(func::FuncOp function) {
  OpBuilder builder = OpBuilder::atBlockEnd(device.getBody());
  auto kernel =
      gpu::GPUFuncOp::create(builder, function.getLoc(), function.getSymName(),
                             function.getFunctionType());
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  symbols.insert(kernel);
  return kernel;
}

/// Constants that \p function reads from the host's module come to the
/// device's.
void DeviceCode::takeGlobals(gpu::GPUFuncOp function) {
  auto host = device->getParentOfType<ModuleOp>();
  function.walk([&](memref::GetGlobalOp read) {
    if (symbols.lookup(read.getName()))
      return;
    auto global = host.lookupSymbol<memref::GlobalOp>(read.getName());
    OpBuilder builder = OpBuilder::atBlockBegin(device.getBody());
    symbols.insert(builder.clone(*global));
  });
}

/// PTX has no parameters of other numbers of bits: they come with more.
static void widenScalars(gpu::GPUFuncOp kernel) {
  OpBuilder builder(kernel.getBody());
  SmallVector<Type> types(kernel.getArgumentTypes());
  // Memory that the threads share stands behind the arguments.
  for (auto [type, scalar] : llvm::zip_first(types, kernel.getArguments())) {
    unsigned width = type.isInteger() ? type.getIntOrFloatBitWidth() : 1;
    uint64_t passed = llvm::PowerOf2Ceil(std::max(width, 8u));
    if (width == 1 || width == passed)
      continue;
    auto narrow =
        arith::TruncIOp::create(builder, scalar.getLoc(), type, scalar);
    scalar.replaceAllUsesExcept(narrow, narrow);
    type = builder.getIntegerType(passed);
    scalar.setType(type);
  }
  kernel.setFunctionType(builder.getFunctionType(types, {}));
}

/// Kernels of loops and of ops without emitters run in one block.
FailureOr<LaunchSize> DeviceCode::emitOpaque(KernelCode &code,
                                             gpu::GPUFuncOp function) {
  if (failed(bufferizeOpaqueKernel(code)))
    return failure();
  function.getBody().takeBody(code.function.getBody());
  Operation *end = function.getBody().back().getTerminator();
  OpBuilder builder(end);
  gpu::ReturnOp::create(builder, end->getLoc());
  end->erase();
  takeGlobals(function);
  return emitGpuOpaque(function);
}

FailureOr<DeviceKernel> DeviceCode::emit(func::FuncOp function) {
  KernelCode code = KernelCode::read(function);
  gpu::GPUFuncOp kernel = makeFunction(function);
  std::optional<cuda::MatmulShape> matmul = matchLibraryMatmul(code);
  auto op = dyn_cast_or_null<linalg::LinalgOp>(code.anchor);
  FailureOr<LaunchSize> size = failure();
  if (code.isOpaque()) {
    size = emitOpaque(code, kernel);
  } else {
    ImplicitLocOpBuilder builder(function.getLoc(), function.getContext());
    builder.setInsertionPointToStart(&kernel.getBody().front());
    SmallVector<memref::GlobalOp> globals =
        makeGlobals(code, OpBuilder::atBlockBegin(device.getBody()), symbols);
    TaskTarget target =
        enterTask(code, kernel.getBody().front(), globals, builder);
    GpuThread thread(kernel, target);
    size = !op ? emitGpuElementwise(code, thread)
           : matchContraction(op)
               ? emitGpuContraction(code, thread, tensorCores)
               : emitGpuReduction(code, thread);
    builder.setInsertionPointToEnd(&kernel.getBody().front());
    gpu::ReturnOp::create(builder);
    bool hasOrder = op && matchContraction(op);
    if (succeeded(size) && !hasOrder && failed(readAhead(kernel, *size)))
      return failure();
  }
  if (failed(size))
    return failure();
  widenScalars(kernel);
  // LLVM divides numbers of threads by 32 bits where it knows that they fit.
  kernel.setKnownBlockSize(
      ArrayRef<int32_t>{static_cast<int32_t>(size->threads), 1, 1});
  if (llvm::isInt<32>(size->blocks))
    kernel.setKnownGridSize(
        ArrayRef<int32_t>{static_cast<int32_t>(size->blocks), 1, 1});
  return DeviceKernel{kernel, *size, matmul};
}

namespace {
/// Writes before a launch the facts that a launcher needs: the matmul that a
/// library could compute in its place, and tensor maps. The host code stays
/// straight: the launcher decides (docs/Rationale/GpuLowering.md).
class LaunchNotes {
public:
  LaunchNotes(ModuleOp module, bool offerMatmuls)
      : module(module), symbols(module), offerMatmuls(offerMatmuls) {}

  /// At \p builder, which stands before the launch of \p kernel.
  void add(const DeviceKernel &kernel, ImplicitLocOpBuilder &builder);

private:
  /// Calls \p callee with the constant \p note, as it lies in memory.
  template <typename Note>
  void call(StringRef callee, const Twine &name, const Note &note,
            ImplicitLocOpBuilder &builder);
  memref::GlobalOp constant(StringRef name, ArrayRef<int64_t> words);
  void declare(StringRef callee, Type argument);

  ModuleOp module;
  SymbolTable symbols;
  bool offerMatmuls;
};
} // namespace

memref::GlobalOp LaunchNotes::constant(StringRef name,
                                       ArrayRef<int64_t> words) {
  if (auto known = symbols.lookup<memref::GlobalOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  int64_t count = words.size();
  auto global = memref::GlobalOp::create(
      builder, module.getLoc(), name, builder.getStringAttr("private"),
      MemRefType::get({count}, builder.getI64Type()),
      DenseElementsAttr::get(
          RankedTensorType::get({count}, builder.getI64Type()), words),
      /*constant=*/true, /*alignment=*/IntegerAttr());
  symbols.insert(global);
  return global;
}

void LaunchNotes::declare(StringRef callee, Type argument) {
  if (symbols.lookup(callee))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), callee,
                                       builder.getFunctionType({argument}, {}));
  function.setPrivate();
  symbols.insert(function);
}

template <typename Note>
void LaunchNotes::call(StringRef callee, const Twine &name, const Note &note,
                       ImplicitLocOpBuilder &builder) {
  std::array<int64_t, sizeof(Note) / sizeof(int64_t)> words;
  static_assert(sizeof(words) == sizeof(Note));
  std::memcpy(words.data(), &note, sizeof(words));
  memref::GlobalOp global = constant(name.str(), words);
  declare(callee, global.getType());
  Value address = memref::GetGlobalOp::create(builder, global.getType(),
                                              global.getSymName());
  func::CallOp::create(builder, callee, TypeRange(), address);
}

void LaunchNotes::add(const DeviceKernel &kernel,
                      ImplicitLocOpBuilder &builder) {
  gpu::GPUFuncOp function = kernel.function;
  StringRef name = function.getName();
  if (offerMatmuls && kernel.matmul)
    call("ckptCudaOfferMatmul", name + "_shape", *kernel.matmul, builder);
  for (const cuda::TensorMap &map : kernel.size.tensorMaps)
    call("ckptCudaAddTensorMap", name + "_map" + Twine(map.parameter), map,
         builder);
}

/// Replaces \p call by a launch, or by nothing if there is nothing to do.
static void launch(func::CallOp call, const DeviceKernel &kernel,
                   LaunchNotes &notes) {
  if (kernel.size.blocks > 0) {
    ImplicitLocOpBuilder builder(call.getLoc(), call);
    notes.add(kernel, builder);
    Value one = arith::ConstantIndexOp::create(builder, 1);
    Value blocks = arith::ConstantIndexOp::create(builder, kernel.size.blocks);
    Value threads =
        arith::ConstantIndexOp::create(builder, kernel.size.threads);
    Value sharedBytes;
    if (kernel.size.sharedBytes > 0)
      sharedBytes =
          arith::ConstantIntOp::create(builder, kernel.size.sharedBytes,
                                       /*width=*/32);
    SmallVector<Value> arguments(call.getOperands());
    gpu::GPUFuncOp function = kernel.function;
    for (auto [argument, type] :
         llvm::zip_first(arguments, function.getArgumentTypes()))
      if (argument.getType() != type)
        argument = arith::ExtUIOp::create(builder, type, argument);
    // Whoever launches puts maps in the place of these.
    if (!kernel.size.tensorMaps.empty())
      arguments.append(
          kernel.size.tensorMaps.size(),
          LLVM::ZeroOp::create(
              builder, LLVM::LLVMPointerType::get(builder.getContext())));
    gpu::LaunchFuncOp::create(
        builder, function, gpu::KernelDim3{blocks, one, one},
        gpu::KernelDim3{threads, one, one}, sharedBytes, arguments);
  }
  call.erase();
}

/// Lets the device copy the results that no kernel writes.
static void copyOnDevice(memref::CopyOp copy) {
  ImplicitLocOpBuilder builder(copy.getLoc(), copy);
  auto token = gpu::AsyncTokenType::get(copy.getContext());
  Value start =
      gpu::WaitOp::create(builder, token, ValueRange()).getAsyncToken();
  Value done = gpu::MemcpyOp::create(builder, token, start, copy.getTarget(),
                                     copy.getSource())
                   .getAsyncToken();
  gpu::WaitOp::create(builder, Type(), done);
  copy.erase();
}

namespace {
struct EmitGpuKernels : public ckpt::impl::EmitGpuKernelsBase<EmitGpuKernels> {
  using EmitGpuKernelsBase::EmitGpuKernelsBase;

  LogicalResult emit(ArrayRef<func::FuncOp> functions,
                     llvm::StringMap<DeviceKernel> &kernels) {
    DeviceCode device(getOperation(), tensorCores);
    for (func::FuncOp function : functions) {
      FailureOr<DeviceKernel> kernel = device.emit(function);
      if (failed(kernel))
        return failure();
      kernels[function.getSymName()] = *kernel;
    }
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> functions = kernelFunctions(module);
    llvm::StringMap<DeviceKernel> kernels;
    if (!functions.empty() && failed(emit(functions, kernels)))
      return signalPassFailure();
    LaunchNotes notes(module, offerMatmuls);
    // All memory of a step is the device's, also if it has no kernel.
    for (auto step : module.getOps<func::FuncOp>()) {
      if (kernels.contains(step.getSymName()))
        continue;
      for (auto call : llvm::to_vector(step.getOps<func::CallOp>()))
        if (auto found = kernels.find(call.getCallee()); found != kernels.end())
          launch(call, found->second, notes);
      for (auto copy : llvm::to_vector(step.getOps<memref::CopyOp>()))
        copyOnDevice(copy);
    }
    for (func::FuncOp function : functions)
      function.erase();
  }
};
} // namespace
