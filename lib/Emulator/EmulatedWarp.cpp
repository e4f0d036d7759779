//===- EmulatedWarp.cpp - Instructions of the threads of a warp -----------===//

#include "Emulator/EmulatedWarp.h"
#include <cmath>
#include <cstring>

using namespace ckpt;

using Requests = std::array<WarpRequest, warpThreads>;

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// Thread 8 i + r names row r of square i. Thread t gets elements 2 (t mod 4)
/// and the next of row t / 4 of every square, or of that column.
static void loadMatrices(const Requests &requests) {
  for (int64_t thread = 0; thread < warpThreads; ++thread)
    for (int64_t square = 0; square < 4; ++square) {
      uint32_t pair = 0;
      for (int64_t half = 0; half < 2; ++half) {
        int64_t row = thread / 4, column = thread % 4 * 2 + half;
        if (requests[thread].transposed)
          std::swap(row, column);
        uint32_t element = requests[square * 8 + row].row[column];
        pair |= element << (16 * half);
      }
      requests[thread].registers[square] = pair;
    }
}

static uint32_t element(uint32_t pair, int64_t number) {
  return pair >> (16 * (number % 2)) & 0xFFFF;
}

/// 16 x 8 sums of 16 products, each in order: the device does not say in which.
static void multiply(const Requests &requests) {
  float left[16][16], right[16][8];
  for (int64_t thread = 0; thread < warpThreads; ++thread) {
    const WarpRequest &request = requests[thread];
    for (int64_t number = 0; number < 8; ++number) {
      int64_t pair = number / 2, step = thread % 4 * 2 + number % 2;
      left[thread / 4 + pair % 2 * 8][step + pair / 2 * 8] =
          widen(element(request.left[pair], number), request.isBfloat);
      if (number < 4)
        right[step + pair * 8][thread / 4] =
            widen(element(request.right[pair], number), request.isBfloat);
    }
  }
  for (int64_t thread = 0; thread < warpThreads; ++thread)
    for (int64_t number = 0; number < 4; ++number) {
      int64_t row = thread / 4 + number / 2 * 8;
      int64_t column = thread % 4 * 2 + number % 2;
      float &sum = requests[thread].sums[number];
      for (int64_t step = 0; step < 16; ++step)
        sum = std::fma(left[row][step], right[step][column], sum);
    }
}

bool ckpt::runWarp(const Requests &requests) {
  for (const WarpRequest &request : requests)
    if (request.kind != requests.front().kind ||
        request.transposed != requests.front().transposed ||
        request.isBfloat != requests.front().isBfloat)
      return false;
  if (requests.front().kind == WarpRequest::LoadMatrices)
    loadMatrices(requests);
  else
    multiply(requests);
  return true;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Bytes of every copy.
static constexpr int32_t copyBytes = 16;

void AsyncCopies::start(char *target, const char *source, int32_t bytes) {
  open.push_back({target, source, bytes});
}

void AsyncCopies::commit() { groups.push_back(std::exchange(open, {})); }

void AsyncCopies::wait(
    int32_t pending, llvm::function_ref<void(const char *, int64_t)> arrived) {
  for (; groups.size() > static_cast<size_t>(pending); groups.pop_front())
    for (const Copy &copy : groups.front()) {
      std::memset(copy.target, 0, copyBytes);
      std::memcpy(copy.target, copy.source, copy.bytes);
      arrived(copy.target, copyBytes);
    }
}

void AsyncCopies::drop() {
  open.clear();
  groups.clear();
}
