//===- NameStack.cpp - The name stack in a location -----------------------===//

#include "ckpt/Import/NameStack.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"

using namespace ckpt;

std::string ckpt::locationName(Location location) {
  if (auto name = dyn_cast<mlir::NameLoc>(location))
    return name.getName().str();
  if (auto call = dyn_cast<mlir::CallSiteLoc>(location)) {
    std::string callee = locationName(call.getCallee());
    if (!callee.empty() && callee.front() != '/')
      return callee;
    // A path that goes on from the caller's scope.
    std::string caller = locationName(call.getCaller());
    if (callee.empty() || caller.empty())
      return caller.empty() ? callee : caller;
    StringRef scope = StringRef(caller).rsplit('/').first;
    return (scope + callee).str();
  }
  if (auto fused = dyn_cast<mlir::FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string name = locationName(part); !name.empty())
        return name;
  return "";
}

/// Parts between the slashes that are not inside parentheses.
static SmallVector<StringRef> splitPath(StringRef path) {
  SmallVector<StringRef> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= path.size(); ++i) {
    if (i < path.size()) {
      depth += path[i] == '(';
      depth -= path[i] == ')';
      if (path[i] != '/' || depth > 0)
        continue;
    }
    if (i > begin)
      parts.push_back(path.slice(begin, i));
    begin = i + 1;
  }
  return parts;
}

/// Takes `name(` and `)` off; false if \p part is no such application.
static bool unwrap(StringRef &part, StringRef name) {
  StringRef inner = part;
  if (!inner.consume_front(name) || !inner.consume_front("(") ||
      !inner.consume_back(")"))
    return false;
  part = inner;
  return true;
}

/// The scope that a part of the path names, empty for a mere wrapper.
static StringRef scopeOf(StringRef part) {
  while (unwrap(part, "transpose") || unwrap(part, "jvp") ||
         unwrap(part, "vmap") || unwrap(part, "remat") ||
         unwrap(part, "checkpoint"))
    ;
  return part.starts_with("jit(") || part.starts_with("pjit(") ? "" : part;
}

static bool isWrapped(StringRef part) {
  return part.starts_with("jvp(") || part.starts_with("transpose(");
}

NameStack ckpt::readNameStack(Location location) {
  NameStack stack;
  std::string name = locationName(location);
  SmallVector<StringRef> parts = splitPath(name);
  if (parts.empty())
    return stack;
  stack.primitive = parts.pop_back_val().str();
  stack.backward = StringRef(name).contains("transpose(jvp(");
  SmallVector<StringRef> scopes;
  for (auto [index, part] : llvm::enumerate(parts)) {
    StringRef scope = scopeOf(part);
    // Differentiation wraps the outermost scope; a capital letter means that
    // it is the class of a module, whose parts say more.
    bool isModel = isWrapped(part) && !scope.empty() &&
                   llvm::isUpper(scope.front()) && index + 1 < parts.size();
    if (!scope.empty() && !isModel)
      scopes.push_back(scope);
  }
  stack.scope = llvm::join(scopes, "/");
  return stack;
}
