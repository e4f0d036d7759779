//===- Watch.h - A search that the user sees and can stop -------*- C++ -*-===//
//
// Both Python modules plan through `watched`: the search runs on a thread of
// its own, and the thread of the caller looks for signals and shows progress.
// Python code thus always runs where Python expects it, and Ctrl-C ends a
// search that takes minutes.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PYTHON_BINDINGS_WATCH_H
#define CKPT_PYTHON_BINDINGS_WATCH_H

#include "ckpt/Plan/SolverOptions.h"

#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>
#include <future>
#include <mutex>

namespace ckpt {

/// Called with the newest line of the search while it runs, ten times a second;
/// None shows nothing.
using Progress = nanobind::object;

/// The newest line that a search wrote, between two threads.
class LatestLine {
public:
  void set(const std::string &newLine) {
    std::lock_guard<std::mutex> guard(mutex);
    line = newLine;
  }
  std::string get() {
    std::lock_guard<std::mutex> guard(mutex);
    return line;
  }

private:
  std::mutex mutex;
  std::string line;
};

/// Runs \p search, which receives \p options with `progress` and `interrupted`,
/// and returns its result. A signal, or an error of \p progress, ends the
/// search and is thrown. Called with the GIL, which is free while the search
/// runs.
template <typename Search>
auto watched(plan::SolverOptions options, const Progress &progress,
             Search search) {
  namespace nb = nanobind;
  constexpr std::chrono::milliseconds period(100);
  LatestLine latest;
  std::atomic<bool> interrupted = false;
  options.interrupted = &interrupted;
  options.progress = [&](const std::string &line) { latest.set(line); };
  std::exception_ptr error;
  auto look = [&] {
    nb::gil_scoped_acquire acquired;
    try {
      if (PyErr_CheckSignals() != 0)
        throw nb::python_error();
      if (!progress.is_none())
        progress(latest.get());
    } catch (...) {
      error = std::current_exception();
      interrupted = true;
    }
  };
  auto result = std::async(std::launch::async, [&] { return search(options); });
  {
    nb::gil_scoped_release released;
    while (!error && result.wait_for(period) == std::future_status::timeout)
      look();
    result.wait();
  }
  if (error)
    std::rethrow_exception(error);
  return result.get();
}

} // namespace ckpt

#endif // CKPT_PYTHON_BINDINGS_WATCH_H
