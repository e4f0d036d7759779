//===- Certificate.h - Evidence for a plan and its bounds -------*- C++ -*-===//

#ifndef CKPT_PLAN_CERTIFICATE_H
#define CKPT_PLAN_CERTIFICATE_H

#include "ckpt/Plan/Solvers.h"

namespace ckpt::plan {

/// A certificate (docs/Certificates.md): the costs of \p solution, and proofs
/// that no plan within \p budgetBytes has fewer extra FLOPs than \p bound says
/// and none a smaller arena. The clock of \p bound limits the proofs.
/// `ckpt-plan --check` verifies the certificate.
std::string certify(const Problem &problem, const Solution &solution,
                    int64_t budgetBytes, const Bound &bound);

/// A number that differs for different problems, names apart.
std::string fingerprint(const Problem &problem);

} // namespace ckpt::plan

#endif // CKPT_PLAN_CERTIFICATE_H
