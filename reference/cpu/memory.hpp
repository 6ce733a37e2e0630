// The oracle's memory: the arrays of one launch, a cell per scalar with its bound, history and derivative.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/launch.hpp"
#include "reference/cpu/access_log.hpp"
#include "reference/cpu/atomic_sum.hpp"
#include "reference/cpu/bound.hpp"
#include "reference/cpu/program.hpp"

namespace assay::reference {

/// A value in flight or at rest. `Handle` is what a tracer knows of its derivative.
template <class Handle>
struct Datum {
  Bounded f;
  std::int64_t i = 0;
  Handle h = {};
};

/// Changes of the initial float leaves: `step` times `direction`.
struct Perturbation {
  const LeafValues& direction;
  long double step = 0;
};

inline double leaf_value(const LeafValues& values, std::size_t parameter, std::size_t leaf) {
  return parameter < values.size() && leaf < values[parameter].size() ? values[parameter][leaf] : 0;
}

template <class Handle>
struct Cell {
  Datum<Handle> content;
  bool initialised = true;
  bool written = false;
  bool has_leaf = false;  ///< the tracer knows the initial content
};

/// One array parameter; `elements` are in row-major order.
template <class Handle>
struct ArrayMemory {
  std::vector<std::int32_t> shape;
  std::vector<ir::Scalar> leaves;
  std::vector<Cell<Handle>> cells;  ///< [element * leaves + leaf]
  std::vector<AccessLog> log;       ///< [element]
  std::vector<AtomicSum> sums;      ///< [cell]; empty until the first atomic addition
  std::vector<std::int32_t> asked;  ///< by dimension: extent that would hold all tiles; empty until the first tile

  std::optional<std::int64_t> element(std::span<const std::int64_t> index) const {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      if (index[d] < 0 || index[d] >= shape[d]) return std::nullopt;
      number = number * shape[d] + index[d];
    }
    return number;
  }
};

/// Reads one leaf of an argument, perturbed.
template <class Handle>
Datum<Handle> initial_content(const ir::Argument& argument, std::size_t offset, ir::Scalar scalar) {
  Datum<Handle> datum;
  const std::byte* const at = argument.bytes.data() + offset;
  if (ir::is_float(scalar)) datum.f.v = static_cast<long double>(ir::read_float(scalar, at));
  else datum.i = ir::read_integer(scalar, at);
  return datum;
}

}  // namespace assay::reference
