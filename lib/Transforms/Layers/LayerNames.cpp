//===- LayerNames.cpp - Layers from paths of scopes -----------------------===//
//
// A model repeats itself: `h/0`, `h/1`, `stages/2/layers/3`, `layer_3`. The
// deepest numbered path is a block. A block with attention or a feed-forward
// part is split into its parts (`h/0/attn`, `h/0/mlp`, `h/0/ln_1`), so that
// strategies can tell them apart; any other block is one layer. A module beside
// the blocks (`wte`, `lm_head`) is a layer by itself.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Layers/Scopes.h"
#include "llvm/ADT/StringExtras.h"

using namespace ckpt;
using plan::LayerKind;

static bool isNumber(StringRef scope) {
  return !scope.empty() && llvm::all_of(scope, llvm::isDigit);
}

/// `0`, `layer_3`, `encoderblock_0`, `Stage2`, but not `ln_1` or `Dense_0`.
static bool isNumbered(StringRef scope) {
  if (isNumber(scope))
    return true;
  StringRef word = scope.rtrim("0123456789");
  if (word.size() == scope.size())
    return false;
  word.consume_back("_");
  return word.ends_with_insensitive("layer") ||
         word.ends_with_insensitive("block") ||
         word.ends_with_insensitive("stage");
}

static bool isPartOfBlock(StringRef scope) {
  LayerKind kind = kindOfScope(scope);
  return kind == LayerKind::Attention || kind == LayerKind::FFN;
}

static ScopePath prefix(const ScopePath &path, size_t size) {
  return ScopePath(path.begin(), path.begin() + std::min(size, path.size()));
}

namespace {
/// The places of the numbers of a path.
struct Numbering {
  /// Index of the first numbered scope, with the word before a bare number.
  size_t begin = 0;
  /// Size of the prefix that ends with the last number; 0 if there is none.
  size_t end = 0;
};
} // namespace

static Numbering findBlock(const ScopePath &path) {
  Numbering block;
  for (size_t i = 0; i < path.size(); ++i) {
    // Numbers inside the parts of a block are no blocks: `h/0/mlp/layers/1`.
    if (block.end && isPartOfBlock(path[i]))
      break;
    if (!isNumbered(path[i]))
      continue;
    if (!block.end)
      block.begin = isNumber(path[i]) && i ? i - 1 : i;
    block.end = i + 1;
  }
  return block;
}

LayerNames::LayerNames(const std::vector<ScopePath> &paths, unsigned depth)
    : depth(depth) {
  findContainers(paths);
  std::set<ScopePath> keys;
  for (const ScopePath &path : paths)
    keys.insert(cut(path));
  name(keys);
}

void LayerNames::findContainers(const std::vector<ScopePath> &paths) {
  for (const ScopePath &path : paths) {
    Numbering block = findBlock(path);
    for (size_t size = 1; size < block.end; ++size)
      containers.insert(prefix(path, size));
    if (block.end && block.end < path.size() && isPartOfBlock(path[block.end]))
      containers.insert(prefix(path, block.end));
  }
  if (paths.empty() || findBlock(paths.front()).end)
    return;
  // The common prefix of all, the class of the model at least.
  size_t common = paths.front().size(), longest = 0;
  for (const ScopePath &path : paths) {
    size_t size = 0;
    while (size < std::min(common, path.size()) &&
           path[size] == paths.front()[size])
      ++size;
    common = size;
    longest = std::max(longest, path.size());
  }
  for (size_t size = 1; size <= common && size < longest; ++size)
    containers.insert(prefix(paths.front(), size));
}

/// First scope of the short name of the layer of \p path.
size_t LayerNames::start(const ScopePath &path) const {
  if (Numbering block = findBlock(path); block.end)
    return block.begin;
  for (size_t size = 1; size <= path.size(); ++size)
    if (!containers.count(prefix(path, size)))
      return size - 1;
  return path.size();
}

ScopePath LayerNames::cut(const ScopePath &path) const {
  if (depth)
    return prefix(path, start(path) + depth);
  Numbering block = findBlock(path);
  if (!block.end)
    return prefix(path, start(path) + 1);
  return prefix(path, containers.count(prefix(path, block.end)) ? block.end + 1
                                                                : block.end);
}

static std::string join(const ScopePath &path, size_t from) {
  return llvm::join(path.begin() + from, path.end(), "/");
}

/// Whether \p key is above another key: with a given depth a path may end
/// before the cut of others.
static bool holdsOther(const std::set<ScopePath> &keys, const ScopePath &key) {
  auto next = keys.upper_bound(key);
  return next != keys.end() && prefix(*next, key.size()) == key;
}

/// Short names where they are distinct, such as `h/0/attn`; else whole paths.
void LayerNames::name(const std::set<ScopePath> &keys) {
  for (const ScopePath &key : keys)
    if (!key.empty() && !holdsOther(keys, key) &&
        (depth || !containers.count(key)))
      names[key] = join(key, std::min(start(key), key.size() - 1));
  std::set<std::string> shortNames;
  for (const auto &entry : names)
    shortNames.insert(entry.second);
  if (shortNames.size() < names.size())
    for (auto &[key, name] : names)
      name = join(key, 0);
}

std::string LayerNames::layerOf(const ScopePath &path) const {
  auto found = names.find(cut(path));
  return found == names.end() ? "" : found->second;
}
