//===- Elements.h - The elements of a tensor in memory ----------*- C++ -*-===//
//
// One element takes a power of two of bytes, whatever its width: 1 for i1 and
// i4, 4 for i24. Planner, lowerings and tools ask here, so that they agree.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_SUPPORT_ELEMENTS_H
#define CKPT_SUPPORT_ELEMENTS_H

#include "ckpt/Support/ElementBytes.h"
#include "ckpt/Support/LLVM.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <string>

namespace ckpt {

/// The type of a number of \p type in memory: integers are of 8, 16, 32, ...
/// bits.
inline Type storedElement(Type type) {
  if (!isa<mlir::IntegerType>(type))
    return type;
  return mlir::IntegerType::get(type.getContext(), 8 * elementBytes(type),
                                cast<mlir::IntegerType>(type).getSignedness());
}

/// \p elements as they are stored: bools are 0 or 1, other integers have a
/// sign.
inline mlir::ElementsAttr storedElements(mlir::ElementsAttr elements) {
  Type type = elements.getElementType();
  Type stored = storedElement(type);
  if (stored == type)
    return elements;
  unsigned width = stored.getIntOrFloatBitWidth();
  return cast<mlir::DenseIntElementsAttr>(elements).mapValues(
      stored, [&](const llvm::APInt &value) {
        return type.isInteger(1) ? value.zext(width) : value.sext(width);
      });
}

/// Why \p elements are not those of a resource that the file holds; empty for
/// others.
std::string refusalOfResource(mlir::ElementsAttr elements);

/// The elements of \p resource, each in the bytes of one in memory.
mlir::DenseElementsAttr
readResource(mlir::DenseResourceElementsAttr resource);

} // namespace ckpt

#endif // CKPT_SUPPORT_ELEMENTS_H
