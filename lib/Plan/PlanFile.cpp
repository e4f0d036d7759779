//===- PlanFile.cpp - Plans of functions as files -------------------------===//

#include "ckpt/Plan/PlanFile.h"

#include "PlanLines.h"

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
  bool readFigure();
  bool readOp();
  bool readReturn();
  bool readHash(const Word &word, int64_t &hash);
  bool isLine(std::string_view key) {
    return !reader.words.empty() && flag(reader.words[0], key);
  }

  LineReader reader;
  PlanFile &file;
  int64_t kernelCount = -1;
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
    return reader.fail("expected 'plan=\"FUNCTION\"', but got '" +
                       std::string(word.key) + "'");
  file.function = word.value;
  return true;
}

bool FileReader::readFigure() {
  const Word &word = reader.words[0];
  return reader.words.size() == 1 &&
         (number(word, "budget", file.budgetBytes) ||
          number(word, "time", file.timeNs) ||
          number(word, "flops", file.flops) ||
          number(word, "extra-flops", file.extraFlops) ||
          number(word, "values", file.valueCount) ||
          number(word, "kernels", kernelCount));
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
                       "' with what is done with it, a hash and a name");
  file.ops.push_back(std::move(op));
  return true;
}

bool FileReader::readReturn() {
  if (!isLine("return") || reader.words.size() != 2 ||
      !readHash(reader.words[1], file.returnHash))
    return reader.fail("expected a figure, 'op' or 'return hash=', but got " +
                       (reader.words.empty()
                            ? "the end of the file"
                            : "'" + std::string(reader.words[0].key) + "'"));
  return true;
}

bool FileReader::run(bool endsWithNewLine) {
  if (!readHead())
    return false;
  bool more = reader.nextLine();
  for (; more && readFigure();)
    more = reader.nextLine();
  for (; more && isLine("op"); more = reader.nextLine())
    if (!readOp())
      return false;
  if (reader.failed() || !readReturn())
    return false;
  while (reader.nextLine())
    if (!readPlanLine(reader, file.ops.size(), file.valueCount, file.plan))
      return reader.fail("expected 'arena=' or 'kernel', but got '" +
                         std::string(reader.words[0].key) + "'");
  if (reader.failed())
    return false;
  int64_t count = file.plan.kernels.size();
  if (count != kernelCount)
    return reader.fail("the file ends after " + std::to_string(count) +
                       " kernels of " + std::to_string(kernelCount));
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
