//===- TextLines.cpp - Lines of words, numbers and lists ------------------===//
//
// Splits lines into words, for ProblemText.cpp, PlanText.cpp and PlanFile.cpp.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/TextLines.h"

#include "ckpt/Plan/Quote.h"

#include <algorithm>

using namespace ckpt::plan;

/// Takes the text before the next \p separator off the front of \p text.
static std::string_view takeUntil(std::string_view &text, char separator) {
  size_t end = text.find(separator);
  std::string_view front = text.substr(0, end);
  text = end == std::string_view::npos ? "" : text.substr(end + 1);
  return front;
}

std::vector<std::string_view> ckpt::plan::split(std::string_view text,
                                                char separator) {
  std::vector<std::string_view> parts;
  bool more = true;
  while (more) {
    more = text.find(separator) != std::string_view::npos;
    parts.push_back(takeUntil(text, separator));
  }
  return parts;
}

bool LineReader::fail(const std::string &what) {
  return failAtLine(lineNumber, what);
}

bool LineReader::failAtLine(int64_t line, const std::string &what) {
  // Name the first line if a file has no lines.
  if (error.empty())
    error = "line " + std::to_string(std::max<int64_t>(line, 1)) + ": " + what;
  return false;
}

bool LineReader::failAt(const Word &word) {
  return fail(
      "expected a known property with a value in range, but got " +
      quote(std::string(word.key) + (word.hasValue ? "=" : "") + word.value));
}

bool LineReader::nextLine() {
  words.clear();
  while (!rest.empty() && words.empty() && !failed()) {
    ++lineNumber;
    splitLine(takeUntil(rest, '\n'));
  }
  return !words.empty() && !failed();
}

bool LineReader::takeQuoted(std::string_view &line, std::string &text) {
  size_t i = 1;
  for (; i < line.size() && line[i] != '"'; ++i) {
    bool escaped = line[i] == '\\' && i + 1 < line.size();
    i += escaped;
    text += escaped && line[i] == 'n' ? '\n' : line[i];
  }
  if (i >= line.size())
    return fail("expected a closing quote");
  line.remove_prefix(i + 1);
  return true;
}

bool LineReader::splitLine(std::string_view line) {
  while (true) {
    size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string_view::npos || line.substr(start, 2) == "//")
      return true;
    line.remove_prefix(start);
    Word &word = words.emplace_back();
    size_t end = std::min(line.find_first_of(" \t\r=\""), line.size());
    word.key = line.substr(0, end);
    line.remove_prefix(end);
    if (!line.empty() && line[0] == '=') {
      line.remove_prefix(1);
      word.hasValue = true;
    }
    if (!line.empty() && line[0] == '"') {
      word.quoted = true;
      if (!takeQuoted(line, word.value))
        return false;
    } else if (word.hasValue) {
      end = std::min(line.find_first_of(" \t\r\""), line.size());
      word.value = line.substr(0, end);
      line.remove_prefix(end);
    }
    if (!line.empty() && line[0] != ' ' && line[0] != '\t' && line[0] != '\r')
      return fail("expected a space before " + quote(line));
  }
}

std::string ckpt::plan::quote(std::string_view text) {
  constexpr size_t longest = 60;
  std::string shown = "'";
  for (char c : text.substr(0, longest))
    shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > longest ? "…'" : "'");
}

void ckpt::plan::printQuoted(const std::string &text, std::ostream &os) {
  os << '"';
  for (char c : text) {
    if (c == '"' || c == '\\')
      os << '\\';
    if (c == '\n')
      os << "\\n";
    else
      os << c;
  }
  os << '"';
}
