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

/// The legality rule of both ops: their lowerings know f32 alone.
static LogicalResult checkElements(Operation *op, RankedTensorType type) {
  Type element = type.getElementType();
  if (element.isF32())
    return success();
  return op->emitOpError("expected elements of f32, but got ") << element;
}

//===----------------------------------------------------------------------===//
// silu: computed inside the kernels that read it, as often as the plan likes
//===----------------------------------------------------------------------===//

ckpt::plan::OpKind act::SiluOp::getRematKind() {
  return ckpt::plan::OpKind::Fusible;
}

void act::SiluOp::getReads(SmallVectorImpl<ckpt::RematRead> &reads) {
  reads.push_back({getX(), ckpt::plan::Access::Pointwise});
}

/// An exponential counts as much as ten additions here.
int64_t act::SiluOp::getFlops() {
  return 12 * getX().getType().getNumElements();
}

LogicalResult act::SiluOp::checkSupported() {
  return checkElements(*this, getX().getType());
}

//===----------------------------------------------------------------------===//
// cumsum: a kernel of its own, on operands that stand in memory
//===----------------------------------------------------------------------===//

ckpt::plan::OpKind act::CumsumOp::getRematKind() {
  return ckpt::plan::OpKind::Opaque;
}

void act::CumsumOp::getReads(SmallVectorImpl<ckpt::RematRead> &reads) {
  ckpt::appendOpaqueReads(*this, reads);
}

int64_t act::CumsumOp::getFlops() { return getX().getType().getNumElements(); }

LogicalResult act::CumsumOp::checkSupported() {
  RankedTensorType type = getX().getType();
  if (type.getRank() != 2)
    return emitOpError("expected two dimensions, but got ") << type.getRank();
  return checkElements(*this, type);
}
