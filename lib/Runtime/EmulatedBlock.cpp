//===- EmulatedBlock.cpp - The threads of one block -----------------------===//

#include "EmulatedBlock.h"
#include "llvm/Support/raw_ostream.h"
#include <csetjmp>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <ucontext.h>

using namespace ckpt;

/// What a thread may put on its stack; `--ckpt-check-kernel-memory` allows
/// less.
static constexpr size_t stackBytes = 256 * 1024;

namespace {

/// A thread that can stop at a barrier. Once made, it runs one thread after the
/// other: making a context takes a system call, a jump takes none.
class Fibre {
public:
  /// Runs the thread from where it stopped to its next barrier or its end.
  void resume();
  /// Back to who resumed it; called by the thread itself.
  void stop();

  bool isDone = false;

private:
  static void enter();
  void start();

  sigjmp_buf own, caller;
  /// Not initialised: a page that is not touched takes no memory.
  std::unique_ptr<char[]> stack;
};

/// The launch that runs.
struct Grid {
  const EmulatedKernel *kernel = nullptr;
  void **arguments = nullptr;
  Extents blocks = {}, threads = {};
  int64_t block = 0, thread = 0;
  std::vector<Fibre> fibres;
  ThreadOrder order = ThreadOrder::Forward;
  std::mt19937 random;

  void run();

private:
  std::vector<int64_t> permutation(int64_t count);
  void runBlock(int64_t threadCount);
  bool resumeAll(int64_t threadCount);
};

} // namespace

static Grid grid;

std::vector<int64_t> Grid::permutation(int64_t count) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  if (order == ThreadOrder::Reverse)
    std::reverse(numbers.begin(), numbers.end());
  if (order == ThreadOrder::Shuffled)
    for (int64_t rest = count; rest > 1; --rest)
      std::swap(numbers[rest - 1], numbers[random() % rest]);
  return numbers;
}

//===----------------------------------------------------------------------===//
// Fibres
//===----------------------------------------------------------------------===//

void Fibre::enter() {
  Fibre &self = grid.fibres[grid.thread];
  for (;;) {
    grid.kernel->run(grid.arguments);
    self.isDone = true;
    self.stop();
  }
}

void Fibre::start() {
  ucontext_t context, unused;
  stack.reset(new char[stackBytes]);
  getcontext(&context);
  context.uc_stack.ss_sp = stack.get();
  context.uc_stack.ss_size = stackBytes;
  context.uc_link = nullptr;
  makecontext(&context, enter, 0);
  swapcontext(&unused, &context);
}

void Fibre::resume() {
  if (sigsetjmp(caller, /*savemask=*/0) != 0)
    return;
  if (!stack)
    start();
  siglongjmp(own, 1);
}

void Fibre::stop() {
  if (sigsetjmp(own, /*savemask=*/0) == 0)
    siglongjmp(caller, 1);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Runs every thread to its next barrier or its end; whether any is left.
bool Grid::resumeAll(int64_t threadCount) {
  int64_t done = 0;
  for (int64_t number : permutation(threadCount)) {
    thread = number;
    fibres[number].resume();
    done += fibres[number].isDone;
  }
  if (done != 0 && done != threadCount) {
    llvm::errs() << "error: in kernel '" << kernel->name << "', " << done
                 << " of " << threadCount << " threads of block " << block
                 << " never reach the barrier where the others wait\n";
    exit(1);
  }
  return done == 0;
}

void Grid::runBlock(int64_t threadCount) {
  // What is read without having been written shows in the results.
  for (const SharedMemory &memory : kernel->shared)
    std::memset(memory.data, 0xFF, memory.bytes);
  if (!kernel->hasBarrier) {
    for (int64_t number : permutation(threadCount)) {
      thread = number;
      kernel->run(arguments);
    }
    return;
  }
  if (fibres.size() < static_cast<size_t>(threadCount))
    fibres = std::vector<Fibre>(threadCount);
  for (Fibre &fibre : fibres)
    fibre.isDone = false;
  while (resumeAll(threadCount)) {
  }
}

static int64_t product(const Extents &extents) {
  return extents[0] * extents[1] * extents[2];
}

void Grid::run() {
  for (int64_t number : permutation(product(blocks))) {
    block = number;
    runBlock(product(threads));
  }
}

void ckpt::setThreadOrder(ThreadOrder order) {
  grid.order = order;
  grid.random.seed(1);
}

void ckpt::runGrid(const EmulatedKernel &kernel, Extents blocks,
                   Extents threads, void **arguments) {
  grid.kernel = &kernel;
  grid.arguments = arguments;
  grid.blocks = blocks;
  grid.threads = threads;
  grid.run();
}

/// Number \p dimension of \p position, which counts x first.
static int32_t digit(int64_t position, const Extents &extents,
                     int32_t dimension) {
  for (int32_t inner = 0; inner < dimension; ++inner)
    position /= extents[inner];
  return position % extents[dimension];
}

int32_t ckpt::ckptEmulatorThread(int32_t dimension) {
  return digit(grid.thread, grid.threads, dimension);
}

int32_t ckpt::ckptEmulatorBlock(int32_t dimension) {
  return digit(grid.block, grid.blocks, dimension);
}

int32_t ckpt::ckptEmulatorThreads(int32_t dimension) {
  return grid.threads[dimension];
}

int32_t ckpt::ckptEmulatorBlocks(int32_t dimension) {
  return grid.blocks[dimension];
}

void ckpt::ckptEmulatorBarrier() { grid.fibres[grid.thread].stop(); }
