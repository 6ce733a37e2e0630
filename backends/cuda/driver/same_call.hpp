// For tests: whether our declaration of a function is call-compatible with that of a toolkit header.
#pragma once

#include <type_traits>

#include "backends/cuda/driver/loaded_function.hpp"

namespace assay::cuda::testing {

/// Whether both types are passed in the same way: both pointers, or both numbers of the same size.
template <typename Ours, typename Theirs>
constexpr bool kPassedTheSameWay =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>&& std::is_class_v<Ours> ==
                                          std::is_class_v<Theirs>;

template <typename Ours, typename Theirs>
struct SameCall : std::false_type {};
template <typename OurResult, typename TheirResult, typename... Ours, typename... Theirs>
requires(sizeof...(Ours) == sizeof...(Theirs))  //
    struct SameCall<OurResult(Ours...), TheirResult(Theirs...)>
    : std::bool_constant<sizeof(OurResult) == sizeof(TheirResult) && (kPassedTheSameWay<Ours, Theirs> && ...)> {
};

template <typename Ours, typename Theirs>
constexpr bool has_same_signature(const LoadedFunction<Ours>&, Theirs*) {
  return SameCall<Ours, Theirs>::value;
}

}  // namespace assay::cuda::testing
