//===- Words.cpp - Lines of words -----------------------------------------===//

#include "Words.h"

#include <charconv>

using namespace ckpt::check;

static bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::vector<std::string> ckpt::check::split(const std::string &text,
                                            char separator) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

bool WordReader::splitValue(std::string_view line, size_t &at, Word &word) {
  word.hasValue = true;
  word.quoted = at < line.size() && line[at] == '"';
  if (!word.quoted) {
    while (at < line.size() && !isSpace(line[at]) && line[at] != '"')
      word.value += line[at++];
    return true;
  }
  for (++at; at < line.size() && line[at] != '"'; ++at) {
    at += line[at] == '\\' && at + 1 < line.size();
    word.value += line[at];
  }
  return refusal.require(at++ < line.size(), "expected a closing quote");
}

bool WordReader::splitLine(std::string_view line) {
  words.clear();
  for (size_t at = 0;;) {
    while (at < line.size() && isSpace(line[at]))
      ++at;
    if (at == line.size() || line.substr(at, 2) == "//")
      return true;
    Word &word = words.emplace_back();
    while (at < line.size() && !isSpace(line[at]) && line[at] != '=' &&
           line[at] != '"')
      word.key += line[at++];
    if (at < line.size() && line[at] == '=' && !splitValue(line, ++at, word))
      return false;
    if (word.key.empty() || (at < line.size() && !isSpace(line[at])))
      return refusal.fail("expected words with spaces between");
  }
}

bool WordReader::integer(const std::string &text, int64_t &number) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return refusal.require(error == std::errc() &&
                             end == text.data() + text.size(),
                         "expected an integer, but got '" + text + "'");
}

bool WordReader::index(const std::string &text, size_t size, int &number) {
  int64_t wide = 0;
  if (!integer(text, wide))
    return false;
  number = static_cast<int>(wide);
  return refusal.require(wide >= 0 && wide < static_cast<int64_t>(size),
                         "expected a number below " + std::to_string(size) +
                             ", but got " + text);
}

bool WordReader::indices(const Word &word, size_t size,
                         std::vector<int> &list) {
  if (!isPlain(word))
    return false;
  for (const std::string &part : split(word.value, ','))
    if (!index(part, size, list.emplace_back()))
      return false;
  return true;
}

bool WordReader::oneOf(const std::string &text,
                       const std::set<std::string> &names,
                       std::string &result) {
  result = text;
  return refusal.require(names.count(text),
                         "expected a known word, but got '" + text + "'");
}
