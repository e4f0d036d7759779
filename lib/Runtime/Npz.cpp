//===- Npz.cpp - Zip archives of arrays -----------------------------------===//
//
// Zip as far as NumPy uses it: members stored or deflated, found through the
// directory at the end of the file, with 64-bit sizes if needed. Archives of
// arrays are written in the 64-bit form: one way for every size.
//
//===----------------------------------------------------------------------===//

#include "Npy.h"
#include "ckpt/Support/OutputFile.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/MemoryBuffer.h"

#include <zlib.h>

using namespace ckpt;
using namespace llvm;
using support::endian::read16le;
using support::endian::read32le;
using support::endian::read64le;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

constexpr uint32_t localSignature = 0x04034b50;
constexpr uint32_t directorySignature = 0x02014b50;
constexpr uint32_t endSignature = 0x06054b50;
constexpr uint32_t end64Signature = 0x06064b50;
constexpr uint32_t locator64Signature = 0x07064b50;
constexpr size_t localBytes = 30, directoryBytes = 46, endBytes = 22,
                 end64Bytes = 56, locator64Bytes = 20;
constexpr uint16_t extra64 = 1;
constexpr uint32_t in64 = 0xffffffff;
constexpr uint16_t stored = 0, deflated = 8;

/// One line of the directory at the end of the archive.
struct Member {
  std::string name;
  uint16_t flags, method;
  uint32_t checksum;
  uint64_t packedBytes, bytes, offset;
};

Error problem(const Twine &what) { return createStringError(what.str()); }

class ZipReader {
public:
  explicit ZipReader(ArrayRef<char> file) : file(file) {}

  /// All members, in the order of the directory.
  Expected<std::vector<Member>> members() const;
  /// The content of one of them, its checksum verified.
  Expected<std::vector<char>> read(const Member &member) const;

private:
  bool holds(uint64_t offset, uint64_t bytes) const {
    return offset <= file.size() && bytes <= file.size() - offset;
  }
  const char *at(uint64_t offset) const { return file.data() + offset; }
  std::optional<uint64_t> findEnd() const;
  Expected<std::pair<uint64_t, uint64_t>> findDirectory() const;

  ArrayRef<char> file;
};

/// The end record stands last, but for a comment of at most 64 KiB.
std::optional<uint64_t> ZipReader::findEnd() const {
  if (file.size() < endBytes)
    return std::nullopt;
  uint64_t last = file.size() - endBytes;
  uint64_t first = last > 0xffff ? last - 0xffff : 0;
  for (uint64_t offset = last + 1; offset-- > first;)
    if (read32le(at(offset)) == endSignature)
      return offset;
  return std::nullopt;
}

/// Number of members and where their directory begins.
Expected<std::pair<uint64_t, uint64_t>> ZipReader::findDirectory() const {
  std::optional<uint64_t> end = findEnd();
  if (!end)
    return problem("not an .npz file, or truncated");
  uint64_t count = read16le(at(*end + 10)), offset = read32le(at(*end + 16));
  if (count != 0xffff && offset != in64)
    return std::make_pair(count, offset);
  if (*end < locator64Bytes ||
      read32le(at(*end - locator64Bytes)) != locator64Signature)
    return problem("damaged archive: its directory is missing");
  uint64_t end64 = read64le(at(*end - locator64Bytes + 8));
  if (!holds(end64, end64Bytes) || read32le(at(end64)) != end64Signature)
    return problem("damaged archive: its directory is missing");
  return std::make_pair(read64le(at(end64 + 32)), read64le(at(end64 + 48)));
}

/// Replaces the sizes and the offset that did not fit 32 bits.
bool readExtra64(StringRef extra, Member &member) {
  while (extra.size() >= 4) {
    uint16_t id = read16le(extra.data());
    size_t length = read16le(extra.data() + 2);
    extra = extra.drop_front(4);
    if (length > extra.size())
      return false;
    StringRef field = extra.take_front(length);
    extra = extra.drop_front(length);
    if (id != extra64)
      continue;
    for (uint64_t *value :
         {&member.bytes, &member.packedBytes, &member.offset}) {
      if (*value != in64)
        continue;
      if (field.size() < 8)
        return false;
      *value = read64le(field.data());
      field = field.drop_front(8);
    }
  }
  return true;
}

Expected<std::vector<Member>> ZipReader::members() const {
  auto directory = findDirectory();
  if (!directory)
    return directory.takeError();
  auto [count, offset] = *directory;
  std::vector<Member> members;
  uint64_t packedBytes = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (!holds(offset, directoryBytes) ||
        read32le(at(offset)) != directorySignature)
      return problem("damaged archive: its directory is cut short");
    const char *line = at(offset);
    Member member;
    member.flags = read16le(line + 8);
    member.method = read16le(line + 10);
    member.checksum = read32le(line + 16);
    member.packedBytes = read32le(line + 20);
    member.bytes = read32le(line + 24);
    member.offset = read32le(line + 42);
    uint64_t nameBytes = read16le(line + 28), extraBytes = read16le(line + 30),
             commentBytes = read16le(line + 32);
    offset += directoryBytes;
    if (!holds(offset, nameBytes + extraBytes + commentBytes))
      return problem("damaged archive: its directory is cut short");
    member.name.assign(at(offset), nameBytes);
    if (!readExtra64(StringRef(at(offset + nameBytes), extraBytes), member))
      return problem("damaged archive: its directory is cut short");
    offset += nameBytes + extraBytes + commentBytes;
    // Members that share bytes would let a small file unpack without end.
    if (member.packedBytes > file.size() - packedBytes)
      return problem("damaged or truncated: its members are larger than it");
    packedBytes += member.packedBytes;
    members.push_back(std::move(member));
  }
  return members;
}

/// Inflates without a header; fails unless exactly \p bytes come out. Memory
/// grows with the output, not with the claim of the archive.
Expected<std::vector<char>> inflateAll(ArrayRef<char> packed, uint64_t bytes) {
  constexpr uint64_t chunk = 1u << 20;
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return problem("out of memory");
  std::vector<char> content;
  uint64_t read = 0, written = 0;
  int status = Z_OK;
  while (status == Z_OK && written <= bytes) {
    // One byte more than claimed: with the output complete, the end mark is
    // still to be read, and too much output is seen.
    content.resize(std::min(bytes + 1, std::max(2 * written, chunk)));
    uint64_t in = std::min<uint64_t>(chunk, packed.size() - read);
    uint64_t out = std::min<uint64_t>(chunk, content.size() - written);
    stream.next_in =
        reinterpret_cast<Bytef *>(const_cast<char *>(packed.data() + read));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef *>(content.data() + written);
    stream.avail_out = out;
    status = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    written += out - stream.avail_out;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || written != bytes)
    return problem("damaged: does not unpack to the size it claims");
  content.resize(bytes);
  return content;
}

uint32_t checksumOf(ArrayRef<char> content) {
  return crc32_z(0, reinterpret_cast<const Bytef *>(content.data()),
                 content.size());
}

Expected<std::vector<char>> ZipReader::read(const Member &member) const {
  constexpr uint16_t encrypted = 1;
  if (member.flags & encrypted)
    return problem("encrypted members are not supported");
  if (!holds(member.offset, localBytes) ||
      read32le(at(member.offset)) != localSignature)
    return problem("damaged or truncated");
  uint64_t begin = member.offset + localBytes +
                   read16le(at(member.offset + 26)) +
                   read16le(at(member.offset + 28));
  if (!holds(begin, member.packedBytes))
    return problem("truncated");
  ArrayRef<char> packed = file.slice(begin, member.packedBytes);

  std::vector<char> content;
  if (member.method == stored && member.packedBytes == member.bytes) {
    content.assign(packed.begin(), packed.end());
  } else if (member.method == deflated) {
    Expected<std::vector<char>> inflated = inflateAll(packed, member.bytes);
    if (!inflated)
      return inflated.takeError();
    content = std::move(*inflated);
  } else {
    return problem("compression method " + Twine(member.method) +
                   " is not supported");
  }
  if (checksumOf(content) != member.checksum)
    return problem("damaged: its checksum does not match");
  return content;
}

Error inFile(StringRef path, Error error) {
  return problem("'" + path + "': " + toString(std::move(error)));
}

Expected<NpyArray> readMember(const ZipReader &zip, const Member &member) {
  Expected<std::vector<char>> content = zip.read(member);
  if (!content)
    return content.takeError();
  Expected<NpyHeader> header = parseNpyHeader(*content);
  if (!header)
    return header.takeError();
  NpyArray array;
  array.name = member.name;
  array.type = header->type;
  array.shape = header->shape;
  content->erase(content->begin(), content->begin() + header->dataOffset);
  array.data = std::move(*content);
  return array;
}

} // namespace

Expected<std::vector<NpyArray>> ckpt::parseNpz(ArrayRef<char> bytes,
                                               StringRef path) {
  ZipReader zip(bytes);
  Expected<std::vector<Member>> members = zip.members();
  if (!members)
    return inFile(path, members.takeError());
  std::vector<NpyArray> arrays;
  StringSet<> names;
  for (const Member &member : *members) {
    Expected<NpyArray> array = readMember(zip, member);
    if (!array)
      return inFile(path, problem("member '" + member.name +
                                  "': " + toString(array.takeError())));
    StringRef name = array->name;
    name.consume_back(".npy");
    array->name = name.str();
    if (!names.insert(array->name).second)
      return inFile(path, problem("holds '" + array->name + "' twice"));
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

Expected<std::vector<NpyArray>> ckpt::readNpz(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return problem("cannot read '" + path +
                   "': " + buffer.getError().message());
  return parseNpz((*buffer)->getBuffer(), path);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

/// The directory's entry of a written member.
struct WrittenMember {
  std::string fileName;
  uint32_t checksum;
  uint64_t bytes, offset;
};

class ZipWriter {
public:
  explicit ZipWriter(raw_ostream &stream)
      : stream(stream), out(stream, endianness::little) {}

  void add(const NpyView &array);
  void finish();

private:
  void versionAndTime(uint32_t checksum);

  raw_ostream &stream;
  support::endian::Writer out;
  std::vector<WrittenMember> members;
};

/// The fields that a member and its line in the directory have in common.
/// The time is midnight of 1 January 1980: equal results give equal files.
void ZipWriter::versionAndTime(uint32_t checksum) {
  constexpr uint16_t version64 = 45, noFlags = 0, midnight = 0, firstDay = 0x21;
  out.write(version64);
  out.write(noFlags);
  out.write(stored);
  out.write(midnight);
  out.write(firstDay);
  out.write(checksum);
  out.write(in64);
  out.write(in64);
}

void ZipWriter::add(const NpyView &array) {
  std::string header = formatNpyHeader(array.type, array.shape);
  WrittenMember member;
  member.fileName = array.name + ".npy";
  member.offset = stream.tell();
  member.bytes = header.size() + array.data.size();
  member.checksum = checksumOf(header);
  member.checksum = crc32_z(member.checksum,
                            reinterpret_cast<const Bytef *>(array.data.data()),
                            array.data.size());

  out.write(localSignature);
  versionAndTime(member.checksum);
  out.write<uint16_t>(member.fileName.size());
  out.write<uint16_t>(20);
  stream << member.fileName;
  out.write(extra64);
  out.write<uint16_t>(16);
  out.write(member.bytes);
  out.write(member.bytes);
  stream << header << StringRef(array.data.data(), array.data.size());
  members.push_back(std::move(member));
}

void ZipWriter::finish() {
  // NumPy tells an archive by its first record.
  if (members.empty()) {
    out.write(endSignature);
    stream.write_zeros(endBytes - sizeof(endSignature));
    return;
  }
  uint64_t directory = stream.tell();
  for (const WrittenMember &member : members) {
    constexpr uint16_t version64 = 45;
    out.write(directorySignature);
    out.write(version64);
    versionAndTime(member.checksum);
    out.write<uint16_t>(member.fileName.size());
    out.write<uint16_t>(28);
    stream.write_zeros(10); // comment, disk and attributes
    out.write(in64);
    stream << member.fileName;
    out.write(extra64);
    out.write<uint16_t>(24);
    out.write(member.bytes);
    out.write(member.bytes);
    out.write(member.offset);
  }
  uint64_t end = stream.tell();
  out.write(end64Signature);
  out.write<uint64_t>(end64Bytes - 12);
  out.write<uint16_t>(45);
  out.write<uint16_t>(45);
  stream.write_zeros(8); // this disk and the directory's
  out.write<uint64_t>(members.size());
  out.write<uint64_t>(members.size());
  out.write<uint64_t>(end - directory);
  out.write<uint64_t>(directory);
  out.write(locator64Signature);
  stream.write_zeros(4); // the disk of the record above
  out.write<uint64_t>(end);
  out.write<uint32_t>(1);
  out.write(endSignature);
  stream.write_zeros(4);
  out.write<uint16_t>(0xffff);
  out.write<uint16_t>(0xffff);
  out.write(in64);
  out.write(in64);
  out.write<uint16_t>(0);
}

} // namespace

Error ckpt::writeNpz(StringRef path, ArrayRef<NpyView> arrays) {
  return writeOutputFile(path, [&](raw_ostream &stream) {
    ZipWriter zip(stream);
    for (const NpyView &array : arrays)
      zip.add(array);
    zip.finish();
  });
}
