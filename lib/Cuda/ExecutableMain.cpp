//===- ExecutableMain.cpp - Main of programs that ckpt-runner emits -------===//

#include "ckpt/Cuda/ExecutableMain.h"
#include "NpyFile.h"
#include "ckpt/Cuda/Device.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace ckpt::cuda;

static const char usage[] =
    "usage: %s [--inputs=FOLDER] [--outputs=FOLDER] [--repeat=N] "
    "[--matmul-library=WHEN]\n"
    "Runs '%s' on the GPU of this machine, made for %s, and measures it.\n"
    "  --inputs   arguments arg000.npy, arg001.npy, ...; without it all are "
    "zero\n"
    "  --outputs  where results out000.npy, ... are written\n"
    "  --repeat   timed runs, of which the median counts (default 50)\n"
    "  --matmul-library  when cuBLASLt runs matmuls: never (default), auto, "
    "where it\n"
    "             is faster and gives the same bits, or always\n";

namespace {
struct Options {
  const char *inputs = nullptr, *outputs = nullptr;
  long repeat = 50;
  LibraryUse library = LibraryUse::Never;
};

/// The addresses that \p launch of the step takes.
struct Addresses {
  Addresses()
      : count(ckptProgram.argumentCount + ckptProgram.resultCount),
        all(static_cast<void **>(std::calloc(count + 1, sizeof(void *)))) {}
  void take(const StepMemory &memory) {
    for (int64_t i = 0; i < count; ++i)
      all[i] = memory.buffer(i);
    all[count] = memory.arena();
  }
  ~Addresses() { std::free(all); }

  int64_t count;
  void **all;
};
} // namespace

static bool readUse(const char *text, LibraryUse &use) {
  const char *const names[] = {"never", "auto", "always"};
  for (int i = 0; i < 3; ++i) {
    if (std::strcmp(text, names[i]) != 0)
      continue;
    use = static_cast<LibraryUse>(i);
    return true;
  }
  return false;
}

static bool readOption(const char *argument, Options &options) {
  auto value = [&](const char *name) -> const char * {
    size_t length = std::strlen(name);
    return std::strncmp(argument, name, length) ? nullptr : argument + length;
  };
  if (const char *folder = value("--inputs="))
    options.inputs = folder;
  else if (const char *folder = value("--outputs="))
    options.outputs = folder;
  else if (const char *number = value("--repeat="))
    options.repeat = std::strtol(number, nullptr, 10);
  else if (const char *when = value("--matmul-library="))
    return readUse(when, options.library);
  else
    return false;
  return options.repeat > 0;
}

/// Calls \p move for each buffer from \p begin to \p end with as much memory of
/// the host.
template <typename Move>
static bool forBuffers(int64_t begin, int64_t end, Move move) {
  for (int64_t i = begin; i < end; ++i) {
    const ProgramBuffer &buffer = ckptProgram.buffers[i];
    void *data = std::calloc(buffer.bytes + 1, 1);
    bool good = data && move(i, buffer, data);
    std::free(data);
    if (!good)
      return false;
  }
  return true;
}

static bool copyArguments(const StepMemory &memory, const char *folder) {
  return forBuffers(
      0, ckptProgram.argumentCount,
      [&](int64_t i, const ProgramBuffer &buffer, void *data) {
        return (!folder || readNpy(folder, buffer, data)) &&
               copyToDevice(memory.buffer(i), data, buffer.bytes) && wait();
      });
}

static bool writeResults(const StepMemory &memory, const char *folder) {
  return forBuffers(ckptProgram.argumentCount,
                    ckptProgram.argumentCount + ckptProgram.resultCount,
                    [&](int64_t i, const ProgramBuffer &buffer, void *data) {
                      return copyFromDevice(data, memory.buffer(i),
                                            buffer.bytes) &&
                             wait() && writeNpy(folder, buffer, data);
                    });
}

static void printBytes(const char *what, int64_t bytes) {
  std::printf("  %-18s %14lld bytes\n", what, static_cast<long long>(bytes));
}

/// Prints the number of shapes of matmuls, and how many the library runs.
static void printLibrary() {
  long long shapes = 0, byLibrary = 0;
  for (const MatmulChoice *choice = matmulChoices(); choice;
       choice = choice->next, ++shapes)
    byLibrary += choice->byLibrary;
  std::printf("  %-18s %14lld of %lld shapes of matmuls\n", "by the library",
              byLibrary, shapes);
}

static bool run(const Options &options) {
  DeviceInfo info;
  if (!openDevice(info) || !checkChip(info, ckptProgram.chip))
    return false;
  MemoryInfo before, after;
  StepMemory memory;
  StepGraph graph;
  int64_t medianNs = 0;
  Addresses addresses;
  Step step{[](void *all) { ckptProgram.launch(static_cast<void **>(all)); },
            addresses.all};
  if (!addresses.all || !chooseMatmuls(step, options.library))
    return false;
  int64_t count = ckptProgram.argumentCount + ckptProgram.resultCount;
  auto *bytes = static_cast<int64_t *>(std::calloc(count + 1, sizeof(int64_t)));
  for (int64_t i = 0; bytes && i < count; ++i)
    bytes[i] = ckptProgram.buffers[i].bytes;
  bool good = bytes && readMemoryInfo(before) &&
              memory.allocate(ckptProgram.arenaBytes, bytes, count);
  std::free(bytes);
  if (!good || !copyArguments(memory, options.inputs))
    return false;
  addresses.take(memory);
  if (!runStep(step) || !graph.capture(step) ||
      !graph.time(options.repeat, medianNs) || !readMemoryInfo(after) ||
      (options.outputs && !writeResults(memory, options.outputs)))
    return false;
  std::printf("%s, on %s\n", ckptProgram.name, info.name);
  printBytes("arena", ckptProgram.arenaBytes);
  printBytes("arguments, results", memory.getBuffersBytes());
  printBytes("in use, before", before.totalBytes - before.freeBytes);
  printBytes("in use, after", after.totalBytes - after.freeBytes);
  std::printf("  %-18s %14.3f ms, the median of %ld\n", "time of a step",
              static_cast<double>(medianNs) / 1e6, options.repeat);
  if (options.library != LibraryUse::Never)
    printLibrary();
  return true;
}

int main(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (readOption(argv[i], options))
      continue;
    bool asked = std::strcmp(argv[i], "--help") == 0;
    std::fprintf(asked ? stdout : stderr, usage, argv[0], ckptProgram.name,
                 ckptProgram.chip);
    return asked ? 0 : 1;
  }
  if (run(options))
    return 0;
  std::fprintf(stderr, "error: %s\n",
               failure()[0] ? failure() : "out of memory of the host");
  return 1;
}
