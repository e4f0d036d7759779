//===- LayerPins.cpp - Pins of layers by patterns -------------------------===//
//
// The option `pin` of `--ckpt-plan` writes the attribute that a user can write
// by hand, before the problem is built. Strategies, planner and simulator
// therefore know one kind of pin.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Layers/LayerPins.h"

#include "ckpt/Import/Regions.h"

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
  auto [names, layers] = namedLayers(function);
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
    for (int32_t number : matched)
      for (LayerOp layer : layers[number])
        pinned.emplace_back(layer, *pin);
  }
  for (auto [layer, pin] : pinned)
    layer.setPinAttr(PinAttr::get(function.getContext(), pin));
  return success();
}
