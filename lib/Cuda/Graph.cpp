//===- Graph.cpp - Runs and captures steps --------------------------------===//
//
// A step is captured once and replayed, so that the time of a run is that of
// the device and not that of asking for launches. Callers measure by it.
//
//===----------------------------------------------------------------------===//

#include "Failure.h"
#include "OpenDevice.h"
#include "ckpt/Cuda/Device.h"
#include <algorithm>
#include <cstdlib>
#include <initializer_list>

using namespace ckpt::cuda;

/// Marks of the graph that captures; null if none does.
static void ***firstMarks = nullptr;
static int64_t *countedMarks = nullptr;

void ckpt::cuda::ckptCudaMark() {
  if (!firstMarks || hasFailed())
    return;
  Event event = nullptr;
  void *larger =
      std::realloc(*firstMarks, (*countedMarks + 1) * sizeof(void *));
  if (!larger) {
    fail("cannot allocate memory of the host");
    return;
  }
  *firstMarks = static_cast<void **>(larger);
  if (!check(device.driver->eventCreate(&event, 0), "create an event"))
    return;
  (*firstMarks)[(*countedMarks)++] = event;
  check(
      device.driver->eventRecordWithFlags(event, device.stream, recordInGraph),
      "record an event");
}

bool StepGraph::readMarks(int64_t *nanoseconds) const {
  for (int64_t i = 1; i < markCount; ++i) {
    float milliseconds = 0;
    if (!check(device.driver->eventElapsedTime(&milliseconds,
                                               static_cast<Event>(marks[i - 1]),
                                               static_cast<Event>(marks[i])),
               "measure the time of a kernel"))
      return false;
    nanoseconds[i - 1] =
        static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
  }
  return true;
}

bool ckpt::cuda::runStep(const Step &step) {
  device.waitsForLaunches = true;
  step.launch(step.context);
  device.waitsForLaunches = false;
  return !hasFailed();
}

bool ckpt::cuda::launchStep(const Step &step) {
  step.launch(step.context);
  return !hasFailed() && wait();
}

bool StepGraph::capture(const Step &step) {
  const Driver &driver = *device.driver;
  Event first = nullptr, last = nullptr;
  if (!check(driver.eventCreate(&first, 0), "create an event"))
    return false;
  start = first;
  if (!check(driver.eventCreate(&last, 0), "create an event"))
    return false;
  end = last;
  if (!check(driver.streamBeginCapture(device.stream, captureThisThread),
             "begin to capture the step"))
    return false;
  firstMarks = &marks;
  countedMarks = &markCount;
  step.launch(step.context);
  firstMarks = nullptr;
  Graph captured = nullptr;
  if (!check(driver.streamEndCapture(device.stream, &captured),
             "capture the step") ||
      hasFailed())
    return false;
  ReadyGraph ready = nullptr;
  bool isReady = check(driver.graphInstantiate(&ready, captured, /*flags=*/0),
                       "make a graph of the step");
  graph = ready;
  driver.graphDestroy(captured);
  return isReady;
}

bool StepGraph::replay(int64_t &nanoseconds) {
  const Driver &driver = *device.driver;
  auto *first = static_cast<Event>(start), *last = static_cast<Event>(end);
  float milliseconds = 0;
  if (!check(driver.eventRecord(first, device.stream), "record an event") ||
      !check(driver.graphLaunch(static_cast<ReadyGraph>(graph), device.stream),
             "launch the graph of the step") ||
      !check(driver.eventRecord(last, device.stream), "record an event") ||
      !wait() ||
      !check(driver.eventElapsedTime(&milliseconds, first, last),
             "measure the time of the step"))
    return false;
  nanoseconds = static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
  return true;
}

bool StepGraph::time(int64_t repeat, int64_t &medianNs) {
  int64_t warmUp = repeat / 5;
  auto *times = static_cast<int64_t *>(std::calloc(repeat, sizeof(int64_t)));
  if (!times)
    return fail("cannot allocate memory of the host");
  bool good = true;
  for (int64_t i = -warmUp; i < repeat && good; ++i) {
    int64_t nanoseconds = 0;
    good = replay(nanoseconds);
    if (i >= 0)
      times[i] = nanoseconds;
  }
  std::nth_element(times, times + repeat / 2, times + repeat);
  medianNs = times[repeat / 2];
  std::free(times);
  return good;
}

StepGraph::~StepGraph() {
  if (graph)
    device.driver->readyGraphDestroy(static_cast<ReadyGraph>(graph));
  for (void *event : {start, end})
    if (event)
      device.driver->eventDestroy(static_cast<Event>(event));
  for (int64_t i = 0; i < markCount; ++i)
    device.driver->eventDestroy(static_cast<Event>(marks[i]));
  std::free(marks);
}
