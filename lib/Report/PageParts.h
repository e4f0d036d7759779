//===- PageParts.h - Script and style of the page ---------------*- C++ -*-===//
//
// The text of page.css, data.js, chart.js and page.js, which WriteHtml.cpp inlines.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_REPORT_PAGEPARTS_H
#define CKPT_LIB_REPORT_PAGEPARTS_H

#include <string_view>

namespace ckpt::plan::report {
extern const std::string_view pageStyle;
extern const std::string_view pageScript;
} // namespace ckpt::plan::report

#endif // CKPT_LIB_REPORT_PAGEPARTS_H
