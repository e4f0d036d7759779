//===- EmitExecutable.cpp - A step as a program of its own ----------------===//

#include "ckpt/Runtime/EmitExecutable.h"
#include "LowerStep.h"
#include "PackImages.h"
#include "ckpt/Pipelines/GpuPipeline.h"
#include "ckpt/Support/HostCompiler.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace ckpt;

//===----------------------------------------------------------------------===//
// The description
//===----------------------------------------------------------------------===//

namespace {
/// Adds the declarations of `ckpt::cuda::Program` to the code of the host.
class Description {
public:
  explicit Description(llvm::Module &module)
      : module(module), builder(module.getContext()) {}

  void add(const ExecutableOptions &options, const LoweredStep &lowered,
           StringRef chip);

private:
  llvm::Constant *text(StringRef value) {
    return builder.CreateGlobalString(value, "", /*AddressSpace=*/0, &module);
  }
  llvm::Constant *buffer(const ExecutableTensor &tensor, int64_t bytes);
  llvm::Function *launcher(StringRef stepName);

  llvm::Module &module;
  llvm::IRBuilder<> builder;
};
} // namespace

/// "(8,2,)".
static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "(";
  for (int64_t extent : shape)
    text += std::to_string(extent) + ",";
  return text + ")";
}

llvm::Constant *Description::buffer(const ExecutableTensor &tensor,
                                    int64_t bytes) {
  std::string element = tensor.type.bytes == 1 ? "|" : "<";
  element += tensor.type.kind + std::to_string(tensor.type.bytes);
  return llvm::ConstantStruct::getAnon({text(tensor.name), text(element),
                                        text(shapeText(tensor.shape)),
                                        builder.getInt64(bytes)});
}

/// A function that takes a list of addresses and calls the step with them.
llvm::Function *Description::launcher(StringRef stepName) {
  llvm::Type *pointer = builder.getPtrTy();
  auto *launcher = llvm::Function::Create(
      llvm::FunctionType::get(builder.getVoidTy(), {pointer},
                              /*isVarArg=*/false),
      llvm::GlobalValue::InternalLinkage, "ckptLaunch", module);
  builder.SetInsertPoint(
      llvm::BasicBlock::Create(module.getContext(), "", launcher));
  llvm::Function *step = module.getFunction(stepName);
  SmallVector<llvm::Value *> addresses;
  for (unsigned i = 0; i < step->arg_size(); ++i)
    addresses.push_back(builder.CreateLoad(
        pointer, builder.CreateConstGEP1_64(pointer, launcher->getArg(0), i)));
  builder.CreateCall(step, addresses);
  builder.CreateRetVoid();
  step->setLinkage(llvm::GlobalValue::InternalLinkage);
  return launcher;
}

void Description::add(const ExecutableOptions &options,
                      const LoweredStep &lowered, StringRef chip) {
  SmallVector<llvm::Constant *> buffers;
  for (auto [tensor, type] :
       llvm::zip_equal(options.arguments, lowered.arguments))
    buffers.push_back(buffer(tensor, type.bytes));
  for (auto [tensor, type] : llvm::zip_equal(options.results, lowered.results))
    buffers.push_back(buffer(tensor, type.bytes));
  llvm::Type *pointer = builder.getPtrTy();
  auto *type =
      llvm::StructType::get(pointer, pointer, pointer, builder.getInt64Ty());
  auto *list = llvm::ConstantArray::get(
      llvm::ArrayType::get(type, buffers.size()), buffers);
  auto *listGlobal = new llvm::GlobalVariable(
      module, list->getType(), /*isConstant=*/true,
      llvm::GlobalValue::InternalLinkage, list, "ckptBuffers");
  auto *program = llvm::ConstantStruct::getAnon(
      {text(options.title), text(chip), builder.getInt64(lowered.arenaBytes),
       builder.getInt64(options.arguments.size()),
       builder.getInt64(options.results.size()), listGlobal,
       launcher(lowered.name)});
  new llvm::GlobalVariable(module, program->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, program,
                           "ckptProgram");
}

//===----------------------------------------------------------------------===//
// Code and linking
//===----------------------------------------------------------------------===//

/// For any machine of this kind, at any address.
static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> hostMachine() {
  initializeHostCompiler();
  llvm::orc::JITTargetMachineBuilder builder{
      llvm::Triple(llvm::sys::getProcessTriple())};
  builder.setRelocationModel(llvm::Reloc::PIC_);
  // The default is the one for code that lies anywhere in a process.
  builder.setCodeModel(llvm::CodeModel::Small);
  return builder.createTargetMachine();
}

static llvm::Error writeObject(llvm::Module &module,
                               llvm::TargetMachine &machine, StringRef path) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  if (llvm::Error error = mlir::makeOptimizingTransformer(
          /*optLevel=*/2, /*sizeLevel=*/0, &machine)(&module))
    return error;
  std::error_code failure;
  llvm::raw_fd_ostream file(path, failure);
  if (failure)
    return llvm::createStringError(failure, "cannot write '" + path + "'");
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, file, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("expected a target that has object files");
  passes.run(module);
  return llvm::Error::success();
}

static llvm::Expected<std::string> findCompiler() {
  for (StringRef name : {"cc", "gcc", "clang", "clang-22"})
    if (auto path = llvm::sys::findProgramByName(name))
      return *path;
  return llvm::createStringError("expected a C compiler on the path to link "
                                 "the program with, but there is no 'cc', "
                                 "'gcc', 'clang' or 'clang-22'");
}

static llvm::Expected<SmallVector<std::string>>
findLibraries(ArrayRef<std::string> folders) {
  for (StringRef folder : folders) {
    SmallVector<std::string> found;
    for (StringRef name : {"libCkptCudaProgram.a", "libCkptCuda.a"}) {
      llvm::SmallString<128> path(folder);
      llvm::sys::path::append(path, name);
      if (llvm::sys::fs::exists(path))
        found.push_back(path.str().str());
    }
    if (found.size() == 2)
      return found;
  }
  return llvm::createStringError(
      "expected 'libCkptCudaProgram.a' and 'libCkptCuda.a' in '" +
      llvm::join(folders, "' or '") + "', but they are not there");
}

static llvm::Error link(StringRef object, ArrayRef<std::string> folders,
                        StringRef path) {
  auto compiler = findCompiler();
  if (!compiler)
    return compiler.takeError();
  auto libraries = findLibraries(folders);
  if (!libraries)
    return libraries.takeError();
  SmallVector<StringRef> command{*compiler, object};
  command.append(libraries->begin(), libraries->end());
  std::string folder =
      "-L" + llvm::sys::path::parent_path(libraries->front()).str();
  // Static: the machine of the program need not have the libraries.
  command.append(
      {folder, "-l:libz.a", "-Wl,--gc-sections", "-s", "-ldl", "-o", path});
  std::string message;
  if (llvm::sys::ExecuteAndWait(*compiler, command, std::nullopt, {}, 0, 0,
                                &message) != 0)
    return llvm::createStringError("'" + *compiler +
                                   "' cannot link the program" +
                                   (message.empty() ? "" : ": " + message));
  return llvm::Error::success();
}

llvm::Error ckpt::emitExecutable(ModuleOp module,
                                 const ExecutableOptions &options,
                                 StringRef path) {
  auto machine = hostMachine();
  if (!machine)
    return machine.takeError();
  GpuPipelineOptions pipeline;
  if (llvm::Error error = parseGpuOptions(options.compile.gpuOptions, pipeline))
    return error;
  auto lowered = lowerStep(module, options.compile, /*lanes=*/0);
  if (!lowered)
    return lowered.takeError();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      mlir::translateModuleToLLVMIR(*lowered->module, context);
  if (!code)
    return llvm::createStringError("translation to LLVM IR failed");
  Description(*code).add(options, *lowered, pipeline.chip);

  if (llvm::Error error = packImages(*code))
    return error;

  llvm::SmallString<128> object;
  if (llvm::sys::fs::createTemporaryFile("ckpt-step", "o", object))
    return llvm::createStringError("cannot create a temporary file");
  llvm::FileRemover remover(object);
  llvm::sys::RemoveFileOnSignal(object);
  if (llvm::Error error = writeObject(*code, **machine, object))
    return error;
  return link(object, options.libraryFolders, path);
}
