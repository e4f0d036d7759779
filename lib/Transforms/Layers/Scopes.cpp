//===- Scopes.cpp - The layer of an op, from its location -----------------===//

#include "Transforms/Layers/Scopes.h"
#include "ckpt/Import/NameStack.h"
#include "llvm/ADT/StringExtras.h"

using namespace ckpt;
using plan::LayerKind;

/// Splits at the slashes that are not inside parentheses.
static SmallVector<StringRef> splitPath(StringRef path) {
  SmallVector<StringRef> parts;
  int depth = 0;
  size_t start = 0;
  for (auto [position, character] : llvm::enumerate(path)) {
    if (character == '(')
      ++depth;
    else if (character == ')')
      --depth;
    if (character == '/' && depth == 0) {
      parts.push_back(path.slice(start, position));
      start = position + 1;
    }
  }
  parts.push_back(path.substr(start));
  return parts;
}

namespace {
/// One component without its transformations: `transpose(jvp(X))` is X.
struct Component {
  StringRef scope;
  bool differentiated = false;
  bool backward = false;
  bool function = false;
};
} // namespace

static Component unwrap(StringRef text) {
  Component component;
  while (text.ends_with(")") && text.contains('(')) {
    auto [transformation, inner] = text.drop_back().split('(');
    component.differentiated |= transformation == "jvp";
    component.backward |= transformation == "transpose";
    component.function |= transformation == "jit" || transformation == "pjit";
    text = inner;
  }
  component.scope = text;
  return component;
}

/// `attn.setup` and `attn._split_heads` are methods of attn; the name of an
/// einsum (`...qhd,...khd->...hqk`) has no dot behind a word.
static StringRef withoutMethod(StringRef scope) {
  size_t dot = scope.find('.');
  return dot == 0 ? scope : scope.take_front(dot);
}

Scopes ckpt::readScopes(Location location) {
  Scopes scopes;
  std::string path = locationName(location);
  if (path.empty())
    return scopes;
  SmallVector<StringRef> parts = splitPath(path);
  parts.pop_back(); // the primitive
  for (StringRef part : parts) {
    Component component = unwrap(part);
    scopes.differentiated |= component.differentiated;
    scopes.backward |= component.backward;
    if (component.function) {
      // The step itself is a function too; functions that it calls may be
      // cached.
      scopes.cached |= scopes.differentiated || !scopes.parts.empty();
      continue;
    }
    // A scope that the user named `layers/0` is wrapped as one.
    for (StringRef scope : llvm::split(component.scope, '/'))
      if (!scope.empty() && !scopes.cached)
        scopes.parts.push_back(withoutMethod(scope).str());
  }
  return scopes;
}

/// Whether \p word stands in \p scope between other characters than letters:
/// `ln` in `ln_1` and `post_ln`, but not in `kiln`.
static bool hasWord(StringRef scope, StringRef word) {
  for (size_t at = scope.find(word); at != StringRef::npos;
       at = scope.find(word, at + 1)) {
    size_t end = at + word.size();
    if ((at == 0 || !llvm::isAlpha(scope[at - 1])) &&
        (end == scope.size() || !llvm::isAlpha(scope[end])))
      return true;
  }
  return false;
}

LayerKind ckpt::kindOfScope(StringRef scope) {
  std::string lower = scope.lower();
  StringRef text = lower;
  auto holds = [&](std::initializer_list<StringRef> parts,
                   std::initializer_list<StringRef> words) {
    return llvm::any_of(parts, [&](StringRef p) { return text.contains(p); }) ||
           llvm::any_of(words, [&](StringRef w) { return hasWord(text, w); });
  };
  // `attention_norm` is a norm: the last word counts, and norms come last.
  if (holds({"norm"}, {"ln", "bn", "gn"}))
    return LayerKind::Norm;
  if (holds({"attn", "attention"}, {"mha"}))
    return LayerKind::Attention;
  if (holds({"mlp", "ffn", "feedforward", "feed_forward", "intermediate"},
            {"ff", "c_fc", "fc1", "fc2"}))
    return LayerKind::FFN;
  if (holds({"embed"}, {"wte", "wpe"}))
    return LayerKind::Embedding;
  return LayerKind::Other;
}
