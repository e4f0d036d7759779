//===- OutputFile.h - Files that are complete or absent ---------*- C++ -*-===//
//
// Every file that a tool writes goes through here: written beside its target,
// checked, renamed. An error leaves the target as it was.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_SUPPORT_OUTPUTFILE_H
#define CKPT_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace ckpt {

/// Calls \p write with a stream and puts its output at \p path: all of it, or
/// nothing and an error that names the file. "-" is stdout. A path that is not
/// a regular file (a device, a pipe) is written in place. A symbolic link
/// stays, and its target is replaced.
llvm::Error
writeOutputFile(llvm::StringRef path,
                llvm::function_ref<void(llvm::raw_ostream &)> write);

/// Fails as `writeOutputFile` would where nothing can be written at \p path;
/// changes nothing. For asking before long work. In a command, also fails where
/// another \p option names the same file, or the command reads it.
llvm::Error checkOutputFile(llvm::StringRef path, llvm::StringRef option);

/// Makes this process a command, which never replaces a file that it reads:
/// \p path, unless that is "-".
void protectInputFile(llvm::StringRef path);

} // namespace ckpt

#endif // CKPT_SUPPORT_OUTPUTFILE_H
