//===- Text.cpp - Problems and plans as text ------------------------------===//
//
// One line per item and one `key=value` per property (docs/PlanFormat.md), so
// that instances can be written by hand, compared by line, and read without a
// grammar.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Text.h"

#include "TextLines.h"

#include <array>
#include <ostream>

using namespace ckpt::plan;

namespace {

/// Spellings, in the order of the enumerators.
constexpr std::array<std::string_view, 5> kindNames = {
    "fusible", "view", "contraction", "reduction", "opaque"};
constexpr std::array<std::string_view, 5> accessNames = {
    "pointwise", "reshape", "permute", "aligned", "any"};
constexpr std::array<std::string_view, 3> needNames = {"inline", "memory",
                                                       "contiguous"};
constexpr std::array<std::string_view, 4> keepNames = {"free", "save",
                                                       "recompute", "inline"};
constexpr std::array<std::string_view, 4> homeNames = {"arena", "argument",
                                                       "result", "hosted"};

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

bool flag(const Word &word, std::string_view key) {
  return word.key == key && !word.hasValue && !word.quoted;
}

bool quotedName(const Word &word, std::string &name) {
  if (word.key != "name" || !word.quoted || !word.hasValue)
    return false;
  name = word.value;
  return true;
}

template <typename Enum, size_t count>
bool choice(const Word &word, std::string_view key,
            const std::array<std::string_view, count> &names, Enum &value) {
  return word.key == key && word.hasValue && !word.quoted &&
         match(word.value, names, value);
}

/// `VALUE[:ACCESS][:NEED][:destination],…`; what is missing has its default.
bool parseReads(std::string_view text, std::vector<Read> &reads) {
  for (std::string_view item : split(text, ',')) {
    Read &read = reads.emplace_back();
    std::vector<std::string_view> parts = split(item, ':');
    if (!parseInteger(parts[0], read.value))
      return false;
    for (size_t i = 1; i < parts.size(); ++i)
      if (parts[i] == "destination")
        read.destination = true;
      else if (!match(parts[i], accessNames, read.access) &&
               !match(parts[i], needNames, read.need))
        return false;
  }
  return true;
}

class ProblemReader {
public:
  ProblemReader(std::string_view text, Problem &problem, std::string &error)
      : reader(text, error), problem(problem) {}

  bool run() {
    while (reader.nextLine())
      if (!readLine())
        return false;
    return !reader.failed();
  }

private:
  bool readLine();
  bool readValue();
  bool readOp();
  /// The second word is the number of the item, which counts up.
  bool expectNumber(size_t expected);

  LineReader reader;
  Problem &problem;
};

bool ProblemReader::readLine() {
  std::vector<Word> &words = reader.words;
  std::string_view item = words[0].key;
  if (flag(words[0], "value"))
    return readValue();
  if (flag(words[0], "op"))
    return readOp();
  if (item == "layer" && words[0].quoted && words.size() == 1) {
    problem.layers.push_back(words[0].value);
    return true;
  }
  if (words.size() == 1 &&
      (number(words[0], "bandwidth", problem.bytesPerMicrosecond) ||
       number(words[0], "launch", problem.launchNs)))
    return true;
  return reader.fail("expected 'bandwidth=', 'launch=', 'layer=\"…\"', 'value' "
                     "or 'op', but got '" +
                     std::string(item) + "'");
}

bool ProblemReader::expectNumber(size_t expected) {
  size_t found;
  if (reader.words.size() > 1 && !reader.words[1].hasValue &&
      parseInteger(reader.words[1].key, found) && found == expected)
    return true;
  return reader.fail("expected number " + std::to_string(expected));
}

bool ProblemReader::readValue() {
  if (!expectNumber(problem.values.size()))
    return false;
  Value value;
  for (size_t i = 2; i < reader.words.size(); ++i) {
    const Word &word = reader.words[i];
    if (!number(word, "bytes", value.bytes) &&
        !number(word, "elements", value.elements) &&
        !number(word, "shape", value.shape) &&
        !choice(word, "home", homeNames, value.home) &&
        !choice(word, "keep", keepNames, value.keep) &&
        !number(word, "host", value.host) &&
        !number(word, "same", value.same) && !quotedName(word, value.name))
      return reader.failAt(word);
  }
  problem.values.push_back(std::move(value));
  return true;
}

bool ProblemReader::readOp() {
  OpId id = problem.ops.size();
  Op op;
  if (!expectNumber(id))
    return false;
  if (reader.words.size() < 3 ||
      !match(reader.words[2].key, kindNames, op.kind))
    return reader.fail("expected the kind of the op");
  for (size_t i = 3; i < reader.words.size(); ++i) {
    const Word &word = reader.words[i];
    bool isList = word.hasValue && !word.quoted && !word.value.empty();
    bool known = quotedName(word, op.name) || number(word, "flops", op.flops) ||
                 number(word, "compute", op.computePs) ||
                 number(word, "workspace", op.workspaceBytes) ||
                 number(word, "layer", op.layer);
    if (flag(word, "once"))
      known = !(op.mayRepeat = false);
    else if (flag(word, "effects"))
      known = op.hasEffects = true;
    else if (flag(word, "backward"))
      known = op.backward = true;
    else if (isList && word.key == "reads")
      known = parseReads(word.value, op.reads);
    else if (isList && word.key == "results")
      known = parseList(word.value, op.results);
    if (!known)
      return reader.failAt(word);
  }
  for (ValueId result : op.results) {
    if (result < 0 || result >= static_cast<ValueId>(problem.values.size()))
      return reader.fail("expected a value declared before, but got " +
                         std::to_string(result));
    problem.values[result].op = id;
  }
  problem.ops.push_back(std::move(op));
  return true;
}

class PlanReader {
public:
  PlanReader(std::string_view text, const Problem &problem, Plan &plan,
             std::string &error)
      : reader(text, error), problem(problem), plan(plan) {}

  bool run() {
    while (reader.nextLine())
      if (!readLine())
        return false;
    return !reader.failed();
  }

private:
  bool readLine();
  bool readOutputs(std::string_view text, Kernel &kernel);
  bool readKernel();

  LineReader reader;
  const Problem &problem;
  Plan &plan;
};

bool PlanReader::readLine() {
  if (flag(reader.words[0], "kernel"))
    return readKernel();
  if (reader.words.size() == 1 &&
      number(reader.words[0], "arena", plan.arenaBytes))
    return true;
  return reader.fail("expected 'arena=' or 'kernel', but got '" +
                     std::string(reader.words[0].key) + "'");
}

/// `VALUE@OFFSET,…` or, without places, `VALUE,…`.
bool PlanReader::readOutputs(std::string_view text, Kernel &kernel) {
  for (std::string_view item : split(text, ',')) {
    std::vector<std::string_view> parts = split(item, '@');
    if (parts.size() > 2 ||
        !parseInteger(parts[0], kernel.outputs.emplace_back()) ||
        (parts.size() == 2 &&
         !parseInteger(parts[1], kernel.offsets.emplace_back())))
      return false;
    ValueId value = kernel.outputs.back();
    if (value < 0 || value >= static_cast<ValueId>(problem.values.size()))
      return reader.fail("value " + std::to_string(value) + " does not exist");
  }
  return kernel.offsets.empty() ||
         kernel.offsets.size() == kernel.outputs.size();
}

bool PlanReader::readKernel() {
  Kernel kernel;
  for (size_t i = 1; i < reader.words.size(); ++i) {
    const Word &word = reader.words[i];
    bool isList = word.hasValue && !word.quoted && !word.value.empty();
    bool known = number(word, "workspace", kernel.workspaceOffset);
    if (isList && word.key == "ops")
      known = parseList(word.value, kernel.ops);
    else if (isList && word.key == "outputs")
      known = readOutputs(word.value, kernel);
    if (!known)
      return reader.failAt(word);
  }
  for (OpId op : kernel.ops)
    if (op < 0 || op >= static_cast<OpId>(problem.ops.size()))
      return reader.fail("op " + std::to_string(op) + " does not exist");
  plan.kernels.push_back(std::move(kernel));
  return true;
}

void printQuoted(const std::string &text, std::ostream &os) {
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

void printName(const std::string &name, std::ostream &os) {
  if (name.empty())
    return;
  os << " name=";
  printQuoted(name, os);
}

void printRead(const Read &read, std::ostream &os) {
  os << read.value << ':' << spell(accessNames, read.access);
  if (read.need != Need::Inline)
    os << ':' << spell(needNames, read.need);
  if (read.destination)
    os << ":destination";
}

template <typename List, typename Print>
void printList(const char *key, const List &list, std::ostream &os,
               Print print) {
  for (size_t i = 0; i < list.size(); ++i) {
    os << (i ? "," : key);
    print(i);
  }
}

void printNonzero(const char *key, int64_t number, std::ostream &os) {
  if (number)
    os << key << number;
}

void printOp(const Op &op, std::ostream &os) {
  os << spell(kindNames, op.kind);
  printList(" reads=", op.reads, os,
            [&](size_t i) { printRead(op.reads[i], os); });
  printList(" results=", op.results, os,
            [&](size_t i) { os << op.results[i]; });
  printNonzero(" flops=", op.flops, os);
  printNonzero(" compute=", op.computePs, os);
  printNonzero(" workspace=", op.workspaceBytes, os);
  if (!op.mayRepeat)
    os << " once";
  if (op.hasEffects)
    os << " effects";
  if (op.backward)
    os << " backward";
  if (op.layer != none)
    os << " layer=" << op.layer;
  printName(op.name, os);
  os << '\n';
}

} // namespace

bool ckpt::plan::parseProblem(std::string_view text, Problem &problem,
                              std::string &error) {
  problem = Problem();
  error.clear();
  if (!ProblemReader(text, problem, error).run())
    return false;
  error = check(problem);
  return error.empty();
}

void ckpt::plan::printProblem(const Problem &problem, std::ostream &os) {
  os << "bandwidth=" << problem.bytesPerMicrosecond << '\n'
     << "launch=" << problem.launchNs << '\n';
  for (const std::string &layer : problem.layers) {
    os << "layer=";
    printQuoted(layer, os);
    os << '\n';
  }
  for (size_t i = 0; i < problem.values.size(); ++i) {
    const Value &value = problem.values[i];
    os << "value " << i << " bytes=" << value.bytes
       << " elements=" << value.elements << " shape=" << value.shape;
    if (value.home != Home::Arena)
      os << " home=" << spell(homeNames, value.home);
    if (value.host != none)
      os << " host=" << value.host;
    if (value.same != none)
      os << " same=" << value.same;
    if (value.keep != Keep::Free)
      os << " keep=" << spell(keepNames, value.keep);
    printName(value.name, os);
    os << '\n';
  }
  for (size_t i = 0; i < problem.ops.size(); ++i) {
    os << "op " << i << ' ';
    printOp(problem.ops[i], os);
  }
}

bool ckpt::plan::parsePlan(std::string_view text, const Problem &problem,
                           Plan &plan, std::string &error) {
  plan = Plan();
  error.clear();
  return PlanReader(text, problem, plan, error).run();
}

void ckpt::plan::printPlan(const Plan &plan, std::ostream &os) {
  if (plan.arenaBytes)
    os << "arena=" << plan.arenaBytes << '\n';
  for (const Kernel &kernel : plan.kernels) {
    os << "kernel";
    printList(" ops=", kernel.ops, os, [&](size_t i) { os << kernel.ops[i]; });
    printList(" outputs=", kernel.outputs, os, [&](size_t i) {
      os << kernel.outputs[i];
      if (!kernel.offsets.empty())
        os << '@' << kernel.offsets[i];
    });
    if (kernel.workspaceOffset != -1)
      os << " workspace=" << kernel.workspaceOffset;
    os << '\n';
  }
}
