//===- TextLines.h - Lines of words, numbers and lists ----------*- C++ -*-===//
//
// Shared by the text forms of problems and plans: a line is a list of words,
// `//` starts a comment, and every error names its line.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_MODEL_TEXTLINES_H
#define CKPT_LIB_PLAN_MODEL_TEXTLINES_H

#include <array>
#include <charconv>
#include <cstdint>
#include <ostream>
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
  /// Number of the current line; 0 before the first one.
  int64_t line() const { return lineNumber; }
  /// All return false, for the caller to hand on.
  bool fail(const std::string &what);
  bool failAtLine(int64_t line, const std::string &what);
  bool failAt(const Word &word);

  std::vector<Word> words;

private:
  bool splitLine(std::string_view line);
  bool takeQuoted(std::string_view &line, std::string &text);

  std::string_view rest;
  std::string &error;
  int64_t lineNumber = 0;
};

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

template <typename Integer>
bool parseList(std::string_view text, std::vector<Integer> &list) {
  for (std::string_view item : split(text, ','))
    if (!parseInteger(item, list.emplace_back()))
      return false;
  return true;
}

/// A property given as `key=number`.
template <typename Integer>
bool number(const Word &word, std::string_view key, Integer &value) {
  return word.key == key && word.hasValue && !word.quoted &&
         parseInteger(word.value, value);
}

inline bool flag(const Word &word, std::string_view key) {
  return word.key == key && !word.hasValue && !word.quoted;
}

inline bool quotedName(const Word &word, std::string &name) {
  if (word.key != "name" || !word.quoted || !word.hasValue)
    return false;
  name = word.value;
  return true;
}

//===----------------------------------------------------------------------===//
// Names of enumerators
//===----------------------------------------------------------------------===//

template <typename Enum, size_t count>
std::string_view spell(const std::array<std::string_view, count> &names,
                       Enum value) {
  return names[static_cast<size_t>(value)];
}

template <typename Enum, size_t count>
bool match(std::string_view text,
           const std::array<std::string_view, count> &names, Enum &value) {
  for (size_t i = 0; i < count; ++i)
    if (text == names[i]) {
      value = static_cast<Enum>(i);
      return true;
    }
  return false;
}

template <typename Enum, size_t count>
bool choice(const Word &word, std::string_view key,
            const std::array<std::string_view, count> &names, Enum &value) {
  return word.key == key && word.hasValue && !word.quoted &&
         match(word.value, names, value);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Prints \p text so that a reader of `"text"` gets it back.
void printQuoted(const std::string &text, std::ostream &os);

template <typename List, typename Print>
void printList(const char *key, const List &list, std::ostream &os,
               Print print) {
  for (size_t i = 0; i < list.size(); ++i) {
    os << (i ? "," : key);
    print(i);
  }
}

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_TEXTLINES_H
