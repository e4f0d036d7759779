//===- TextLines.h - Lines of words, numbers and lists ----------*- C++ -*-===//
//
// What the text forms of problems and plans have in common: a line is a list
// of words, `//` starts a comment, and every error names its line.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_TEXTLINES_H
#define CKPT_LIB_PLAN_TEXTLINES_H

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt::plan {

/// Reads all of \p text as one number.
template <typename Integer>
bool parseInteger(std::string_view text, Integer &value) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// The parts of \p text between separators, empty ones included.
std::vector<std::string_view> split(std::string_view text, char separator);

/// One word of a line: `key`, `key=value` or `key="text"`.
struct Word {
  std::string_view key;
  bool hasValue = false;
  bool quoted = false;
  std::string value;
};

/// Splits a text into lines of words and keeps the first error.
class LineReader {
public:
  LineReader(std::string_view text, std::string &error)
      : rest(text), error(error) {}

  /// Reads the next line that has words; false at the end or on an error.
  bool nextLine();
  bool failed() const { return !error.empty(); }
  /// Both return false, for the caller to hand on.
  bool fail(const std::string &what);
  bool failAt(const Word &word);

  std::vector<Word> words;

private:
  bool splitLine(std::string_view line);
  bool takeQuoted(std::string_view &line, std::string &text);

  std::string_view rest;
  std::string &error;
  int64_t lineNumber = 0;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_TEXTLINES_H
