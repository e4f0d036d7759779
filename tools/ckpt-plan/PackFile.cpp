//===- PackFile.cpp - Packs buffers of a table ----------------------------===//
//
// The packer alone, on instances as people publish them: a table with one
// buffer per line, occupied from `lower` up to but without `upper`.
//
//===----------------------------------------------------------------------===//

#include "Tool.h"
#include "ckpt/Plan/Pack.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

using namespace ckpt::plan;
using namespace ckpt::plan::tool;

namespace {

/// The columns that are read, by their places in a line.
enum Column : size_t { lowerColumn, upperColumn, sizeColumn, columnCount };
constexpr const char *columnNames[columnCount] = {"lower", "upper", "size"};

struct Interval {
  int64_t lower, upper, bytes;
};

class Table {
public:
  explicit Table(const Arguments &arguments) : file(arguments.file) {}

  bool read();
  std::vector<Buffer> buffers() const;

private:
  bool readHeader(const std::string &line);
  bool readLine(const std::string &line, int32_t number);

  const std::string &file;
  size_t columns[columnCount] = {};
  std::vector<Interval> intervals;
};

} // namespace

static std::vector<std::string> split(const std::string &line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');)
    cells.push_back(cell);
  return cells;
}

bool Table::readHeader(const std::string &line) {
  std::vector<std::string> names = split(line);
  for (size_t i = 0; i < columnCount; ++i) {
    columns[i] =
        std::find(names.begin(), names.end(), columnNames[i]) - names.begin();
    if (columns[i] == names.size())
      return fail(file + ":1",
                  std::string("expected a column '") + columnNames[i] + "'");
  }
  return true;
}

bool Table::readLine(const std::string &line, int32_t number) {
  std::vector<std::string> cells = split(line);
  int64_t figures[columnCount];
  for (size_t i = 0; i < columnCount; ++i) {
    std::string cell = columns[i] < cells.size() ? cells[columns[i]] : "";
    // Sums of sizes have to stay within 63 bits.
    if (!parseInteger(cell, figures[i]) || figures[i] < 0 ||
        figures[i] > INT64_MAX >> 24)
      return fail(file + ":" + std::to_string(number),
                  std::string("expected a number as ") + columnNames[i] +
                      ", but got " + quote(cell));
  }
  if (figures[lowerColumn] >= figures[upperColumn])
    return fail(file + ":" + std::to_string(number),
                "expected lower < upper, but got " +
                    std::to_string(figures[lowerColumn]) + " and " +
                    std::to_string(figures[upperColumn]));
  intervals.push_back(
      {figures[lowerColumn], figures[upperColumn], figures[sizeColumn]});
  return true;
}

bool Table::read() {
  std::string text, line;
  if (!readFile(file, text))
    return false;
  std::istringstream stream(text);
  for (int32_t number = 1; std::getline(stream, line); ++number) {
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    if (number == 1 ? !readHeader(line)
                    : !line.empty() && !readLine(line, number))
      return false;
  }
  return !intervals.empty() || fail(file, "expected at least one buffer");
}

/// Times become moments below about a million, about as far apart, where no two
/// starts fall together: only there is more to hold.
std::vector<Buffer> Table::buffers() const {
  constexpr int64_t length = 1 << 20;
  std::vector<int64_t> starts;
  int64_t end = length;
  for (const Interval &interval : intervals) {
    starts.push_back(interval.lower);
    end = std::max(end, interval.upper);
  }
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  std::vector<int32_t> moments;
  auto moment = [&](int64_t time) {
    int32_t scaled = static_cast<int32_t>(time * length / end);
    size_t startsBefore =
        std::lower_bound(starts.begin(), starts.end(), time) - starts.begin();
    return startsBefore == 0 ? scaled
                             : std::max(scaled, moments[startsBefore - 1] + 1);
  };
  for (int64_t start : starts)
    moments.push_back(moment(start));
  std::vector<Buffer> buffers;
  for (const Interval &interval : intervals)
    buffers.push_back(
        {moment(interval.lower), moment(interval.upper) - 1, interval.bytes});
  return buffers;
}

bool tool::packMode(const Arguments &arguments) {
  Table table(arguments);
  if (!table.read())
    return false;
  std::vector<Buffer> buffers = table.buffers();
  int64_t load = loadBytes(buffers);
  Packing packing = packBuffers(buffers, 0, PackEffort::Thorough);
  int64_t more = packing.arenaBytes - load;
  std::cout << "buffers           " << formatCount(buffers.size()) << "\n"
            << "live peak         " << formatCount(load) << " B\n"
            << "arena             " << formatCount(packing.arenaBytes) << " B\n"
            << "difference        " << formatCount(more) << " B, " << std::fixed
            << std::setprecision(3) << 100.0 * more / std::max<int64_t>(load, 1)
            << " %\n";
  return true;
}
