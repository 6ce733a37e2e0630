// Tracers without a tape: no derivatives, and dual numbers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/cpu/memory.hpp"

namespace assay::reference {

/// The tracer for runs without derivatives, which compute only values and bounds.
class NoDerivatives {
 public:
  struct Handle {};
  static constexpr bool kHasDerivatives = false;          ///< whether the tracer computes derivatives
  static constexpr bool kEvaluatesShiftedPoints = false;  ///< whether the tracer evaluates values at other points
  static bool active(const Handle&) { return false; }
  static bool carries(const Handle&) { return false; }
  static bool same(const Handle&, const Handle&) { return true; }
  static bool full() { return false; }
  static Handle input_handle(std::size_t, std::size_t, ir::Scalar, long double) { return {}; }
};

/// The tracer that computes derivatives along up to kMaxDirectionCount directions by dual numbers, together with the
/// values.
class DualNumbers {
 public:
  /// The derivatives of one value.
  struct Handle {
    std::array<long double, kMaxDirectionCount> tangent = {};  ///< derivative along each direction
    bool is_active = false;                                    ///< whether the value depends on a float input
  };
  static constexpr bool kHasDerivatives = true;
  static constexpr bool kEvaluatesShiftedPoints = false;

  /// Keeps a reference. Directions are changes of the initial float components.
  explicit DualNumbers(const std::vector<ComponentValues>& directions) : directions_(directions) {}

  static bool active(const Handle& handle) { return handle.is_active; }
  static bool carries(const Handle& handle) { return handle.is_active; }
  static bool same(const Handle& a, const Handle& b) { return a.is_active == b.is_active && a.tangent == b.tangent; }
  static bool full() { return false; }

  /// Returns the derivatives of an input.
  Handle input_handle(std::size_t parameter, std::size_t component, ir::Scalar, long double) const {
    Handle handle{.is_active = true};
    for (std::size_t d = 0; d < directions_.size(); ++d)
      handle.tangent[d] = static_cast<long double>(component_value(directions_[d], parameter, component));
    return handle;
  }

  /// Returns the derivatives of an operation's result; partials[i] is used if bit i of `wanted` is set.
  static Handle apply_chain_rule(ir::Scalar, std::span<const Handle* const> sources, const BoundedValue* partials,
                                 std::uint32_t wanted) {
    Handle result{.is_active = true};
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if ((wanted >> i & 1U) == 0) continue;
      for (std::size_t d = 0; d < kMaxDirectionCount; ++d) {
        const long double tangent = sources[i]->tangent[d];
        if (tangent != 0) result.tangent[d] += partials[i].v * tangent;
      }
    }
    return result;
  }

  /// Returns the derivatives of old + sign * contribution.
  static Handle accumulate(ir::Scalar, const Handle& old, const Handle& contribution, int sign) {
    Handle result = old;
    result.is_active = old.is_active || contribution.is_active;
    for (std::size_t d = 0; d < kMaxDirectionCount; ++d)
      result.tangent[d] += static_cast<long double>(sign) * contribution.tangent[d];
    return result;
  }

 private:
  const std::vector<ComponentValues>& directions_;  ///< change of each initial float component, for each direction
};

}  // namespace assay::reference
