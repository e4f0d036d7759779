//===- Json.h - The part of JSON that certificates use ----------*- C++ -*-===//
//
// Objects, lists, strings and 64-bit integers; anything else is an error, and
// so is a key that stands twice. Own code, since a checker that people should
// believe depends on as little as possible.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CHECK_JSON_H
#define CKPT_LIB_CHECK_JSON_H

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt::check {

/// Why a certificate is refused. Thrown and caught inside the library.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Json {
  enum class Kind : uint8_t { Integer, Text, List, Object };
  Kind kind = Kind::Integer;
  int64_t integer = 0;
  std::string text;
  std::vector<Json> list;
  std::map<std::string, Json> object;
};

Json parseJson(std::string_view text);

} // namespace ckpt::check

#endif // CKPT_LIB_CHECK_JSON_H
