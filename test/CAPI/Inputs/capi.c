/* Plans a problem, plans and runs a step, and calls with everything wrong. */
#include "ckpt-c/Plan.h"
#include "ckpt-c/Step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      printf("line %d: %s (%s)\n", __LINE__, #condition,                       \
             ckptGetErrorMessage());                                           \
      ++failures;                                                              \
    }                                                                          \
  } while (0)

/* The call fails with this status and a message that holds this text. */
#define REFUSED(call, status, text)                                            \
  do {                                                                         \
    EXPECT((call) == (status));                                                \
    EXPECT(strstr(ckptGetErrorMessage(), text) != NULL);                       \
  } while (0)

static const char problemText[] =
    "value 0 bytes=4096 elements=1024 home=argument\n"
    "value 1 bytes=4096 elements=1024\n"
    "value 2 bytes=4096 elements=1024 home=result\n"
    "op 0 opaque reads=0 results=1 flops=1024\n"
    "op 1 opaque reads=1 results=2 flops=1024\n";

/* The sum of exp(x) along rows, times x. */
static const char stepText[] =
    "func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {\n"
    "  %zero = arith.constant dense<0.0> : tensor<8xf32>\n"
    "  %e = math.exp %x : tensor<8x16xf32>\n"
    "  %s = linalg.reduce ins(%e : tensor<8x16xf32>) outs(%zero : "
    "tensor<8xf32>) dimensions = [1] (%a: f32, %b: f32) {\n"
    "    %c = arith.addf %a, %b : f32\n"
    "    linalg.yield %c : f32\n"
    "  }\n"
    "  %none = tensor.empty() : tensor<8x16xf32>\n"
    "  %w = linalg.broadcast ins(%s : tensor<8xf32>) outs(%none : "
    "tensor<8x16xf32>) dimensions = [1]\n"
    "  %r = arith.mulf %w, %x : tensor<8x16xf32>\n"
    "  return %r : tensor<8x16xf32>\n"
    "}\n";

static void count(const char *text, size_t length, void *userData) {
  (void)text;
  *(size_t *)userData += length;
}

static void testProblem(void) {
  CkptProblem problem, bad = {0};
  CkptPlan plan = {0};
  EXPECT(ckptProblemParse(problemText, &problem) == CKPT_SUCCESS);
  REFUSED(ckptProblemParse("nonsense", &bad), CKPT_INVALID_INPUT, "line 1");
  REFUSED(ckptProblemParse(NULL, &bad), CKPT_INVALID_ARGUMENT, "'text'");
  REFUSED(ckptProblemParse(problemText, NULL), CKPT_INVALID_ARGUMENT,
          "'problem'");
  EXPECT(bad.number == 0);
  REFUSED(ckptProblemPlan(bad, NULL, 0, &plan), CKPT_INVALID_HANDLE,
          "expected a problem, but got a null handle");
  REFUSED(ckptProblemPlan(problem, "a lot", 0, &plan), CKPT_INVALID_ARGUMENT,
          "a lot");
  REFUSED(ckptProblemPlan(problem, "1KiB", 0, &plan), CKPT_INFEASIBLE, "4.0");
  REFUSED(ckptProblemPlan(problem, NULL, 0, NULL), CKPT_INVALID_ARGUMENT,
          "'plan'");
  EXPECT(ckptProblemPlan(problem, "4KiB", -1, &plan) == CKPT_SUCCESS);
  EXPECT(ckptProblemDestroy(problem) == CKPT_SUCCESS);
  REFUSED(ckptProblemDestroy(problem), CKPT_INVALID_HANDLE, "destroyed");

  int64_t figure = -1;
  EXPECT(ckptPlanGetFigure(plan, "peak_bytes", &figure) == CKPT_SUCCESS);
  EXPECT(figure == 4096);
  EXPECT(ckptPlanGetFigure(plan, "extra_flops_bound", &figure) ==
         CKPT_SUCCESS);
  EXPECT(figure == 0);
  REFUSED(ckptPlanGetFigure(plan, "beauty", &figure), CKPT_INVALID_ARGUMENT,
          "beauty");
  size_t kernels = 0, outputs = 0, length = 0;
  EXPECT(ckptPlanGetNumKernels(plan, &kernels) == CKPT_SUCCESS);
  EXPECT(kernels == 2);
  CkptOutput output;
  EXPECT(ckptPlanGetKernelOutputs(plan, 1, &output, 1, &outputs) ==
         CKPT_SUCCESS);
  EXPECT(outputs == 1 && output.value == 2 && output.offset == -1);
  int32_t op = -1;
  EXPECT(ckptPlanGetKernelOps(plan, 0, &op, 1, &outputs) == CKPT_SUCCESS);
  EXPECT(outputs == 1 && op == 0);
  EXPECT(ckptPlanGetKernelOps(plan, 0, NULL, 0, &outputs) == CKPT_SUCCESS);
  REFUSED(ckptPlanGetKernelOps(plan, 0, NULL, 1, &outputs),
          CKPT_INVALID_ARGUMENT, "'ops'");
  REFUSED(ckptPlanGetKernelOps(plan, 2, &op, 1, &outputs),
          CKPT_INVALID_ARGUMENT, "expected one of 2 kernels");
  EXPECT(ckptPlanPrint(plan, count, &length) == CKPT_SUCCESS && length > 0);
  for (int format = CKPT_REPORT_JSON; format <= CKPT_REPORT_SVG; ++format) {
    length = 0;
    EXPECT(ckptPlanPrintReport(plan, (CkptReportFormat)format, count,
                               &length) == CKPT_SUCCESS);
    EXPECT(length > 100);
  }
  REFUSED(ckptPlanPrintReport(plan, (CkptReportFormat)7, count, &length),
          CKPT_INVALID_ARGUMENT, "7");
  REFUSED(ckptPlanPrint(plan, NULL, NULL), CKPT_INVALID_ARGUMENT,
          "'callback'");
  CkptStep other = {plan.number};
  REFUSED(ckptStepDestroy(other), CKPT_INVALID_HANDLE, "another kind");
  EXPECT(ckptPlanDestroy(plan) == CKPT_SUCCESS);
  REFUSED(ckptPlanGetNumKernels(plan, &kernels), CKPT_INVALID_HANDLE,
          "destroyed");
}

static void runStep(CkptExecutable executable) {
  size_t number = 0, bytes = 0, arenaBytes = 0;
  EXPECT(ckptExecutableGetNumArguments(executable, &number) == CKPT_SUCCESS);
  EXPECT(number == 1);
  EXPECT(ckptExecutableGetNumResults(executable, &number) == CKPT_SUCCESS);
  EXPECT(number == 1);
  EXPECT(ckptExecutableGetArgumentBytes(executable, 0, &bytes) ==
         CKPT_SUCCESS);
  EXPECT(bytes == 512);
  EXPECT(ckptExecutableGetResultBytes(executable, 0, &bytes) == CKPT_SUCCESS);
  EXPECT(bytes == 512);
  REFUSED(ckptExecutableGetResultBytes(executable, 1, &bytes),
          CKPT_INVALID_ARGUMENT, "expected one of 1 results");
  EXPECT(ckptExecutableGetArenaBytes(executable, &arenaBytes) == CKPT_SUCCESS);

  float *x = aligned_alloc(CKPT_BUFFER_ALIGNMENT, 512);
  float *y = aligned_alloc(CKPT_BUFFER_ALIGNMENT, 512);
  size_t room = arenaBytes + 64 - arenaBytes % 64;
  CkptBuffer in = {x, 512}, out = {y, 512};
  CkptBuffer arena = {aligned_alloc(CKPT_BUFFER_ALIGNMENT, room), room};
  for (int i = 0; i < 128; ++i)
    x[i] = 0.01f * (float)i - 0.5f;
  EXPECT(ckptExecutableRun(executable, &in, 1, &out, 1, arena) ==
         CKPT_SUCCESS);
  for (int i = 0; i < 128; ++i) {
    double sum = 0;
    for (int k = 0; k < 16; ++k)
      sum += exp((double)x[i / 16 * 16 + k]);
    EXPECT(fabs(y[i] - sum * (double)x[i]) <= 1e-5 * fabs(sum * x[i]) + 1e-6);
  }

  CkptBuffer small = {x, 508}, null = {NULL, 512}, odd = {y + 1, 512};
  CkptBuffer none = {NULL, 0};
  REFUSED(ckptExecutableRun(executable, &small, 1, &out, 1, arena),
          CKPT_INVALID_ARGUMENT,
          "expected argument 0 to take 512 bytes, but got 508");
  REFUSED(ckptExecutableRun(executable, &in, 1, &null, 1, arena),
          CKPT_INVALID_ARGUMENT, "expected result 0 not to be null");
  REFUSED(ckptExecutableRun(executable, &in, 1, &odd, 1, arena),
          CKPT_INVALID_ARGUMENT, "multiple of 64");
  REFUSED(ckptExecutableRun(executable, NULL, 1, &out, 1, arena),
          CKPT_INVALID_ARGUMENT, "'arguments'");
  REFUSED(ckptExecutableRun(executable, &in, 2, &out, 1, arena),
          CKPT_INVALID_ARGUMENT, "expected 1 arguments, but got 2");
  if (arenaBytes > 0)
    REFUSED(ckptExecutableRun(executable, &in, 1, &out, 1, none),
            CKPT_INVALID_ARGUMENT, "expected the arena to take");
  free(x);
  free(y);
  free(arena.data);
}

static void testStep(void) {
  CkptStep step, bad = {0};
  CkptPlan plan;
  CkptExecutable executable;
  REFUSED(ckptStepParse("func.func @main(", &bad), CKPT_INVALID_INPUT,
          "step:1:");
  REFUSED(ckptStepParse(NULL, &bad), CKPT_INVALID_ARGUMENT, "'text'");
  EXPECT(ckptStepParse(stepText, &step) == CKPT_SUCCESS);
  REFUSED(ckptStepCompile(step, 1, &executable), CKPT_COMPILATION_FAILED,
          "expected a function of kernels");
  EXPECT(strstr(ckptGetErrorMessage(), "current operation") == NULL);
  REFUSED(ckptStepPlan(step, NULL, NULL), CKPT_INVALID_ARGUMENT, "'options'");
  REFUSED(ckptStepPlan(step, "bugdet=50%", NULL), CKPT_INVALID_ARGUMENT,
          "bugdet");
  REFUSED(ckptStepPlan(step, "budget=a-lot", NULL), CKPT_INVALID_INPUT,
          "a-lot");
  EXPECT(ckptStepPlan(step, "budget=4KiB", &plan) == CKPT_SUCCESS);
  int64_t peak = -1;
  size_t kernels = 0, length = 0;
  EXPECT(ckptPlanGetFigure(plan, "peak_bytes", &peak) == CKPT_SUCCESS);
  EXPECT(peak >= 0 && peak <= 4096);
  EXPECT(ckptPlanGetNumKernels(plan, &kernels) == CKPT_SUCCESS && kernels > 0);
  EXPECT(ckptStepCompile(step, 1, &executable) == CKPT_SUCCESS);
  REFUSED(ckptStepCompile(step, 0, &executable), CKPT_INVALID_ARGUMENT,
          "expected 1 to 1024 threads, but got 0");
  REFUSED(ckptStepCompile(step, 1025, &executable), CKPT_INVALID_ARGUMENT,
          "expected 1 to 1024 threads, but got 1025");
  runStep(executable);
  EXPECT(ckptExecutableDestroy(executable) == CKPT_SUCCESS);
  EXPECT(ckptStepApplyPlan(step) == CKPT_SUCCESS);
  EXPECT(ckptStepPrint(step, count, &length) == CKPT_SUCCESS && length > 0);
  EXPECT(ckptStepCompile(step, 2, &executable) == CKPT_SUCCESS);
  /* An executable outlives its step. */
  EXPECT(ckptStepDestroy(step) == CKPT_SUCCESS);
  runStep(executable);
  EXPECT(ckptExecutableDestroy(executable) == CKPT_SUCCESS);
  REFUSED(ckptExecutableGetArenaBytes(executable, &length),
          CKPT_INVALID_HANDLE, "destroyed");
  REFUSED(ckptStepApplyPlan(step), CKPT_INVALID_HANDLE, "destroyed");
  EXPECT(ckptPlanDestroy(plan) == CKPT_SUCCESS);
}

int main(void) {
  testProblem();
  testStep();
  if (failures == 0)
    printf("all calls did what they should, version %s\n", ckptGetVersion());
  return failures != 0;
}
