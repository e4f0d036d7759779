//===- NpyFile.cpp - A tensor in a file of NumPy --------------------------===//

#include "NpyFile.h"
#include "Failure.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace ckpt::cuda;

/// Magic of version 1.0; a tensor of a step has a header far below its 64 KiB.
static const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
static constexpr size_t longestHeader = 1024, longestPath = 4096;
/// The header ends at a multiple of this.
static constexpr size_t headerAlignment = 64;

namespace {
/// Closes its file.
struct File {
  File(const char *folder, const char *name, const char *mode) {
    std::snprintf(path, sizeof(path), "%s/%s.npy", folder, name);
    stream = std::fopen(path, mode);
  }
  ~File() {
    if (stream)
      std::fclose(stream);
  }
  bool read(void *data, size_t bytes) {
    return std::fread(data, 1, bytes, stream) == bytes;
  }
  bool write(const void *data, size_t bytes) {
    return std::fwrite(data, 1, bytes, stream) == bytes;
  }

  char path[longestPath];
  std::FILE *stream;
};
} // namespace

/// The text in \p header behind "'key':".
static const char *valueOf(const char *header, const char *key) {
  const char *at = std::strstr(header, key);
  return at ? at + std::strlen(key) : "";
}

/// Compares "'<f4'" with "<f4". Signs of integers, and byte orders of one-byte
/// types, do not matter. bfloat16 may come as an integer, since NumPy does not
/// know it.
static bool isElement(const char *text, const char *element) {
  auto kindOf = [](char kind) { return std::strchr("uV", kind) ? 'i' : kind; };
  text += std::strspn(text, " '<|=");
  return kindOf(text[0]) == kindOf(element[1]) && text[1] == element[2] &&
         text[2] == '\'';
}

/// Compares "(8, 2)" with "(8,2,)", number by number.
static bool isShape(const char *text, const char *shape) {
  for (;;) {
    text += std::strspn(text, " (,");
    shape += std::strspn(shape, " (,");
    if (*shape == ')')
      return *text == ')';
    char *textEnd = nullptr, *shapeEnd = nullptr;
    if (std::strtoll(text, &textEnd, 10) !=
            std::strtoll(shape, &shapeEnd, 10) ||
        textEnd == text)
      return false;
    text = textEnd;
    shape = shapeEnd;
  }
}

static bool holds(const char *header, const ProgramBuffer &buffer) {
  return isElement(valueOf(header, "'descr':"), buffer.element) &&
         std::strncmp(valueOf(header, "'fortran_order':"), " False", 6) == 0 &&
         isShape(valueOf(header, "'shape':"), buffer.shape);
}

bool ckpt::cuda::readNpy(const char *folder, const ProgramBuffer &buffer,
                         void *data) {
  File file(folder, buffer.name, "rb");
  if (!file.stream)
    return fail("cannot read '%s': %s", file.path, std::strerror(errno));
  unsigned char start[sizeof(magic) + 2];
  char header[longestHeader] = "";
  if (!file.read(start, sizeof(start)) ||
      std::memcmp(start, magic, sizeof(magic)) != 0)
    return fail("'%s': not a .npy file of version 1.0", file.path);
  size_t bytes = start[8] + 256 * size_t(start[9]);
  if (bytes >= sizeof(header) || !file.read(header, bytes) ||
      !holds(header, buffer))
    return fail("'%s': expected elements '%s' and shape %s in C order",
                file.path, buffer.element, buffer.shape);
  if (!file.read(data, buffer.bytes) || std::fgetc(file.stream) != EOF)
    return fail("'%s': expected %lld bytes of data, but got %s", file.path,
                static_cast<long long>(buffer.bytes),
                std::feof(file.stream) ? "fewer" : "more");
  return true;
}

bool ckpt::cuda::writeNpy(const char *folder, const ProgramBuffer &buffer,
                          const void *data) {
  File file(folder, buffer.name, "wb");
  if (!file.stream)
    return fail("cannot write '%s': %s", file.path, std::strerror(errno));
  char header[longestHeader];
  int length =
      std::snprintf(header, sizeof(header),
                    "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                    buffer.element, buffer.shape);
  // Padded with spaces, ended by a newline.
  size_t start = sizeof(magic) + 2;
  size_t bytes =
      (start + length + headerAlignment) / headerAlignment * headerAlignment -
      start;
  std::memset(header + length, ' ', bytes - length);
  header[bytes - 1] = '\n';
  unsigned char size[] = {static_cast<unsigned char>(bytes % 256),
                          static_cast<unsigned char>(bytes / 256)};
  bool good = file.write(magic, sizeof(magic)) && file.write(size, 2) &&
              file.write(header, bytes) && file.write(data, buffer.bytes) &&
              std::fflush(file.stream) == 0;
  return good || fail("cannot write '%s': %s", file.path, std::strerror(errno));
}
