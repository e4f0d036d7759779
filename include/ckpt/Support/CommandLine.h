//===- CommandLine.h - The options of a tool --------------------*- C++ -*-===//
//
// The mains of the tools call this first.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_SUPPORT_COMMANDLINE_H
#define CKPT_SUPPORT_COMMANDLINE_H

namespace ckpt {

/// Leaves out of `--help` the options that LLVM's shared library brings into
/// every program, such as its code generators'. A tool calls it before it makes
/// its own. The options still work, and `--help-hidden` lists them.
void hideOptionsOfLLVM();

} // namespace ckpt

#endif // CKPT_SUPPORT_COMMANDLINE_H
