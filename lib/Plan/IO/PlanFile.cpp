//===- PlanFile.cpp - Plans of functions as files -------------------------===//
//
// Reads and prints plan files for `save-plan`, `plan-file` and `ckpt-plan
// --diff`.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/PlanFile.h"

#include "Plan/IO/PlanLines.h"
#include "ckpt/Plan/Text.h"

using namespace ckpt::plan;

namespace {

constexpr std::array<std::string_view, 3> plannedNames = {"save", "recompute",
                                                          "inline"};

/// Reads the lines in their order: figures, ops, the return, kernels.
class FileReader {
public:
  FileReader(std::string_view text, PlanFile &file, std::string &error)
      : reader(text, error), file(file) {}

  bool run(bool endsWithNewLine);

private:
  bool readHead();
  bool readFigures();
  bool readFigure(int64_t &figure);
  bool checkFigures();
  bool readRegion();
  bool readOp();
  bool readReturn();
  bool readPlan();
  bool readHash(const Word &word, int64_t &hash);
  bool isLine(std::string_view key) {
    return !reader.words.empty() && flag(reader.words[0], key);
  }

  /// A line `NAME=N`, once. None is negative, which says that it is missing.
  struct Figure {
    std::string_view name;
    int64_t &number;
    bool optional = false;
  };

  LineReader reader;
  PlanFile &file;
  int64_t kernelCount = -1;
  const std::array<Figure, 6> figures = {
      {{"budget", file.budgetBytes, /*optional=*/true},
       {"time", file.timeNs},
       {"flops", file.flops},
       {"extra-flops", file.extraFlops},
       {"values", file.valueCount},
       {"kernels", kernelCount}}};
};

} // namespace

bool FileReader::readHash(const Word &word, int64_t &hash) {
  if (word.key != "hash" || word.value.size() != 6)
    return false;
  const char *end = word.value.data() + word.value.size();
  auto [stop, error] = std::from_chars(word.value.data(), end, hash, 16);
  return error == std::errc() && stop == end && hash >= 0;
}

bool FileReader::readHead() {
  if (!reader.nextLine())
    return reader.fail("expected 'plan=', but got the end of the file");
  const Word &word = reader.words[0];
  if (word.key != "plan" || !word.quoted || reader.words.size() != 1)
    return reader.fail("expected 'plan=\"FUNCTION\"', but got " +
                       quote(word.key));
  file.function = word.value;
  return true;
}

bool FileReader::readFigure(int64_t &figure) {
  const Word &word = reader.words[0];
  if (figure >= 0)
    return reader.fail("'" + std::string(word.key) + "' is given twice");
  return (reader.words.size() == 1 && number(word, word.key, figure) &&
          figure >= 0) ||
         reader.failAt(word);
}

/// Leaves the first line that is none.
bool FileReader::readFigures() {
  for (const Figure &figure : figures)
    figure.number = -1;
  while (reader.nextLine()) {
    if (reader.words[0].key == "region") {
      if (!readRegion())
        return false;
      continue;
    }
    const Figure *known = nullptr;
    for (const Figure &figure : figures)
      if (reader.words[0].key == figure.name)
        known = &figure;
    if (!known)
      return checkFigures();
    if (!readFigure(known->number))
      return false;
  }
  return !reader.failed();
}

/// `region="PATTERN" budget=N`.
bool FileReader::readRegion() {
  const std::vector<Word> &words = reader.words;
  int64_t bytes = 0;
  bool known = words.size() == 2 && words[0].quoted &&
               number(words[1], "budget", bytes) && bytes > 0 &&
               file.regions.emplace(words[0].value, bytes).second;
  return known || reader.fail("expected 'region=\"PATTERN\" budget=N', each "
                              "pattern once and at least a byte");
}

bool FileReader::checkFigures() {
  for (const Figure &figure : figures)
    if (figure.number < 0 && !figure.optional)
      return reader.fail("expected '" + std::string(figure.name) +
                         "=' before, but got " + quote(reader.words[0].key));
  return true;
}

/// `op N PLANNED hash=HASH name="…"`.
bool FileReader::readOp() {
  const std::vector<Word> &words = reader.words;
  PlannedOp op;
  size_t position = 0;
  bool known =
      words.size() >= 4 && words.size() <= 5 && !words[1].hasValue &&
      parseInteger(words[1].key, position) && position == file.ops.size() &&
      match(words[2].key, plannedNames, op.as) && readHash(words[3], op.hash) &&
      (words.size() == 4 || quotedName(words[4], op.name));
  if (!known)
    return reader.fail("expected 'op " + std::to_string(file.ops.size()) +
                       "' with a decision, a hash and a name");
  file.ops.push_back(std::move(op));
  return true;
}

bool FileReader::readReturn() {
  if (!isLine("return") || reader.words.size() != 2 ||
      !readHash(reader.words[1], file.returnHash))
    return reader.fail("expected a figure, 'op' or 'return hash=', but got " +
                       (reader.words.empty() ? "the end of the file"
                                             : quote(reader.words[0].key)));
  return true;
}

bool FileReader::readPlan() {
  int64_t arenaLine = 0;
  while (reader.nextLine()) {
    if (reader.words[0].key == "arena")
      arenaLine = reader.line();
    if (!readPlanLine(reader, file.ops.size(), file.valueCount, file.plan))
      return reader.fail("expected 'arena=' or 'kernel', but got " +
                         quote(reader.words[0].key));
  }
  int64_t count = file.plan.kernels.size();
  if (!reader.failed() && count != kernelCount)
    return reader.fail("the file ends after " + std::to_string(count) +
                       " kernels of " + std::to_string(kernelCount));
  if (file.budgetBytes >= 0 && file.plan.arenaBytes > file.budgetBytes)
    return reader.failAtLine(
        arenaLine, "expected an arena within the budget of " +
                       std::to_string(file.budgetBytes) + " bytes, but got " +
                       std::to_string(file.plan.arenaBytes));
  return !reader.failed();
}

bool FileReader::run(bool endsWithNewLine) {
  if (!readHead() || !readFigures())
    return false;
  for (; isLine("op"); reader.nextLine())
    if (!readOp())
      return false;
  if (reader.failed() || !readReturn() || !readPlan())
    return false;
  return endsWithNewLine || reader.fail("the file ends within a line");
}

bool ckpt::plan::parsePlanFile(std::string_view text, PlanFile &file,
                               std::string &error) {
  file = PlanFile();
  error.clear();
  return FileReader(text, file, error)
      .run(!text.empty() && text.back() == '\n');
}

/// Six digits, so that lines align.
static void printHash(int64_t hash, std::ostream &os) {
  constexpr char digits[] = "0123456789abcdef";
  os << " hash=";
  for (int shift = 20; shift >= 0; shift -= 4)
    os << digits[hash >> shift & 15];
}

static void printOp(const PlannedOp &op, std::ostream &os) {
  os << spell(plannedNames, op.as);
  printHash(op.hash, os);
  if (!op.name.empty()) {
    os << " name=";
    printQuoted(op.name, os);
  }
}

/// The ops whose results a kernel hands out, for people.
static void printComment(const PlanFile &file, const Kernel &kernel,
                         std::ostream &os) {
  const char *separator = " // ";
  for (OpId op : kernel.ops) {
    const PlannedOp &planned = file.ops[op];
    if (planned.as == PlannedAs::Inline && op != kernel.ops.back())
      continue;
    os << separator;
    for (char c : planned.name)
      os << (c == '\n' ? ' ' : c);
    separator = ", ";
  }
}

void ckpt::plan::printPlanFile(const PlanFile &file, std::ostream &os) {
  os << "plan=";
  printQuoted(file.function, os);
  os << '\n';
  if (file.budgetBytes >= 0)
    os << "budget=" << file.budgetBytes << '\n';
  os << "time=" << file.timeNs << "\nflops=" << file.flops
     << "\nextra-flops=" << file.extraFlops << "\nvalues=" << file.valueCount
     << "\nkernels=" << file.plan.kernels.size() << '\n';
  for (const auto &[pattern, bytes] : file.regions) {
    os << "region=";
    printQuoted(pattern, os);
    os << " budget=" << bytes << '\n';
  }
  for (size_t i = 0; i < file.ops.size(); ++i) {
    os << "op " << i << ' ';
    printOp(file.ops[i], os);
    os << '\n';
  }
  os << "return";
  printHash(file.returnHash, os);
  os << "\narena=" << file.plan.arenaBytes << '\n';
  for (const Kernel &kernel : file.plan.kernels) {
    printKernel(kernel, os);
    printComment(file, kernel, os);
    os << '\n';
  }
}

std::string_view ckpt::plan::describe(PlannedAs as) {
  constexpr std::array<std::string_view, 3> participles = {
      "saved", "recomputed", "inlined"};
  return spell(participles, as);
}

std::vector<PlannedAs> ckpt::plan::plannedAs(const Problem &problem,
                                             const Plan &plan,
                                             const Verdict &verdict) {
  std::vector<PlannedAs> planned(problem.ops.size(), PlannedAs::Inline);
  std::vector<char> ran(problem.ops.size(), false);
  for (const Kernel &kernel : plan.kernels)
    for (OpId op : kernel.ops) {
      if (isAnchor(problem.ops[op]) && ran[op])
        planned[op] = PlannedAs::Recompute;
      ran[op] = true;
    }
  for (const Instance &instance : verdict.instances) {
    PlannedAs &as = planned[problem.values[instance.value].op];
    if (instance.recomputed)
      as = PlannedAs::Recompute;
    else if (as == PlannedAs::Inline)
      as = PlannedAs::Save;
  }
  return planned;
}
