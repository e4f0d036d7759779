//===- WriteHtml.cpp - The report as a page of its own --------------------===//
//
// One file: the JSON of the report, and a style and a script that show it. The
// policy in its head forbids every request, so the page needs no network.
//
//===----------------------------------------------------------------------===//

#include "Json.h"
#include "PageParts.h"
#include "Writers.h"
#include "ckpt/Plan/Svg.h"

using namespace ckpt;
using namespace ckpt::plan::report;

void ckpt::plan::report::writeHtml(const StepReport &report, std::ostream &os) {
  std::string title = plan::svg::escape(validUtf8(report.text.title));
  os << "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
        "'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>"
     << title << " \xC2\xB7 ckpt</title>\n<style>\n"
     << pageStyle << "</style>\n</head>\n<body>\n<h1>" << title
     << "</h1>\n<main id=\"page\"><p>This page needs JavaScript to draw its "
        "data.</p></main>\n<script type=\"application/json\" id=\"report\">\n";
  writeJson(report, os);
  os << "</script>\n<script>\n" << pageScript << "</script>\n</body>\n</html>\n";
}
