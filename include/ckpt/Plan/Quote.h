//===- Quote.h - Text of users in messages ----------------------*- C++ -*-===//

#ifndef CKPT_PLAN_QUOTE_H
#define CKPT_PLAN_QUOTE_H

#include <string>
#include <string_view>

namespace ckpt::plan {

/// \p text between quotes, for a message: at most some 60 characters, with '?'
/// for each that does not print.
std::string quote(std::string_view text);

} // namespace ckpt::plan

#endif // CKPT_PLAN_QUOTE_H
