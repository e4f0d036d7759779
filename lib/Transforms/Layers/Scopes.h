//===- Scopes.h - The layer of an op, from its location ---------*- C++ -*-===//
//
// JAX writes the scopes in which an op was traced into its location:
//
//   jit(step)/jit(main)/jvp(GPT2)/transformer/h/0/attn/c_attn/dot_general
//   jit(step)/jit(main)/transpose(jvp(GPT2))/transformer/h/0/attn/…
//
// The second form is the backward pass. The body of a function that is traced
// once and called often (`…/jit(relu)/max`) carries the scopes of its first
// call, so its name is a hint only.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_LAYERS_SCOPES_H
#define CKPT_LIB_TRANSFORMS_LAYERS_SCOPES_H

#include "ckpt/Plan/Strategies.h"
#include "ckpt/Support/LLVM.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace ckpt {

using ScopePath = std::vector<std::string>;

struct Scopes {
  /// GPT2, transformer, h, 0, attn, c_attn: without transformations, without
  /// the primitive, and without method names (`attn._split_heads`).
  ScopePath parts;
  /// Under `jvp(…)`: in the differentiated part.
  bool differentiated = false;
  /// Under `transpose(…)`.
  bool backward = false;
  /// Inside a function that may have been traced for another caller.
  bool cached = false;
};

/// The scopes in the name stack of \p location; none where there is no name.
Scopes readScopes(Location location);

/// The kind that the words of one scope stand for; `Other` if none does.
plan::LayerKind kindOfScope(StringRef scope);

/// Layers by the scopes of a whole program: the cut of a path depends on the
/// other paths.
class LayerNames {
public:
  /// \p paths are the scopes of all forward ops. With \p depth that many
  /// components of a layer's short name are kept; 0 chooses.
  LayerNames(const std::vector<ScopePath> &paths, unsigned depth);

  /// The layer of an op with these scopes, or an empty string if they only name
  /// a container of several layers.
  std::string layerOf(const ScopePath &path) const;

private:
  void findContainers(const std::vector<ScopePath> &paths);
  ScopePath cut(const ScopePath &path) const;
  size_t start(const ScopePath &path) const;
  void name(const std::set<ScopePath> &keys);

  unsigned depth;
  /// Paths that hold several layers.
  std::set<ScopePath> containers;
  /// Layers and their short names.
  std::map<ScopePath, std::string> names;
};

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_LAYERS_SCOPES_H
