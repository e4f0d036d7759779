//===- WarpInstructions.cpp - Tensor cores as calls of the emulator -------===//
//
// Operands and results of these instructions go through memory of the thread:
// the emulator reads and writes it while the thread waits for its warp.
//
//===----------------------------------------------------------------------===//

#include "Emulator/WarpInstructions.h"
#include "ckpt/Support/LLVM.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace ckpt;

namespace {
/// One instruction that is replaced.
class WarpInstruction {
public:
  explicit WarpInstruction(llvm::CallInst &call) : call(call), builder(&call) {}

  bool replace();

private:
  llvm::Value *scratch(llvm::Type *element, unsigned count);
  void callEmulator(StringRef name, ArrayRef<llvm::Value *> arguments);
  void replaceResults(llvm::Value *memory, llvm::Type *element, unsigned count);
  llvm::Value *pointer(unsigned operand);
  void loadMatrices(bool transposed);
  void multiply(bool isBfloat);
  void copy();
  void waitForBoxes();
  bool copyBox(StringRef dimensions);

  bool replaceAssembly(StringRef text);
  bool replaceIntrinsic(StringRef name);
  llvm::Value *storeRegisters(unsigned count);
  bool multiplyInWarpgroup(StringRef text);
  void settle();

  llvm::CallInst &call;
  llvm::IRBuilder<> builder;
};
} // namespace

/// Scratch of the whole thread, not of one turn of a loop.
llvm::Value *WarpInstruction::scratch(llvm::Type *element, unsigned count) {
  llvm::BasicBlock &entry = call.getFunction()->getEntryBlock();
  llvm::IRBuilder<> atEntry(&entry, entry.begin());
  return atEntry.CreateAlloca(element, builder.getInt32(count));
}

void WarpInstruction::callEmulator(StringRef name,
                                   ArrayRef<llvm::Value *> arguments) {
  SmallVector<llvm::Type *> types;
  for (llvm::Value *argument : arguments)
    types.push_back(argument->getType());
  auto *type = llvm::FunctionType::get(builder.getVoidTy(), types,
                                       /*isVarArg=*/false);
  builder.CreateCall(call.getModule()->getOrInsertFunction(name, type),
                     arguments);
}

void WarpInstruction::replaceResults(llvm::Value *memory, llvm::Type *element,
                                     unsigned count) {
  llvm::Value *results = llvm::PoisonValue::get(call.getType());
  for (unsigned number = 0; number < count; ++number) {
    llvm::Value *at = builder.CreateConstGEP1_32(element, memory, number);
    results = builder.CreateInsertValue(
        results, builder.CreateLoad(element, at), number);
  }
  call.replaceAllUsesWith(results);
}

llvm::Value *WarpInstruction::pointer(unsigned operand) {
  return builder.CreateAddrSpaceCast(call.getArgOperand(operand),
                                     builder.getPtrTy());
}

void WarpInstruction::loadMatrices(bool transposed) {
  llvm::Value *registers = scratch(builder.getInt32Ty(), 4);
  callEmulator("ckptEmulatorLoadMatrices",
               {registers, pointer(0), builder.getInt32(transposed)});
  replaceResults(registers, builder.getInt32Ty(), 4);
}

void WarpInstruction::multiply(bool isBfloat) {
  llvm::Type *pair = builder.getInt32Ty();
  llvm::Type *number = builder.getFloatTy();
  llvm::Value *fragments = scratch(pair, 6), *sums = scratch(number, 4);
  for (unsigned operand = 0; operand < 10; ++operand) {
    bool isSum = operand >= 6;
    llvm::Value *at = builder.CreateConstGEP1_32(isSum ? number : pair,
                                                 isSum ? sums : fragments,
                                                 isSum ? operand - 6 : operand);
    builder.CreateStore(builder.CreateBitCast(call.getArgOperand(operand),
                                              isSum ? number : pair),
                        at);
  }
  callEmulator("ckptEmulatorMultiply",
               {sums, fragments, builder.getInt32(isBfloat)});
  replaceResults(sums, number, 4);
}

void WarpInstruction::copy() {
  llvm::Value *bytes =
      call.arg_size() > 2 ? call.getArgOperand(2) : builder.getInt32(16);
  callEmulator("ckptEmulatorCopy", {pointer(0), pointer(1), bytes});
}

/// The emulator returns when there is nothing to try any more.
void WarpInstruction::waitForBoxes() {
  callEmulator("ckptEmulatorWaitFor", {pointer(0), call.getArgOperand(1)});
  call.replaceAllUsesWith(builder.getTrue());
}

/// Target, barrier, map and corner, then constants: to several blocks, hint for
/// the cache, whether there are both, group of blocks.
bool WarpInstruction::copyBox(StringRef dimensions) {
  unsigned rank = 0;
  if (dimensions.consumeInteger(10, rank) || dimensions != "d" ||
      call.arg_size() != rank + 8)
    return false;
  for (unsigned number = rank + 3; number < call.arg_size(); ++number) {
    auto *value = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(number));
    if (!value || !value->isZero())
      return false;
  }
  llvm::Value *corner = scratch(builder.getInt32Ty(), rank);
  for (unsigned number = 0; number < rank; ++number)
    builder.CreateStore(
        call.getArgOperand(3 + number),
        builder.CreateConstGEP1_32(builder.getInt32Ty(), corner, number));
  callEmulator("ckptEmulatorCopyBox", {pointer(0), pointer(1), pointer(2),
                                       builder.getInt32(rank), corner});
  return true;
}

/// The first \p count operands, which are f32, in memory.
llvm::Value *WarpInstruction::storeRegisters(unsigned count) {
  llvm::Value *registers = scratch(builder.getFloatTy(), count);
  for (unsigned number = 0; number < count; ++number)
    builder.CreateStore(
        call.getArgOperand(number),
        builder.CreateConstGEP1_32(builder.getFloatTy(), registers, number));
  return registers;
}

/// Sums, two descriptors, then constants: whether sums are added to, signs of
/// both operands, and whether they are transposed.
bool WarpInstruction::multiplyInWarpgroup(StringRef text) {
  StringRef shape = text.substr(text.find(".m64n") + StringRef(".m64n").size());
  unsigned columns = 0;
  if (shape.consumeInteger(10, columns))
    return false;
  bool isBfloat = shape.starts_with("k16.f32.bf16.bf16");
  unsigned sums = columns / 2;
  if ((!isBfloat && !shape.starts_with("k16.f32.f16.f16")) ||
      call.arg_size() != sums + 7)
    return false;
  for (unsigned number = 2; number < 5; ++number) {
    auto *value =
        llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(sums + number));
    if (!value || !value->isOne())
      return false;
  }
  llvm::Value *registers = storeRegisters(sums);
  callEmulator("ckptEmulatorWarpgroupMultiply",
               {registers, call.getArgOperand(sums),
                call.getArgOperand(sums + 1), builder.getInt32(columns),
                builder.getInt32(isBfloat), call.getArgOperand(sums + 5),
                call.getArgOperand(sums + 6)});
  replaceResults(registers, builder.getFloatTy(), sums);
  return true;
}

/// Assembly without text, which holds the uses of registers in their place.
void WarpInstruction::settle() {
  unsigned count = call.arg_size();
  llvm::Value *registers = storeRegisters(count);
  callEmulator("ckptEmulatorSettle", {registers, builder.getInt32(count)});
  replaceResults(registers, builder.getFloatTy(), count);
}

bool WarpInstruction::replaceAssembly(StringRef text) {
  if (text.contains("wgmma.mma_async.sync.aligned."))
    return multiplyInWarpgroup(text);
  if (!text.empty())
    return false;
  settle();
  return true;
}

bool WarpInstruction::replace() {
  if (auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand()))
    return replaceAssembly(assembly->getAsmString());
  llvm::Function *callee = call.getCalledFunction();
  return callee && replaceIntrinsic(callee->getName());
}

bool WarpInstruction::replaceIntrinsic(StringRef name) {
  name.consume_front("llvm.nvvm.");
  if (name.consume_front("ldmatrix.sync.aligned.m8n8.x4."))
    loadMatrices(name.consume_front("trans."));
  else if (name == "mma.m16n8k16.row.col.bf16")
    multiply(/*isBfloat=*/true);
  else if (name == "mma.m16n8k16.row.col.f32.f32")
    multiply(/*isBfloat=*/false);
  else if (name.starts_with("cp.async.cg.shared.global.16"))
    copy();
  else if (name == "cp.async.commit.group")
    callEmulator("ckptEmulatorCommit", {});
  else if (name == "cp.async.wait.group")
    callEmulator("ckptEmulatorWait", {call.getArgOperand(0)});
  else if (name == "fence.proxy.async.shared_cta")
    callEmulator("ckptEmulatorFenceProxies", {});
  else if (name == "mbarrier.init.shared")
    callEmulator("ckptEmulatorMakeBarrier",
                 {pointer(0), call.getArgOperand(1)});
  else if (name == "mbarrier.arrive.expect.tx.scope.cta.space.cta")
    callEmulator("ckptEmulatorExpect", {pointer(0), call.getArgOperand(1)});
  else if (name == "mbarrier.try.wait.parity.scope.cta.space.cta")
    waitForBoxes();
  else if (name.consume_front("cp.async.bulk.tensor.g2s.tile."))
    return copyBox(name);
  else if (name == "wgmma.fence.sync.aligned")
    callEmulator("ckptEmulatorWarpgroupFence", {});
  else if (name == "wgmma.commit_group.sync.aligned")
    callEmulator("ckptEmulatorWarpgroupCommit", {});
  else if (name == "wgmma.wait_group.sync.aligned")
    callEmulator("ckptEmulatorWarpgroupWait", {call.getArgOperand(0)});
  else
    return false;
  return true;
}

void ckpt::noteStores(llvm::Function &function, unsigned addressSpace) {
  const llvm::DataLayout &layout = function.getParent()->getDataLayout();
  for (llvm::Instruction &instruction :
       llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!store || store->getPointerAddressSpace() != addressSpace)
      continue;
    llvm::IRBuilder<> builder(store->getNextNode());
    llvm::Value *address = builder.CreateAddrSpaceCast(
        store->getPointerOperand(), builder.getPtrTy());
    llvm::Value *bytes = builder.getInt64(
        layout.getTypeStoreSize(store->getValueOperand()->getType()));
    builder.CreateCall(function.getParent()->getOrInsertFunction(
                           "ckptEmulatorStored", builder.getVoidTy(),
                           builder.getPtrTy(), builder.getInt64Ty()),
                       {address, bytes});
  }
}

bool ckpt::replaceWarpInstruction(llvm::CallInst &call) {
  if (!WarpInstruction(call).replace())
    return false;
  call.eraseFromParent();
  return true;
}
