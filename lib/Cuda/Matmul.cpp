//===- Matmul.cpp - A matmul by our kernel or by a library ----------------===//
//
// The choice falls once per shape, before the step has any memory. The step is
// asked for its launches, which measures each matmul among them in memory that
// is given back at once, and runs nothing else. No value of the step is
// touched, planned and allocated bytes stay equal, and later runs only look up.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Cuda/Matmul.h"
#include "Failure.h"
#include "Launch.h"
#include "MatmulLibrary.h"
#include "OpenDevice.h"
#include "ckpt/Cuda/Device.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

using namespace ckpt::cuda;

namespace {
/// The decision on one shape.
struct Choice : MatmulChoice {
  LibraryMatmul matmul;
  /// Number in `matmul`, if the library runs the shape.
  int algorithm = 0;
};

/// Memory of a matmul's operands and result; \p shape as it would be launched.
class ScratchMatmul {
public:
  ScratchMatmul(const MatmulShape &shape, const Launch &launch)
      : shape(shape), launch(launch) {}
  ScratchMatmul(const ScratchMatmul &) = delete;
  ScratchMatmul &operator=(const ScratchMatmul &) = delete;
  ~ScratchMatmul();

  /// Allocates, and makes numbers up.
  bool prepare();
  /// By our kernel, or by an algorithm of the library.
  void run();
  bool time(int64_t &nanoseconds);
  /// Bits of the result of one run, in memory that was full of NaNs.
  bool fingerprint(uint64_t &bits);

  /// Null for our kernel.
  const LibraryMatmul *matmul = nullptr;
  int algorithm = 0;

private:
  bool fill(int argument, int64_t bytes);

  static constexpr int mostArguments = 3;

  const MatmulShape &shape;
  const Launch &launch;
  void *memory = nullptr;
  /// As a launch takes them: the address of each address.
  void *addresses[mostArguments] = {};
  void *arguments[mostArguments + mostTensorMaps] = {};
};
} // namespace

static LibraryUse use = LibraryUse::Never;
static const MatmulLibrary *library = nullptr;
static MatmulChoice *firstChoice = nullptr;
static const MatmulShape *offered = nullptr;

/// Runs in a graph that is timed, and how often it is replayed.
static constexpr int runsPerGraph = 4, replays = 5;

//===----------------------------------------------------------------------===//
// Offers
//===----------------------------------------------------------------------===//

void ckpt::cuda::ckptCudaOfferMatmul(const MatmulShape *shape) {
  offered = shape;
}

const MatmulShape *ckpt::cuda::takeOffer() {
  const MatmulShape *taken = offered;
  offered = nullptr;
  return taken;
}

static const Choice *find(const MatmulShape &shape) {
  for (const MatmulChoice *choice = firstChoice; choice; choice = choice->next)
    if (std::memcmp(&choice->shape, &shape, sizeof(shape)) == 0)
      return static_cast<const Choice *>(choice);
  return nullptr;
}

bool ckpt::cuda::runByLibrary(const MatmulShape &shape, const Launch &launch) {
  const Choice *choice = find(shape);
  if (!choice || !choice->byLibrary)
    return false;
  runMatmul(*library, shape, choice->matmul, choice->algorithm,
            launch.arguments, launch.name);
  return true;
}

const MatmulChoice *ckpt::cuda::matmulChoices() { return firstChoice; }

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

ScratchMatmul::~ScratchMatmul() {
  if (memory)
    device.driver->memFree(toAddress(memory));
}

bool ScratchMatmul::prepare() {
  int64_t bytes[mostArguments] = {}, sum = 0;
  for (const MatmulOperand *operand : {&shape.left, &shape.right, &shape.out}) {
    bytes[operand->argument] = (operand->argumentBytes + 255) / 256 * 256;
    arguments[operand->argument] = &addresses[operand->argument];
  }
  for (int64_t size : bytes)
    sum += size;
  DeviceAddress address = 0;
  if (!check(device.driver->memAlloc(&address, sum),
             "allocate %lld bytes to measure the kernel '%s'",
             static_cast<long long>(sum), launch.name))
    return false;
  memory = reinterpret_cast<void *>(address);
  char *next = static_cast<char *>(memory);
  for (int i = 0; i < mostArguments; next += bytes[i++])
    addresses[i] = next;
  return fill(shape.left.argument, shape.left.argumentBytes) &&
         (shape.right.argument == shape.left.argument ||
          fill(shape.right.argument, shape.right.argumentBytes));
}

/// A number of magnitude 1 to 128, or very small, by its bits; negative if
/// \p isNegated or by chance, if not both.
static uint32_t makeElement(uint64_t number, bool isNegated, bool isSmall,
                            int64_t elementType) {
  number = (number + 1) * 0x9e3779b97f4a7c15;
  number = (number ^ number >> 29) * 0xbf58476d1ce4e5b9;
  auto random = static_cast<uint32_t>(number >> 32);
  uint32_t sign = (random >> 31) ^ isNegated;
  uint32_t exponent = (random >> 24 & 127) % 7;
  uint32_t one = isSmall ? 127 - 66 : 127;
  if (elementType == float32)
    return sign << 31 | (one + exponent) << 23 | (random & 0x7fffff);
  if (elementType == bfloat16)
    return sign << 15 | (one + exponent) << 7 | (random & 0x7f);
  return sign << 15 | (15 + exponent) << 10 | (random & 0x3ff);
}

/// Makes numbers up that show the order of a sum in the result's bits. The
/// second half of the products repeats the first half with the other sign, so
/// that only rounding errors are left of a sum, also in narrow results. With an
/// odd number of steps the last one adds zero. The products of the first row
/// and column are denormal, which no algorithm may flush.
static void makeNumbers(const MatmulShape &shape, const MatmulOperand &operand,
                        char *host) {
  bool isRight = &operand == &shape.right;
  int64_t elementBytes = operand.elementType == float32 ? 4 : 2;
  int64_t others = isRight ? shape.columns : shape.rows, half = shape.steps / 2;
  bool neighboursAreSteps = isRight == bool(operand.isTransposed);
  int64_t otherStride = neighboursAreSteps ? operand.leadingDimension : 1;
  int64_t stepStride = neighboursAreSteps ? 1 : operand.leadingDimension;
  for (int64_t batch = 0; batch < shape.groups * shape.batches; ++batch) {
    int64_t matrix = operand.offset / elementBytes +
                     batch / shape.batches * operand.groupStride +
                     batch % shape.batches * operand.batchStride;
    for (int64_t i = 0; i < others * 2 * half; ++i) {
      int64_t other = i / (2 * half), step = i % (2 * half);
      int64_t row = matrix + other * otherStride;
      uint32_t element =
          makeElement(row + step % half * stepStride, isRight && step >= half,
                      /*isSmall=*/other == 0, operand.elementType);
      std::memcpy(host + (row + step * stepStride) * elementBytes, &element,
                  elementBytes);
    }
  }
}

bool ScratchMatmul::fill(int argument, int64_t bytes) {
  auto *host = static_cast<char *>(std::calloc(bytes, 1));
  if (!host)
    return fail("cannot allocate memory of the host");
  for (const MatmulOperand *operand : {&shape.left, &shape.right})
    if (operand->argument == argument)
      makeNumbers(shape, *operand, host);
  bool good = copyToDevice(addresses[argument], host, bytes) && wait();
  std::free(host);
  return good;
}

void ScratchMatmul::run() {
  Launch here = launch;
  here.arguments = arguments;
  if (matmul)
    runMatmul(*library, shape, *matmul, algorithm, arguments, launch.name);
  else
    launchKernel(here);
}

bool ScratchMatmul::time(int64_t &nanoseconds) {
  StepGraph graph;
  Step step{[](void *self) {
              for (int i = 0; i < runsPerGraph; ++i)
                static_cast<ScratchMatmul *>(self)->run();
            },
            this};
  bool good = graph.capture(step) && graph.time(replays, nanoseconds);
  nanoseconds /= runsPerGraph;
  return good;
}

bool ScratchMatmul::fingerprint(uint64_t &bits) {
  constexpr int64_t chunkBytes = int64_t(1) << 20;
  char *out = static_cast<char *>(addresses[shape.out.argument]);
  if (!poison(out, shape.out.argumentBytes))
    return false;
  run();
  if (!check(device.driver->streamSynchronize(device.stream),
             "run the kernel '%s' to measure it", launch.name))
    return false;
  auto *chunk = static_cast<char *>(std::malloc(chunkBytes));
  if (!chunk)
    return fail("cannot allocate memory of the host");
  bool good = !hasFailed();
  bits = 0;
  for (int64_t at = 0; at < shape.out.argumentBytes && good; at += chunkBytes) {
    int64_t here = std::min(chunkBytes, shape.out.argumentBytes - at);
    good = copyFromDevice(chunk, out + at, here) && wait();
    for (int64_t i = 0; i < here && good; i += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, chunk + i, std::min<int64_t>(sizeof(word), here - i));
      bits = (bits ^ word ^ bits >> 32) * 0x100000001b3;
    }
  }
  std::free(chunk);
  return good;
}

/// The fastest of our kernel and of the algorithms that give its bits.
static bool chooseFastest(Choice &choice, const Launch &launch) {
  ScratchMatmul scratch(choice.shape, launch);
  uint64_t ownBits = 0, bits = 0;
  if (!scratch.prepare() || !scratch.fingerprint(ownBits) ||
      !scratch.time(choice.ownNs))
    return false;
  int64_t fastest = choice.ownNs;
  scratch.matmul = &choice.matmul;
  for (int i = 0; i < choice.matmul.count; ++i) {
    scratch.algorithm = i;
    int64_t nanoseconds = 0;
    if (!scratch.fingerprint(bits))
      return false;
    if (bits != ownBits)
      continue;
    if (!scratch.time(nanoseconds))
      return false;
    if (choice.sameBits++ == 0 || nanoseconds < choice.libraryNs)
      choice.libraryNs = nanoseconds;
    if (nanoseconds >= fastest)
      continue;
    fastest = nanoseconds;
    choice.byLibrary = true;
    choice.algorithm = i;
  }
  return true;
}

void ckpt::cuda::chooseMatmul(const MatmulShape &shape, const Launch &launch) {
  if (!library || find(shape))
    return;
  auto *choice = static_cast<Choice *>(std::calloc(1, sizeof(Choice)));
  if (!choice) {
    fail("cannot allocate memory of the host");
    return;
  }
  choice->shape = shape;
  std::snprintf(choice->kernel, sizeof(choice->kernel), "%s", launch.name);
  MatmulChoice **end = &firstChoice;
  while (*end)
    end = &(*end)->next;
  *end = choice;
  if (!findAlgorithms(*library, shape, launch.name, choice->matmul))
    return;
  choice->proposed = choice->matmul.count;
  // The library's favourite depends on the shape alone, times do not.
  if (use == LibraryUse::Always)
    choice->byLibrary = choice->proposed > 0;
  else if (choice->proposed > 0)
    chooseFastest(*choice, launch);
}

bool ckpt::cuda::chooseMatmuls(const Step &step, LibraryUse wanted) {
  use = wanted;
  library = use == LibraryUse::Never ? nullptr : openMatmulLibrary();
  if (hasFailed())
    return false;
  if (!library && use == LibraryUse::Always)
    return fail("expected cuBLASLt in %s, but neither can be opened",
                matmulLibraryNames);
  device.onlyChooses = true;
  step.launch(step.context);
  device.onlyChooses = false;
  return !hasFailed();
}
