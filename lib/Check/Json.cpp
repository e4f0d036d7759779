//===- Json.cpp - Reads the part of JSON that certificates use ------------===//

#include "Json.h"

#include <algorithm>
#include <charconv>

using namespace ckpt::check;

namespace {

class Reader {
public:
  explicit Reader(std::string_view text) : text(text) {}

  Json run() {
    Json value = readValue(0);
    skipSpace();
    if (at != text.size())
      fail("expected the end of the file");
    return value;
  }

private:
  /// Deeper than any certificate, and no danger to the stack.
  static constexpr int mostNesting = 16;

  [[noreturn]] void fail(const std::string &what) const {
    auto line = 1 + std::count(text.begin(), text.begin() + at, '\n');
    throw Refusal("line " + std::to_string(line) + ": " + what);
  }
  void skipSpace() {
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
  }
  bool take(char wanted) {
    skipSpace();
    if (at == text.size() || text[at] != wanted)
      return false;
    ++at;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted))
      fail(std::string("expected '") + wanted + "'");
  }

  Json readValue(int nesting);
  std::string readText();
  int64_t readInteger();

  std::string_view text;
  size_t at = 0;
};

std::string Reader::readText() {
  std::string result;
  expect('"');
  for (; at < text.size() && text[at] != '"'; ++at) {
    if (static_cast<unsigned char>(text[at]) < ' ' || text[at] == '\\')
      fail("expected text without escapes");
    result += text[at];
  }
  expect('"');
  return result;
}

int64_t Reader::readInteger() {
  int64_t number = 0;
  auto [end, error] =
      std::from_chars(text.data() + at, text.data() + text.size(), number);
  if (error != std::errc())
    fail("expected a value: an object, a list, text or a 64-bit integer");
  at = end - text.data();
  return number;
}

Json Reader::readValue(int nesting) {
  if (nesting > mostNesting)
    fail("expected less nesting");
  Json value;
  skipSpace();
  if (take('{')) {
    value.kind = Json::Kind::Object;
    if (take('}'))
      return value;
    do {
      skipSpace();
      std::string key = readText();
      expect(':');
      if (!value.object.emplace(key, readValue(nesting + 1)).second)
        fail("expected one '" + key + "'");
    } while (take(','));
    expect('}');
  } else if (take('[')) {
    value.kind = Json::Kind::List;
    if (take(']'))
      return value;
    do
      value.list.push_back(readValue(nesting + 1));
    while (take(','));
    expect(']');
  } else if (at < text.size() && text[at] == '"') {
    value.kind = Json::Kind::Text;
    value.text = readText();
  } else {
    value.integer = readInteger();
  }
  return value;
}

} // namespace

Json ckpt::check::parseJson(std::string_view text) {
  return Reader(text).run();
}
