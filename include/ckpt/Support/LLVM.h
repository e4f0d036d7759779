//===- LLVM.h - Names of LLVM and MLIR that ckpt uses plainly ---*- C++ -*-===//
//
// The namespace `ckpt` never opens `mlir`; it imports the names of daily use.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_SUPPORT_LLVM_H
#define CKPT_SUPPORT_LLVM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace ckpt {
using llvm::ArrayRef;
using llvm::cast;
using llvm::cast_or_null;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::failed;
using llvm::failure;
using llvm::FailureOr;
using llvm::isa;
using llvm::LogicalResult;
using llvm::MutableArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;
using llvm::succeeded;
using llvm::success;
using llvm::Twine;
using mlir::Attribute;
using mlir::Block;
using mlir::BlockArgument;
using mlir::Location;
using mlir::MLIRContext;
using mlir::ModuleOp;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::OpOperand;
using mlir::OpResult;
using mlir::Region;
using mlir::Type;
using mlir::TypeRange;
using mlir::Value;
using mlir::ValueRange;
} // namespace ckpt

#endif // CKPT_SUPPORT_LLVM_H
