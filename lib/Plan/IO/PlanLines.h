//===- PlanLines.h - The lines of a plan in any text ------------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_IO_PLANLINES_H
#define CKPT_LIB_PLAN_IO_PLANLINES_H

#include "Plan/Model/TextLines.h"
#include "ckpt/Plan/Plan.h"

namespace ckpt::plan {

/// Reads the current line, `arena=` or `kernel`, of a plan of that many ops and
/// values. Returns false if it is none; the reader may have failed besides.
bool readPlanLine(LineReader &reader, size_t opCount, size_t valueCount,
                  Plan &plan);

/// Without a new line at the end.
void printKernel(const Kernel &kernel, std::ostream &os);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IO_PLANLINES_H
