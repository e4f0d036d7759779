//===- Elements.cpp - The elements of a tensor in memory ------------------===//
//
// Reads constants whose elements stand in a resource of the file.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Support/Elements.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/Twine.h"
#include <cstring>

using namespace ckpt;

std::string ckpt::refusalOfResource(mlir::ElementsAttr elements) {
  auto resource = dyn_cast<mlir::DenseResourceElementsAttr>(elements);
  if (!resource)
    return "";
  mlir::AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return "the file does not hold it: make the constant an argument";
  int64_t bytes =
      elements.getNumElements() * elementBytes(elements.getElementType());
  int64_t held = blob->getData().size();
  if (held == bytes)
    return "";
  return ("it takes " + llvm::Twine(held) + " bytes instead of " +
          llvm::Twine(bytes))
      .str();
}

mlir::DenseElementsAttr
ckpt::readResource(mlir::DenseResourceElementsAttr resource) {
  auto type = cast<mlir::ShapedType>(resource.getType());
  auto integer = dyn_cast<mlir::IntegerType>(type.getElementType());
  ArrayRef<char> data = resource.getData();
  if (!integer || storedElement(integer) == integer)
    return mlir::DenseElementsAttr::getFromRawBuffer(type, data);
  SmallVector<llvm::APInt> values;
  for (size_t bytes = elementBytes(integer); !data.empty();
       data = data.drop_front(bytes)) {
    uint64_t bits = 0;
    std::memcpy(&bits, data.data(), bytes);
    values.push_back(llvm::APInt(64, bits).trunc(integer.getWidth()));
  }
  return mlir::DenseElementsAttr::get(type, values);
}
