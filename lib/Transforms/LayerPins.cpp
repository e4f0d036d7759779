//===- LayerPins.cpp - Pins of layers by patterns -------------------------===//
//
// The option `pin` of `--ckpt-plan` writes the attribute that a user can write
// by hand, before the problem is built. So strategies, planner and simulator
// know one kind of pin.
//
//===----------------------------------------------------------------------===//

#include "LayerPins.h"

#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Plan/LayerPatterns.h"
#include "llvm/ADT/MapVector.h"

using namespace ckpt;

static std::optional<Pin> readPin(StringRef text) {
  if (text == "keep")
    return Pin::Save;
  if (text == "recompute")
    return Pin::Recompute;
  return std::nullopt;
}

LogicalResult ckpt::pinLayers(mlir::func::FuncOp function, StringRef pins) {
  auto fail = [&](const Twine &message) {
    return mlir::emitError(function.getLoc()) << message;
  };
  std::vector<plan::LayerSetting> settings;
  std::string error = plan::parseLayerSettings("pin", pins, settings);
  if (!error.empty())
    return fail(error);
  llvm::MapVector<StringRef, SmallVector<LayerOp, 1>> regions;
  function.walk<mlir::WalkOrder::PreOrder>(
      [&](LayerOp layer) { regions[layer.getName()].push_back(layer); });
  std::vector<std::string> names;
  for (const auto &[name, layers] : regions)
    names.push_back(name.str());
  SmallVector<std::pair<LayerOp, Pin>> pinned;
  for (const plan::LayerSetting &setting : settings) {
    std::optional<Pin> pin = readPin(setting.value);
    if (!pin)
      return fail("expected 'pin' to be PATTERN=keep or PATTERN=recompute, but "
                  "got '" +
                  setting.pattern + "=" + setting.value + "'");
    std::vector<int32_t> matched = plan::matchLayers(setting.pattern, names);
    if (matched.empty())
      return fail("in 'pin': " + plan::describeNoMatch(setting.pattern, names));
    for (int32_t layer : matched)
      for (LayerOp region : regions[names[layer]])
        pinned.emplace_back(region, *pin);
  }
  for (auto [layer, pin] : pinned)
    layer.setPinAttr(PinAttr::get(function.getContext(), pin));
  return success();
}
