//===- Cbc.h - Linear programmes through the program cbc --------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_PUBLISHED_CBC_H
#define CKPT_LIB_PLAN_PUBLISHED_CBC_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ckpt::plan {

/// A linear programme: variables between bounds, a cost to minimise, rows.
class LinearProgram {
public:
  /// Returns its number.
  int32_t addVariable(double lower, double upper, double cost);
  using Terms = std::vector<std::pair<int32_t, double>>;
  /// The sum of \p terms is at most \p limit.
  void addRow(Terms terms, double limit);

  struct Variable {
    double lower, upper, cost;
  };
  struct Row {
    Terms terms;
    double limit;
  };
  std::vector<Variable> variables;
  std::vector<Row> rows;
};

/// Whether the program is in one of the folders of PATH.
bool isCbcInstalled();

/// The values of an optimum; nothing if there is none or cbc does not find one
/// within \p seconds.
std::optional<std::vector<double>> solveWithCbc(const LinearProgram &program,
                                                int seconds);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_PUBLISHED_CBC_H
