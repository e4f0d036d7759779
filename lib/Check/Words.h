//===- Words.h - Lines of words ---------------------------------*- C++ -*-===//

#ifndef CKPT_LIB_CHECK_WORDS_H
#define CKPT_LIB_CHECK_WORDS_H

#include "Refusal.h"

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

namespace ckpt::check {

/// One word: `key`, `key=value` or `key="text"`.
struct Word {
  std::string key, value;
  bool hasValue = false, quoted = false;
};

/// The parts of \p text between separators, empty ones included.
std::vector<std::string> split(const std::string &text, char separator);

/// Splits lines into words, and reads the values of words.
class WordReader {
protected:
  explicit WordReader(Refusal &refusal) : refusal(refusal) {}

  bool splitLine(std::string_view line);
  bool unknown(const Word &word) {
    return refusal.fail("expected a known property, but got '" + word.key +
                        "'");
  }
  /// Whether it is `key=value`.
  bool isPlain(const Word &word) {
    return (word.hasValue && !word.quoted) || unknown(word);
  }
  bool integer(const std::string &text, int64_t &number);
  bool integer(const Word &word, int64_t &number) {
    return isPlain(word) && integer(word.value, number);
  }
  /// A number from 0 to \p size - 1, and a list of such numbers.
  bool index(const std::string &text, size_t size, int &number);
  bool indices(const Word &word, size_t size, std::vector<int> &list);
  bool oneOf(const std::string &text, const std::set<std::string> &names,
             std::string &result);
  bool name(const Word &word, std::string &result) {
    result = word.value;
    return (word.hasValue && word.quoted) || unknown(word);
  }

  Refusal &refusal;
  /// Words of the last line.
  std::vector<Word> words;

private:
  bool splitValue(std::string_view line, size_t &at, Word &word);
};

} // namespace ckpt::check

#endif // CKPT_LIB_CHECK_WORDS_H
