//===- Arena.cpp - Memory of a step that is watched -----------------------===//

#include "ckpt/Runtime/Arena.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace ckpt;
using namespace llvm;

// All bits set is a NaN in every floating-point format.
static constexpr char poisonPattern = '\xff';
static constexpr char edgePattern = '\xa5';

static int64_t pageBytes() { return sysconf(_SC_PAGESIZE); }

//===----------------------------------------------------------------------===//
// The handler of accesses to guard pages
//===----------------------------------------------------------------------===//

namespace {
/// The data of the signal handler: plain addresses and characters.
struct Guarded {
  const char *mapping, *mappingEnd, *begin, *end;
  char name[64];
};
} // namespace

/// Buffers come and go only while no step runs, so the handler never meets
/// this list half changed.
static std::vector<Guarded> &guardedBuffers() {
  static auto *buffers = new std::vector<Guarded>;
  return *buffers;
}

static struct sigaction previousAction;

static void say(const char *text) {
  ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
  (void)ignored;
}

static void sayNumber(uint64_t number) {
  char digits[24] = {};
  char *at = digits + sizeof(digits) - 1;
  do {
    *--at = '0' + number % 10;
    number /= 10;
  } while (number);
  say(at);
}

static void onSegmentationFault(int, siginfo_t *info, void *) {
  const char *address = static_cast<const char *>(info->si_addr);
  for (const Guarded &buffer : guardedBuffers()) {
    if (address < buffer.mapping || address >= buffer.mappingEnd)
      continue;
    if (address >= buffer.begin && address < buffer.end) {
      say("error: the step wrote to ");
    } else {
      bool before = address < buffer.begin;
      say("error: the step accessed memory ");
      sayNumber(before ? buffer.begin - address : address - buffer.end + 1);
      say(before ? " bytes before the begin of " : " bytes beyond the end of ");
    }
    say(buffer.name);
    say("\n");
    _exit(1);
  }
  // Not ours: the fault repeats on return and meets the handler before this.
  sigaction(SIGSEGV, &previousAction, nullptr);
}

void ckpt::installGuardHandler() {
  struct sigaction action = {};
  action.sa_sigaction = onSegmentationFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previousAction);
}

//===----------------------------------------------------------------------===//
// GuardedBuffer
//===----------------------------------------------------------------------===//

/// The number in the file \p path; nothing if it holds none.
static std::optional<int64_t> readNumber(const char *path) {
  auto file = MemoryBuffer::getFileAsStream(path);
  int64_t number;
  if (!file || (*file)->getBuffer().trim().getAsInteger(10, number))
    return std::nullopt;
  return number;
}

/// The memory that this process may have: the machine's, or its control
/// group's.
static int64_t memoryBytes() {
  static const int64_t bytes = [] {
    int64_t least = sysconf(_SC_PHYS_PAGES) * pageBytes();
    for (const char *path : {"/sys/fs/cgroup/memory.max",
                             "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
      if (std::optional<int64_t> limit = readNumber(path))
        least = std::min(least, *limit);
    return least;
  }();
  return bytes;
}

/// Says that \p bytes more than there are now do not fit into memory. Beyond,
/// the system would end this process without a word when they are touched.
static Error checkMemory(int64_t bytes, StringRef name) {
  int64_t others = 0;
  for (const Guarded &buffer : guardedBuffers())
    others += buffer.end - buffer.begin;
  if (bytes <= memoryBytes() - others)
    return Error::success();
  std::string beside =
      others ? formatv(" beside {0} bytes of other buffers", others).str() : "";
  return createStringError(
      formatv("expected {0} to fit into the {1} bytes of memory of this "
              "machine, but got {2} bytes{3}",
              name, memoryBytes(), bytes, beside)
          .str());
}

Expected<std::unique_ptr<GuardedBuffer>> GuardedBuffer::create(int64_t bytes,
                                                               StringRef name) {
  if (Error error = checkMemory(bytes, name))
    return std::move(error);
  int64_t page = pageBytes();
  int64_t usable = alignTo(std::max<int64_t>(bytes, 1), page);
  int64_t total = usable + 2 * page;
  void *mapping = mmap(nullptr, total, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return createStringError(
        formatv("cannot allocate {0} bytes for {1}", bytes, name).str());

  std::unique_ptr<GuardedBuffer> buffer(new GuardedBuffer);
  buffer->name = name.str();
  buffer->mapping = static_cast<char *>(mapping);
  buffer->mappingBytes = total;
  buffer->bytes = bytes;
  char *first = buffer->mapping + page;
  buffer->begin = first + usable - alignTo(bytes, alignment);
  if (mprotect(first, usable, PROT_READ | PROT_WRITE))
    return createStringError(
        formatv("cannot allocate {0} bytes for {1}", bytes, name).str());
  madvise(mapping, total, MADV_NOHUGEPAGE);
  buffer->release();

  Guarded guarded = {buffer->mapping,
                     buffer->mapping + total,
                     buffer->begin,
                     buffer->begin + bytes,
                     {}};
  strncpy(guarded.name, buffer->name.c_str(), sizeof(guarded.name) - 1);
  guardedBuffers().push_back(guarded);
  return buffer;
}

GuardedBuffer::~GuardedBuffer() {
  llvm::erase_if(guardedBuffers(), [&](const Guarded &guarded) {
    return guarded.mapping == mapping;
  });
  munmap(mapping, mappingBytes);
}

void GuardedBuffer::poison() { memset(begin, poisonPattern, bytes); }

void GuardedBuffer::makeReadOnly() {
  mprotect(mapping + pageBytes(), mappingBytes - 2 * pageBytes(), PROT_READ);
}

void GuardedBuffer::release() {
  int64_t page = pageBytes();
  char *first = mapping + page, *last = mapping + mappingBytes - page;
  madvise(first, last - first, MADV_DONTNEED);
  memset(first, edgePattern, begin - first);
  memset(begin + bytes, edgePattern, last - (begin + bytes));
}

int64_t GuardedBuffer::touchedBytes() const {
  int64_t page = pageBytes();
  int64_t usable = mappingBytes - 2 * page;
  std::vector<unsigned char> resident(usable / page);
  if (mincore(mapping + page, usable, resident.data()))
    return bytes;
  int64_t pages =
      llvm::count_if(resident, [](unsigned char flags) { return flags & 1; });
  return std::min(pages * page, bytes);
}

Error GuardedBuffer::checkEdges() const {
  int64_t page = pageBytes();
  StringRef front(mapping + page, begin - (mapping + page));
  const char *end = begin + bytes;
  StringRef back(end, mapping + mappingBytes - page - end);
  for (StringRef edge : {front, back})
    if (edge.find_first_not_of(edgePattern) != StringRef::npos)
      return createStringError(formatv("the step wrote {0} {1}",
                                       edge.data() == front.data()
                                           ? "before the begin of"
                                           : "beyond the end of",
                                       name)
                                   .str());
  return Error::success();
}

//===----------------------------------------------------------------------===//
// ResidentGrowth
//===----------------------------------------------------------------------===//

/// A line of /proc/self/status such as "VmHWM:   1234 kB", in bytes; -1 where
/// there is none.
static int64_t statusBytes(StringRef key) {
  auto status = MemoryBuffer::getFileAsStream("/proc/self/status");
  if (!status)
    return -1;
  StringRef rest = (*status)->getBuffer();
  size_t at = rest.find(("\n" + key + ":").str());
  if (at == StringRef::npos)
    return -1;
  rest = rest.drop_front(at + key.size() + 2).ltrim();
  int64_t kibibytes;
  return rest.consumeInteger(10, kibibytes) ? -1 : kibibytes * 1024;
}

ResidentGrowth::ResidentGrowth() {
  int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return;
  // 5 sets the peak of resident memory to the present resident bytes.
  bool reset = write(file, "5", 1) == 1;
  close(file);
  if (reset)
    before = statusBytes("VmRSS");
}

int64_t ResidentGrowth::peakBytes() const {
  if (before < 0)
    return -1;
  int64_t peak = statusBytes("VmHWM");
  return peak < 0 ? -1 : std::max<int64_t>(peak - before, 0);
}
