// Compares a declaration of ours with one of CUDA's headers. Types have other
// names there; what counts is how many parameters there are, which of them are
// pointers, and how large the others are.

#ifndef CKPT_TEST_INTEGRATION_INPUTS_SAMEDECLARATION_H
#define CKPT_TEST_INTEGRATION_INPUTS_SAMEDECLARATION_H

#include <type_traits>

template <typename T>
constexpr int kindOf = std::is_pointer_v<T> ? -1 : static_cast<int>(sizeof(T));

template <typename Their, typename... Theirs, typename Our, typename... Ours>
constexpr bool areSame(Their (*)(Theirs...), Our (*)(Ours...)) {
  if constexpr (sizeof...(Theirs) == sizeof...(Ours))
    return kindOf<Their> == kindOf<Our> &&
           ((kindOf<Theirs> == kindOf<Ours>) && ...);
  else
    return false;
}

#endif // CKPT_TEST_INTEGRATION_INPUTS_SAMEDECLARATION_H
