//===- FormLayers.cpp - Layers from the names in the locations ------------===//
//
// Three steps: give forward ops a layer by name, let data flow decide if the
// name is no proof, and wrap runs of one layer in program order in regions.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Layers/Scopes.h"
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"

namespace ckpt {
#define GEN_PASS_DEF_FORMLAYERSPASS
#include "ckpt/Transforms/Passes.h.inc"
} // namespace ckpt

using namespace ckpt;

namespace {

/// The facts of one op of the function.
struct OpInfo {
  Operation *op;
  Scopes scopes;
  /// Not named as backward, and reads no backward op.
  bool forward = true;
  /// Reads, directly or not, an argument of the function or an effect.
  bool dependsOnInput = false;
  /// Empty: belongs to no layer.
  std::string layer;
};

/// The layer of every op of a block.
class Assignment {
public:
  Assignment(Block &block, unsigned depth, const llvm::Regex *pattern)
      : block(block), depth(depth), pattern(pattern) {}

  void run();
  ArrayRef<OpInfo> ops() const { return infos; }

private:
  void readOps();
  void assignByName();
  void assignByOperands();
  void assignByUsers();
  std::string nameByPattern(const OpInfo &info) const;
  SmallVector<const OpInfo *> producers(Operation *op) const;

  Block &block;
  unsigned depth;
  const llvm::Regex *pattern;
  SmallVector<OpInfo, 0> infos;
  llvm::DenseMap<Operation *, unsigned> numbers;
};

} // namespace

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

/// Calls \p callback for each value that \p op or its regions take from
/// outside.
static void forEachRead(Operation *op,
                        llvm::function_ref<void(Value)> callback) {
  for (Value operand : op->getOperands())
    callback(operand);
  mlir::visitUsedValuesDefinedAbove(
      op->getRegions(), [&](OpOperand *use) { callback(use->get()); });
}

SmallVector<const OpInfo *> Assignment::producers(Operation *op) const {
  SmallVector<const OpInfo *> result;
  forEachRead(op, [&](Value value) {
    if (Operation *producer = value.getDefiningOp())
      if (auto found = numbers.find(producer); found != numbers.end())
        result.push_back(&infos[found->second]);
  });
  return result;
}

void Assignment::readOps() {
  for (Operation &op : block.without_terminator()) {
    OpInfo info;
    info.op = &op;
    info.scopes = readScopes(op.getLoc());
    info.forward = !info.scopes.backward;
    info.dependsOnInput = !mlir::isMemoryEffectFree(&op);
    forEachRead(&op, [&](Value value) {
      info.dependsOnInput |= isa<BlockArgument>(value);
    });
    for (const OpInfo *producer : producers(&op)) {
      info.forward &= producer->forward;
      info.dependsOnInput |= producer->dependsOnInput;
    }
    if (auto layer = dyn_cast<LayerOp>(op))
      info.layer = layer.getName().str();
    numbers[&op] = infos.size();
    infos.push_back(std::move(info));
  }
}

std::string Assignment::nameByPattern(const OpInfo &info) const {
  std::string path = llvm::join(info.scopes.parts, "/");
  SmallVector<StringRef> groups;
  if (!pattern->match(path, &groups))
    return "";
  return groups[groups.size() > 1 ? 1 : 0].str();
}

/// Names the ops whose scopes are plain. In a differentiated program only the
/// differentiated part is the forward pass; all else is the update.
void Assignment::assignByName() {
  bool differentiated = llvm::any_of(
      infos, [](const OpInfo &i) { return i.scopes.differentiated; });
  std::vector<ScopePath> paths;
  for (OpInfo &info : infos) {
    info.forward &= info.scopes.differentiated || !differentiated ||
                    info.scopes.parts.empty();
    if (info.forward && !info.scopes.parts.empty())
      paths.push_back(info.scopes.parts);
  }
  LayerNames names(paths, depth);
  for (OpInfo &info : infos)
    if (info.forward && info.layer.empty() && !info.scopes.parts.empty())
      info.layer =
          pattern ? nameByPattern(info) : names.layerOf(info.scopes.parts);
}

/// A name is no proof if it only names the container of several layers, or is
/// the name of the first caller of a cached function. Such ops join the layer
/// that made their latest operand.
void Assignment::assignByOperands() {
  for (OpInfo &info : infos) {
    bool proof = !info.layer.empty() && !info.scopes.cached;
    if (!info.forward || info.scopes.parts.empty() || proof)
      continue;
    if (pattern && info.layer.empty())
      continue;
    const OpInfo *latest = nullptr;
    for (const OpInfo *producer : producers(info.op))
      if (!producer->layer.empty() && producer->dependsOnInput &&
          (!latest || latest < producer))
        latest = producer;
    if (latest)
      info.layer = latest->layer;
  }
}

/// Ops that depend on no input carry the name of their first user at best, once
/// equal ones were merged: they join the layer that alone uses them.
void Assignment::assignByUsers() {
  for (OpInfo &info : llvm::reverse(infos)) {
    if (info.dependsOnInput || isa<LayerOp>(info.op))
      continue;
    llvm::StringSet<> layers;
    if (!mlir::matchPattern(info.op, mlir::m_Constant()))
      for (Operation *user : info.op->getUsers())
        if (auto found = numbers.find(block.findAncestorOpInBlock(*user));
            found != numbers.end())
          layers.insert(infos[found->second].layer);
    info.layer = layers.size() == 1 ? layers.begin()->getKey().str() : "";
  }
}

void Assignment::run() {
  readOps();
  assignByName();
  assignByOperands();
  assignByUsers();
}

//===----------------------------------------------------------------------===//
// Wrapping
//===----------------------------------------------------------------------===//

static LayerKind kindOfLayer(StringRef name) {
  SmallVector<StringRef> scopes;
  name.split(scopes, '/');
  for (StringRef scope : llvm::reverse(scopes)) {
    switch (kindOfScope(scope)) {
    case plan::LayerKind::Attention:
      return LayerKind::Attention;
    case plan::LayerKind::FFN:
      return LayerKind::FFN;
    case plan::LayerKind::Embedding:
      return LayerKind::Embedding;
    case plan::LayerKind::Norm:
      return LayerKind::Norm;
    case plan::LayerKind::Other:
      break;
    }
  }
  return LayerKind::Other;
}

/// Moves \p run, ops of one block in order, into a region in the place of the
/// first. False if nothing outside reads it.
static bool wrap(ArrayRef<Operation *> run, StringRef name) {
  llvm::SmallPtrSet<Operation *, 16> inside(run.begin(), run.end());
  Block *block = run.front()->getBlock();
  auto isOutside = [&](OpOperand &use) {
    return !inside.contains(block->findAncestorOpInBlock(*use.getOwner()));
  };
  SmallVector<Value> results;
  for (Operation *op : run)
    for (OpResult result : op->getResults())
      if (llvm::any_of(result.getUses(), isOutside))
        results.push_back(result);
  if (results.empty())
    return false;

  OpBuilder builder(run.front());
  Location location =
      mlir::NameLoc::get(builder.getStringAttr(name), run.front()->getLoc());
  auto layer = LayerOp::create(
      builder, location, TypeRange(ValueRange(results)),
      builder.getStringAttr(name), LayerKindAttr(), mlir::IntegerAttr(),
      mlir::IntegerAttr(), mlir::IntegerAttr(), PinAttr(), mlir::StringAttr(),
      DecisionAttr());
  layer.setKindAttr(
      LayerKindAttr::get(builder.getContext(), kindOfLayer(name)));
  Block &body = layer.getBody().emplaceBlock();
  for (auto [result, outer] : llvm::zip_equal(results, layer.getResults()))
    result.replaceUsesWithIf(outer, isOutside);
  for (Operation *op : run)
    op->moveBefore(&body, body.end());
  builder.setInsertionPointToEnd(&body);
  YieldOp::create(builder, location, results);
  return true;
}

namespace {
struct FormLayersPass : impl::FormLayersPassBase<FormLayersPass> {
  using FormLayersPassBase::FormLayersPassBase;

  void runOnOperation() override;
};
} // namespace

/// Ops without operands can stand anywhere before their users.
static bool canStandBefore(const OpInfo &info) {
  return info.layer.empty() && info.op->getNumOperands() == 0 &&
         info.op->getNumRegions() == 0 && mlir::isMemoryEffectFree(info.op);
}

void FormLayersPass::runOnOperation() {
  mlir::func::FuncOp function = getOperation();
  if (function.isDeclaration())
    return;
  if (!function.getBody().hasOneBlock()) {
    mlir::emitError(function.getLoc(), "expected one block, but got ")
        << function.getBody().getBlocks().size();
    return signalPassFailure();
  }
  if (!function.getBody().front().getOps<KernelOp>().empty()) {
    mlir::emitError(function.getLoc(),
                    "expected a function that was not planned yet, but it "
                    "holds kernels");
    return signalPassFailure();
  }
  llvm::Regex regex(pattern);
  std::string error;
  if (!pattern.empty() && !regex.isValid(error)) {
    mlir::emitError(function.getLoc())
        << "expected 'pattern' to be a regular expression, but "
           "got '"
        << pattern << "': " << error;
    return signalPassFailure();
  }

  Assignment assignment(function.getBody().front(), depth,
                        pattern.empty() ? nullptr : &regex);
  assignment.run();

  llvm::StringSet<> formed;
  SmallVector<Operation *> run;
  StringRef layer;
  auto finish = [&] {
    if (!run.empty() && wrap(run, layer)) {
      ++numRegions;
      formed.insert(layer);
    }
    run.clear();
  };
  for (const OpInfo &info : assignment.ops()) {
    if (!run.empty() && canStandBefore(info)) {
      info.op->moveBefore(run.front());
      continue;
    }
    bool isUsers = isa<LayerOp>(info.op);
    if (isUsers || info.layer != layer)
      finish();
    if (isUsers || info.layer.empty())
      continue;
    layer = info.layer;
    run.push_back(info.op);
  }
  finish();
  numLayers += formed.size();
}
