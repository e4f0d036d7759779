//===- ArenaTest.cpp - Memory that is watched -----------------------------===//

#include "ckpt/Runtime/Arena.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace ckpt;

namespace {

std::unique_ptr<GuardedBuffer> make(int64_t bytes) {
  auto buffer = GuardedBuffer::create(bytes, "the arena");
  EXPECT_TRUE(bool(buffer));
  return std::move(*buffer);
}

TEST(GuardedBuffer, IsAlignedFreshAndHuge) {
  for (int64_t bytes : {0, 1, 63, 64, 4096, 5000, 1 << 20}) {
    auto buffer = make(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) %
                  GuardedBuffer::alignment,
              0u);
    for (int64_t i = 0; i < bytes; ++i)
      ASSERT_EQ(buffer->data()[i], 0);
  }
  auto error = GuardedBuffer::create(int64_t(1) << 60, "the arena");
  std::string message = llvm::toString(error.takeError());
  // The other number is that of this machine.
  EXPECT_EQ(message.find("expected the arena to fit into the "), 0u);
  EXPECT_NE(message.find("bytes of memory of this machine, but got "
                         "1152921504606846976 bytes"),
            std::string::npos)
      << message;
}

TEST(GuardedBuffer, CountsTouchedPages) {
  constexpr int64_t page = 4096;
  auto buffer = make(100 * page);
  EXPECT_EQ(buffer->touchedBytes(), 0);
  buffer->data()[7 * page] = 1;
  buffer->data()[50 * page] = 1;
  EXPECT_EQ(buffer->touchedBytes(), 2 * page);
  buffer->poison();
  EXPECT_EQ(buffer->touchedBytes(), 100 * page);
  buffer->release();
  EXPECT_EQ(buffer->touchedBytes(), 0);
  EXPECT_EQ(buffer->data()[7 * page], 0);
}

TEST(GuardedBuffer, PoisonIsNotANumber) {
  auto buffer = make(64);
  buffer->poison();
  float single;
  double twice;
  memcpy(&single, buffer->data(), sizeof(single));
  memcpy(&twice, buffer->data(), sizeof(twice));
  EXPECT_TRUE(std::isnan(single));
  EXPECT_TRUE(std::isnan(twice));
}

TEST(GuardedBuffer, NoticesWritesAtItsEdges) {
  auto buffer = make(100);
  EXPECT_FALSE(bool(buffer->checkEdges()));
  memset(buffer->data(), 1, 100);
  EXPECT_FALSE(bool(buffer->checkEdges()));
  buffer->data()[100] = 1;
  EXPECT_EQ(llvm::toString(buffer->checkEdges()),
            "the step wrote beyond the end of the arena");
  buffer->release();
  EXPECT_FALSE(bool(buffer->checkEdges()));
  buffer->data()[-1] = 1;
  EXPECT_EQ(llvm::toString(buffer->checkEdges()),
            "the step wrote before the begin of the arena");
}

TEST(GuardedBufferDeathTest, AccessBeyondEndsTheProcess) {
  auto buffer = make(4096);
  volatile char *data = buffer->data();
  auto writeAt = [&](int64_t offset) {
    installGuardHandler();
    data[offset] = 1;
  };
  EXPECT_EXIT(writeAt(4096), testing::ExitedWithCode(1),
              "error: the step accessed memory 1 bytes beyond the end of the "
              "arena");
  EXPECT_EXIT(writeAt(-8), testing::ExitedWithCode(1),
              "error: the step accessed memory 8 bytes before the begin of "
              "the arena");
}

TEST(GuardedBufferDeathTest, WriteToReadOnlyEndsTheProcess) {
  auto buffer = make(4096);
  buffer->data()[0] = 7;
  buffer->makeReadOnly();
  EXPECT_EQ(buffer->data()[0], 7);
  auto write = [&] {
    installGuardHandler();
    *const_cast<volatile char *>(buffer->data()) = 1;
  };
  EXPECT_EXIT(write(), testing::ExitedWithCode(1),
              "error: the step wrote to the arena");
}

TEST(GuardedBufferDeathTest, OtherFaultsStayFaults) {
  auto faultElsewhere = [] {
    installGuardHandler();
    // Not null: a compiler may take a write there for unreachable.
    *reinterpret_cast<volatile char *>(64) = 1;
  };
  EXPECT_EXIT(faultElsewhere(), testing::KilledBySignal(SIGSEGV), "");
}

TEST(ResidentGrowth, SeesMemoryThatCameAndWent) {
  constexpr int64_t bytes = 64 << 20;
  ResidentGrowth growth;
  if (growth.peakBytes() < 0)
    GTEST_SKIP() << "this system does not tell the peak of resident memory";
  {
    auto buffer = make(bytes);
    buffer->poison();
  }
  // Linux counts in batches of pages per thread.
  EXPECT_GE(growth.peakBytes(), bytes - bytes / 32);
  EXPECT_LT(ResidentGrowth().peakBytes(), bytes / 4);
}

} // namespace
