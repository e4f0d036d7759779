//===- KernelsToCalls.cpp - Functions of kernels, calls of the step -------===//
//
// Reads the plan off the ckpt.kernel ops and nothing else. See Passes.td.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Step/SharedSlices.h"
#include "Conversion/Step/StepMemory.h"
#include "ckpt/Conversion/Passes.h"
#include "ckpt/IR/ArenaLimit.h"
#include "ckpt/Import/Donation.h"
#include "ckpt/Support/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

namespace ckpt {
#define GEN_PASS_DEF_KERNELSTOCALLS
#include "ckpt/Conversion/Passes.h.inc"
} // namespace ckpt

using namespace ckpt;
using namespace mlir;

/// Which constants each kernel holds itself.
enum class OwnConstants {
  /// Scalars and splats, which take no memory.
  Cheap,
  /// All: a device does not read the memory of its host.
  All
};

static bool isOwnConstant(Value value, OwnConstants own) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  return constant &&
         (own == OwnConstants::All || !isa<ElementsAttr>(constant.getValue()) ||
          isa<SplatElementsAttr>(constant.getValue()));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A word for people: the main work of the kernel.
static std::string describe(KernelOp kernel) {
  std::string name = "elementwise";
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    bool isReduction = linalgOp && linalgOp.getNumReductionLoops() > 0;
    if (isReduction || op.getDialect()->getNamespace() == "scf") {
      name = isa<linalg::GenericOp>(op) ? "reduction"
                                        : op.getName().getStringRef().str();
      std::replace(name.begin(), name.end(), '.', '_');
    }
  }
  return name;
}

/// The arguments that \p kernel reads from memory, without its own constants.
static SmallVector<BlockArgument> memoryArguments(KernelOp kernel,
                                                  OwnConstants own) {
  return llvm::filter_to_vector(
      kernel.getBody().getArguments(), [&](BlockArgument argument) {
        return !isOwnConstant(kernel.getInputs()[argument.getArgNumber()], own);
      });
}

/// One function per kernel for LLVM too: the step must not swallow them all.
static void markAsKernel(func::FuncOp function) {
  Builder builder(function.getContext());
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(function.getContext(), LLVM::Linkage::Internal));
}

/// Tensor code between memrefs: narrow integers stand in memory as wider ones.
static void buildKernelBody(KernelOp kernel, func::FuncOp function,
                            OwnConstants own) {
  Location loc = kernel.getLoc();
  Block *entry = function.addEntryBlock();
  OpBuilder builder = OpBuilder::atBlockBegin(entry);
  IRMapping mapping;
  unsigned next = 0;
  for (auto [argument, input] :
       llvm::zip_equal(kernel.getBody().getArguments(), kernel.getInputs())) {
    if (isOwnConstant(input, own)) {
      mapping.map(argument,
                  builder.clone(*input.getDefiningOp())->getResult(0));
      continue;
    }
    Value value = entry->getArgument(next++);
    if (isa<MemRefType>(value.getType()))
      value = loadInput(builder, loc, argument.getType(), value);
    mapping.map(argument, value);
  }
  Block &body = kernel.getBody().front();
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  for (BlockArgument argument : memoryArguments(kernel, own)) {
    SliceStart start = sliceStart(argument);
    if (start.bytes != 0)
      for (Operation *slice : argument.getUsers())
        moveSlice(mapping.lookup(slice->getResult(0)).getDefiningOp(), start);
  }
  for (Value yielded : body.getTerminator()->getOperands())
    storeOutput(builder, loc, mapping.lookup(yielded),
                entry->getArgument(next++));
  func::ReturnOp::create(builder, loc);
}

namespace {

/// Makes the functions of kernels, one per distinct text.
class KernelFunctions {
public:
  KernelFunctions(ModuleOp module, SymbolTable &symbols, OwnConstants own)
      : symbols(symbols), builder(module.getBodyRegion()), own(own) {}

  /// Whether kernels hold \p value themselves, so that it stands nowhere.
  bool hold(Value value) const { return isOwnConstant(value, own); }

  /// The arguments for which a call of the function of \p kernel passes memory,
  /// before its results.
  SmallVector<BlockArgument> argumentsOf(KernelOp kernel) const {
    return memoryArguments(kernel, own);
  }

  func::FuncOp get(KernelOp kernel) {
    SmallVector<Type> types =
        llvm::map_to_vector(argumentsOf(kernel), [&](BlockArgument argument) {
          return operandType(kernel.getInputs()[argument.getArgNumber()]);
        });
    for (Type type : kernel.getResultTypes())
      types.push_back(memoryType(type));
    if (kernel.getWorkspaceBytes() > 0)
      types.push_back(
          MemRefType::get({static_cast<int64_t>(kernel.getWorkspaceBytes())},
                          builder.getI8Type()));
    auto function =
        func::FuncOp::create(builder, kernel.getLoc(), "kernel",
                             builder.getFunctionType(types, TypeRange()));
    function.setPrivate();
    markAsKernel(function);
    buildKernelBody(kernel, function, own);
    auto [entry, isNew] = byText.try_emplace(textOf(function), function);
    if (!isNew) {
      function.erase();
      return entry->second;
    }
    function.setName("kernel_" + std::to_string(byText.size() - 1) + "_" +
                     describe(kernel));
    symbols.insert(function, builder.getInsertionPoint());
    return function;
  }

private:
  /// Types included, locations not.
  static std::string textOf(func::FuncOp function) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    function.print(stream,
                   OpPrintingFlags().useLocalScope().enableDebugInfo(false));
    return text;
  }

  SymbolTable &symbols;
  OpBuilder builder;
  OwnConstants own;
  llvm::StringMap<func::FuncOp> byText;
};

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

/// Turns one function of kernels into calls.
class StepLowering {
public:
  /// \p mark is called between kernels, if there is one.
  StepLowering(func::FuncOp step, KernelFunctions &kernels,
               SymbolTable &symbols, func::FuncOp mark)
      : step(step), kernels(kernels), mark(mark), memory(step, symbols) {}

  LogicalResult run() {
    Block &old = step.front();
    ret = dyn_cast<func::ReturnOp>(old.getTerminator());
    if (!step.getBody().hasOneBlock() || !ret)
      return step.emitError("expected one block that ends in 'func.return'");
    if (failed(makeSignature(old)))
      return failure();
    for (Operation &op : old.without_terminator())
      if (failed(lower(op)))
        return failure();
    callMark(ret.getLoc());
    copyResults();
    func::ReturnOp::create(*builder, ret.getLoc());
    while (!old.empty())
      old.back().erase();
    old.erase();
    return success();
  }

private:
  /// Bytes of the arena: the planned ones, or the end of the last slot.
  FailureOr<int64_t> measureArena(Block &old) {
    auto planned =
        step->getAttrOfType<IntegerAttr>(CkptDialect::arenaBytesAttrName());
    int64_t limit = planned ? planned.getInt() : largestArenaBytes;
    if (limit < 0 || limit > largestArenaBytes)
      return step.emitError("expected an arena of at most ")
             << largestArenaBytes << " bytes, but got " << limit;
    int64_t arenaBytes = planned ? limit : 0;
    auto add = [&](int64_t offset, int64_t bytes) {
      if (offset < 0)
        return true;
      // No sum, which could be too large a number.
      if (bytes > limit || offset > limit - bytes)
        return false;
      arenaBytes = std::max(arenaBytes, offset + bytes);
      return true;
    };
    for (KernelOp kernel : old.getOps<KernelOp>()) {
      bool fits = add(kernel.getWorkspaceOffset(), kernel.getWorkspaceBytes());
      for (unsigned i = 0; i < kernel.getNumResults(); ++i)
        if (kernel.getHost(i) < 0)
          fits &= add(kernel.getOffsets()[i], kernel.getBytes()[i]);
      if (!fits)
        return kernel.emitOpError("expected all slots to end within the arena "
                                  "of ")
               << limit << " bytes";
    }
    return arenaBytes;
  }

  LogicalResult makeSignature(Block &old) {
    for (Type type : step.getFunctionType().getResults())
      if (!isa<RankedTensorType>(type))
        return step.emitError("expected results to be tensors, but got ")
               << type;
    FailureOr<int64_t> arenaBytes = measureArena(old);
    if (failed(arenaBytes))
      return failure();
    // The type of the arena says it from here on.
    step->removeAttr(CkptDialect::arenaBytesAttrName());
    dropDonations(step);
    SmallVector<Type> types = memory.callerTypes();
    types.push_back(
        MemRefType::get({*arenaBytes}, IntegerType::get(step.getContext(), 8)));
    step.setFunctionType(FunctionType::get(step.getContext(), types, {}));
    step.removeResAttrsAttr();
    SmallVector<Location> locations(types.size(), step.getLoc());
    for (auto [argument, loc] : llvm::zip(old.getArguments(), locations))
      loc = argument.getLoc();
    if (ArrayAttr attributes = step.getArgAttrsAttr()) {
      SmallVector<Attribute> padded(attributes.getValue());
      padded.resize(types.size(), DictionaryAttr::get(step.getContext()));
      step.setArgAttrsAttr(ArrayAttr::get(step.getContext(), padded));
    }
    entry = new Block();
    step.getBody().push_front(entry);
    entry->addArguments(types, locations);
    builder = OpBuilder::atBlockBegin(entry);
    memory.enter(*entry, *builder);
    return success();
  }

  void callMark(Location loc) {
    if (mark)
      func::CallOp::create(*builder, loc, mark);
  }

  LogicalResult lower(Operation &op) {
    if (auto kernel = dyn_cast<KernelOp>(op))
      return lowerKernel(kernel);
    if (isa<arith::ConstantOp>(op) || isStretch(&op) || isInParts(op) ||
        isUnread(op))
      return success(); // Made where it is read.
    return op.emitError("expected only 'ckpt.kernel' and constants in a "
                        "function of kernels, but got '")
           << op.getName() << "'";
  }

  /// Whether \p op is the destination of nothing but copies, which show their
  /// inputs.
  static bool isUnread(Operation &op) {
    return isa<tensor::EmptyOp>(op) &&
           llvm::all_of(op.getUses(), [](OpOperand &use) {
             auto copy = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
             return copy && copy.isDpsInit(&use) && isStretch(copy);
           });
  }

  /// Whether \p op puts results together that lie so in the caller's buffer.
  bool isInParts(Operation &op) const {
    return isa<tensor::ConcatOp>(op) &&
           llvm::all_of(op.getUsers(),
                        [](Operation *user) { return !isa<KernelOp>(user); }) &&
           llvm::none_of(memory.getParts(), [&](const ReturnedPart &part) {
             return part.value == op.getResult(0);
           });
  }

  LogicalResult lowerKernel(KernelOp kernel) {
    SmallVector<Value> operands = llvm::map_to_vector(
        kernels.argumentsOf(kernel), [&](BlockArgument argument) {
          return memory.buffer(kernel.getInputs()[argument.getArgNumber()],
                               sliceStart(argument).bytes);
        });
    if (failed(memory.place(kernel)))
      return failure();
    for (Value result : kernel.getResults())
      operands.push_back(memory.buffer(result));
    if (kernel.getWorkspaceBytes() > 0)
      operands.push_back(memory.workspace(kernel));
    callMark(kernel.getLoc());
    func::CallOp::create(*builder, kernel.getLoc(), kernels.get(kernel),
                         operands);
    return success();
  }

  /// Fills the results that no kernel writes.
  void copyResults() {
    for (auto [number, part] : llvm::enumerate(memory.getParts())) {
      MemRefType type = memoryType(part.value.getType());
      if (memory.isWritten(number) || type.getNumElements() == 0)
        continue;
      if (kernels.hold(part.value)) {
        writeConstant(part.value, memory.partBuffer(number, ret.getLoc()));
        continue;
      }
      Value source = memory.buffer(part.value);
      memref::CopyOp::create(*builder, ret.getLoc(), source,
                             memory.partBuffer(number, ret.getLoc()));
    }
  }

  /// By a kernel that no plan knows, as it knows no copies.
  void writeConstant(Value constant, Value out) {
    Location loc = constant.getLoc();
    Type type = constant.getType();
    OpBuilder before(ret);
    auto kernel = KernelOp::create(
        before, loc, type, constant, /*after=*/ValueRange(),
        /*offsets=*/ArrayRef<int64_t>{-1}, /*bytes=*/ArrayRef<int64_t>{0},
        /*hosts=*/nullptr,
        /*workspace_offset=*/-1, /*workspace_bytes=*/0, /*layer=*/"",
        /*recompute=*/false);
    Block &body = kernel.getBody().emplaceBlock();
    before.setInsertionPointToEnd(&body);
    YieldOp::create(before, loc, body.addArgument(type, loc));
    func::CallOp::create(*builder, loc, kernels.get(kernel), out);
  }

  func::FuncOp step;
  KernelFunctions &kernels;
  func::FuncOp mark;
  StepMemory memory;
  func::ReturnOp ret;
  Block *entry = nullptr;
  std::optional<OpBuilder> builder;
};

/// Whether \p function was planned, maybe to no kernel at all, or written by
/// hand as kernels.
static bool isStep(func::FuncOp function) {
  return !function.isExternal() &&
         (function->hasAttr(CkptDialect::arenaBytesAttrName()) ||
          !function.front().getOps<KernelOp>().empty());
}

/// LLVM and upstream's passes know few types of elements in resources.
static LogicalResult readResources(func::FuncOp step) {
  WalkResult result = step.walk([](arith::ConstantOp constant) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
    if (!resource)
      return WalkResult::advance();
    if (std::string refusal = refusalOfResource(resource); !refusal.empty()) {
      constant.emitError("expected the resource of the constant, but ")
          << refusal;
      return WalkResult::interrupt();
    }
    constant.setValueAttr(readResource(resource));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

struct KernelsToCalls : public ckpt::impl::KernelsToCallsBase<KernelsToCalls> {
  using KernelsToCallsBase::KernelsToCallsBase;

  func::FuncOp declareMark(SymbolTable &symbols) {
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    auto mark =
        func::FuncOp::create(builder, getOperation().getLoc(), markFunctionName,
                             builder.getFunctionType({}, {}));
    mark.setPrivate();
    symbols.insert(mark);
    return mark;
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> steps;
    for (auto function : module.getOps<func::FuncOp>())
      if (isStep(function))
        steps.push_back(function);
    SymbolTable symbols(module);
    KernelFunctions kernels(module, symbols,
                            ownConstants ? OwnConstants::All
                                         : OwnConstants::Cheap);
    func::FuncOp mark =
        marks && !steps.empty() ? declareMark(symbols) : func::FuncOp();
    for (func::FuncOp step : steps)
      if (failed(readResources(step)) ||
          failed(StepLowering(step, kernels, symbols, mark).run()))
        return signalPassFailure();
  }
};

} // namespace
