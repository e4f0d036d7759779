//===- Json.h - JSON that may stand inside a page ---------------*- C++ -*-===//
//
// WriteJson.cpp writes the report with this class (docs/Rationale/Report.md
// says why not with LLVM's). A text never contains '<', '>', '&' or a line
// separator as such, so that no name can end the element that holds the JSON.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_REPORT_JSON_H
#define CKPT_LIB_REPORT_JSON_H

#include "ckpt/Report/StepReport.h"

#include <ostream>

namespace ckpt::plan::report {

/// \p text as a JSON string with its quotes. Bytes that are no UTF-8 become
/// U+FFFD.
std::string jsonString(std::string_view text);

/// \p text as UTF-8, with U+FFFD for bytes that are none.
std::string validUtf8(std::string_view text);

/// The members of one object, one per line.
class JsonObject {
public:
  explicit JsonObject(std::ostream &os) : os(os) { os << "{"; }
  /// Ends the object.
  void end() { os << "\n}\n"; }

  void member(std::string_view key, const Figure &figure);
  void member(std::string_view key, std::string_view text);
  void member(std::string_view key, const std::vector<std::string> &texts);

  /// A table in the form that pandas calls "split": names of columns, and rows.
  /// \p printRow prints the cells of a row, with commas.
  template <typename Rows, typename PrintRow>
  void table(std::string_view key, std::initializer_list<const char *> columns,
             const Rows &rows, PrintRow printRow) {
    this->key(key);
    os << "{\"columns\": [";
    const char *separator = "";
    for (const char *column : columns) {
      os << separator << '"' << column << '"';
      separator = ", ";
    }
    os << "], \"data\": [";
    separator = "\n";
    for (const auto &row : rows) {
      os << separator << "[";
      printRow(row);
      os << "]";
      separator = ",\n";
    }
    os << "]}";
  }

private:
  void key(std::string_view key);

  std::ostream &os;
  bool isFirst = true;
};

} // namespace ckpt::plan::report

#endif // CKPT_LIB_REPORT_JSON_H
