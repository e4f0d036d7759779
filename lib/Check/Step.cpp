//===- Step.cpp - Reads the text of a step and of a plan ------------------===//

#include "Step.h"

#include <algorithm>
#include <charconv>

using namespace ckpt::check;

namespace {

constexpr int64_t sumLimit = INT64_MAX / 4;

/// One word: `key`, `key=value` or `key="text"`.
struct Word {
  std::string key, value;
  bool hasValue = false, quoted = false;
};

[[noreturn]] void refuse(size_t line, const std::string &what) {
  throw Refusal("line " + std::to_string(line) + ": " + what);
}

int64_t toInteger(const std::string &text) {
  int64_t number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw Refusal("expected an integer, but got '" + text + "'");
  return number;
}

/// An index below \p size.
int toIndex(const std::string &text, size_t size) {
  int64_t number = toInteger(text);
  if (number < 0 || number >= static_cast<int64_t>(size))
    throw Refusal("expected a number below " + std::to_string(size) +
                  ", but got " + text);
  return static_cast<int>(number);
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::vector<Word> wordsOf(std::string_view line) {
  std::vector<Word> words;
  size_t at = 0;
  while (true) {
    while (at < line.size() && isSpace(line[at]))
      ++at;
    if (at == line.size() || line.substr(at, 2) == "//")
      return words;
    Word word;
    while (at < line.size() && !isSpace(line[at]) && line[at] != '=' &&
           line[at] != '"')
      word.key += line[at++];
    if (at < line.size() && line[at] == '=') {
      word.hasValue = true;
      ++at;
      if (at < line.size() && line[at] == '"') {
        word.quoted = true;
        for (++at; at < line.size() && line[at] != '"'; ++at) {
          if (line[at] == '\\' && at + 1 < line.size())
            ++at;
          word.value += line[at];
        }
        if (at++ >= line.size())
          throw Refusal("expected a closing quote");
      } else {
        while (at < line.size() && !isSpace(line[at]) && line[at] != '"')
          word.value += line[at++];
      }
    }
    if (word.key.empty() || (at < line.size() && !isSpace(line[at])))
      throw Refusal("expected words with spaces between");
    words.push_back(word);
  }
}

[[noreturn]] void refuseWord(const Word &word) {
  throw Refusal("expected a known property, but got '" + word.key + "'");
}

/// The text of `key=value`, of the right kind.
const std::string &textOf(const Word &word, bool quoted) {
  if (!word.hasValue || word.quoted != quoted)
    refuseWord(word);
  return word.value;
}

std::string oneOf(const std::string &text, const std::set<std::string> &names) {
  if (!names.count(text))
    throw Refusal("expected a known word, but got '" + text + "'");
  return text;
}

const std::set<std::string> accesses = {"pointwise", "reshape", "permute",
                                        "aligned", "any"};
const std::set<std::string> needs = {"inline", "memory", "contiguous"};

StepRead readRead(const std::string &text, const Step &step) {
  StepRead read;
  std::vector<std::string> parts = split(text, ':');
  read.value = toIndex(parts[0], step.values.size());
  for (size_t i = 1; i < parts.size(); ++i)
    if (parts[i] == "destination")
      read.destination = true;
    else if (accesses.count(parts[i]))
      read.access = parts[i];
    else
      read.need = oneOf(parts[i], needs);
  return read;
}

void readValue(const std::vector<Word> &words, Step &step) {
  StepValue value;
  if (words.size() < 2 || words[1].hasValue ||
      toInteger(words[1].key) != static_cast<int64_t>(step.values.size()))
    throw Refusal("expected value " + std::to_string(step.values.size()));
  for (size_t i = 2; i < words.size(); ++i) {
    const Word &word = words[i];
    if (word.key == "name")
      value.name = textOf(word, true);
    else if (word.key == "home")
      value.home =
          oneOf(textOf(word, false), {"arena", "argument", "result", "hosted"});
    else if (word.key == "keep")
      value.keep =
          oneOf(textOf(word, false), {"free", "save", "recompute", "inline"});
    else if (word.key == "bytes")
      value.bytes = toInteger(textOf(word, false));
    else if (word.key == "elements")
      value.elements = toInteger(textOf(word, false));
    else if (word.key == "shape")
      value.shape = toInteger(textOf(word, false));
    else if (word.key == "host")
      value.host = toInteger(textOf(word, false));
    else if (word.key == "same")
      value.same = toInteger(textOf(word, false));
    else
      refuseWord(word);
  }
  step.values.push_back(value);
}

void readOpProperty(const Word &word, StepOp &op, const Step &step) {
  if (word.key == "once" && !word.hasValue)
    op.once = true;
  else if (word.key == "effects" && !word.hasValue)
    op.effects = true;
  else if (word.key == "backward" && !word.hasValue)
    op.backward = true;
  else if (word.key == "name")
    op.name = textOf(word, true);
  else if (word.key == "flops")
    op.flops = toInteger(textOf(word, false));
  else if (word.key == "compute")
    op.computePs = toInteger(textOf(word, false));
  else if (word.key == "workspace")
    op.workspaceBytes = toInteger(textOf(word, false));
  else if (word.key == "layer")
    op.layer = toInteger(textOf(word, false));
  else if (word.key == "reads")
    for (const std::string &part : split(textOf(word, false), ','))
      op.reads.push_back(readRead(part, step));
  else if (word.key == "results")
    for (const std::string &part : split(textOf(word, false), ','))
      op.results.push_back(toIndex(part, step.values.size()));
  else
    refuseWord(word);
}

void readOp(const std::vector<Word> &words, Step &step) {
  int id = static_cast<int>(step.ops.size());
  if (words.size() < 3 || words[1].hasValue || words[2].hasValue ||
      toInteger(words[1].key) != id)
    throw Refusal("expected op " + std::to_string(id) + " and its kind");
  StepOp op;
  op.kind = oneOf(words[2].key,
                  {"fusible", "view", "contraction", "reduction", "opaque"});
  for (size_t i = 3; i < words.size(); ++i)
    readOpProperty(words[i], op, step);
  for (int result : op.results) {
    if (step.values[result].op != -1)
      throw Refusal("value " + std::to_string(result) + " is made twice");
    step.values[result].op = id;
  }
  step.ops.push_back(op);
}

void readLine(const std::vector<Word> &words, Step &step) {
  const Word &first = words[0];
  if (first.key == "value" && !first.hasValue)
    readValue(words, step);
  else if (first.key == "op" && !first.hasValue)
    readOp(words, step);
  else if (words.size() != 1)
    throw Refusal("expected 'value' or 'op'");
  else if (first.key == "layer")
    step.layers += !textOf(first, true).empty() || first.quoted;
  else if (first.key == "bandwidth")
    step.bytesPerMicrosecond = toInteger(textOf(first, false));
  else if (first.key == "launch")
    step.launchNs = toInteger(textOf(first, false));
  else
    refuseWord(first);
}

void demand(bool holds, const std::string &what) {
  if (!holds)
    throw Refusal(what);
}

void addTo(int64_t &sum, int64_t amount, const std::string &what) {
  demand(amount >= 0 && amount <= sumLimit - sum,
         what + " is negative or too large");
  sum += amount;
}

bool sameElements(const StepValue &left, const StepValue &right) {
  return left.bytes == right.bytes && left.elements == right.elements;
}

void demandValue(const Step &step, int id) {
  const StepValue &value = step.values[id];
  std::string name = "value " + std::to_string(id);
  int64_t size = step.values.size();
  demand((value.op == -1) == (value.home == "argument"),
         name + " is an argument with a producer or lacks one");
  demand(value.shape >= 0 && value.shape <= INT32_MAX,
         name + " has no valid shape");
  demand((value.home == "hosted") == (value.host != -1),
         name + " is hosted by no value or has a host and another home");
  if (value.host != -1) {
    demand(value.host >= 0 && value.host < size, name + " has no such host");
    const StepValue &host = step.values[value.host];
    demand(host.home == "result" && host.op > value.op &&
               sameElements(value, host),
           name + " has a host that is no later result as large");
  }
  if (value.same == -1)
    return;
  demand(value.same >= 0 && value.same < size && value.op != -1 &&
             step.ops[value.op].isView() &&
             step.values[value.same].op < value.op &&
             sameElements(value, step.values[value.same]),
         name + " is not the same as an earlier value");
}

void demandRead(const Step &step, int id, const StepRead &read) {
  const StepOp &op = step.ops[id];
  const StepValue &source = step.values[read.value];
  std::string name = "op " + std::to_string(id);
  demand(source.op < id, name + " reads a value before it is made");
  bool viewOnly = read.access == "reshape" || read.access == "permute";
  demand(!viewOnly || op.isView(),
         name + " has an access that only views have");
  if (op.isAnchor())
    return;
  for (int result : op.results) {
    const StepValue &target = step.values[result];
    demand(read.access != "pointwise" || source.shape == target.shape,
           name + " reads another shape point by point");
    demand(!viewOnly || source.elements == target.elements,
           name + " has a one-to-one access to another number of elements");
  }
}

void demandOp(const Step &step, int id) {
  const StepOp &op = step.ops[id];
  std::string name = "op " + std::to_string(id);
  for (const StepRead &read : op.reads)
    demandRead(step, id, read);
  demand(!op.isView() || (op.reads.size() == 1 && op.results.size() == 1),
         name + " is a view without one read and one result");
  demand(op.isAnchor() || !op.results.empty(), name + " has no result");
  for (int result : op.results)
    demand(op.isAnchor() ||
               step.values[result].shape == step.values[op.results[0]].shape,
           name + " has results of several shapes");
  demand(!op.effects || (op.kind == "opaque" && op.once),
         name + " has effects, but is not an opaque op that runs once");
  demand(op.layer >= -1 && op.layer < step.layers, name + " has no such layer");
}

/// What the rest of the checker relies on.
void demandStep(const Step &step) {
  demand(step.bytesPerMicrosecond > 0, "the bandwidth is not positive");
  demand(step.launchNs >= 0 && step.launchNs <= sumLimit / 1000,
         "the launch time is out of range");
  int64_t bytes = 0, elements = 0, flops = 0, compute = 0, workspace = 0;
  std::map<int64_t, int64_t> elementsOf;
  std::set<int64_t> hosts;
  for (size_t id = 0; id < step.values.size(); ++id) {
    const StepValue &value = step.values[id];
    demand(value.bytes >= 0 && value.bytes <= sumLimit, "a size is too large");
    addTo(bytes, slotBytes(value.bytes), "the sum of sizes");
    addTo(elements, value.elements, "the number of elements");
    demand(elementsOf.emplace(value.shape, value.elements).first->second ==
               value.elements,
           "a shape has two numbers of elements");
    demand(value.host == -1 || hosts.insert(value.host).second,
           "a result hosts two values");
    demandValue(step, static_cast<int>(id));
  }
  for (size_t id = 0; id < step.ops.size(); ++id) {
    demandOp(step, static_cast<int>(id));
    addTo(flops, step.ops[id].flops, "the work");
    addTo(compute, step.ops[id].computePs, "the time of arithmetic");
    demand(step.ops[id].workspaceBytes <= sumLimit, "a workspace is too large");
    addTo(workspace, step.ops[id].workspaceBytes, "the workspace");
  }
}

StepKernel readKernel(const std::vector<Word> &words, const Step &step) {
  StepKernel kernel;
  std::set<std::string> seen;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string &text = textOf(words[i], false);
    demand(seen.insert(words[i].key).second, "a property stands twice");
    if (words[i].key == "ops")
      for (const std::string &part : split(text, ','))
        kernel.ops.push_back(toIndex(part, step.ops.size()));
    else if (words[i].key == "outputs")
      for (const std::string &part : split(text, ',')) {
        std::vector<std::string> place = split(part, '@');
        demand(place.size() == 2, "expected VALUE@OFFSET, but got " + part);
        kernel.outputs.push_back(toIndex(place[0], step.values.size()));
        kernel.offsets.push_back(toInteger(place[1]));
      }
    else if (words[i].key == "workspace")
      kernel.workspaceOffset = toInteger(text);
    else
      refuseWord(words[i]);
  }
  return kernel;
}

} // namespace

Step ckpt::check::parseStep(std::string_view text) {
  Step step;
  for (size_t line = 1; !text.empty(); ++line) {
    size_t end = std::min(text.find('\n'), text.size());
    try {
      std::vector<Word> words = wordsOf(text.substr(0, end));
      if (!words.empty())
        readLine(words, step);
    } catch (const Refusal &refusal) {
      refuse(line, refusal.what());
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  demandStep(step);
  return step;
}

StepPlan ckpt::check::parsePlan(const std::vector<std::string> &lines,
                                const Step &step) {
  StepPlan plan;
  bool hasArena = false;
  for (size_t i = 0; i < lines.size(); ++i)
    try {
      std::vector<Word> words = wordsOf(lines[i]);
      demand(!words.empty(), "an empty line");
      if (words[0].key == "kernel" && !words[0].hasValue) {
        plan.kernels.push_back(readKernel(words, step));
        continue;
      }
      demand(words.size() == 1 && words[0].key == "arena" && !hasArena,
             "expected 'kernel' or one 'arena='");
      plan.arenaBytes = toInteger(textOf(words[0], false));
      hasArena = true;
    } catch (const Refusal &refusal) {
      throw Refusal("plan, " + std::string("line ") + std::to_string(i + 1) +
                    ": " + refusal.what());
    }
  demand(plan.arenaBytes >= 0, "the arena is negative");
  return plan;
}

/// The words of the text form, names and layers apart.
static std::string wordsOf(const Step &step) {
  std::string text = "bandwidth=" + std::to_string(step.bytesPerMicrosecond) +
                     " launch=" + std::to_string(step.launchNs) + " ";
  auto add = [&](const char *key, int64_t number, int64_t unless) {
    if (number != unless)
      text += key + std::to_string(number) + " ";
  };
  for (size_t id = 0; id < step.values.size(); ++id) {
    const StepValue &value = step.values[id];
    add("value ", id, -1);
    add("bytes=", value.bytes, -1);
    add("elements=", value.elements, -1);
    add("shape=", value.shape, -1);
    text += value.home == "arena" ? "" : "home=" + value.home + " ";
    add("host=", value.host, -1);
    add("same=", value.same, -1);
    text += value.keep == "free" ? "" : "keep=" + value.keep + " ";
  }
  for (size_t id = 0; id < step.ops.size(); ++id) {
    const StepOp &op = step.ops[id];
    add("op ", id, -1);
    text += op.kind;
    std::string before = " reads=";
    for (const StepRead &read : op.reads) {
      text += before + std::to_string(read.value) + ":" + read.access;
      text += read.need == "inline" ? "" : ":" + read.need;
      text += read.destination ? ":destination" : "";
      before = ",";
    }
    before = " results=";
    for (int result : op.results) {
      text += before + std::to_string(result);
      before = ",";
    }
    text += " ";
    add("flops=", op.flops, 0);
    add("compute=", op.computePs, 0);
    add("workspace=", op.workspaceBytes, 0);
    text += op.once ? "once " : "";
    text += op.effects ? "effects " : "";
    text += op.backward ? "backward " : "";
  }
  return text;
}

std::string ckpt::check::fingerprint(const Step &step) {
  uint64_t hash = 14695981039346656037u;
  for (char c : wordsOf(step))
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::string text(16, '0');
  for (int digit = 15; digit >= 0; --digit, hash /= 16)
    text[digit] = "0123456789abcdef"[hash % 16];
  return text;
}
