//===- Executable.cpp - Steps are compiled and run through C --------------===//

#include "Steps.h"
#include "ckpt-c/Step.h"
#include "ckpt/Runtime/CompiledStep.h"
#include "ckpt/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace ckpt;
using namespace ckpt::capi;

static_assert(CKPT_BUFFER_ALIGNMENT == CompiledStep::arenaAlignment);

namespace {
struct ExecutableObject : Object {
  static constexpr const char *what = "an executable";
  /// The types of arguments and results are of its context.
  std::shared_ptr<StepObject> step;
  std::unique_ptr<CompiledStep> compiled;
};
} // namespace

CkptStatus ckptStepCompile(CkptStep step, unsigned threads,
                           CkptExecutable *executable) {
  auto object = get<StepObject>(step.number);
  if (!object)
    return failHandle(step.number, StepObject::what);
  if (!executable)
    return failNull("executable");
  if (threads < 1 || threads > CompileOptions::mostThreads)
    return fail(CKPT_INVALID_ARGUMENT,
                "expected 1 to " + std::to_string(CompileOptions::mostThreads) +
                    " threads, but got " + std::to_string(threads));
  std::lock_guard<std::mutex> lock(object->mutex);
  FirstError error(object->context);
  mlir::OwningOpRef<ModuleOp> kernels = object->module->clone();
  mlir::PassManager manager(&object->context);
  manager.addPass(createApplyPlanPass());
  if (failed(manager.run(*kernels)))
    return fail(CKPT_COMPILATION_FAILED,
                error.text("the plan cannot be applied"));
  CompileOptions options;
  options.threads = threads;
  llvm::Expected<std::unique_ptr<CompiledStep>> compiled =
      CompiledStep::compile(*kernels, options);
  if (!compiled)
    return fail(CKPT_COMPILATION_FAILED,
                error.text(llvm::toString(compiled.takeError())));
  auto made = std::make_shared<ExecutableObject>();
  made->step = object;
  made->compiled = std::move(*compiled);
  executable->number = add(std::move(made));
  return CKPT_SUCCESS;
}

CkptStatus ckptExecutableDestroy(CkptExecutable executable) {
  return destroy<ExecutableObject>(executable.number);
}

/// Hands out the \p count of an executable.
static CkptStatus
give(CkptExecutable executable, const char *name, size_t *to,
     llvm::function_ref<size_t(const CompiledStep &)> count) {
  auto object = get<ExecutableObject>(executable.number);
  if (!object)
    return failHandle(executable.number, ExecutableObject::what);
  if (!to)
    return failNull(name);
  *to = count(*object->compiled);
  return CKPT_SUCCESS;
}

CkptStatus ckptExecutableGetNumArguments(CkptExecutable executable,
                                         size_t *count) {
  return give(executable, "count", count, [](const CompiledStep &step) {
    return step.getArguments().size();
  });
}

CkptStatus ckptExecutableGetNumResults(CkptExecutable executable,
                                       size_t *count) {
  return give(executable, "count", count, [](const CompiledStep &step) {
    return step.getResults().size();
  });
}

CkptStatus ckptExecutableGetArenaBytes(CkptExecutable executable,
                                       size_t *bytes) {
  return give(executable, "bytes", bytes, [](const CompiledStep &step) {
    return step.getArenaBytes();
  });
}

static CkptStatus
giveBytes(CkptExecutable executable, size_t number, const char *what,
          size_t *bytes,
          llvm::function_ref<ArrayRef<BufferType>(const CompiledStep &)> of) {
  auto object = get<ExecutableObject>(executable.number);
  if (!object)
    return failHandle(executable.number, ExecutableObject::what);
  if (!bytes)
    return failNull("bytes");
  ArrayRef<BufferType> types = of(*object->compiled);
  if (number >= types.size())
    return fail(CKPT_INVALID_ARGUMENT,
                "expected one of " + std::to_string(types.size()) + " " + what +
                    "s, counted from 0, but got " + std::to_string(number));
  *bytes = types[number].bytes;
  return CKPT_SUCCESS;
}

CkptStatus ckptExecutableGetArgumentBytes(CkptExecutable executable,
                                          size_t argument, size_t *bytes) {
  return giveBytes(
      executable, argument, "argument", bytes,
      [](const CompiledStep &step) { return step.getArguments(); });
}

CkptStatus ckptExecutableGetResultBytes(CkptExecutable executable,
                                        size_t result, size_t *bytes) {
  return giveBytes(
      executable, result, "result", bytes,
      [](const CompiledStep &step) { return step.getResults(); });
}

/// The fault of \p buffer for \p name, or an empty string. An arena may be
/// larger than \p bytes.
static std::string checkBuffer(const CkptBuffer &buffer,
                               const std::string &name, size_t bytes,
                               bool mayBeLarger = false) {
  if (mayBeLarger ? buffer.bytes < bytes : buffer.bytes != bytes)
    return "expected " + name + " to take " + std::to_string(bytes) +
           " bytes, but got " + std::to_string(buffer.bytes);
  if (bytes > 0 && !buffer.data)
    return "expected " + name + " not to be null";
  if (reinterpret_cast<uintptr_t>(buffer.data) % CKPT_BUFFER_ALIGNMENT != 0)
    return "expected " + name + " to begin at a multiple of " +
           std::to_string(CKPT_BUFFER_ALIGNMENT);
  return "";
}

/// Checks the buffers of all arguments or all results and takes their
/// addresses.
static std::string takeBuffers(const CkptBuffer *buffers, size_t count,
                               ArrayRef<BufferType> types,
                               const std::string &what,
                               SmallVectorImpl<void *> &addresses) {
  if (count != types.size())
    return "expected " + std::to_string(types.size()) + " " + what +
           "s, but got " + std::to_string(count);
  if (!buffers && count > 0)
    return "expected '" + what + "s' not to be null";
  for (size_t i = 0; i < count; ++i) {
    std::string error = checkBuffer(buffers[i], what + " " + std::to_string(i),
                                    types[i].bytes);
    if (!error.empty())
      return error;
    addresses.push_back(buffers[i].data);
  }
  return "";
}

CkptStatus ckptExecutableRun(CkptExecutable executable,
                             const CkptBuffer *arguments, size_t numArguments,
                             const CkptBuffer *results, size_t numResults,
                             CkptBuffer arena) {
  auto object = get<ExecutableObject>(executable.number);
  if (!object)
    return failHandle(executable.number, ExecutableObject::what);
  const CompiledStep &step = *object->compiled;
  SmallVector<void *> in, out;
  std::string error =
      takeBuffers(arguments, numArguments, step.getArguments(), "argument", in);
  if (error.empty())
    error = takeBuffers(results, numResults, step.getResults(), "result", out);
  if (error.empty())
    error = checkBuffer(arena, "the arena", step.getArenaBytes(),
                        /*mayBeLarger=*/true);
  if (!error.empty())
    return fail(CKPT_INVALID_ARGUMENT, error);
  step.run(in, out, arena.data);
  return CKPT_SUCCESS;
}
