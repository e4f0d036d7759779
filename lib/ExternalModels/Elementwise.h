//===- Elementwise.h - The model of elementwise ops -------------*- C++ -*-===//
//
// Shared by all dialects whose ops map elements to elements, on tensors and on
// scalars alike.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_EXTERNALMODELS_ELEMENTWISE_H
#define CKPT_LIB_EXTERNALMODELS_ELEMENTWISE_H

#include "ckpt/Interfaces/RematOpInterface.h"

namespace ckpt {

/// Elements of a tensor; 1 for a scalar, and for a size known only at run time,
/// as loops have them inside.
inline int64_t elementsOf(Type type) {
  auto shaped = dyn_cast<mlir::ShapedType>(type);
  if (!shaped)
    return 1;
  int64_t elements = 1;
  for (int64_t size : shaped.getShape())
    if (!mlir::ShapedType::isDynamic(size))
      elements = saturatingProduct(elements, size);
  return elements;
}

/// How an op that works element by element reads \p operand: a scalar beside
/// tensors serves every element.
inline plan::Access elementwiseAccess(Type operand, Type result) {
  return isa<mlir::ShapedType>(operand) == isa<mlir::ShapedType>(result)
             ? plan::Access::Pointwise
             : plan::Access::Any;
}

template <typename ConcreteOp>
struct ElementwiseModel
    : RematOpInterface::ExternalModel<ElementwiseModel<ConcreteOp>,
                                      ConcreteOp> {
  plan::OpKind getRematKind(Operation *) const { return plan::OpKind::Fusible; }
  void getReads(Operation *op, SmallVectorImpl<RematRead> &reads) const {
    Type result = op->getResult(0).getType();
    for (Value operand : op->getOperands())
      reads.push_back({operand, elementwiseAccess(operand.getType(), result)});
  }
  int64_t getFlops(Operation *op) const {
    return elementsOf(op->getResult(0).getType());
  }
};

/// Attaches the model to the elementwise ops of a dialect's list.
template <typename... Ops>
void attachElementwiseModels(MLIRContext *context) {
  auto attach = [&](auto *tag) {
    using ConcreteOp = std::remove_pointer_t<decltype(tag)>;
    if constexpr (ConcreteOp::template hasTrait<mlir::OpTrait::Elementwise>())
      ConcreteOp::template attachInterface<ElementwiseModel<ConcreteOp>>(
          *context);
  };
  (attach(static_cast<Ops *>(nullptr)), ...);
}

} // namespace ckpt

#endif // CKPT_LIB_EXTERNALMODELS_ELEMENTWISE_H
