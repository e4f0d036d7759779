//===- Json.h - The part of JSON that certificates use ----------*- C++ -*-===//
//
// Objects, lists, strings and 64-bit integers; anything else is an error, and
// so is a key that stands twice. Own code, since a checker that people should
// believe depends on as little as possible.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CHECK_JSON_H
#define CKPT_LIB_CHECK_JSON_H

#include "Refusal.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt::check {

struct Json {
  enum class Kind : uint8_t { Integer, Text, List, Object };
  Kind kind = Kind::Integer;
  int64_t integer = 0;
  std::string text;
  std::vector<Json> list;
  std::map<std::string, Json> object;
};

bool parseJson(std::string_view text, Json &json, Refusal &refusal);

} // namespace ckpt::check

#endif // CKPT_LIB_CHECK_JSON_H
