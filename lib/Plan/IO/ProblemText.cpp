//===- ProblemText.cpp - Problems and plans as text -----------------------===//
//
// One line per item and one `key=value` per property (docs/PlanFormat.md), so
// that instances can be written by hand, compared by line, and read without a
// grammar.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Text.h"

#include "Plan/Model/ProblemFault.h"
#include "Plan/Model/TextLines.h"

#include <ostream>

using namespace ckpt::plan;

namespace {

/// Spellings, in the order of the enumerators.
constexpr std::array<std::string_view, 5> kindNames = {
    "fusible", "view", "contraction", "reduction", "opaque"};
constexpr std::array<std::string_view, 7> accessNames = {
    "pointwise", "reshape", "permute", "stretch", "aligned", "gather", "any"};
constexpr std::array<std::string_view, 3> needNames = {"inline", "memory",
                                                       "contiguous"};
constexpr std::array<std::string_view, 4> keepNames = {"free", "save",
                                                       "recompute", "inline"};
constexpr std::array<std::string_view, 4> homeNames = {"arena", "argument",
                                                       "result", "hosted"};

/// `VALUE[:ACCESS][:NEED][:destination],…`; an absent part has its default.
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
    return !reader.failed() && checkWhole();
  }

private:
  bool checkWhole();
  bool readLine();
  bool readRegion();
  bool readValue();
  bool readOp();
  /// The second word is the number of the item, which counts up.
  bool expectNumber(size_t expected);

  LineReader reader;
  Problem &problem;
  /// Line of each item, for faults that only the whole shows.
  std::vector<int64_t> valueLines, opLines, regionLines;
  int64_t bandwidthLine = 0, launchLine = 0;
};

bool ProblemReader::checkWhole() {
  std::optional<ProblemFault> fault = findFault(problem);
  if (!fault)
    return true;
  switch (fault->item) {
  case ProblemFault::Item::Bandwidth:
    return reader.failAtLine(bandwidthLine, fault->what);
  case ProblemFault::Item::Launch:
    return reader.failAtLine(launchLine, fault->what);
  case ProblemFault::Item::Value:
    return reader.failAtLine(valueLines[fault->index], fault->what);
  case ProblemFault::Item::Op:
    return reader.failAtLine(opLines[fault->index], fault->what);
  case ProblemFault::Item::Region:
    return reader.failAtLine(regionLines[fault->index], fault->what);
  }
  return false;
}

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
  if (item == "region" && words[0].quoted)
    return readRegion();
  bool isAlone = words.size() == 1;
  if (isAlone && number(words[0], "bandwidth", problem.bytesPerMicrosecond)) {
    bandwidthLine = reader.line();
    return true;
  }
  if (isAlone && number(words[0], "launch", problem.launchNs)) {
    launchLine = reader.line();
    return true;
  }
  if (isAlone && flag(words[0], "no-takeovers")) {
    problem.takesOver = false;
    return true;
  }
  if (isAlone && flag(words[0], "scratch-in-results")) {
    problem.scratchInResults = true;
    return true;
  }
  return reader.fail("expected 'bandwidth=', 'launch=', 'no-takeovers', "
                     "'scratch-in-results', 'layer=\"…\"', "
                     "'region=\"…\"', 'value' or 'op', but got " +
                     quote(item));
}

bool ProblemReader::readRegion() {
  Region region;
  region.name = reader.words[0].value;
  for (size_t i = 1; i < reader.words.size(); ++i) {
    const Word &word = reader.words[i];
    bool isList = word.key == "layers" && word.hasValue && !word.quoted &&
                  parseList(word.value, region.layers);
    if (!isList && !number(word, "budget", region.budgetBytes))
      return reader.failAt(word);
  }
  problem.regions.push_back(std::move(region));
  regionLines.push_back(reader.line());
  return true;
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
  valueLines.push_back(reader.line());
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
  opLines.push_back(reader.line());
  return true;
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

void printRegion(const Region &region, std::ostream &os) {
  os << "region=";
  printQuoted(region.name, os);
  os << " budget=" << region.budgetBytes;
  printList(" layers=", region.layers, os,
            [&](size_t i) { os << region.layers[i]; });
  os << '\n';
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
  return ProblemReader(text, problem, error).run();
}

void ckpt::plan::printProblem(const Problem &problem, std::ostream &os) {
  os << "bandwidth=" << problem.bytesPerMicrosecond << '\n'
     << "launch=" << problem.launchNs << '\n';
  if (!problem.takesOver)
    os << "no-takeovers\n";
  if (problem.scratchInResults)
    os << "scratch-in-results\n";
  for (const std::string &layer : problem.layers) {
    os << "layer=";
    printQuoted(layer, os);
    os << '\n';
  }
  for (const Region &region : problem.regions)
    printRegion(region, os);
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
