//===- Certificate.cpp - The mode of ckpt-plan that verifies claims -------===//

#include "Tool.h"
#include "ckpt/Check/Check.h"

#include <iostream>

using namespace ckpt::plan;
using namespace ckpt::plan::tool;

bool tool::checkCertificateMode(const Arguments &arguments) {
  std::string path = arguments.value("check"), certificate, problem;
  if (!readFile(path, certificate) || !readFile(arguments.file, problem))
    return false;
  ckpt::check::Claims claims;
  std::string error =
      ckpt::check::checkCertificate(certificate, problem, claims);
  if (!error.empty())
    return fail(path, error);
  std::cout << "verified\n"
            << "budget        " << formatCount(claims.budgetBytes) << " bytes\n"
            << "arena         " << formatCount(claims.arenaBytes)
            << " bytes, of any plan at least "
            << formatCount(claims.minimumBytesBound) << "\n"
            << "time          " << formatCount(claims.timeNs) << " ns\n"
            << "extra flops   " << formatCount(claims.extraFlops)
            << ", within the budget of any plan at least "
            << formatCount(claims.extraFlopsBound) << "\n";
  return true;
}
