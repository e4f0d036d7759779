//===- EmulatedModule.cpp - Device code, compiled for the host ------------===//

#include "Emulator/EmulatedModule.h"
#include "Emulator/WarpInstructions.h"
#include "ckpt/Support/CompilerSymbols.h"
#include "ckpt/Support/HostCompiler.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace ckpt;

/// Number of NVPTX's address space that the threads of a block share.
static constexpr unsigned sharedAddressSpace = 3;

namespace {
/// Rewrites a module for NVPTX into one for this machine.
class HostCode {
public:
  explicit HostCode(llvm::Module &module) : module(module) {}

  llvm::Error rewrite(const llvm::orc::JITTargetMachineBuilder &machine,
                      const llvm::DataLayout &layout);

  struct Shared {
    std::string name;
    int64_t bytes;
  };
  struct Kernel {
    std::string name, thunk;
    std::vector<KernelParameter> parameters;
    bool hasBarrier;
    std::vector<Shared> shared;
    /// Symbol of the memory that launches ask for, if the kernel uses it.
    std::string launchMemory;
  };
  std::vector<Kernel> kernels;

private:
  llvm::Error replaceIntrinsics(llvm::Function &function);
  void defineLaunchMemory();
  bool replaceRegister(llvm::IntrinsicInst &call);
  void makeThunk(llvm::Function &kernel, bool hasBarrier);
  void shareMemory(llvm::Function &function, Kernel &kernel);

  llvm::Module &module;
  /// Memory that launches ask for; null if no kernel uses any.
  llvm::GlobalVariable *launchMemory = nullptr;
};
} // namespace

/// Replaces a read of a register of the device; false if it is none.
bool HostCode::replaceRegister(llvm::IntrinsicInst &call) {
  StringRef name = call.getCalledFunction()->getName();
  if (!name.consume_front("llvm.nvvm.read.ptx.sreg."))
    return false;
  auto [kind, dimension] = name.split('.');
  StringRef function = llvm::StringSwitch<StringRef>(kind)
                           .Case("tid", "ckptEmulatorThread")
                           .Case("ctaid", "ckptEmulatorBlock")
                           .Case("ntid", "ckptEmulatorThreads")
                           .Case("nctaid", "ckptEmulatorBlocks")
                           .Default("");
  size_t number = StringRef("xyz").find(dimension);
  if (function.empty() || dimension.size() != 1 || number == StringRef::npos)
    return false;
  llvm::IRBuilder<> builder(&call);
  llvm::FunctionCallee callee = module.getOrInsertFunction(
      function, builder.getInt32Ty(), builder.getInt32Ty());
  call.replaceAllUsesWith(builder.CreateCall(callee, builder.getInt32(number)));
  call.eraseFromParent();
  return true;
}

/// A bf16 as the upper half of 32 bits, rounded to nearest even. The bits of a
/// NaN are the CPU's.
static llvm::Value *roundToBfloat(llvm::IRBuilder<> &builder,
                                  llvm::Value *number) {
  llvm::Value *bits = builder.CreateBitCast(number, builder.getInt32Ty());
  llvm::Value *isOdd = builder.CreateAnd(builder.CreateLShr(bits, 16), 1);
  llvm::Value *rounded = builder.CreateAdd(
      builder.CreateAdd(bits, builder.getInt32(0x7fff)), isOdd);
  llvm::Value *kept = builder.CreateAnd(rounded, 0xffff0000);
  return builder.CreateSelect(builder.CreateFCmpUNO(number, number),
                              builder.getInt32(0x7fc00000), kept);
}

/// Zero of the same sign in the place of a subnormal number.
static llvm::Value *flush(llvm::IRBuilder<> &builder, llvm::Value *number) {
  llvm::Type *type = number->getType();
  llvm::Value *zero = llvm::ConstantFP::get(type, 0);
  llvm::Value *smallest = llvm::ConstantFP::get(type, 0x1p-126);
  llvm::Value *size =
      builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, number);
  return builder.CreateSelect(
      builder.CreateFCmpOLT(size, smallest),
      builder.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, zero, number),
      number);
}

/// The result of arithmetic that only a device has (DeviceBfloats.cpp asks for
/// it); null if \p call is none.
static llvm::Value *emulateArithmetic(llvm::CallInst &call) {
  llvm::IRBuilder<> builder(&call);
  auto operand = [&](unsigned number) { return call.getArgOperand(number); };
  auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand());
  const llvm::Function *callee = call.getCalledFunction();
  StringRef name = assembly ? StringRef(assembly->getAsmString())
                   : callee ? callee->getName()
                            : StringRef();
  if (name == "cvt.rn.bf16x2.f32 $0, $1, $2;")
    return builder.CreateOr(
        roundToBfloat(builder, operand(0)),
        builder.CreateLShr(roundToBfloat(builder, operand(1)), 16));
  if (name == "llvm.nvvm.rcp.approx.ftz.f") {
    llvm::Value *one = llvm::ConstantFP::get(builder.getFloatTy(), 1);
    return flush(builder, builder.CreateFDiv(one, flush(builder, operand(0))));
  }
  return nullptr;
}

/// Replaces arithmetic that only a device has; false if \p call is none.
static bool replaceArithmetic(llvm::CallInst &call) {
  llvm::Value *result = emulateArithmetic(call);
  if (!result)
    return false;
  call.replaceAllUsesWith(result);
  call.eraseFromParent();
  return true;
}

static llvm::Error unknown(const llvm::Twine &what,
                           const llvm::Function &function) {
  return llvm::createStringError(
      "expected a device function that the emulator knows, but got '" + what +
      "' in '" + function.getName() + "'");
}

llvm::Error HostCode::replaceIntrinsics(llvm::Function &function) {
  bool hasBarrier = false;
  if (launchMemory)
    noteStores(function, launchMemory->getAddressSpace());
  for (llvm::Instruction &instruction :
       llvm::make_early_inc_range(llvm::instructions(function))) {
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        call && replaceArithmetic(*call))
      continue;
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        call && replaceWarpInstruction(*call)) {
      hasBarrier = true;
      continue;
    }
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        call && call->isInlineAsm())
      return unknown(
          llvm::cast<llvm::InlineAsm>(call->getCalledOperand())->getAsmString(),
          function);
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call ||
        !call->getCalledFunction()->getName().starts_with("llvm.nvvm."))
      continue;
    StringRef name = call->getCalledFunction()->getName();
    if (replaceRegister(*call))
      continue;
    if (name != "llvm.nvvm.barrier.cta.sync.aligned.all")
      return unknown(name, function);
    llvm::IRBuilder<> builder(call);
    builder.CreateCall(
        module.getOrInsertFunction("ckptEmulatorBarrier", builder.getVoidTy()));
    call->eraseFromParent();
    hasBarrier = true;
  }
  if (function.getCallingConv() == llvm::CallingConv::PTX_Kernel)
    makeThunk(function, hasBarrier);
  function.setCallingConv(llvm::CallingConv::C);
  // Drops the attributes of the device's chip.
  function.setAttributes(llvm::AttributeList());
  return llvm::Error::success();
}

/// Gives a place to the symbol where the memory begins that launches ask for.
void HostCode::defineLaunchMemory() {
  for (llvm::GlobalVariable &global :
       llvm::make_early_inc_range(module.globals())) {
    if (global.getAddressSpace() != sharedAddressSpace ||
        !global.isDeclaration())
      continue;
    auto *type = llvm::ArrayType::get(
        llvm::Type::getInt8Ty(module.getContext()), mostLaunchBytes);
    launchMemory = new llvm::GlobalVariable(
        module, type, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage,
        llvm::ConstantAggregateZero::get(type), "", &global,
        llvm::GlobalValue::NotThreadLocal, sharedAddressSpace);
    launchMemory->setAlignment(global.getAlign());
    launchMemory->takeName(&global);
    global.replaceAllUsesWith(launchMemory);
    global.eraseFromParent();
  }
}

/// Makes the shared memory of \p kernel visible to the emulator, and so to
/// other threads that run while one is at a barrier.
void HostCode::shareMemory(llvm::Function &function, Kernel &kernel) {
  llvm::SmallSetVector<llvm::GlobalVariable *, 4> globals;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    for (llvm::Value *operand : instruction.operands()) {
      if (!operand->getType()->isPointerTy())
        continue;
      auto *global = llvm::dyn_cast<llvm::GlobalVariable>(
          llvm::getUnderlyingObject(operand));
      if (global && global->getAddressSpace() == sharedAddressSpace)
        globals.insert(global);
    }
  for (llvm::GlobalVariable *global : globals) {
    if (global == launchMemory) {
      kernel.launchMemory = global->getName().str();
      continue;
    }
    global->setLinkage(llvm::GlobalValue::ExternalLinkage);
    kernel.shared.push_back(
        {global->getName().str(),
         static_cast<int64_t>(
             module.getDataLayout().getTypeAllocSize(global->getValueType()))});
  }
}

/// A function that takes the addresses of the arguments of \p kernel.
void HostCode::makeThunk(llvm::Function &kernel, bool hasBarrier) {
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type *pointer = builder.getPtrTy();
  std::string name = (kernel.getName() + ".thunk").str();
  auto *thunk = llvm::Function::Create(
      llvm::FunctionType::get(builder.getVoidTy(), {pointer},
                              /*isVarArg=*/false),
      llvm::GlobalValue::ExternalLinkage, name, module);
  builder.SetInsertPoint(
      llvm::BasicBlock::Create(module.getContext(), "", thunk));
  llvm::SmallVector<llvm::Value *> arguments;
  std::vector<KernelParameter> parameters;
  for (llvm::Argument &argument : kernel.args()) {
    llvm::Type *byValue = argument.getParamByValType();
    llvm::Type *type = byValue ? byValue : argument.getType();
    parameters.push_back(
        {static_cast<int64_t>(module.getDataLayout().getTypeAllocSize(type)),
         type->isPointerTy()});
    llvm::Value *address = builder.CreateLoad(
        pointer, builder.CreateConstGEP1_64(pointer, thunk->getArg(0),
                                            argument.getArgNo()));
    arguments.push_back(byValue ? address : builder.CreateLoad(type, address));
  }
  builder.CreateCall(&kernel, arguments);
  builder.CreateRetVoid();
  kernels.push_back({kernel.getName().str(),
                     name,
                     std::move(parameters),
                     hasBarrier,
                     {},
                     ""});
  shareMemory(kernel, kernels.back());
}

llvm::Error HostCode::rewrite(const llvm::orc::JITTargetMachineBuilder &machine,
                              const llvm::DataLayout &layout) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(layout);
  defineLaunchMemory();
  SmallVector<llvm::Function *> functions;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      functions.push_back(&function);
  for (llvm::Function *function : functions)
    if (llvm::Error error = replaceIntrinsics(*function))
      return error;
  return llvm::Error::success();
}

static llvm::orc::SymbolMap
deviceSymbols(llvm::orc::MangleAndInterner &interner) {
  llvm::orc::SymbolMap symbols = compilerSymbols(interner);
  auto add = [&](StringRef name, auto *function) {
    symbols[interner(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                               llvm::JITSymbolFlags::Exported};
  };
  add("ckptEmulatorThread", &ckptEmulatorThread);
  add("ckptEmulatorBlock", &ckptEmulatorBlock);
  add("ckptEmulatorThreads", &ckptEmulatorThreads);
  add("ckptEmulatorBlocks", &ckptEmulatorBlocks);
  add("ckptEmulatorBarrier", &ckptEmulatorBarrier);
  add("ckptEmulatorLoadMatrices", &ckptEmulatorLoadMatrices);
  add("ckptEmulatorMultiply", &ckptEmulatorMultiply);
  add("ckptEmulatorCopy", &ckptEmulatorCopy);
  add("ckptEmulatorCommit", &ckptEmulatorCommit);
  add("ckptEmulatorWait", &ckptEmulatorWait);
  add("ckptEmulatorStored", &ckptEmulatorStored);
  add("ckptEmulatorFenceProxies", &ckptEmulatorFenceProxies);
  add("ckptEmulatorWarpgroupFence", &ckptEmulatorWarpgroupFence);
  add("ckptEmulatorWarpgroupMultiply", &ckptEmulatorWarpgroupMultiply);
  add("ckptEmulatorWarpgroupCommit", &ckptEmulatorWarpgroupCommit);
  add("ckptEmulatorWarpgroupWait", &ckptEmulatorWarpgroupWait);
  add("ckptEmulatorSettle", &ckptEmulatorSettle);
  add("ckptEmulatorMakeBarrier", &ckptEmulatorMakeBarrier);
  add("ckptEmulatorExpect", &ckptEmulatorExpect);
  add("ckptEmulatorWaitFor", &ckptEmulatorWaitFor);
  add("ckptEmulatorCopyBox", &ckptEmulatorCopyBox);
  return symbols;
}

EmulatedModule::EmulatedModule() = default;
EmulatedModule::~EmulatedModule() = default;

llvm::Expected<std::unique_ptr<EmulatedModule>>
EmulatedModule::load(StringRef bitcode) {
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(bitcode, "the device module"), *context);
  if (!module)
    return module.takeError();
  auto machine = detectHost();
  if (!machine)
    return machine.takeError();
  auto jit =
      llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*machine).create();
  if (!jit)
    return jit.takeError();
  HostCode code(**module);
  if (llvm::Error error = code.rewrite(*machine, (*jit)->getDataLayout()))
    return std::move(error);
  llvm::orc::JITDylib &library = (*jit)->getMainJITDylib();
  llvm::orc::MangleAndInterner interner((*jit)->getExecutionSession(),
                                        (*jit)->getDataLayout());
  if (llvm::Error error =
          library.define(llvm::orc::absoluteSymbols(deviceSymbols(interner))))
    return std::move(error);
  if (llvm::Error error = (*jit)->addIRModule(
          llvm::orc::ThreadSafeModule(std::move(*module), std::move(context))))
    return std::move(error);

  std::unique_ptr<EmulatedModule> result(new EmulatedModule());
  for (const HostCode::Kernel &kernel : code.kernels) {
    EmulatedKernel &emulated = result->kernels[kernel.name];
    emulated.name = kernel.name;
    emulated.parameters = kernel.parameters;
    emulated.hasBarrier = kernel.hasBarrier;
    auto thunk = (*jit)->lookup(kernel.thunk);
    if (!thunk)
      return thunk.takeError();
    emulated.run = thunk->toPtr<void (*)(void **)>();
    if (!kernel.launchMemory.empty()) {
      auto address = (*jit)->lookup(kernel.launchMemory);
      if (!address)
        return address.takeError();
      emulated.launchMemory = address->toPtr<char *>();
    }
    for (const HostCode::Shared &memory : kernel.shared) {
      auto address = (*jit)->lookup(memory.name);
      if (!address)
        return address.takeError();
      emulated.shared.push_back({address->toPtr<char *>(), memory.bytes});
    }
  }
  result->jit = std::move(*jit);
  return std::move(result);
}

const EmulatedKernel *EmulatedModule::getKernel(StringRef name) const {
  auto found = kernels.find(name);
  return found == kernels.end() ? nullptr : &found->second;
}
