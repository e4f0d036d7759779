//===- Act.cpp - What ckpt has to know of an activation -------------------===//

#include "Act.h"

using namespace mlir;

#include "ActDialect.cpp.inc"

#define GET_OP_CLASSES
#include "ActOps.cpp.inc"

void act::ActDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ActOps.cpp.inc"
      >();
}

/// Computed inside the kernels that read it, as often as the plan likes.
ckpt::plan::OpKind act::SiluOp::getRematKind() {
  return ckpt::plan::OpKind::Fusible;
}

void act::SiluOp::getReads(SmallVectorImpl<ckpt::RematRead> &reads) {
  reads.push_back({getX(), ckpt::plan::Access::Pointwise});
}

/// The cost: an exponential counts as much as ten additions here.
int64_t act::SiluOp::getFlops() {
  return 12 * getX().getType().getNumElements();
}

/// The legality rule: the lowering below knows f32 alone.
LogicalResult act::SiluOp::checkSupported() {
  Type element = getX().getType().getElementType();
  if (element.isF32())
    return success();
  return emitOpError("expected elements of f32, but got ") << element;
}
