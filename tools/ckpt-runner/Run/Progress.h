//===- Progress.h - Lines on a terminal while something runs ----*- C++ -*-===//
//
// Planning, compiling and running say so on a terminal; files and pipes get
// nothing.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_RUN_PROGRESS_H
#define CKPT_TOOLS_CKPTRUNNER_RUN_PROGRESS_H

#include "ckpt/Support/LLVM.h"

namespace ckpt {

/// Names on a terminal the work that takes long, and wipes it away at the end.
class Progress {
public:
  explicit Progress(const Twine &what);
  ~Progress();
};

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_RUN_PROGRESS_H
