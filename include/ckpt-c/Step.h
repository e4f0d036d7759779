/*===- ckpt-c/Step.h - Steps in MLIR, planned and run -------------*- C -*-===*\
|*                                                                            *|
|* A step is a module with one public function on tensors                     *|
|* (docs/GettingStarted.md).                                                  *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef CKPT_C_STEP_H
#define CKPT_C_STEP_H

#include "ckpt-c/Plan.h"

#ifdef __cplusplus
extern "C" {
#endif

CKPT_DEFINE_C_API_HANDLE(CkptStep);
CKPT_DEFINE_C_API_HANDLE(CkptExecutable);

/*===----------------------------------------------------------------------===*\
|* Steps
\*===----------------------------------------------------------------------===*/

/** Reads a module. Destroy it with ckptStepDestroy. */
CKPT_C_EXPORTED CkptStatus ckptStepParse(const char *text, CkptStep *step);
CKPT_C_EXPORTED CkptStatus ckptStepDestroy(CkptStep step);

/** Plans a step: prepares it and writes the plan into its attributes. The
 *  options are those of `--ckpt-plan` ("budget=50% device=h100"). Nothing is
 *  printed; `plan` may be null if only the step counts. */
CKPT_C_EXPORTED CkptStatus ckptStepPlan(CkptStep step, const char *options,
                                        CkptPlan *plan);

/** Rewrites a planned step into kernels (`--ckpt-apply-plan`). */
CKPT_C_EXPORTED CkptStatus ckptStepApplyPlan(CkptStep step);

/** The module as text, with its locations. */
CKPT_C_EXPORTED CkptStatus ckptStepPrint(CkptStep step,
                                         CkptStringCallback callback,
                                         void *userData);

/*===----------------------------------------------------------------------===*\
|* Executables
\*===----------------------------------------------------------------------===*/

/** Compiles a step that was planned, or rewritten into kernels, for this
 *  machine. The step stays as it is. Large kernels run on so many threads, 1
 *  to 1024; results do not depend on that. */
CKPT_C_EXPORTED CkptStatus ckptStepCompile(CkptStep step, unsigned threads,
                                           CkptExecutable *executable);
CKPT_C_EXPORTED CkptStatus ckptExecutableDestroy(CkptExecutable executable);

/** What a run takes. An i1 takes a byte. */
CKPT_C_EXPORTED CkptStatus
ckptExecutableGetNumArguments(CkptExecutable executable, size_t *count);
CKPT_C_EXPORTED CkptStatus
ckptExecutableGetNumResults(CkptExecutable executable, size_t *count);
CKPT_C_EXPORTED CkptStatus ckptExecutableGetArgumentBytes(
    CkptExecutable executable, size_t argument, size_t *bytes);
CKPT_C_EXPORTED CkptStatus ckptExecutableGetResultBytes(
    CkptExecutable executable, size_t result, size_t *bytes);
CKPT_C_EXPORTED CkptStatus
ckptExecutableGetArenaBytes(CkptExecutable executable, size_t *bytes);

/** Memory of the caller. It begins at a multiple of CKPT_BUFFER_ALIGNMENT and
 *  is as large as what it is for; no bytes may be null. */
typedef struct CkptBuffer {
  void *data;
  size_t bytes;
} CkptBuffer;
#define CKPT_BUFFER_ALIGNMENT 64

/** Runs the step once: one buffer per argument and per result, in order, and
 *  the arena, which may be larger than needed. The step allocates nothing of
 *  its size. Results may not overlap arguments, but for donated ones. */
CKPT_C_EXPORTED CkptStatus
ckptExecutableRun(CkptExecutable executable, const CkptBuffer *arguments,
                  size_t numArguments, const CkptBuffer *results,
                  size_t numResults, CkptBuffer arena);

#ifdef __cplusplus
}
#endif

#endif /* CKPT_C_STEP_H */
