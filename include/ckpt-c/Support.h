/*===- ckpt-c/Support.h - What the C API is built of --------------*- C -*-===*\
|*                                                                            *|
|* Objects are handles: small structs that are passed by value and compared   *|
|* by their number. A handle that is null, of another kind, or destroyed      *|
|* already is an error of the call, never a crash: numbers are looked up, and *|
|* none is given twice. Calls may come from any thread, several at once.      *|
|*                                                                            *|
|* Every call returns a status. If that is not CKPT_SUCCESS, the call has     *|
|* changed nothing, its out parameters included, and ckptGetErrorMessage says *|
|* why.                                                                       *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef CKPT_C_SUPPORT_H
#define CKPT_C_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CKPT_C_EXPORTED __attribute__((visibility("default")))

typedef enum CkptStatus {
  CKPT_SUCCESS = 0,
  /** A pointer is null, a size or a number is wrong, an option is unknown. */
  CKPT_INVALID_ARGUMENT = 1,
  /** A handle is null, of another kind, or destroyed already. */
  CKPT_INVALID_HANDLE = 2,
  /** A text cannot be read, or a program does not have the form of a step. */
  CKPT_INVALID_INPUT = 3,
  /** No plan was found for the budget; the message says for which there is. */
  CKPT_INFEASIBLE = 4,
  /** A program cannot be lowered or compiled. */
  CKPT_COMPILATION_FAILED = 5
} CkptStatus;

/** Why the last call of this thread that failed did so. Valid until the next
 *  call of this thread; empty if none failed. */
CKPT_C_EXPORTED const char *ckptGetErrorMessage(void);

/** "0.1.0". */
CKPT_C_EXPORTED const char *ckptGetVersion(void);

/** Gets a text, which is not terminated, in one or several pieces. */
typedef void (*CkptStringCallback)(const char *text, size_t length,
                                   void *userData);

#define CKPT_DEFINE_C_API_HANDLE(name)                                         \
  typedef struct name {                                                        \
    uint64_t number;                                                           \
  } name

#ifdef __cplusplus
}
#endif

#endif /* CKPT_C_SUPPORT_H */
