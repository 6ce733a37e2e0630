// For tests: whether a function as we declare it is called as a header of the toolkit declares it.
#pragma once

#include <type_traits>

#include "backends/cuda/driver/loaded_function.hpp"

namespace assay::cuda::testing {

/// Whether a value of ours is passed as one of the header's is: a pointer for a pointer, else as wide a number.
template <typename Ours, typename Theirs>
constexpr bool kPassedAlike =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>&& std::is_class_v<Ours> ==
                                          std::is_class_v<Theirs>;

template <typename Ours, typename Theirs>
struct SameCall : std::false_type {};
template <typename OurResult, typename TheirResult, typename... Ours, typename... Theirs>
requires(sizeof...(Ours) == sizeof...(Theirs))  //
    struct SameCall<OurResult(Ours...), TheirResult(Theirs...)>
    : std::bool_constant<sizeof(OurResult) == sizeof(TheirResult) && (kPassedAlike<Ours, Theirs> && ...)> {
};

template <typename Ours, typename Theirs>
constexpr bool same_call(const LoadedFunction<Ours>&, Theirs*) {
  return SameCall<Ours, Theirs>::value;
}

}  // namespace assay::cuda::testing
