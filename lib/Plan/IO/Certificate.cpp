//===- Certificate.cpp - Evidence for a plan and its bounds ---------------===//
//
// Bound finds the first runs of anchors, and the prices, that prove most; for
// these alone the file writes down a maximum flow. The network here is that of
// AnchorRelaxation.cpp without its shortcut: every value is a node of its own,
// so that the checker needs no rule about which values are worth a node. Both
// have the same minimum cut (docs/Certificates.md).
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Certificate.h"
#include "ckpt/Plan/ResultScratch.h"

#include "Plan/Bounds/BranchAndBound.h"
#include "ckpt/Plan/Text.h"

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>

using namespace ckpt::plan;

namespace {

/// The network of one moment, of all values that something to come may need.
class Evidence {
public:
  /// Running an anchor again costs \p scale per FLOP, of which whole multiples
  /// of \p unit count.
  Evidence(const RematGraph &graph, const AnchorRelaxation &moment,
           const BoundCase &at, int64_t scale, int64_t unit);

  int64_t flow() {
    int64_t value = cut.run(source, sink);
    cut.returnDeficits(source, sink);
    return value;
  }
  void print(std::ostream &os) const;

private:
  struct Arc {
    int32_t arc;
    /// The op and the value that name it; `none` if one is enough.
    int32_t op, value;
  };

  void findValues();
  void addArcs(int64_t scale, int64_t unit);
  int32_t nodeOf(ValueId value);
  static void printArcs(const MinCut &cut, const std::vector<Arc> &arcs,
                        std::ostream &os);

  static constexpr int32_t source = 0, sink = 1;
  const RematGraph &graph;
  const Problem &problem;
  const AnchorRelaxation &moment;
  const BoundCase at;
  /// Per value and per op: its node, or `none`.
  std::vector<int32_t> available, computed;
  std::vector<ValueId> values, demanded;
  int32_t nodes = 2;
  MinCut cut;
  std::vector<Arc> demandArcs, keepArcs, againArcs, needArcs, forceArcs;
};

} // namespace

Evidence::Evidence(const RematGraph &graph, const AnchorRelaxation &moment,
                   const BoundCase &at, int64_t scale, int64_t unit)
    : graph(graph), problem(graph.problem), moment(moment), at(at),
      available(problem.values.size(), none),
      computed(problem.ops.size(), none) {
  findValues();
  addArcs(scale, unit);
}

/// The values that ops to come read from before, and their sources.
void Evidence::findValues() {
  auto enter = [&](ValueId value) {
    OpId op = problem.values[value].op;
    if (op == none || available[value] != none)
      return false;
    available[value] = nodes++;
    if (computed[op] == none)
      computed[op] = nodes++;
    values.push_back(value);
    return true;
  };
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (moment.isFuture(op) && graph.live[op] &&
        static_cast<OpId>(op) != at.anchor)
      for (const Read &read : problem.ops[op].reads)
        if (OpId maker = problem.values[read.value].op;
            maker != none && !moment.isFuture(maker) && enter(read.value))
          demanded.push_back(read.value);
  for (size_t i = 0; i < values.size(); ++i)
    for (const Read &read : problem.ops[problem.values[values[i]].op].reads)
      enter(read.value);
}

void Evidence::addArcs(int64_t scale, int64_t unit) {
  cut.reset(nodes);
  for (ValueId value : demanded)
    demandArcs.push_back(
        {cut.addArc(source, available[value], MinCut::infinite), none, value});
  std::vector<char> entered(problem.ops.size(), 0);
  for (ValueId value : values) {
    OpId id = problem.values[value].op;
    const Op &op = problem.ops[id];
    int64_t capacity =
        moment.isOperand(value) ? 0 : at.price * arenaBytes(problem, value);
    keepArcs.push_back(
        {cut.addArc(available[value], computed[id], capacity), none, value});
    if (entered[id])
      continue;
    entered[id] = 1;
    std::vector<ValueId> reads;
    for (const Read &read : op.reads)
      if (available[read.value] != none)
        reads.push_back(read.value);
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    for (ValueId read : reads)
      needArcs.push_back(
          {cut.addArc(computed[id], available[read], MinCut::infinite), id,
           read});
    if (!moment.hasRun(id))
      continue;
    bool mayNot = graph.once[id] && moment.hasOwnKernel(id);
    for (const Decision &decision : at.decisions)
      mayNot |= decision.op == id && !decision.again;
    int64_t again = mayNot         ? MinCut::infinite
                    : isAnchor(op) ? op.flops / unit * unit * scale
                                   : 0;
    againArcs.push_back({cut.addArc(computed[id], sink, again), id, none});
  }
  for (const Decision &decision : at.decisions)
    if (decision.again)
      forceArcs.push_back(
          {cut.addArc(source, computed[decision.op], MinCut::infinite),
           decision.op, none});
}

void Evidence::printArcs(const MinCut &cut, const std::vector<Arc> &arcs,
                         std::ostream &os) {
  const char *separator = "[";
  for (const Arc &arc : arcs) {
    int64_t flow = cut.flowOn(arc.arc);
    if (flow == 0)
      continue;
    os << separator << '[';
    if (arc.op != none)
      os << arc.op << ',';
    if (arc.value != none)
      os << arc.value << ',';
    os << flow << ']';
    separator = ",";
  }
  os << (*separator == '[' ? "[]" : "]");
}

void Evidence::print(std::ostream &os) const {
  os << "{\"anchor\": " << at.anchor << ", \"before\": " << at.before
     << ", \"after\": " << at.after << ", \"price\": " << at.price;
  os << ",\n  \"decisions\": [";
  const char *separator = "";
  for (const Decision &decision : at.decisions) {
    os << separator << '[' << decision.op << ',' << decision.again << ']';
    separator = ",";
  }
  os << "],\n  \"demand\": ";
  printArcs(cut, demandArcs, os);
  os << ",\n  \"force\": ";
  printArcs(cut, forceArcs, os);
  os << ",\n  \"keep\": ";
  printArcs(cut, keepArcs, os);
  os << ",\n  \"again\": ";
  printArcs(cut, againArcs, os);
  os << ",\n  \"needs\": ";
  printArcs(cut, needArcs, os);
  os << "}";
}

namespace {

/// Prints the evidence of both bounds, and computes the bound that it proves.
class Prover {
public:
  Prover(const Problem &problem, int64_t budgetBytes, const Bound &bound)
      : scratch(mostScratchBytes(problem)), budgetBytes(budgetBytes + scratch),
        bound(bound), graph(problem, true), moment(graph) {}

  void printExtraFlops(std::ostream &os);
  void printMinimum(std::ostream &os);

private:
  /// Prints a flow; returns its value, and in `room` the bytes that it leaves.
  int64_t printCase(const BoundCase &at, int64_t scale, int64_t unit,
                    std::ostream &os) {
    moment.enter(at.anchor, at.before, at.after);
    Evidence evidence(graph, moment, at, scale, unit);
    int64_t flow = evidence.flow();
    evidence.print(os);
    return flow;
  }

  /// Bytes of results, and with them those of the budget.
  const int64_t scratch, budgetBytes;
  const Bound &bound;
  RematGraph graph;
  AnchorRelaxation moment;
};

} // namespace

void Prover::printExtraFlops(std::ostream &os) {
  constexpr int64_t scale = ExtraFlopsProof::flopScale;
  std::ostringstream cases;
  ExtraFlopsProof proof = bound.proveExtraFlops(budgetBytes);
  const Wide granule = Wide(scale) * proof.unit;
  Wide proven = proof.value;
  const char *separator = "";
  for (const BoundCase &at : proof.cases) {
    cases << separator;
    separator = ", ";
    Wide scaled =
        printCase(at, scale, proof.unit, cases) -
        Wide(at.price) * (Wide(budgetBytes) - Wide(moment.kernelBytes()));
    Wide multiples = std::max(Wide(0), (scaled + granule - 1) / granule);
    proven = std::min(proven, multiples * proof.unit);
  }
  os << "\"extra_flops_bound\": " << static_cast<int64_t>(proven)
     << ",\n\"extra_flops_evidence\": {\"scale\": " << scale
     << ", \"unit\": " << proof.unit << ", \"cases\": [" << cases.str() << "]}";
}

void Prover::printMinimum(std::ostream &os) {
  std::ostringstream cases;
  int64_t proven = 0;
  if (std::optional<BoundCase> at = bound.minimumCase()) {
    int64_t flow = printCase(*at, 0, 1, cases);
    proven = std::max(flow + moment.kernelBytes(), moment.aloneBytes());
    proven = std::max<int64_t>(0, proven - scratch);
  }
  os << "\"minimum_bytes_bound\": " << proven
     << ",\n\"minimum_bytes_evidence\": [" << cases.str() << "]";
}

std::string ckpt::plan::certify(const Problem &problem,
                                const Solution &solution, int64_t budgetBytes,
                                const Bound &bound) {
  std::ostringstream os, plan;
  printPlan(solution.plan, plan);
  os << "{\"format\": \"ckpt-certificate-3\",\n\"problem\": \""
     << fingerprint(problem) << "\",\n\"budget\": " << budgetBytes
     << ",\n\"arena\": " << solution.plan.arenaBytes
     << ",\n\"time_ns\": " << solution.verdict.timeNs
     << ",\n\"extra_flops\": " << solution.verdict.extraFlops
     << ",\n\"plan\": [";
  std::string line;
  std::istringstream lines(plan.str());
  for (const char *separator = "\n"; std::getline(lines, line);
       separator = ",\n")
    os << separator << "  \"" << line << '"';
  os << "],\n";
  Prover prover(problem, budgetBytes, bound);
  prover.printExtraFlops(os);
  os << ",\n";
  prover.printMinimum(os);
  os << "}\n";
  return os.str();
}

std::string ckpt::plan::fingerprint(const Problem &problem) {
  // FNV-1a over the words of the text form, names apart, and layers where no
  // region holds them.
  Problem bare = problem;
  uint64_t hash = 14695981039346656037u;
  auto mix = [&](std::string_view word) {
    for (char c : word)
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    hash = (hash ^ ' ') * 1099511628211u;
  };
  bare.layers.clear();
  for (Value &value : bare.values)
    value.name.clear();
  for (Region &region : bare.regions)
    region.name.clear();
  for (Op &op : bare.ops) {
    op.name.clear();
    if (bare.regions.empty())
      op.layer = none;
  }
  std::ostringstream text;
  printProblem(bare, text);
  std::istringstream words(text.str());
  for (std::string word; words >> word;)
    mix(word);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result(16, '0');
  for (size_t i = result.size(); i-- > 0; hash /= 16)
    result[i] = digits[hash % 16];
  return result;
}
