//===- NameStack.h - The name stack in a location ---------------*- C++ -*-===//
//
// JAX writes the path of an op in the model into its location:
// `jit(step)/jit(main)/transpose(jvp(Model))/transformer/h/3/attn/dot_general`.
// Names for people, layers and the passes of a step come from there.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_IMPORT_NAMESTACK_H
#define CKPT_IMPORT_NAMESTACK_H

#include "ckpt/Support/LLVM.h"
#include <string>

namespace ckpt {

struct NameStack {
  /// Path of the module or scope: `transformer/h/3/attn`. May be empty.
  std::string scope;
  /// The last part: `dot_general`. Empty if the location has no name.
  std::string primitive;
  /// Made by differentiation with respect to an output: `transpose(jvp(…))`.
  bool backward = false;
};

/// Reads the name that is nearest to the op; a name that starts with a slash
/// goes on from that of its caller. Wrappers such as `jit(…)` are left out, and
/// so is the class of the whole model where parts of it follow.
NameStack readNameStack(Location location);

/// The name of a location as it stands there, empty if there is none.
std::string locationName(Location location);

} // namespace ckpt

#endif // CKPT_IMPORT_NAMESTACK_H
