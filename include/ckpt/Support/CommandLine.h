//===- CommandLine.h - The options of a tool --------------------*- C++ -*-===//
//
// The mains of the tools call this first.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_SUPPORT_COMMANDLINE_H
#define CKPT_SUPPORT_COMMANDLINE_H

namespace ckpt {

/// Leaves the options out of `--help` that LLVM's shared library brings into
/// every program, those of its code generators; before a tool makes its own.
/// They can be used all the same, and `--help-hidden` lists them.
void hideOptionsOfLLVM();

} // namespace ckpt

#endif // CKPT_SUPPORT_COMMANDLINE_H
