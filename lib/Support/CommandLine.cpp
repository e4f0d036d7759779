//===- CommandLine.cpp - The options of a tool ----------------------------===//

#include "ckpt/Support/CommandLine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"

/// Whether \p option is one of every tool, such as `--help`.
static bool isCommon(const llvm::cl::Option &option) {
  return llvm::any_of(option.Categories,
                      [](llvm::cl::OptionCategory *category) {
                        return category->getName() == "Generic Options" ||
                               category->getName() == "Color Options";
                      });
}

void ckpt::hideOptionsOfLLVM() {
  for (auto &entry : llvm::cl::getRegisteredOptions())
    if (!isCommon(*entry.second))
      entry.second->setHiddenFlag(llvm::cl::Hidden);
}
