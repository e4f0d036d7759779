//===- IterationNames.cpp - Names of unrolled iterations ------------------===//

#include "Transforms/Loops/IterationNames.h"
#include "llvm/ADT/StringExtras.h"

using namespace ckpt;

void IterationNames::enter(Iteration iteration) {
  iterations.push_back(iteration);
  known.clear();
}

void IterationNames::leave() {
  iterations.pop_back();
  known.clear();
}

/// The end of the next `while` in \p name that is a scope of its own.
static size_t endOfLoop(StringRef name, size_t from) {
  constexpr StringRef word = "while";
  for (size_t at = name.find(word, from); at != StringRef::npos;
       at = name.find(word, at + 1)) {
    size_t end = at + word.size();
    bool begins = at == 0 || name[at - 1] == '/' || name[at - 1] == '(';
    if (begins && end < name.size() && (name[end] == '/' || name[end] == ')'))
      return end;
  }
  return StringRef::npos;
}

static std::string numbered(StringRef name, ArrayRef<Iteration> iterations) {
  std::string text;
  size_t done = 0;
  for (auto [number, count] : iterations) {
    size_t end = endOfLoop(name, done);
    if (end == StringRef::npos)
      break;
    bool transposed = name.take_front(end).contains("transpose(");
    text += name.slice(done, end);
    text += "_" + std::to_string(transposed ? count - 1 - number : number);
    // The scope of the body says no more than that of the loop.
    done = end;
    StringRef rest = name.drop_front(end).ltrim(')');
    if (rest.starts_with("/body/")) {
      size_t body = name.size() - rest.size();
      text += name.slice(end, body);
      done = body + StringRef("/body").size();
    }
  }
  return text + name.drop_front(done).str();
}

Location IterationNames::operator()(Location location) {
  if (auto found = known.find(location); found != known.end())
    return found->second;
  Location named = location;
  if (auto name = dyn_cast<mlir::NameLoc>(location)) {
    std::string text = numbered(name.getName(), iterations);
    named = mlir::NameLoc::get(
        mlir::StringAttr::get(location.getContext(), text), name.getChildLoc());
  } else if (auto call = dyn_cast<mlir::CallSiteLoc>(location)) {
    named = mlir::CallSiteLoc::get((*this)(call.getCallee()),
                                   (*this)(call.getCaller()));
  } else if (auto fused = dyn_cast<mlir::FusedLoc>(location)) {
    SmallVector<Location> parts;
    for (Location part : fused.getLocations())
      parts.push_back((*this)(part));
    named =
        mlir::FusedLoc::get(parts, fused.getMetadata(), location.getContext());
  }
  known.try_emplace(location, named);
  return named;
}
