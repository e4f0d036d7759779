//===- Graph.cpp - Runs and captures steps --------------------------------===//

#include "Failure.h"
#include "OpenDevice.h"
#include "ckpt/Cuda/Device.h"
#include <algorithm>
#include <cstdlib>
#include <initializer_list>

using namespace ckpt::cuda;

bool ckpt::cuda::runStep(const Step &step) {
  device.waitsForLaunches = true;
  step.launch(step.context);
  device.waitsForLaunches = false;
  return !hasFailed();
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
  step.launch(step.context);
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
}
