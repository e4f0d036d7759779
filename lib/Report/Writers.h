//===- Writers.h - One function per format of the report --------*- C++ -*-===//

#ifndef CKPT_LIB_REPORT_WRITERS_H
#define CKPT_LIB_REPORT_WRITERS_H

#include "ckpt/Report/StepReport.h"

namespace ckpt::plan::report {
void writeJson(const StepReport &report, std::ostream &os);
void writeHtml(const StepReport &report, std::ostream &os);
void writeSvg(const StepReport &report, std::ostream &os);
} // namespace ckpt::plan::report

#endif // CKPT_LIB_REPORT_WRITERS_H
