//===- ElementEmitter.h - The value of any tensor at an index ---*- C++ -*-===//
//
// Emits one element (or one vector of neighbours) of a tensor value by walking
// up its producers until memory is reached. Nothing is ever stored in between,
// so values inside a kernel need no buffers (docs/Rationale/CpuLowering.md).
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_ELEMENT_ELEMENTEMITTER_H
#define CKPT_LIB_CONVERSION_ELEMENT_ELEMENTEMITTER_H

#include "Conversion/Element/IndexEmitter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ckpt {

/// Tensor values that stand in memory, each with its flat 1-D memref, and the
/// function arguments that scalars of the kernel stand for.
using MemoryMap = llvm::DenseMap<Value, Value>;

/// A read of memory: a flat memref and the position in it.
struct MemoryRead {
  Value flat;
  LinearIndex position;
};

/// Whether every op of the kernel's \p body can be emitted for several lanes at
/// a time.
bool supportsLanes(Block &body);

/// Whether CPUs with vectors of \p lanes elements of type \p element read some
/// of them under a mask; others branch at each lane.
inline bool hasMaskedReads(Type element, int64_t lanes) {
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 32 &&
         lanes * element.getIntOrFloatBitWidth() >= 256;
}

inline ArrayRef<int64_t> shapeOf(Value tensor) {
  return cast<mlir::ShapedType>(tensor.getType()).getShape();
}

/// Emits for one region; each emitted value dominates the later ones.
class ElementEmitter {
public:
  ElementEmitter(mlir::ImplicitLocOpBuilder &builder, const MemoryMap &memory,
                 int64_t lanes)
      : builder(builder), memory(memory), index(builder, lanes) {}

  IndexEmitter &indices() { return index; }

  /// An emitter for a region inside this one's that uses its values. Another
  /// number of \p lanes is possible only inside one that emits scalars.
  ElementEmitter nested(int64_t lanes) const {
    ElementEmitter copy = *this;
    copy.index.setLanes(lanes);
    return copy;
  }

  /// From now on memory is known to begin at multiples of \p bytes, so accesses
  /// of neighbours that lie at multiples of their size say so.
  void assumeAlignment(int64_t bytes) { alignment = bytes; }

  /// From now on neighbours of which some are not used, as they lie in padding
  /// or in another one of joined tensors, are one access of the others, for
  /// targets with masks. Elsewhere each lane has an address.
  void useMasks() { masks = true; }

  /// From now on every read of memory is put down in \p list too.
  void recordReads(SmallVectorImpl<MemoryRead> &list) { reads = &list; }

  /// From now on every element of \p tensor that is asked for is \p element.
  void setElement(Value tensor, Value element) { current[tensor] = element; }

  /// The element of \p tensor, a scalar where lanes agree. Null, with a
  /// diagnostic, if an op on the way cannot be emitted.
  Value emit(Value tensor, ArrayRef<LinearIndex> at);
  /// A scalar of the kernel.
  Value emitScalar(Value scalar);
  /// What \p operand of a linalg op, a tensor or a scalar, gives at the point
  /// \p loops of its iteration space.
  Value emitOperand(mlir::OpOperand &operand, ArrayRef<LinearIndex> loops);
  /// The values that the body of \p op yields at the point \p loops of its
  /// iteration space; \p inits stand for its output block arguments, or the
  /// init operands do where empty.
  SmallVector<Value> emitBody(mlir::linalg::LinalgOp op,
                              ArrayRef<LinearIndex> loops,
                              ArrayRef<Value> inits);
  /// \p element as a vector of all lanes.
  Value broadcast(Value element);
  /// Both conditions; null stands for one that always holds.
  Value both(Value first, Value second);
  /// \p element, zero where \p condition does not hold.
  Value orZero(Value condition, Value element);
  /// Elements of memory: scalar, neighbours, or gathered.
  Value load(Value flat, LinearIndex position);
  /// Begin of one access to all lanes, which must be neighbours at a multiple
  /// of their size; null if they are not, as far as is known.
  Value alignedStart(Value flat, LinearIndex position);
  /// Writes all lanes of \p element; the position advances one by one.
  void store(Value element, Value flat, LinearIndex position);

private:
  using Key = std::pair<const void *, SmallVector<LinearIndex>>;

  /// One access to lanes at \p position of which only some are neighbours, and
  /// nobody uses the others; null where that is not possible. Lanes where
  /// \p inside does not hold are \p other, if both are given.
  Value loadMasked(Value flat, LinearIndex position, Value inside = Value(),
                   Value other = Value());
  llvm::MaybeAlign alignmentOf(const LinearIndex &start, Value flat) const;
  Value emitResult(OpResult result, ArrayRef<LinearIndex> at);
  Value emitLinalg(mlir::linalg::LinalgOp op, unsigned result,
                   ArrayRef<LinearIndex> at);
  Value emitInsertSlice(mlir::tensor::InsertSliceOp op,
                        ArrayRef<LinearIndex> at);
  Value emitPad(mlir::tensor::PadOp op, ArrayRef<LinearIndex> at);
  /// The element of the padding at an index.
  Value emitPadding(mlir::tensor::PadOp op, ArrayRef<LinearIndex> at);
  Value emitConcat(mlir::tensor::ConcatOp op, ArrayRef<LinearIndex> at);
  Value emitFromElements(mlir::tensor::FromElementsOp op,
                         ArrayRef<LinearIndex> at);
  Value emitConstant(mlir::arith::ConstantOp op, ArrayRef<LinearIndex> at);
  Value emitZero(Type type);
  Value emitExtractSlice(mlir::tensor::ExtractSliceOp op,
                         ArrayRef<LinearIndex> at);
  Value emitExtract(mlir::tensor::ExtractOp op, mlir::IRMapping &mapping,
                    ArrayRef<LinearIndex> loops);
  /// All results of \p op, a scalar op or one that works element by element.
  SmallVector<Value> emitElementwise(Operation &op, ArrayRef<Value> operands);
  /// The ops of \p block in order; \p mapping holds its arguments. The values
  /// of its terminator.
  SmallVector<Value> emitBlock(Block &block, mlir::IRMapping &mapping,
                               ArrayRef<LinearIndex> loops);
  /// The results of \p op; empty, with a diagnostic, if it cannot be emitted.
  SmallVector<Value> emitBlockOp(Operation &op, mlir::IRMapping &mapping,
                                 ArrayRef<LinearIndex> loops);
  Value mapped(Value value, mlir::IRMapping &mapping);
  /// The linear form of an index computed in a body, if it has one.
  std::optional<LinearIndex> linearForm(Value value,
                                        ArrayRef<LinearIndex> loops);
  LinearIndex clampedIndex(Value value, int64_t extent);
  LinearIndex offsetOf(mlir::OpFoldResult offset, int64_t limit);
  Value select(Value condition, Value ifTrue, Value ifFalse);
  /// The element of one of two tensors; that of the other is not computed.
  Value emitEither(Value condition, Value ifTrue, ArrayRef<LinearIndex> trueAt,
                   Value ifFalse, ArrayRef<LinearIndex> falseAt);

  mlir::ImplicitLocOpBuilder &builder;
  const MemoryMap &memory;
  IndexEmitter index;
  /// Alignment of all memory, in bytes; 0 if unknown.
  int64_t alignment = 0;
  bool masks = false;
  SmallVectorImpl<MemoryRead> *reads = nullptr;
  /// Producers above the first tensor that was asked for.
  int32_t depth = 0;
  llvm::DenseMap<Value, Value> current;
  std::map<Key, SmallVector<Value>> known;
};

/// The indices of an operand from the loops of its op.
SmallVector<LinearIndex> applyMap(mlir::AffineMap map,
                                  ArrayRef<LinearIndex> loops,
                                  IndexDivider &divider);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_ELEMENT_ELEMENTEMITTER_H
