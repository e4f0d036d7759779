//===- Npy.cpp - Headers of .npy members ----------------------------------===//
//
// The header is a Python dictionary in text:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
// Only this form is read, with its keys in any order.
//
//===----------------------------------------------------------------------===//

#include "Npy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace ckpt;
using namespace llvm;

static constexpr StringLiteral magic = "\x93NUMPY";

static Error problem(const Twine &what) {
  return createStringError(what.str());
}

std::string NpyType::name() const {
  if (kind == 'b')
    return "bool";
  if (kind == 'V')
    return bytes == 1 ? "float8" : "bfloat16";
  StringRef base = kind == 'f' ? "float" : kind == 'u' ? "uint" : "int";
  return (base + Twine(bytes * 8)).str();
}

/// Parses "<f4"; nothing for a type that a training step cannot hold.
static Expected<NpyType> parseType(StringRef text) {
  StringRef rest = text;
  bool bigEndian = rest.consume_front(">");
  if (!bigEndian && !rest.consume_front("<") && !rest.consume_front("|"))
    rest.consume_front("=");
  NpyType type;
  constexpr StringLiteral known[] = {"b1", "i1", "i2", "i4", "i8",
                                     "u1", "u2", "u4", "u8", "f1",
                                     "f2", "f4", "f8", "V1", "V2"};
  if (!is_contained(known, rest))
    return problem("element type '" + text + "' is not supported");
  type.kind = rest[0];
  type.bytes = rest[1] - '0';
  // Of the floats of 8 bits, ml_dtypes names one so, and the others "V1".
  if (rest == "f1")
    type.kind = 'V';
  if (bigEndian && type.bytes > 1)
    return problem("big-endian element type '" + text + "' is not supported");
  return type;
}

static Expected<SmallVector<int64_t>> parseShape(StringRef text) {
  SmallVector<int64_t> shape;
  while (!(text = text.ltrim()).empty()) {
    int64_t extent;
    if (text.consumeInteger(10, extent) || extent < 0)
      return problem("malformed shape in the .npy header");
    shape.push_back(extent);
    text = text.ltrim();
    if (!text.empty() && !text.consume_front(","))
      return problem("malformed shape in the .npy header");
  }
  return shape;
}

/// The text between \p open and \p close behind the key.
static std::optional<StringRef> valueOf(StringRef dictionary, StringRef key,
                                        StringRef open, StringRef close) {
  size_t at = dictionary.find(("'" + key + "'").str());
  if (at == StringRef::npos)
    return std::nullopt;
  StringRef rest = dictionary.drop_front(at + key.size() + 2).ltrim();
  if (!rest.consume_front(":"))
    return std::nullopt;
  rest = rest.ltrim();
  if (!rest.consume_front(open))
    return std::nullopt;
  size_t end = rest.find(close);
  if (end == StringRef::npos)
    return std::nullopt;
  return rest.take_front(end);
}

static Error parseDictionary(StringRef dictionary, NpyHeader &header) {
  std::optional<StringRef> type = valueOf(dictionary, "descr", "'", "'");
  std::optional<StringRef> order =
      valueOf(dictionary, "fortran_order", "", ",");
  std::optional<StringRef> shape = valueOf(dictionary, "shape", "(", ")");
  if (!order || !shape)
    return problem("malformed .npy header");
  if (!type)
    return problem("structured element types are not supported");
  if (order->trim() == "True")
    return problem("expected elements in C order, but got Fortran order "
                   "(save numpy.ascontiguousarray(x) instead)");
  if (order->trim() != "False")
    return problem("malformed .npy header");
  Expected<NpyType> parsedType = parseType(*type);
  if (!parsedType)
    return parsedType.takeError();
  Expected<SmallVector<int64_t>> parsedShape = parseShape(*shape);
  if (!parsedShape)
    return parsedShape.takeError();
  header.type = *parsedType;
  header.shape = *parsedShape;
  return Error::success();
}

Expected<NpyHeader> ckpt::parseNpyHeader(ArrayRef<char> member) {
  StringRef text(member.data(), member.size());
  if (!text.starts_with(magic) || text.size() < 12)
    return problem("not an array in .npy format");
  int version = text[6];
  if (version < 1 || version > 3)
    return problem(".npy format version " + Twine(version) +
                   " is not supported");
  size_t lengthBytes = version == 1 ? 2 : 4;
  size_t length = version == 1 ? support::endian::read16le(text.data() + 8)
                               : support::endian::read32le(text.data() + 8);
  NpyHeader header;
  header.dataOffset = 8 + lengthBytes + length;
  if (header.dataOffset > text.size())
    return problem("truncated .npy header");
  if (Error error =
          parseDictionary(text.substr(8 + lengthBytes, length), header))
    return std::move(error);

  int64_t bytes = header.type.bytes;
  bool overflow = false;
  for (int64_t extent : header.shape)
    overflow |= MulOverflow(bytes, extent, bytes);
  header.dataBytes = text.size() - header.dataOffset;
  if (overflow || static_cast<uint64_t>(bytes) != header.dataBytes)
    return problem("expected " + (overflow ? "more" : Twine(bytes)) +
                   " bytes of elements for its shape, but got " +
                   Twine(header.dataBytes));
  return header;
}

std::string ckpt::formatNpyHeader(const NpyType &type,
                                  ArrayRef<int64_t> shape) {
  std::string extents;
  for (int64_t extent : shape)
    extents += std::to_string(extent) + ",";
  std::string order = type.bytes == 1 ? "|" : "<";
  std::string dictionary =
      "{'descr': '" + order + type.kind + std::to_string(type.bytes) +
      "', 'fortran_order': False, 'shape': (" + extents + "), }";
  constexpr size_t fixedBytes = 10;
  size_t total = alignTo(fixedBytes + dictionary.size() + 1, 64);
  dictionary.resize(total - fixedBytes - 1, ' ');
  dictionary += '\n';
  char length[2];
  support::endian::write16le(length, dictionary.size());
  return magic.str() + std::string("\x01\x00", 2) + std::string(length, 2) +
         dictionary;
}
