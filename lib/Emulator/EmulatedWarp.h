//===- EmulatedWarp.h - Instructions of the threads of a warp ---*- C++ -*-===//
//
// Instructions of 32 threads at a time, and copies that arrive late. A thread
// leaves its request and waits; the last thread of the warp makes the results
// of all.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_EMULATOR_EMULATEDWARP_H
#define CKPT_LIB_EMULATOR_EMULATEDWARP_H

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/bit.h"
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace ckpt {

inline constexpr int64_t warpThreads = 32;

/// The request of one thread to an instruction of its warp, and the place of
/// its part of the result.
struct WarpRequest {
  enum Kind { LoadMatrices, Multiply } kind;
  /// LoadMatrices: the row that this thread names, and whether squares are
  /// transposed. Four registers of two elements.
  const uint16_t *row;
  bool transposed;
  uint32_t *registers;
  /// Multiply: fragments of both operands, and sums that are replaced.
  std::array<uint32_t, 4> left;
  std::array<uint32_t, 2> right;
  bool isBfloat;
  float *sums;
};

/// A bf16 or f16 as f32.
inline float widen(uint32_t bits, bool isBfloat) {
  if (isBfloat)
    return llvm::bit_cast<float>(bits << 16);
  return llvm::APFloat(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits))
      .convertToFloat();
}

/// Runs the requests of all threads of a warp; false if they differ.
bool runWarp(const std::array<WarpRequest, warpThreads> &requests);

/// Copies to shared memory that a thread has begun. The data comes at the last
/// moment that is allowed: when the thread waits for it, and not before.
class AsyncCopies {
public:
  /// Copies \p bytes of \p source, then zeros.
  void start(char *target, const char *source, int32_t bytes);
  void commit();
  /// Lets all groups but the \p pending latest arrive; calls \p arrived with
  /// where and how many bytes.
  void wait(int32_t pending,
            llvm::function_ref<void(const char *, int64_t)> arrived);
  void drop();

private:
  struct Copy {
    char *target;
    const char *source;
    int32_t bytes;
  };
  std::vector<Copy> open;
  std::deque<std::vector<Copy>> groups;
};

} // namespace ckpt

#endif // CKPT_LIB_EMULATOR_EMULATEDWARP_H
