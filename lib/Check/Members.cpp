//===- Members.cpp - The parts of a certificate ---------------------------===//

#include "Members.h"

using namespace ckpt::check;

bool Members::take(const std::string &key, Json::Kind kind,
                   const Json *&member) {
  auto found = json.object.find(key);
  taken.insert(key);
  if (found == json.object.end() || found->second.kind != kind)
    return refusal.fail("expected '" + key + "' of the right kind in " + where);
  member = &found->second;
  return true;
}

bool Members::integer(const std::string &key, int64_t &number) {
  const Json *member = nullptr;
  if (!take(key, Json::Kind::Integer, member))
    return false;
  number = member->integer;
  return true;
}

bool Members::text(const std::string &key, std::string &result) {
  const Json *member = nullptr;
  if (!take(key, Json::Kind::Text, member))
    return false;
  result = member->text;
  return true;
}

bool Members::list(const std::string &key, const std::vector<Json> *&result) {
  const Json *member = nullptr;
  if (!take(key, Json::Kind::List, member))
    return false;
  result = &member->list;
  return true;
}

bool Members::lines(const std::string &key, std::vector<std::string> &result) {
  const std::vector<Json> *items = nullptr;
  if (!list(key, items))
    return false;
  for (const Json &item : *items) {
    if (item.kind != Json::Kind::Text)
      return refusal.fail("expected lines of text in '" + key + "'");
    result.push_back(item.text);
  }
  return true;
}

bool Members::finish() {
  for (const auto &[key, value] : json.object)
    if (!taken.count(key))
      return refusal.fail("unexpected '" + key + "' in " + where);
  return true;
}

/// Whether \p number is an index of \p size items; sets it.
static bool toIndex(const Json &number, size_t size, int &index) {
  index = static_cast<int>(number.integer);
  return number.integer >= 0 && number.integer < static_cast<int64_t>(size);
}

/// A list of \p count integers.
static bool isArc(const Json &json, size_t count) {
  for (const Json &number : json.list)
    if (number.kind != Json::Kind::Integer)
      return false;
  return json.kind == Json::Kind::List && json.list.size() == count;
}

/// Reads arcs that are named by one of \p size values or ops.
static bool readFlows(Members &members, const std::string &key, size_t size,
                      std::map<int, int64_t> &flows, Refusal &refusal) {
  const std::vector<Json> *arcs = nullptr;
  if (!members.list(key, arcs))
    return false;
  for (const Json &arc : *arcs) {
    int index = -1;
    if (!isArc(arc, 2) || !toIndex(arc.list[0], size, index) ||
        !flows.emplace(index, arc.list[1].integer).second)
      return refusal.fail("expected arcs in '" + key +
                          "', each of something that exists and once");
  }
  return true;
}

static bool readNeeds(Members &members, const Step &step, Evidence &evidence,
                      Refusal &refusal) {
  const std::vector<Json> *arcs = nullptr;
  if (!members.list("needs", arcs))
    return false;
  for (const Json &arc : *arcs) {
    std::pair<int, int> ends;
    if (!isArc(arc, 3) || !toIndex(arc.list[0], step.ops.size(), ends.first) ||
        !toIndex(arc.list[1], step.values.size(), ends.second) ||
        !evidence.needs.emplace(ends, arc.list[2].integer).second)
      return refusal.fail("expected arcs in 'needs', each of something that "
                          "exists and once");
  }
  return true;
}

/// Pairs of an op and 1 if it runs again, 0 if not.
static bool readDecisions(Members &members, const Step &step,
                          Evidence &evidence, Refusal &refusal) {
  const std::vector<Json> *items = nullptr;
  if (!members.list("decisions", items))
    return false;
  for (const Json &item : *items) {
    Decision &decision = evidence.decisions.emplace_back();
    if (!isArc(item, 2) ||
        !toIndex(item.list[0], step.ops.size(), decision.op) ||
        (item.list[1].integer != 0 && item.list[1].integer != 1))
      return refusal.fail("expected decisions, each an op and 0 or 1");
    decision.again = item.list[1].integer == 1;
  }
  return true;
}

/// An op, or -1.
static bool readOp(Members &members, const std::string &key, const Step &step,
                   int &op, Refusal &refusal) {
  int64_t number = -1;
  if (!members.integer(key, number))
    return false;
  op = static_cast<int>(number);
  return refusal.require(number >= -1 &&
                             number < static_cast<int64_t>(step.ops.size()),
                         "op " + std::to_string(number) + " does not exist");
}

bool ckpt::check::readCases(Members &members, const std::string &key,
                            const Step &step, std::vector<Evidence> &cases,
                            Refusal &refusal) {
  const std::vector<Json> *items = nullptr;
  if (!members.list(key, items))
    return false;
  for (const Json &item : *items) {
    Members parts(item, "a case of '" + key + "'", refusal);
    Evidence &evidence = cases.emplace_back();
    size_t values = step.values.size(), ops = step.ops.size();
    if (!readOp(parts, "anchor", step, evidence.moment.anchor, refusal) ||
        !readOp(parts, "before", step, evidence.moment.before, refusal) ||
        !readOp(parts, "after", step, evidence.moment.after, refusal) ||
        !parts.integer("price", evidence.price) ||
        !readDecisions(parts, step, evidence, refusal) ||
        !readFlows(parts, "demand", values, evidence.demand, refusal) ||
        !readFlows(parts, "force", ops, evidence.force, refusal) ||
        !readFlows(parts, "keep", values, evidence.keep, refusal) ||
        !readFlows(parts, "again", ops, evidence.again, refusal) ||
        !readNeeds(parts, step, evidence, refusal) || !parts.finish())
      return false;
  }
  return true;
}
