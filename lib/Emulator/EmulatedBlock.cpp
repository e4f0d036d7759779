//===- EmulatedBlock.cpp - The threads of one block -----------------------===//

#include "Emulator/EmulatedBlock.h"
#include "Emulator/EmulatedTmaCopies.h"
#include "Emulator/EmulatedWarp.h"
#include "Emulator/EmulatedWarpgroup.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <ucontext.h>

using namespace ckpt;

/// Stack bytes of a thread; `--ckpt-check-kernel-memory` allows less.
static constexpr size_t stackBytes = 256 * 1024;

namespace {

/// The place of a thread that does not run.
enum class ThreadState { Ready, AtBarrier, InWarp, AwaitsBoxes, Done };

/// A thread that can stop at a barrier, or until its warp has met. Once made,
/// it runs one thread after the other: making a context takes a system call, a
/// jump takes none.
class Fibre {
public:
  /// Runs the thread from where it stopped to its next stop or its end.
  void resume();
  /// Back to the caller of `resume`; called by the thread itself.
  void stop(ThreadState where);

  ThreadState state = ThreadState::Ready;
  /// Its request to its warp.
  WarpRequest request;
  AsyncCopies copies;
  /// The phase of a barrier that it waits for.
  const char *barrier;
  int32_t parity;

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
  EmulatedLaunch launch = {};
  int64_t block = 0, thread = 0;
  std::vector<Fibre> fibres;
  Warpgroups warpgroups;
  EmulatedTmaCopies boxes;
  ThreadOrder order = ThreadOrder::Forward;
  std::mt19937 random;

  void run();
  /// Stops the thread that runs if it did something wrong.
  void check(const std::string &error);
  /// Whether the phase that \p fibre waits for has ended.
  bool hasBoxes(const Fibre &fibre);
  /// Lets the copies arrive that arrive at once, if any may.
  void letBoxesArrive();

private:
  std::vector<int64_t> permutation(int64_t count);
  void runBlock(int64_t threadCount);
  bool resumeAll(int64_t threadCount);
  int64_t count(ThreadState state, int64_t threadCount) const;
  bool runWarps(int64_t threadCount);
  bool wakeForBoxes(int64_t threadCount);
  [[noreturn]] void failStuck(int64_t threadCount) const;
  [[noreturn]] void fail(const llvm::Twine &message) const;

  /// The fault of a thread. A thread does not end the process itself: that
  /// would give back the stack it stands on.
  std::string error;
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
    self.stop(ThreadState::Done);
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

void Fibre::stop(ThreadState where) {
  state = where;
  if (sigsetjmp(own, /*savemask=*/0) == 0)
    siglongjmp(caller, 1);
}

//===----------------------------------------------------------------------===//
// Copies of boxes
//===----------------------------------------------------------------------===//

bool Grid::hasBoxes(const Fibre &fibre) {
  bool isOver = false;
  check(boxes.test(fibre.barrier, fibre.parity, isOver));
  return isOver;
}

/// At once, as late as possible, or as chance has it.
void Grid::letBoxesArrive() {
  if (order == ThreadOrder::Forward ||
      (order == ThreadOrder::Shuffled && random() % 2 == 0))
    boxes.arrive(boxes.getCount() - 1);
}

/// Wakes threads whose copies are there; if no other thread can run, lets
/// another copy arrive. Returns whether any of that happened.
bool Grid::wakeForBoxes(int64_t threadCount) {
  bool any = false;
  for (int64_t number = 0; number < threadCount; ++number) {
    Fibre &fibre = fibres[number];
    if (fibre.state != ThreadState::AwaitsBoxes || !hasBoxes(fibre))
      continue;
    fibre.state = ThreadState::Ready;
    any = true;
  }
  if (any || boxes.getCount() == 0 ||
      count(ThreadState::AwaitsBoxes, threadCount) == 0)
    return any;
  boxes.arrive(order == ThreadOrder::Shuffled ? random() % boxes.getCount()
                                              : boxes.getCount() - 1);
  return true;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void Grid::fail(const llvm::Twine &message) const {
  llvm::errs() << "error: in kernel '" << kernel->name << "', " << message
               << "\n";
  exit(1);
}

void Grid::check(const std::string &message) {
  if (message.empty())
    return;
  error = message;
  fibres[thread].stop(ThreadState::Done);
}

int64_t Grid::count(ThreadState state, int64_t threadCount) const {
  return std::count_if(
      fibres.begin(), fibres.begin() + threadCount,
      [&](const Fibre &fibre) { return fibre.state == state; });
}

/// Runs the requests of warps whose threads have all come; returns whether
/// there was one.
bool Grid::runWarps(int64_t threadCount) {
  bool any = false;
  for (int64_t first = 0; first + warpThreads <= threadCount;
       first += warpThreads) {
    std::array<WarpRequest, warpThreads> requests;
    int64_t here = 0;
    for (int64_t lane = 0; lane < warpThreads; ++lane) {
      requests[lane] = fibres[first + lane].request;
      here += fibres[first + lane].state == ThreadState::InWarp;
    }
    if (here != warpThreads)
      continue;
    if (!runWarp(requests))
      fail("the threads of warp " + llvm::Twine(first / warpThreads) +
           " of block " + llvm::Twine(block) +
           " expect different instructions of it");
    for (int64_t lane = 0; lane < warpThreads; ++lane)
      fibres[first + lane].state = ThreadState::Ready;
    any = true;
  }
  return any;
}

/// Runs every thread that can to its next stop or its end; whether any is left.
bool Grid::resumeAll(int64_t threadCount) {
  for (int64_t number : permutation(threadCount)) {
    if (fibres[number].state != ThreadState::Ready)
      continue;
    thread = number;
    fibres[number].resume();
    if (!error.empty())
      fail("thread " + llvm::Twine(number) + " of block " + llvm::Twine(block) +
           " " + error);
  }
  if (runWarps(threadCount) || wakeForBoxes(threadCount))
    return true;
  if (count(ThreadState::Done, threadCount) == threadCount)
    return false;
  if (count(ThreadState::AtBarrier, threadCount) != threadCount)
    failStuck(threadCount);
  for (Fibre &fibre : fibres)
    fibre.state = ThreadState::Ready;
  return true;
}

void Grid::failStuck(int64_t threadCount) const {
  int64_t waiting = count(ThreadState::AtBarrier, threadCount);
  int64_t awaiting = count(ThreadState::AwaitsBoxes, threadCount);
  int64_t others =
      waiting ? threadCount - waiting : count(ThreadState::Done, threadCount);
  fail(llvm::Twine(awaiting ? awaiting : others) + " of " +
       llvm::Twine(threadCount) + " threads of block " + llvm::Twine(block) +
       (awaiting  ? " wait for copies that never come"
        : waiting ? " never reach the barrier where the others wait"
                  : " end while others of their warp wait"));
}

void Grid::runBlock(int64_t threadCount) {
  // Reads of unwritten memory show in the results.
  for (const SharedMemory &memory : kernel->shared)
    std::memset(memory.data, 0xFF, memory.bytes);
  if (kernel->launchMemory)
    std::memset(kernel->launchMemory, 0xFF, launch.sharedBytes);
  if (!kernel->hasBarrier) {
    for (int64_t number : permutation(threadCount)) {
      thread = number;
      kernel->run(arguments);
    }
    return;
  }
  if (fibres.size() < static_cast<size_t>(threadCount))
    fibres = std::vector<Fibre>(threadCount);
  for (Fibre &fibre : fibres) {
    fibre.state = ThreadState::Ready;
    fibre.copies.drop();
  }
  warpgroups.enter(threadCount, kernel->launchMemory, launch.sharedBytes);
  boxes.enter(kernel->launchMemory, launch.sharedBytes,
              [this](const char *address, int64_t bytes) {
                warpgroups.noteArrival(address, bytes);
              });
  while (resumeAll(threadCount)) {
  }
  if (boxes.getCount() > 0)
    fail("block " + llvm::Twine(block) +
         " ends while copies to it are on their way");
  if (!warpgroups.haveSameEnds())
    fail("threads of a warpgroup of block " + llvm::Twine(block) +
         " make fewer instructions of it than others");
}

static int64_t product(const Extents &extents) {
  return extents[0] * extents[1] * extents[2];
}

void Grid::run() {
  if (launch.sharedBytes > mostLaunchBytes)
    fail("the launch asks for " + llvm::Twine(launch.sharedBytes) +
         " bytes of shared memory, but " + llvm::Twine(mostLaunchBytes) +
         " is the most");
  for (int64_t number : permutation(product(launch.blocks))) {
    block = number;
    runBlock(product(launch.threads));
  }
}

void ckpt::setThreadOrder(ThreadOrder order) {
  grid.order = order;
  grid.random.seed(1);
}

void ckpt::runGrid(const EmulatedKernel &kernel, const EmulatedLaunch &launch,
                   void **arguments) {
  grid.kernel = &kernel;
  grid.arguments = arguments;
  grid.launch = launch;
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
  return digit(grid.thread, grid.launch.threads, dimension);
}

int32_t ckpt::ckptEmulatorBlock(int32_t dimension) {
  return digit(grid.block, grid.launch.blocks, dimension);
}

int32_t ckpt::ckptEmulatorThreads(int32_t dimension) {
  return grid.launch.threads[dimension];
}

int32_t ckpt::ckptEmulatorBlocks(int32_t dimension) {
  return grid.launch.blocks[dimension];
}

void ckpt::ckptEmulatorBarrier() {
  grid.fibres[grid.thread].stop(ThreadState::AtBarrier);
}

void ckpt::ckptEmulatorLoadMatrices(uint32_t *registers, const void *row,
                                    int32_t transposed) {
  Fibre &fibre = grid.fibres[grid.thread];
  fibre.request = WarpRequest();
  fibre.request.kind = WarpRequest::LoadMatrices;
  fibre.request.row = static_cast<const uint16_t *>(row);
  fibre.request.transposed = transposed;
  fibre.request.registers = registers;
  fibre.stop(ThreadState::InWarp);
}

void ckpt::ckptEmulatorMultiply(float *sums, const uint32_t *fragments,
                                int32_t isBfloat) {
  Fibre &fibre = grid.fibres[grid.thread];
  fibre.request = WarpRequest();
  fibre.request.kind = WarpRequest::Multiply;
  std::copy_n(fragments, 4, fibre.request.left.begin());
  std::copy_n(fragments + 4, 2, fibre.request.right.begin());
  fibre.request.isBfloat = isBfloat;
  fibre.request.sums = sums;
  fibre.stop(ThreadState::InWarp);
}

void ckpt::ckptEmulatorCopy(char *target, const char *source, int32_t bytes) {
  grid.fibres[grid.thread].copies.start(target, source, bytes);
}

void ckpt::ckptEmulatorCommit() { grid.fibres[grid.thread].copies.commit(); }

void ckpt::ckptEmulatorWait(int32_t pending) {
  grid.fibres[grid.thread].copies.wait(pending, &ckptEmulatorStored);
}

void ckpt::ckptEmulatorStored(const char *address, int64_t bytes) {
  grid.warpgroups.noteWrite(grid.thread, address, bytes);
}

void ckpt::ckptEmulatorFenceProxies() {
  grid.warpgroups.fenceProxies(grid.thread);
  grid.boxes.fenceProxies(grid.thread);
}

void ckpt::ckptEmulatorWarpgroupFence() {
  grid.check(grid.warpgroups.fence(grid.thread));
}

void ckpt::ckptEmulatorWarpgroupMultiply(float *sums, uint64_t left,
                                         uint64_t right, int32_t columns,
                                         int32_t isBfloat,
                                         int32_t leftTransposed,
                                         int32_t rightTransposed) {
  grid.check(
      grid.warpgroups.multiply(grid.thread,
                               {left, right, columns, isBfloat != 0,
                                leftTransposed != 0, rightTransposed != 0},
                               sums));
}

void ckpt::ckptEmulatorWarpgroupCommit() {
  grid.check(grid.warpgroups.commit(grid.thread));
}

void ckpt::ckptEmulatorWarpgroupWait(int64_t pending) {
  grid.check(grid.warpgroups.wait(grid.thread, pending));
}

void ckpt::ckptEmulatorSettle(float *registers, int32_t count) {
  grid.warpgroups.settle(grid.thread, registers, count);
}

void ckpt::ckptEmulatorMakeBarrier(const char *barrier, int32_t threads) {
  grid.check(grid.boxes.makeBarrier(grid.thread, barrier, threads));
}

void ckpt::ckptEmulatorExpect(const char *barrier, int32_t bytes) {
  grid.check(grid.boxes.expect(barrier, bytes));
}

void ckpt::ckptEmulatorWaitFor(const char *barrier, int32_t parity) {
  Fibre &fibre = grid.fibres[grid.thread];
  fibre.barrier = barrier;
  fibre.parity = parity;
  if (!grid.hasBoxes(fibre))
    fibre.stop(ThreadState::AwaitsBoxes);
}

void ckpt::ckptEmulatorCopyBox(char *target, const char *barrier,
                               const void *map, int32_t rank,
                               const int32_t *corner) {
  grid.check(grid.boxes.copy(target, barrier, map, rank, corner));
  grid.letBoxesArrive();
}
