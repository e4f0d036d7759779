//===- ArenaLimit.h - How large an arena may be -----------------*- C++ -*-===//

#ifndef CKPT_IR_ARENALIMIT_H
#define CKPT_IR_ARENALIMIT_H

#include <cstdint>

namespace ckpt {

/// In bytes. No machine has more, and sums of offsets and sizes below stay far
/// from the largest number.
inline constexpr int64_t largestArenaBytes = int64_t(1) << 40;

} // namespace ckpt

#endif // CKPT_IR_ARENALIMIT_H
