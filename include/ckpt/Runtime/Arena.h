//===- Arena.h - Memory of a step that is watched ---------------*- C++ -*-===//
//
// The arena, arguments and results of a step that runs. It checks that planned
// and allocated bytes are equal by other means than the plan: guard pages
// around each buffer, and the kernel's count of touched pages.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_RUNTIME_ARENA_H
#define CKPT_RUNTIME_ARENA_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ckpt {

/// Memory for one buffer with a guard page on both sides. It begins at a
/// multiple of `alignment` and ends less than that below the upper guard; the
/// bytes between buffer and guards hold a pattern. Fresh memory is zero and
/// takes no page until it is touched; huge pages are off, so that touched pages
/// show the used bytes.
class GuardedBuffer {
public:
  static constexpr int64_t alignment = 64;

  /// Maps memory for \p bytes; \p name is for messages. Fails where the machine
  /// has not enough.
  static llvm::Expected<std::unique_ptr<GuardedBuffer>>
  create(int64_t bytes, llvm::StringRef name);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer &) = delete;
  GuardedBuffer &operator=(const GuardedBuffer &) = delete;

  char *data() const { return begin; }
  int64_t size() const { return bytes; }

  /// Fills the buffer so that every floating-point element is a NaN: a read of
  /// an unwritten element shows in the results.
  void poison();
  /// Lets nothing write to it any more: an argument of a step.
  void makeReadOnly();
  /// Gives its pages back: fresh again.
  void release();
  /// Size of the pages that were read or written since `create` or `release`,
  /// at most `size()`.
  int64_t touchedBytes() const;
  /// Fails if bytes between the buffer and its guards were overwritten.
  llvm::Error checkEdges() const;

private:
  GuardedBuffer() = default;

  std::string name;
  char *mapping = nullptr;
  int64_t mappingBytes = 0;
  char *begin = nullptr;
  int64_t bytes = 0;
};

/// Makes an access to a guard page, or a write to a read-only buffer, end the
/// process with a message that names the buffer and the distance of the access;
/// other crashes stay as they are. Call once, after `llvm::InitLLVM`.
void installGuardHandler();

/// Growth of the process's memory while something runs, as the operating system
/// counts it: everything resident, whoever allocated it.
class ResidentGrowth {
public:
  /// Starts to watch; forgets the process's earlier peak.
  ResidentGrowth();
  /// Peak of resident bytes since then, above the resident bytes then; -1 if
  /// the system does not tell.
  int64_t peakBytes() const;

private:
  int64_t before = -1;
};

} // namespace ckpt

#endif // CKPT_RUNTIME_ARENA_H
