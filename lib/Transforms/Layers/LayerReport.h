//===- LayerReport.h - The report of a strategy of layers -------*- C++ -*-===//
//
// PlanStep.h adds these lines and figures to the report of a step that is
// planned by a strategy of layers.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_LAYERS_LAYERREPORT_H
#define CKPT_LIB_TRANSFORMS_LAYERS_LAYERREPORT_H

#include "ckpt/Plan/Strategies.h"

#include <map>

namespace ckpt {

/// Lines for people: which layers, the layer-sum accounting and, for
/// strategies that store boundaries, the closed-form figures.
std::vector<std::string>
describeLayers(const std::vector<plan::LayerInfo> &layers,
               const plan::Selection &selection);

/// The same as keys and integers for the report file.
std::map<std::string, int64_t>
layerFigures(const std::vector<plan::LayerInfo> &layers,
             const plan::Selection &selection);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_LAYERS_LAYERREPORT_H
