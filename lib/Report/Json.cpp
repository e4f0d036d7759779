//===- Json.cpp - JSON that may stand inside a page -----------------------===//

#include "Json.h"

#include <charconv>
#include <cmath>

using namespace ckpt::plan::report;

/// The length of the UTF-8 sequence at the start of \p text, 0 if it is none:
/// too short, overlong, a surrogate, or beyond the last code point.
static size_t sequenceLength(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2
                  : first < 0xF0                  ? 3
                  : first < 0xF5                  ? 4
                                                  : 0;
  if (length > text.size())
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80)
      return 0;
  bool isWrong = (first == 0xE0 && byte(1) < 0xA0) ||
                 (first == 0xED && byte(1) > 0x9F) ||
                 (first == 0xF0 && byte(1) < 0x90) ||
                 (first == 0xF4 && byte(1) > 0x8F);
  return isWrong ? 0 : length;
}

std::string ckpt::plan::report::validUtf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    size_t length = sequenceLength(text);
    if (length == 0)
      result += "\xEF\xBF\xBD";
    else
      result += text.substr(0, length);
    text.remove_prefix(std::max<size_t>(1, length));
  }
  return result;
}

std::string ckpt::plan::report::jsonString(std::string_view text) {
  constexpr std::string_view lineSeparators[] = {"\xE2\x80\xA8",
                                                 "\xE2\x80\xA9"};
  static const char digits[] = "0123456789abcdef";
  std::string valid = validUtf8(text), result = "\"";
  for (size_t i = 0; i < valid.size(); ++i) {
    unsigned char c = valid[i];
    std::string_view three = std::string_view(valid).substr(i, 3);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c < ' ' || c == 0x7F || c == '<' || c == '>' || c == '&') {
      result += "\\u00";
      result += digits[c >> 4];
      result += digits[c & 15];
    } else if (three == lineSeparators[0] || three == lineSeparators[1]) {
      result += three == lineSeparators[0] ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      result += c;
    }
  }
  return result + '"';
}

void JsonObject::key(std::string_view key) {
  os << (isFirst ? "\n  " : ",\n  ") << jsonString(key) << ": ";
  isFirst = false;
}

void JsonObject::member(std::string_view key, const Figure &figure) {
  this->key(key);
  if (auto *flag = std::get_if<bool>(&figure)) {
    os << (*flag ? "true" : "false");
  } else if (auto *integer = std::get_if<int64_t>(&figure)) {
    os << *integer;
  } else if (auto *number = std::get_if<double>(&figure);
             number && std::isfinite(*number)) {
    char text[64];
    auto [end, error] = std::to_chars(text, text + sizeof text, *number);
    os << std::string_view(text, end - text);
  } else {
    os << "null";
  }
}

void JsonObject::member(std::string_view key, std::string_view text) {
  this->key(key);
  os << jsonString(text);
}

void JsonObject::member(std::string_view key,
                        const std::vector<std::string> &texts) {
  this->key(key);
  os << "[";
  const char *separator = "\n";
  for (const std::string &text : texts) {
    os << separator << jsonString(text);
    separator = ",\n";
  }
  os << "]";
}
