//===- Cbc.cpp - Linear programmes through the program cbc ----------------===//
//
// A file in the LP format goes in, the list of variables that are not zero
// comes out. The solver is no dependency: it runs where it is installed.
//
//===----------------------------------------------------------------------===//

#include "Plan/Published/Cbc.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace ckpt::plan;

int32_t LinearProgram::addVariable(double lower, double upper, double cost) {
  variables.push_back({lower, upper, cost});
  return static_cast<int32_t>(variables.size()) - 1;
}

void LinearProgram::addRow(Terms terms, double limit) {
  rows.push_back({std::move(terms), limit});
}

bool ckpt::plan::isCbcInstalled() {
  const char *path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  std::error_code error;
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::filesystem::exists(folder + "/cbc", error))
      return true;
  return false;
}

static void print(std::ostream &os, const LinearProgram::Terms &terms) {
  for (auto [variable, factor] : terms)
    os << (factor < 0 ? " - " : " + ") << std::abs(factor) << " x" << variable
       << "\n";
}

static void print(std::ostream &os, const LinearProgram &program) {
  os.precision(12);
  os << "Minimize\nobj:\n";
  for (size_t i = 0; i < program.variables.size(); ++i)
    if (program.variables[i].cost != 0)
      os << " + " << program.variables[i].cost << " x" << i << "\n";
  os << "Subject To\n";
  for (const LinearProgram::Row &row : program.rows) {
    print(os, row.terms);
    os << " <= " << row.limit << "\n";
  }
  os << "Bounds\n";
  for (size_t i = 0; i < program.variables.size(); ++i)
    os << program.variables[i].lower << " <= x" << i
       << " <= " << program.variables[i].upper << "\n";
  os << "End\n";
}

/// Reads lines such as "   12 x7   0.5   0" after a first one that says how it
/// ended.
static std::optional<std::vector<double>> readValues(const std::string &path,
                                                     size_t count) {
  std::ifstream stream(path);
  std::string line;
  if (!std::getline(stream, line) || line.find("Optimal") != 0)
    return std::nullopt;
  std::vector<double> values(count, 0);
  while (std::getline(stream, line)) {
    std::istringstream words(line);
    std::string index, name;
    double value = 0;
    words >> index;
    if (index == "**")
      words >> index;
    words >> name >> value;
    size_t number = std::strtoul(name.c_str() + 1, nullptr, 10);
    if (words && number < count)
      values[number] = value;
  }
  return values;
}

std::optional<std::vector<double>>
ckpt::plan::solveWithCbc(const LinearProgram &program, int seconds) {
  std::string folder =
      (std::filesystem::temp_directory_path() / "ckpt-cbc-XXXXXX").string();
  if (!mkdtemp(folder.data()))
    return std::nullopt;
  std::string input = folder + "/problem.lp", output = folder + "/answer.txt";
  {
    std::ofstream stream(input);
    print(stream, program);
  }
  std::string command = "cbc '" + input + "' sec " + std::to_string(seconds) +
                        " solve solution '" + output + "' > /dev/null 2>&1";
  std::optional<std::vector<double>> values;
  if (std::system(command.c_str()) == 0)
    values = readValues(output, program.variables.size());
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  return values;
}
