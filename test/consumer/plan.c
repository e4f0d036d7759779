/* Plans a problem by the C API, as a program in C of another project does. */
#include <ckpt-c/Plan.h>

#include <stdio.h>

int main(void) {
  CkptProblem problem;
  CkptPlan plan;
  size_t kernels;
  if (ckptProblemParse("value 0 bytes=4096 elements=1024 home=argument\n"
                       "value 1 bytes=4096 elements=1024 home=result\n"
                       "op 0 opaque reads=0 results=1 flops=1024\n",
                       &problem) ||
      ckptProblemPlan(problem, NULL, 1000, &plan) ||
      ckptPlanGetNumKernels(plan, &kernels)) {
    fprintf(stderr, "%s\n", ckptGetErrorMessage());
    return 1;
  }
  printf("kernels planned from C: %zu\n", kernels);
  return 0;
}
