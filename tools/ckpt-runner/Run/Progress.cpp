//===- Progress.cpp - Lines on a terminal while something runs ------------===//

#include "Run/Progress.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace ckpt;

Progress::Progress(const Twine &what) {
  if (llvm::sys::Process::StandardErrIsDisplayed())
    llvm::errs() << "\r\033[K" << what << " ...";
}

Progress::~Progress() {
  if (llvm::sys::Process::StandardErrIsDisplayed())
    llvm::errs() << "\r\033[K";
}
