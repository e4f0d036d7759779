//===- CertificateTest.cpp - True claims pass, false ones do not ----------===//
//
// Certificates of random problems are verified. Then every number of one, and
// the problem, is changed: what the checker still accepts has to be true, which
// the simulator and the exhaustive search of the planner decide.
//
//===----------------------------------------------------------------------===//

#include "Certified.h"
#include "RandomSum.h"

#include "ckpt/Check/Check.h"

#include <gtest/gtest.h>

#include <set>

using namespace ckpt::plan;
using ckpt::check::checkCertificate;
using ckpt::check::Claims;

namespace {

TEST(Certificate, OfEveryPlanIsVerified) {
  int verified = 0, positive = 0, equal = 0, smallest = 0;
  for (uint64_t seed = 0; seed < 400; ++seed)
    for (int percent : {100, 80, 65, 50}) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      std::optional<Certified> made =
          certifyRandom(seed, 4 + seed % 20, percent);
      if (!made)
        continue;
      Claims claims;
      EXPECT_EQ(checkCertificate(made->certificate, made->text, claims), "");
      EXPECT_EQ(claims.budgetBytes, made->budgetBytes);
      EXPECT_EQ(claims.arenaBytes, made->solution.plan.arenaBytes);
      EXPECT_EQ(claims.timeNs, made->solution.verdict.timeNs);
      EXPECT_EQ(claims.extraFlops, made->solution.verdict.extraFlops);
      Bound bound(made->problem);
      int64_t flops = bound.extraFlops(made->budgetBytes);
      EXPECT_LE(claims.extraFlopsBound, flops);
      EXPECT_LE(claims.extraFlopsBound, claims.extraFlops);
      EXPECT_LE(claims.minimumBytesBound, bound.minimumBytes());
      EXPECT_LE(claims.minimumBytesBound, claims.arenaBytes);
      ++verified;
      positive += claims.extraFlopsBound > 0;
      equal += claims.extraFlopsBound == flops;
      smallest += claims.minimumBytesBound == bound.minimumBytes();
    }
  std::cout << verified << " certificates, " << positive
            << " with a positive bound, " << equal
            << " that prove all of what the planner says of extra work, "
            << smallest << " all of what it says of the smallest arena\n";
  EXPECT_GT(verified, 500);
  EXPECT_GT(positive, 50);
  EXPECT_GT(equal, verified * 9 / 10);
  EXPECT_GT(smallest, verified / 2);
}

/// Begin and end of every integer outside of names and hexadecimal digits.
std::vector<std::pair<size_t, size_t>> integersOf(const std::string &text) {
  std::vector<std::pair<size_t, size_t>> found;
  auto isDigit = [&](size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  for (size_t at = 0; at < text.size(); ++at) {
    if (!isDigit(at))
      continue;
    size_t begin = at > 0 && text[at - 1] == '-' ? at - 1 : at;
    while (isDigit(at))
      ++at;
    found.emplace_back(begin, at);
  }
  return found;
}

std::vector<std::string> othersThan(const std::string &number) {
  std::vector<std::string> others = {"0", "9223372036854775807",
                                     "9223372036854775808", "-9", "x"};
  if (number.size() < 18) {
    others.push_back(std::to_string(std::stoll(number) + 1));
    others.push_back(std::to_string(std::stoll(number) - 1));
    others.push_back(std::to_string(std::stoll(number) + 256));
  }
  return others;
}

/// The plan inside an accepted certificate.
Plan planOf(const std::string &certificate, const Problem &problem) {
  size_t begin = certificate.find("\"plan\": [") + 9;
  std::string lines =
      certificate.substr(begin, certificate.find(']', begin) - begin);
  for (char &c : lines)
    if (c == '"')
      c = ' ';
  size_t at = 0;
  while ((at = lines.find(" ,\n", at)) != std::string::npos)
    lines.replace(at, 3, "  \n");
  Plan plan;
  std::string error;
  EXPECT_TRUE(parsePlan(lines, problem, plan, error)) << error << lines;
  return plan;
}

/// That what the checker accepted is true.
void expectTrue(const std::string &certificate, const Problem &problem,
                const Claims &claims) {
  Plan plan = planOf(certificate, problem);
  Verdict verdict = validate(problem, plan, true);
  EXPECT_EQ(verdict.error, "");
  EXPECT_EQ(claims.timeNs, verdict.timeNs);
  EXPECT_EQ(claims.extraFlops, verdict.extraFlops);
  EXPECT_EQ(claims.arenaBytes, plan.arenaBytes);
  EXPECT_LE(claims.arenaBytes, claims.budgetBytes);
  std::optional<Plan> optimum = solveReference(problem, claims.budgetBytes);
  ASSERT_TRUE(optimum);
  EXPECT_LE(claims.extraFlopsBound,
            validate(problem, *optimum, false).extraFlops);
  if (claims.minimumBytesBound > 0) {
    EXPECT_FALSE(solveReference(problem, claims.minimumBytesBound - 1));
  }
}

TEST(Certificate, OfAChangedNumberIsRefusedOrTrue) {
  int refused = 0, accepted = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::optional<Certified> made = certifyRandom(seed, 6, 65);
    if (!made)
      continue;
    for (auto [begin, end] : integersOf(made->certificate)) {
      std::string number = made->certificate.substr(begin, end - begin);
      for (const std::string &other : othersThan(number)) {
        if (other == number)
          continue;
        std::string changed = made->certificate;
        changed.replace(begin, end - begin, other);
        Claims claims;
        if (!checkCertificate(changed, made->text, claims).empty()) {
          ++refused;
          continue;
        }
        ++accepted;
        SCOPED_TRACE("from " + number + " to " + other + " at " +
                     std::to_string(begin));
        expectTrue(changed, made->problem, claims);
      }
    }
  }
  std::cout << refused << " refused, " << accepted << " true\n";
  EXPECT_GT(refused, 20 * accepted);
}

/// Where the number behind \p key stands.
std::pair<size_t, size_t> placeOf(const std::string &certificate,
                                  const std::string &key) {
  size_t begin = certificate.find("\"" + key + "\": ") + key.size() + 4;
  return {begin, certificate.find_first_of(",\n}", begin)};
}

int64_t figure(const std::string &certificate, const std::string &key) {
  auto [begin, end] = placeOf(certificate, key);
  return std::stoll(certificate.substr(begin, end - begin));
}

/// Adds to the number behind \p key.
std::string shift(std::string certificate, const std::string &key,
                  int64_t amount) {
  auto [begin, end] = placeOf(certificate, key);
  int64_t number = figure(certificate, key) + amount;
  return certificate.replace(begin, end - begin, std::to_string(number));
}

/// Certificates that prove their bounds to the last unit; made once.
const std::vector<Certified> &exactCertificates() {
  static const std::vector<Certified> certificates = [] {
    std::vector<Certified> found;
    for (uint64_t seed = 1; seed < 400; ++seed) {
      std::optional<Certified> made = certifyRandom(seed, 12, 65);
      if (made && Bound(made->problem).extraFlops(made->budgetBytes) > 0)
        found.push_back(std::move(*made));
    }
    return found;
  }();
  return certificates;
}

TEST(Certificate, RefusesEveryClaimThatIsMoreThanItsEvidence) {
  const std::vector<Certified> &all = exactCertificates();
  ASSERT_GT(all.size(), 10u);
  for (const Certified &made : all) {
    Claims claims;
    auto refuses = [&](const std::string &changed) {
      return !checkCertificate(changed, made.text, claims).empty();
    };
    ASSERT_FALSE(refuses(made.certificate));
    for (int64_t amount : {1, -1})
      for (const char *key : {"arena", "time_ns", "extra_flops"})
        EXPECT_TRUE(refuses(shift(made.certificate, key, amount))) << key;
    EXPECT_TRUE(refuses(shift(made.certificate, "extra_flops_bound", 1)));
    EXPECT_TRUE(refuses(shift(made.certificate, "minimum_bytes_bound", 1)));
    EXPECT_FALSE(refuses(shift(made.certificate, "minimum_bytes_bound", -1)));
    EXPECT_TRUE(refuses(shift(made.certificate, "budget", 1LL << 40)));
  }
}

/// The innermost lists of integers: the arcs.
std::vector<std::pair<size_t, size_t>> arcsOf(const std::string &text) {
  std::vector<std::pair<size_t, size_t>> found;
  for (size_t at = text.find("_evidence"); at < text.size(); ++at)
    if (text[at] == '[' && at + 1 < text.size() && isdigit(text[at + 1]))
      found.emplace_back(at, text.find(']', at) + 1);
  return found;
}

TEST(Certificate, RefusesEveryChangedOrMissingArc) {
  int arcs = 0;
  for (const Certified &made : exactCertificates())
    for (auto [begin, end] : arcsOf(made.certificate)) {
      ++arcs;
      Claims claims;
      std::string missing = made.certificate, changed = made.certificate;
      bool comma = missing[end] == ',';
      bool before = !comma && missing[begin - 1] == ',';
      missing.erase(begin - before, end - begin + comma + before);
      EXPECT_NE(checkCertificate(missing, made.text, claims), "");
      size_t flow = changed.rfind(',', end - 1) + 1;
      int64_t number = std::stoll(changed.substr(flow, end - 1 - flow));
      changed.replace(flow, end - 1 - flow, std::to_string(number + 1));
      EXPECT_NE(checkCertificate(changed, made.text, claims), "");
    }
  EXPECT_GT(arcs, 100);
}

/// Where each case of the evidence for extra work begins, and its end.
std::vector<size_t> casesOf(const std::string &text) {
  std::vector<size_t> found;
  size_t end = text.find("]}", text.find("\"minimum_bytes_bound\"") - 8);
  for (size_t at = text.find("{\"anchor\""); at < end;
       at = text.find("{\"anchor\"", at + 1))
    found.push_back(at);
  found.push_back(end);
  return found;
}

/// Cases that leave out some plans prove nothing, whatever they say.
TEST(Certificate, RefusesCasesThatDoNotCoverEveryPlan) {
  int trees = 0;
  for (const Certified &made : exactCertificates()) {
    Claims claims;
    auto refuses = [&](const std::string &changed) {
      return checkCertificate(changed, made.text, claims) ==
             "the cases of the evidence do not cover every plan";
    };
    const std::string start = "\"decisions\": [";
    size_t at = made.certificate.find(start);
    if (made.certificate[at + start.size()] == ']')
      continue;
    ++trees;
    std::vector<size_t> cases = casesOf(made.certificate);
    ASSERT_GE(cases.size(), 3u);
    for (size_t i = 0; i + 2 < cases.size(); ++i) {
      std::string missing = made.certificate, twice = made.certificate;
      std::string item = twice.substr(cases[i], cases[i + 1] - cases[i]);
      EXPECT_TRUE(refuses(missing.erase(cases[i], item.size())));
      EXPECT_TRUE(refuses(twice.insert(cases[i], item)));
      std::string flipped = made.certificate;
      char &answer =
          flipped[flipped.find(']', flipped.find(start, cases[i])) - 1];
      answer = answer == '0' ? '1' : '0';
      EXPECT_NE(checkCertificate(flipped, made.text, claims), "");
    }
  }
  EXPECT_GT(trees, 5);
}

/// What adds up to whole multiples of a unit counts in whole multiples of it:
/// the flows of another unit prove nothing beyond the optimum.
TEST(Certificate, RefusesRoundingThatFlowsDoNotAllow) {
  int refused = 0;
  for (const Certified &made : exactCertificates()) {
    Claims claims;
    ASSERT_EQ(checkCertificate(made.certificate, made.text, claims), "");
    const int64_t bound = claims.extraFlopsBound;
    for (int64_t unit : {bound - 1, bound / 2 + 1, bound + 1}) {
      if (unit < 1 || bound % unit == 0)
        continue;
      std::string forged = made.certificate;
      auto set = [&](const std::string &key, int64_t number) {
        size_t at = forged.find(key) + key.size();
        size_t end = forged.find(',', at);
        forged.replace(at, end - at, std::to_string(number));
      };
      set("\"unit\": ", unit);
      set("\"extra_flops_bound\": ", (bound / unit + 1) * unit);
      EXPECT_NE(checkCertificate(forged, made.text, claims), "") << unit;
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
}

/// Kernel \p k dropped, swapped with the next, cut, merged with the next (all
/// outputs written, or those of the next only), or written elsewhere.
Plan changePlan(Plan plan, size_t k, int change) {
  std::vector<Kernel> &kernels = plan.kernels;
  size_t next = (k + 1) % kernels.size();
  if (change == 0) {
    kernels.erase(kernels.begin() + k);
  } else if (change == 1) {
    std::swap(kernels[k], kernels[next]);
  } else if (change == 2 && kernels[k].ops.size() > 1) {
    kernels[k].ops.pop_back();
  } else if ((change == 3 || change == 4) && next != k) {
    Kernel &into = kernels[next];
    std::set<OpId> ops(into.ops.begin(), into.ops.end());
    ops.insert(kernels[k].ops.begin(), kernels[k].ops.end());
    into.ops.assign(ops.begin(), ops.end());
    for (size_t i = 0; change == 3 && i < kernels[k].outputs.size(); ++i) {
      into.outputs.push_back(kernels[k].outputs[i]);
      into.offsets.push_back(kernels[k].offsets[i]);
    }
    if (into.workspaceOffset == -1)
      into.workspaceOffset = kernels[k].workspaceOffset;
    kernels.erase(kernels.begin() + k);
  } else if (change > 4 && !kernels[k].offsets.empty()) {
    kernels[k].offsets.back() += change == 5 ? 256 : -256;
  }
  return plan;
}

/// What the checker says of a plan whose figures are what it says they are.
std::string judge(const Certified &made, const Solution &solution) {
  std::string certificate =
      certify(made.problem, solution, made.budgetBytes, Bound(made.problem));
  Claims claims;
  std::string error;
  for (auto [key, start] : {std::pair("time_ns", "the time is "),
                            std::pair("extra_flops", "the extra work is ")}) {
    error = checkCertificate(certificate, made.text, claims);
    size_t length = std::string(start).size();
    if (error.compare(0, length, start) != 0)
      continue;
    certificate =
        shift(certificate, key,
              std::stoll(error.substr(length)) - figure(certificate, key));
  }
  return checkCertificate(certificate, made.text, claims);
}

/// A limit that is over ends the proofs, and the file claims no more than they
/// found.
TEST(Certificate, ClaimsWhatItsBoundHadTimeToProve) {
  int weaker = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::optional<Certified> made = certifyRandom(seed, 12, 60);
    if (!made)
      continue;
    SolverOptions ended;
    ended.limitBegin = std::chrono::steady_clock::now() - std::chrono::hours(1);
    Bound bound(made->problem, ended);
    Claims claims;
    EXPECT_EQ(checkCertificate(certify(made->problem, made->solution,
                                       made->budgetBytes, bound),
                               made->text, claims),
              "");
    EXPECT_EQ(claims.extraFlopsBound, bound.extraFlops(made->budgetBytes));
    int64_t all = Bound(made->problem).extraFlops(made->budgetBytes);
    weaker += claims.extraFlopsBound < all;
  }
  EXPECT_GT(weaker, 0);
}

/// The checker and the simulator of the planner are of one mind.
TEST(Certificate, OfAnotherPlanIsRefusedIfTheSimulatorDoes) {
  int refused = 0, accepted = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::optional<Certified> made = certifyRandom(seed, 4 + seed % 8, 80);
    if (!made)
      continue;
    for (size_t k = 0; k < made->solution.plan.kernels.size(); ++k)
      for (int change = 0; change < 7; ++change) {
        SCOPED_TRACE("change " + std::to_string(change) + " of kernel " +
                     std::to_string(k));
        Solution other;
        other.plan = changePlan(made->solution.plan, k, change);
        other.verdict = validate(made->problem, other.plan, true);
        std::string error = judge(*made, other);
        EXPECT_EQ(error.empty(), other.verdict.error.empty())
            << error << other.verdict.error;
        error.empty() ? ++accepted : ++refused;
      }
  }
  std::cout << refused << " refused, " << accepted << " true\n";
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 300);
}

/// Several values in the buffer of one result: where a kernel runs again, or
/// runs elsewhere, it may write over what is still to be read.
TEST(Certificate, OfOverwrittenSumsIsRefusedIfTheSimulatorDoes) {
  int overwritten = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::optional<Certified> made =
        certifyWithin(randomSum(seed), int64_t{1} << 20);
    ASSERT_TRUE(made);
    const std::vector<Kernel> &kernels = made->solution.plan.kernels;
    for (size_t k = 0; k < kernels.size(); ++k)
      for (size_t place = k + 1; place <= kernels.size(); ++place) {
        Solution other;
        other.plan = made->solution.plan;
        other.plan.kernels.insert(other.plan.kernels.begin() + place,
                                  kernels[k]);
        other.verdict = validate(made->problem, other.plan, true);
        std::string error = judge(*made, other);
        EXPECT_EQ(error.empty(), other.verdict.error.empty())
            << error << other.verdict.error;
        overwritten += error.find("in a buffer that is written before") !=
                       std::string::npos;
      }
  }
  EXPECT_GT(overwritten, 50);
}

/// Somebody else reads a value that is overwritten by the next in its buffer.
TEST(Certificate, OfSumsWithAnotherReaderIsRefusedWithTheProblem) {
  int refused = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Problem problem = randomSum(seed);
    for (ValueId value = 0; value < static_cast<ValueId>(problem.values.size());
         ++value) {
      if (problem.values[value].home != Home::Hosted)
        continue;
      ProblemBuilder b;
      b.problem = problem;
      b.result(b.reduction({any(value)}, row));
      Claims claims;
      std::string error = checkCertificate("{}", textOf(b.problem), claims);
      bool isOverwritten =
          error.find("not only read to make the next") != std::string::npos;
      EXPECT_EQ(isOverwritten, !check(b.problem).empty()) << error;
      refused += isOverwritten;
    }
  }
  EXPECT_GT(refused, 20);
}

TEST(Certificate, IsRefusedForAnotherProblem) {
  std::optional<Certified> made = certifyRandom(4, 8, 100);
  ASSERT_TRUE(made);
  // Names are no part of what is certified.
  for (Value &value : made->problem.values)
    value.name.clear();
  for (Op &op : made->problem.ops)
    op.name.clear();
  std::string text = textOf(made->problem);
  Claims claims;
  ASSERT_EQ(checkCertificate(made->certificate, text, claims), "");
  for (auto [begin, end] : integersOf(text)) {
    std::string number = text.substr(begin, end - begin);
    for (const std::string &other : othersThan(number)) {
      std::string changed = text;
      changed.replace(begin, end - begin, other);
      if (other != number) {
        EXPECT_NE(checkCertificate(made->certificate, changed, claims), "")
            << changed;
      }
    }
  }
}

TEST(Certificate, OfGarbageIsRefused) {
  std::optional<Certified> made = certifyRandom(5, 12, 65);
  ASSERT_TRUE(made);
  Claims claims;
  const std::string &good = made->certificate;
  for (size_t size = 0; size + 2 < good.size(); ++size)
    EXPECT_NE(checkCertificate(good.substr(0, size), made->text, claims), "");
  for (size_t size = 0; size + 2 < made->text.size(); size += 7)
    checkCertificate(good, made->text.substr(0, size), claims);
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string certificate = good, text = made->text;
    for (int j = 0; j < 1 + i % 3; ++j) {
      certificate[random() % certificate.size()] = random() % 256;
      text[random() % text.size()] = random() % 256;
    }
    checkCertificate(certificate, made->text, claims);
    checkCertificate(good, text, claims);
  }
  EXPECT_NE(checkCertificate(std::string(100000, '['), made->text, claims), "");
  EXPECT_NE(checkCertificate("", made->text, claims), "");
}

} // namespace
