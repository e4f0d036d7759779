//===- WarpInstructions.cpp - Tensor cores as calls of the emulator -------===//
//
// What these instructions take and give goes through memory of the thread: the
// emulator reads and writes it while the thread waits for its warp.
//
//===----------------------------------------------------------------------===//

#include "WarpInstructions.h"
#include "ckpt/Support/LLVM.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace ckpt;

namespace {
/// One instruction that is replaced.
class WarpInstruction {
public:
  explicit WarpInstruction(llvm::IntrinsicInst &call)
      : call(call), builder(&call) {}

  bool replace();

private:
  llvm::Value *scratch(llvm::Type *element, unsigned count);
  void callEmulator(StringRef name, ArrayRef<llvm::Value *> arguments);
  void replaceResults(llvm::Value *memory, llvm::Type *element, unsigned count);
  llvm::Value *pointer(unsigned operand);
  void loadMatrices(bool transposed);
  void multiply(bool isBfloat);
  void copy();

  llvm::IntrinsicInst &call;
  llvm::IRBuilder<> builder;
};
} // namespace

/// Of the whole thread, not of one turn of a loop.
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

bool WarpInstruction::replace() {
  StringRef name = call.getCalledFunction()->getName();
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
  else
    return false;
  return true;
}

bool ckpt::replaceWarpInstruction(llvm::IntrinsicInst &call) {
  if (!WarpInstruction(call).replace())
    return false;
  call.eraseFromParent();
  return true;
}
