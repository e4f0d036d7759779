//===- Faults.cpp - What is wrong with the fake driver --------------------===//

#include "FakeCuda.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace fake;
using llvm::StringRef;

static void set(Faults &faults, StringRef key, StringRef value) {
  bool good = true;
  if (key == "version")
    good = !value.getAsInteger(10, faults.version);
  else if (key == "devices")
    good = !value.getAsInteger(10, faults.devices);
  else if (key == "capability")
    good = !value.getAsInteger(10, faults.capability);
  else if (key == "memory")
    good = !value.getAsInteger(10, faults.memoryBytes);
  else if (key == "illegal")
    good = !value.getAsInteger(10, faults.illegalLaunch);
  else if (key == "name")
    faults.name = value.str();
  else if (key == "fail")
    faults.failing = value.str();
  else
    good = false;
  if (good)
    return;
  llvm::errs() << "CKPT_FAKE_CUDA: no fault '" << key << "=" << value << "'\n";
  abort();
}

const Faults &fake::faults() {
  static const Faults chosen = [] {
    Faults faults;
    const char *text = getenv("CKPT_FAKE_CUDA");
    for (StringRef rest = text ? text : ""; !rest.empty();) {
      auto [first, others] = rest.split(',');
      auto [key, value] = first.split('=');
      set(faults, key, value);
      rest = others;
    }
    return faults;
  }();
  return chosen;
}
