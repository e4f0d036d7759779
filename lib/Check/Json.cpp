//===- Json.cpp - Reads the part of JSON that certificates use ------------===//

#include "Json.h"

#include <algorithm>
#include <charconv>

using namespace ckpt::check;

namespace {

class Reader {
public:
  Reader(std::string_view text, Refusal &refusal)
      : text(text), refusal(refusal) {}

  bool run(Json &json) {
    if (!readValue(json, 0))
      return false;
    skipSpace();
    return at == text.size() || fail("expected the end of the file");
  }

private:
  /// Deeper than any certificate, and no danger to the stack.
  static constexpr int mostNesting = 16;

  bool fail(const std::string &what) {
    auto line = 1 + std::count(text.begin(), text.begin() + at, '\n');
    return refusal.fail("line " + std::to_string(line) + ": " + what);
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
  bool expect(char wanted) {
    return take(wanted) || fail(std::string("expected '") + wanted + "'");
  }

  bool readValue(Json &json, int nesting);
  bool readObject(Json &json, int nesting);
  bool readList(Json &json, int nesting);
  bool readText(std::string &result);
  bool readInteger(int64_t &number);

  std::string_view text;
  Refusal &refusal;
  size_t at = 0;
};

bool Reader::readText(std::string &result) {
  if (!expect('"'))
    return false;
  for (; at < text.size() && text[at] != '"'; ++at) {
    if (static_cast<unsigned char>(text[at]) < ' ' || text[at] == '\\')
      return fail("expected text without escapes");
    result += text[at];
  }
  return expect('"');
}

bool Reader::readInteger(int64_t &number) {
  auto [end, error] =
      std::from_chars(text.data() + at, text.data() + text.size(), number);
  if (error != std::errc())
    return fail("expected a value: an object, a list, text or a 64-bit "
                "integer");
  at = end - text.data();
  return true;
}

bool Reader::readObject(Json &json, int nesting) {
  json.kind = Json::Kind::Object;
  if (take('}'))
    return true;
  do {
    std::string key;
    if (!readText(key) || !expect(':'))
      return false;
    auto [member, isNew] = json.object.emplace(key, Json());
    if (!isNew)
      return fail("expected one '" + key + "'");
    if (!readValue(member->second, nesting + 1))
      return false;
  } while (take(','));
  return expect('}');
}

bool Reader::readList(Json &json, int nesting) {
  json.kind = Json::Kind::List;
  if (take(']'))
    return true;
  do
    if (!readValue(json.list.emplace_back(), nesting + 1))
      return false;
  while (take(','));
  return expect(']');
}

bool Reader::readValue(Json &json, int nesting) {
  if (nesting > mostNesting)
    return fail("expected less nesting");
  if (take('{'))
    return readObject(json, nesting);
  if (take('['))
    return readList(json, nesting);
  if (at == text.size() || text[at] != '"')
    return readInteger(json.integer);
  json.kind = Json::Kind::Text;
  return readText(json.text);
}

} // namespace

bool ckpt::check::parseJson(std::string_view text, Json &json,
                            Refusal &refusal) {
  return Reader(text, refusal).run(json);
}
