//===- EmitGpuWgmma.cpp - Narrow contractions by warpgroups ---------------===//
//
// bf16 and f16 on the tensor cores of sm_90a: a block makes a square of
// results, each of its warpgroups 64 rows of it. Instructions of a warpgroup
// read both operands from shared memory, in lines of 128 bytes, and run while
// the next part of the steps is on its way there. The steps are multiplied in
// order, 16 at a time; the device's order of these 16 products is unknown.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Gpu/GpuAccumulators.h"
#include "Conversion/Gpu/GpuEmitters.h"
#include "Conversion/Gpu/SharedMemoryStaging.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace ckpt;
using namespace mlir;

static constexpr int64_t warpgroupThreads = 128;
/// Rows and steps of one instruction, by all columns of the block.
static constexpr int64_t rowsAtOnce = 64, stepsAtOnce = 16;
/// Steps of a part in shared memory, and parts that stand there: two blocks of
/// the larger square fit a multiprocessor.
static constexpr int64_t partSteps = 64, parts = 3;
/// A line of either operand: as wide as the lines in which the hardware swaps
/// chunks.
static constexpr int64_t lineElements = 64, lineBytes = 128;
static_assert(partSteps == lineElements);
/// Lines after which the pattern of swapped chunks repeats.
static constexpr int64_t patternLines = 8;
static_assert(patternLines * lineBytes == dynamicAlignment);
/// Unit of descriptors of matrices, in bytes.
static constexpr int64_t descriptorUnit = 16;
/// Neighbouring results in a thread's registers.
static constexpr int64_t sumWidth = 2;

namespace {
class WarpgroupEmitter {
public:
  WarpgroupEmitter(KernelCode &code, const ContractionShape &shape,
                   GpuThread &thread)
      : shape(shape), side(tensorCoreSide(shape)),
        threads(side / rowsAtOnce * warpgroupThreads), thread(thread),
        builder(thread.getBuilder()), emitter(thread.elements(/*lanes=*/1)),
        index(emitter.indices()),
        operands(code, shape, thread, emitter,
                 {side, partSteps, parts, /*outerColumns=*/lineElements,
                  threads, /*readsByProxy=*/true}),
        element(getElementTypeOrSelf(shape.left.tensor.getType())),
        sums(code, shape, thread, side / 4, sumWidth) {}

  FailureOr<LaunchSize> emit();

private:
  void enterBlock();
  Value describe(const StagedOperand &operand, Value firstLine);
  Value descriptorAt(const StagedOperand &operand, Value part, int64_t step);
  Value multiplyStep(Value running, Value part, int64_t step);
  SmallVector<Value> settle(ValueRange registers);
  SmallVector<Value> multiplyPart(ValueRange running, Value part);
  SmallVector<Value> addParts(ValueRange inits);
  GpuAccumulators::Place place() const;
  Value word(int64_t value);

  const ContractionShape &shape;
  int64_t side, threads;
  GpuThread &thread;
  ImplicitLocOpBuilder &builder;
  ElementEmitter emitter;
  IndexEmitter &index;
  SharedMemoryStaging operands;
  Type element;
  GpuAccumulators sums;

  Corner corner;
  LinearIndex inBlock;
  /// Number of the thread's warpgroup, of its warp there, and its own there.
  SmallVector<LinearIndex> inside;
  /// Descriptors of the first part in shared memory.
  Value leftDescriptor, rightDescriptor;
};
} // namespace

Value WarpgroupEmitter::word(int64_t value) {
  return arith::ConstantIntOp::create(builder, value, /*width=*/64);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The 64 bits that name a matrix in shared memory, from \p firstLine of the
/// first part on: its begin, the distance of the next 64 rows (columns) if
/// lines hold these, and the distance of the next eight lines. All in units of
/// 16 bytes; the two highest bits say that chunks are swapped in lines of 128
/// bytes.
Value WarpgroupEmitter::describe(const StagedOperand &operand,
                                 Value firstLine) {
  constexpr int64_t unit = descriptorUnit, addressBits = 14;
  constexpr int64_t leadingBit = 16, strideBit = 32, patternBit = 62;
  int64_t leading = operand.alongSteps ? 1 : partSteps * lineBytes / unit;
  int64_t fields = leading << leadingBit |
                   patternLines * lineBytes / unit << strideBit |
                   int64_t(1) << patternBit;
  Value begin =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, operand.shared);
  Value bytes =
      arith::MulIOp::create(builder, firstLine, thread.constant(lineBytes));
  Value address =
      arith::IndexCastOp::create(builder, builder.getI64Type(),
                                 arith::AddIOp::create(builder, begin, bytes));
  Value units = arith::DivUIOp::create(builder, address, word(unit));
  Value field = arith::AndIOp::create(builder, units,
                                      word((int64_t(1) << addressBits) - 1));
  return arith::OrIOp::create(builder, field, word(fields));
}

/// The same for 16 steps of a part. Steps that are neighbours in lines begin
/// inside of a line: the hardware swaps chunks by their address.
Value WarpgroupEmitter::descriptorAt(const StagedOperand &operand, Value part,
                                     int64_t step) {
  int64_t partBytes = side * partSteps * lineBytes / lineElements;
  int64_t stepBytes =
      stepsAtOnce * (operand.alongSteps ? lineBytes / lineElements : lineBytes);
  Value first = operand.isRight ? rightDescriptor : leftDescriptor;
  Value partUnits = arith::MulIOp::create(
      builder, arith::IndexCastOp::create(builder, builder.getI64Type(), part),
      word(partBytes / descriptorUnit));
  Value ofPart = arith::AddIOp::create(builder, first, partUnits);
  return arith::AddIOp::create(builder, ofPart,
                               word(step * stepBytes / descriptorUnit));
}

void WarpgroupEmitter::enterBlock() {
  corner = thread.corner(squaresOf(shape, side), index);
  inBlock = index.atom(thread.thread(), threads);
  inside = delinearize(inBlock, {side / rowsAtOnce, 4, 32}, index);
  operands.enter(corner, inBlock, [&](ArrayRef<int64_t> extents) {
    return thread.dynamicShared(extents, element);
  });
  // 64 rows are 64 lines, or all steps of them.
  static_assert(rowsAtOnce == partSteps);
  Value firstLine = index.materialize(inside[0] * rowsAtOnce);
  leftDescriptor = describe(operands.operand(/*isRight=*/false), firstLine);
  rightDescriptor =
      describe(operands.operand(/*isRight=*/true), thread.constant(0));
}

/// Place of a pair of sums: warp w has rows 16 w and on; its thread t has two
/// neighbours in row t / 4, and in row t / 4 + 8, of every eight columns.
GpuAccumulators::Place WarpgroupEmitter::place() const {
  return [this](const LinearIndex &slot, IndexEmitter &at) {
    auto [eight, half] = divideIndex(slot, 2, at);
    auto [line, pair] = divideIndex(inside[2], 4, at);
    LinearIndex row =
        corner.row + inside[0] * rowsAtOnce + inside[1] * 16 + half * 8 + line;
    LinearIndex column = corner.column + eight * 8 + pair * sumWidth;
    return std::make_pair(row, column);
  };
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Begins to add 16 steps to the struct \p running.
Value WarpgroupEmitter::multiplyStep(Value running, Value part, int64_t step) {
  auto type = element.isBF16() ? NVVM::WGMMATypes::bf16 : NVVM::WGMMATypes::f16;
  const StagedOperand &left = operands.operand(/*isRight=*/false);
  const StagedOperand &right = operands.operand(/*isRight=*/true);
  MLIRContext *context = builder.getContext();
  // Rows of steps on the left, columns of steps on the right.
  auto leftLayout =
      left.alongSteps ? NVVM::MMALayout::row : NVVM::MMALayout::col;
  auto rightLayout =
      right.alongSteps ? NVVM::MMALayout::col : NVVM::MMALayout::row;
  return NVVM::WgmmaMmaAsyncOp::create(
      builder, running.getType(), running, descriptorAt(left, part, step),
      descriptorAt(right, part, step),
      NVVM::MMAShapeAttr::get(context, rowsAtOnce, side, stepsAtOnce), type,
      type, NVVM::WGMMATypes::f32, NVVM::WGMMAScaleOut::one,
      NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one, leftLayout, rightLayout,
      /*satfinite=*/NVVM::MMAIntOverflowAttr());
}

/// Keeps reads and writes of \p registers on their side of this place: LLVM
/// does not know that instructions of a warpgroup are still at work on them.
SmallVector<Value> WarpgroupEmitter::settle(ValueRange registers) {
  std::string constraints;
  for (size_t number = 0; number < registers.size(); ++number)
    constraints += "=f,";
  for (size_t number = 0; number < registers.size(); ++number)
    constraints += std::to_string(number) + ",";
  constraints.pop_back();
  Type all = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), SmallVector<Type>(registers.getTypes()));
  Value settled =
      LLVM::InlineAsmOp::create(
          builder, all, registers, /*asm_string=*/"", constraints,
          /*has_side_effects=*/true, /*is_align_stack=*/false,
          LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
  SmallVector<Value> elements;
  for (int64_t number = 0; number < int64_t(registers.size()); ++number)
    elements.push_back(LLVM::ExtractValueOp::create(builder, settled, number));
  return elements;
}

/// Begins to add this part and ends the part before, so that there is always
/// one at work.
SmallVector<Value> WarpgroupEmitter::multiplyPart(ValueRange running,
                                                  Value part) {
  Type type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), SmallVector<Type>(running.getTypes()));
  Value all = LLVM::PoisonOp::create(builder, type);
  for (auto [number, sum] : llvm::enumerate(running))
    all = LLVM::InsertValueOp::create(builder, all, sum, number);
  NVVM::WgmmaFenceAlignedOp::create(builder);
  for (int64_t step = 0; step < partSteps / stepsAtOnce; ++step)
    all = multiplyStep(all, part, step);
  NVVM::WgmmaGroupSyncAlignedOp::create(builder);
  NVVM::WgmmaWaitGroupSyncOp::create(builder, /*group=*/1);
  SmallVector<Value> registers;
  for (int64_t number = 0; number < int64_t(running.size()); ++number)
    registers.push_back(LLVM::ExtractValueOp::create(builder, all, number));
  return registers;
}

SmallVector<Value> WarpgroupEmitter::addParts(ValueRange inits) {
  auto multiply = [&](ValueRange running, Value part) {
    return multiplyPart(running, part);
  };
  SmallVector<Value> running =
      operands.addParts(settle(sums.split(inits)), multiply);
  NVVM::WgmmaWaitGroupSyncOp::create(builder, /*group=*/0);
  return sums.join(settle(running));
}

FailureOr<LaunchSize> WarpgroupEmitter::emit() {
  LaunchSize size{squaresOf(shape, side).blocks(), threads};
  enterBlock();
  size.sharedBytes = thread.getDynamicBytes();
  size.tensorMaps.append(thread.getTensorMaps().begin(),
                         thread.getTensorMaps().end());
  auto add = [&](ValueRange inits) { return addParts(inits); };
  SumExchange exchange = {corner, side, threads, inBlock};
  if (failed(sums.emit(emitter, corner.batch, place(), add, &exchange)))
    return failure();
  return size;
}

FailureOr<LaunchSize> ckpt::emitGpuWgmma(KernelCode &code,
                                         const ContractionShape &shape,
                                         GpuThread &thread) {
  return WarpgroupEmitter(code, shape, thread).emit();
}
