//===- NpzTest.cpp - Archives of arrays, good and bad ---------------------===//

#include "ckpt/Runtime/Npz.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

#include <cstring>
#include <random>
#include <sys/resource.h>

using namespace ckpt;

namespace {

std::string input(const char *name) {
  return std::string(CKPT_TEST_INPUTS "/") + name;
}

std::string errorOf(llvm::Expected<std::vector<NpyArray>> arrays) {
  return arrays ? "" : llvm::toString(arrays.takeError());
}

const NpyArray &named(const std::vector<NpyArray> &arrays, const char *name) {
  for (const NpyArray &array : arrays)
    if (array.name == name)
      return array;
  static NpyArray none;
  ADD_FAILURE() << "no array " << name;
  return none;
}

template <typename T>
std::vector<T> elements(const NpyArray &array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

std::vector<char> readBytes(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, false, false);
  EXPECT_TRUE(bool(buffer)) << path;
  llvm::StringRef bytes = (*buffer)->getBuffer();
  return {bytes.begin(), bytes.end()};
}

/// A file that is gone when the test ends.
struct ScratchFile {
  ScratchFile() { llvm::sys::fs::createTemporaryFile("ckpt", "npz", path); }
  ~ScratchFile() { llvm::sys::fs::remove(path); }
  llvm::SmallString<128> path;
};

void expectTypes(const std::vector<NpyArray> &arrays) {
  EXPECT_EQ(named(arrays, "f32").shape, (llvm::SmallVector<int64_t>{2, 3}));
  EXPECT_EQ(elements<float>(named(arrays, "f32")),
            (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(elements<double>(named(arrays, "f64")),
            (std::vector<double>{1.5, -2.0}));
  EXPECT_EQ(named(arrays, "f16").type, (NpyType{'f', 2}));
  EXPECT_EQ(named(arrays, "bf16").type.name(), "bfloat16");
  EXPECT_EQ(elements<uint16_t>(named(arrays, "bf16")),
            (std::vector<uint16_t>{0x3f80, 0x4000}));
  EXPECT_EQ(named(arrays, "b1").type.name(), "bool");
  EXPECT_EQ(elements<char>(named(arrays, "b1")), (std::vector<char>{1, 0, 1}));
  EXPECT_EQ(elements<int8_t>(named(arrays, "i8")),
            (std::vector<int8_t>{-1, 2}));
  EXPECT_EQ(elements<int16_t>(named(arrays, "i16")),
            (std::vector<int16_t>{-300}));
  EXPECT_EQ(elements<int32_t>(named(arrays, "i32")),
            (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(elements<int64_t>(named(arrays, "i64")),
            (std::vector<int64_t>{int64_t(1) << 40}));
  EXPECT_EQ(named(arrays, "u32").type.name(), "uint32");
  EXPECT_TRUE(named(arrays, "scalar").shape.empty());
  EXPECT_EQ(elements<float>(named(arrays, "scalar")),
            (std::vector<float>{2.5}));
  EXPECT_EQ(named(arrays, "empty").shape, (llvm::SmallVector<int64_t>{0, 3}));
  EXPECT_TRUE(named(arrays, "empty").data.empty());
}

TEST(Npz, ReadsWhatNumPyWrites) {
  auto stored = readNpz(input("types.npz"));
  ASSERT_TRUE(bool(stored));
  EXPECT_EQ(stored->size(), 12u);
  expectTypes(*stored);
  auto compressed = readNpz(input("compressed.npz"));
  ASSERT_TRUE(bool(compressed));
  expectTypes(*compressed);
  EXPECT_EQ(elements<float>(named(*compressed, "x")),
            std::vector<float>(64 * 64));
  auto version2 = readNpz(input("version2.npz"));
  ASSERT_TRUE(bool(version2));
  EXPECT_EQ(elements<float>(version2->front()), std::vector<float>(6, 1.0f));
}

TEST(Npz, ReadsWhatItWrites) {
  auto arrays = readNpz(input("types.npz"));
  ASSERT_TRUE(bool(arrays));
  std::vector<NpyView> views;
  for (const NpyArray &array : *arrays)
    views.push_back({array.name, array.type, array.shape, array.data});
  ScratchFile file;
  ASSERT_FALSE(bool(writeNpz(file.path, views)));
  auto again = readNpz(file.path);
  ASSERT_TRUE(bool(again));
  EXPECT_EQ(again->size(), views.size());
  expectTypes(*again);
}

/// NumPy takes a file for an archive if it begins with a member or, without
/// members, with the record of the end.
TEST(Npz, AnArchiveWithoutArraysBeginsWithItsEnd) {
  ScratchFile file;
  ASSERT_FALSE(bool(writeNpz(file.path, {})));
  auto bytes = llvm::MemoryBuffer::getFile(file.path);
  ASSERT_TRUE(bool(bytes));
  EXPECT_TRUE((*bytes)->getBuffer().starts_with("PK\005\006"));
  auto again = readNpz(file.path);
  ASSERT_TRUE(bool(again));
  EXPECT_TRUE(again->empty());
}

TEST(Npz, SaysWhatItCannotRead) {
  EXPECT_EQ(errorOf(readNpz("no-such-file.npz")),
            "cannot read 'no-such-file.npz': No such file or directory");
  EXPECT_EQ(errorOf(readNpz(input("make.py"))),
            "'" + input("make.py") + "': not an .npz file, or truncated");
  EXPECT_EQ(errorOf(readNpz(input("fortran.npz"))),
            "'" + input("fortran.npz") +
                "': member 'x.npy': expected elements in C order, but got "
                "Fortran order (save numpy.ascontiguousarray(x) instead)");
  EXPECT_EQ(errorOf(readNpz(input("big-endian.npz"))),
            "'" + input("big-endian.npz") +
                "': member 'x.npy': big-endian element type '>f4' is not "
                "supported");
  EXPECT_EQ(errorOf(readNpz(input("complex.npz"))),
            "'" + input("complex.npz") +
                "': member 'x.npy': element type '<c8' is not supported");
  EXPECT_EQ(errorOf(readNpz(input("structured.npz"))),
            "'" + input("structured.npz") +
                "': member 'x.npy': structured element types are not "
                "supported");
  EXPECT_EQ(errorOf(readNpz(input("twice.npz"))),
            "'" + input("twice.npz") + "': holds 'x' twice");
}

TEST(Npz, LeavesTheTargetAloneWhereItCannotWrite) {
  float value = 1;
  NpyView view{"x", {}, {}, {reinterpret_cast<char *>(&value), 4}};
  EXPECT_EQ(llvm::toString(writeNpz("no-such-folder/x.npz", view)),
            "cannot write 'no-such-folder/x.npz': No such file or directory");
  EXPECT_EQ(llvm::toString(writeNpz("/dev/full", view)),
            "cannot write '/dev/full': No space left on device");
  EXPECT_TRUE(llvm::sys::fs::exists("/dev/full"));
}

TEST(Npz, FullDiskLeavesTheTargetAsItWas) {
  ScratchFile file;
  int32_t before = 7;
  NpyView small{"x", {'i', 4}, {}, {reinterpret_cast<char *>(&before), 4}};
  ASSERT_FALSE(bool(writeNpz(file.path, small)));
  std::vector<char> target = readBytes(file.path.str().str());

  rlimit unlimited;
  getrlimit(RLIMIT_FSIZE, &unlimited);
  rlimit limited = unlimited;
  limited.rlim_cur = 1 << 16;
  setrlimit(RLIMIT_FSIZE, &limited);
  std::vector<char> data(1 << 20);
  llvm::Error error =
      writeNpz(file.path, NpyView{"x", {'i', 1}, {1 << 20}, data});
  setrlimit(RLIMIT_FSIZE, &unlimited);

  EXPECT_EQ(llvm::toString(std::move(error)),
            ("cannot write '" + file.path + "': File too large").str());
  EXPECT_EQ(readBytes(file.path.str().str()), target);
  std::error_code code;
  llvm::StringRef folder = llvm::sys::path::parent_path(file.path);
  for (llvm::sys::fs::directory_iterator at(folder, code), end;
       at != end && !code; at.increment(code))
    EXPECT_FALSE(at->path() != file.path &&
                 llvm::StringRef(at->path()).starts_with(file.path))
        << at->path();
}

TEST(Npz, EveryTruncationIsAnError) {
  for (const char *name : {"types.npz", "compressed.npz"}) {
    std::vector<char> bytes = readBytes(input(name));
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_NE(errorOf(parseNpz(llvm::ArrayRef(bytes).take_front(size), "f")),
                "")
          << name << " cut to " << size;
  }
}

/// Changes a few bytes: random ones, extreme ones, copies from elsewhere.
void mutate(std::vector<char> &bytes, std::mt19937 &random) {
  int changes = 1 + random() % 4;
  for (int i = 0; i < changes; ++i) {
    size_t at = random() % bytes.size();
    switch (random() % 4) {
    case 0:
      bytes[at] = random();
      break;
    case 1:
      bytes[at] ^= 1 << random() % 8;
      break;
    case 2:
      for (size_t end = std::min(at + 8, bytes.size()); at < end; ++at)
        bytes[at] = '\xff';
      break;
    default:
      bytes[at] = bytes[random() % bytes.size()];
    }
  }
}

TEST(Npz, MutatedArchivesNeverCrash) {
  std::mt19937 random(1);
  for (const char *name : {"types.npz", "compressed.npz", "version2.npz"}) {
    std::vector<char> bytes = readBytes(input(name));
    for (int i = 0; i < 4000; ++i) {
      std::vector<char> mutant = bytes;
      mutate(mutant, random);
      errorOf(parseNpz(mutant, name));
    }
  }
}

void append(std::vector<char> &bytes, uint64_t value, int count) {
  for (int i = 0; i < count; ++i)
    bytes.push_back(value >> 8 * i);
}

/// An archive with one stored member and a true checksum, so that the member
/// itself is read.
std::vector<char> archiveOf(llvm::StringRef member) {
  uint32_t checksum = llvm::crc32(llvm::ArrayRef(
      reinterpret_cast<const uint8_t *>(member.data()), member.size()));
  std::vector<char> bytes;
  append(bytes, 0x04034b50, 4);
  append(bytes, 0, 26);
  bytes.insert(bytes.end(), member.begin(), member.end());
  size_t directory = bytes.size();
  append(bytes, 0x02014b50, 4);
  append(bytes, 0, 12);
  append(bytes, checksum, 4);
  append(bytes, member.size(), 4);
  append(bytes, member.size(), 4);
  append(bytes, 1, 2);
  append(bytes, 0, 16);
  bytes.push_back('x');
  append(bytes, 0x06054b50, 4);
  append(bytes, 0, 6);
  append(bytes, 1, 2);
  append(bytes, 47, 4);
  append(bytes, directory, 4);
  append(bytes, 0, 2);
  return bytes;
}

std::string npy(std::string dictionary, size_t dataBytes) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += char(dictionary.size());
  text += char(dictionary.size() >> 8);
  return text + dictionary + std::string(dataBytes, 'd');
}

TEST(Npz, SaysWhatIsWrongWithAMember) {
  auto error = [](std::string dictionary, size_t dataBytes = 0) {
    return errorOf(parseNpz(archiveOf(npy(dictionary, dataBytes)), "f"));
  };
  const std::string start = "{'descr': '<f4', 'fortran_order': False, ";
  const std::string place = "'f': member 'x': ";
  EXPECT_EQ(error(start + "'shape': (2, 1), }", 8), "");
  EXPECT_EQ(error(start + "'shape': (2,), }", 4),
            place + "expected 8 bytes of elements for its shape, but got 4");
  EXPECT_EQ(error(start + "'shape': (-2,), }", 4),
            place + "malformed shape in the .npy header");
  EXPECT_EQ(error(start + "'shape': (4294967296, 4294967296), }", 4),
            place + "expected more bytes of elements for its shape, but got 4");
  EXPECT_EQ(error(start), place + "malformed .npy header");
  EXPECT_EQ(errorOf(parseNpz(archiveOf("not numpy at all"), "f")),
            place + "not an array in .npy format");
}

TEST(Npz, MutatedMembersNeverCrash) {
  std::mt19937 random(2);
  std::string whole =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24);
  for (int i = 0; i < 4000; ++i) {
    std::vector<char> member(whole.begin(), whole.end());
    mutate(member, random);
    errorOf(parseNpz(archiveOf({member.data(), member.size()}), "f"));
  }
}

} // namespace
