//===- VerifyTakeovers.h - Is an input read before it is lost? --*- C++ -*-===//
//
// Part of `verifyRewrite` (Verify.h) for modules, after `verifySlots`.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_VERIFY_VERIFYTAKEOVERS_H
#define CKPT_LIB_VERIFY_VERIFYTAKEOVERS_H

#include "ckpt/IR/CkptDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// That a kernel which writes a result over one of its inputs reads each
/// element of that input only to make the element at its place. For functions
/// whose places are right otherwise (`verifySlots`).
LogicalResult verifyTakeovers(mlir::func::FuncOp function);

} // namespace ckpt

#endif // CKPT_LIB_VERIFY_VERIFYTAKEOVERS_H
