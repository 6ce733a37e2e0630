// The memory of the oracle: the arrays of one launch. A cell holds one scalar component of an array element with its
// bound, access history and derivative.
//
// Cells are allocated in pages on first access: of a large launch the oracle may run only a few threads, and memory
// that they do not access costs nothing.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ir/launch.hpp"
#include "reference/cpu/access_log.hpp"
#include "reference/cpu/atomic_sum.hpp"
#include "reference/cpu/bound.hpp"
#include "reference/cpu/program.hpp"

namespace assay::reference {

/// A value in a register or in memory. `Handle` is the derivative information of the tracer.
template <class Handle>
struct TracedValue {
  BoundedValue f;      ///< value of a float, with bounds
  std::int64_t i = 0;  ///< value of an integer or bool
  Handle h = {};       ///< derivative information
};

/// A change of the initial float components by `step` times `direction`.
struct Perturbation {
  const ComponentValues& direction;  ///< change of each initial float component for a step of 1
  long double step = 0;              ///< factor of the change
};

/// Returns the number for one component of a parameter; 0 if there is none.
inline double component_value(const ComponentValues& values, std::size_t parameter, std::size_t component) {
  return parameter < values.size() && component < values[parameter].size() ? values[parameter][component] : 0;
}

template <class Handle>
struct MemoryCell {
  TracedValue<Handle> content;  ///< current value
  bool is_initialized = true;   ///< whether the content may be read
  bool is_written = false;      ///< whether the launch wrote the content
  bool is_registered = false;   ///< whether the initial content is registered with the tracer
};

/// Reads one scalar component of an argument; see ArithmeticProfile::input_error.
template <class Handle>
TracedValue<Handle> initial_content(const ir::Argument& argument, std::size_t offset, ir::Scalar scalar,
                                    const InputError& input_error) {
  TracedValue<Handle> datum;
  const std::byte* const at = argument.bytes.data() + offset;
  if (!ir::is_float(scalar)) {
    datum.i = ir::read_integer(scalar, at);
    return datum;
  }
  const double value = ir::read_float(scalar, at);
  datum.f.v = static_cast<long double>(value);
  if (input_error.unit_roundoffs > 0) {
    const double magnitude = std::abs(value);
    datum.f.e = {input_error.relative(scalar) * magnitude, input_error.relative(ir::Scalar::kF64) * magnitude};
  }
  return datum;
}

/// One array parameter. Elements are numbered in row-major order; the index of a cell is element * components +
/// component.
template <class Handle>
class ArrayMemory {
 public:
  /// Binds the array to an argument. Must be called before the first use. Keeps references to the argument and the
  /// perturbation, if any. `logs_components`: whether to keep an access log for each component, not for each element.
  void bind(std::size_t parameter, const ir::Argument& argument, std::vector<ir::ScalarComponent> components,
            bool initialized, bool logs_components, const InputError& input_error, const Perturbation* perturbation) {
    input_error_ = input_error;
    parameter_index_ = parameter;
    argument_ = &argument;
    components_ = std::move(components);
    logs_per_element_ = logs_components ? components_.size() : 1;
    is_initialized_ = initialized;
    perturbation_ = perturbation;
    element_count_ = static_cast<std::size_t>(ir::element_count(argument));
    accessed_extents_.assign(argument.shape.size(), 0);
    log2_page_size_ = element_count_ <= kMaxSinglePageElements ? static_cast<int>(std::bit_width(element_count_))
                                                               : kLog2ShortPageSize;
    pages_.resize(element_count_ == 0 ? 0 : ((element_count_ - 1) >> log2_page_size_) + 1);
  }

  const std::vector<std::int32_t>& shape() const { return argument_->shape; }
  std::size_t components() const { return components_.size(); }
  ir::Scalar type(std::size_t component) const { return components_[component].scalar; }
  std::size_t cells() const { return element_count_ * components_.size(); }

  /// Returns the cell of a scalar component of an element.
  MemoryCell<Handle>& cell(std::size_t element, std::size_t component) {
    return page(element).cells[within(element) * components_.size() + component];
  }
  /// Consecutive components of one element.
  struct ElementComponents {
    std::span<MemoryCell<Handle>> cells;  ///< cells of the components
    std::span<AccessLog> logs;            ///< access logs of the components, or of the whole element
  };
  /// Returns `count` components of an element, from component `first` on.
  ElementComponents at(std::size_t element, std::size_t first, std::size_t count) {
    CellPage& containing_page = page(element);
    const std::size_t number = within(element);
    const bool by_component = logs_per_element_ > 1;
    return {std::span(containing_page.cells).subspan(number * components_.size() + first, count),
            std::span(containing_page.logs)
                .subspan(number * logs_per_element_ + (by_component ? first : 0), by_component ? count : 1)};
  }
  /// Returns the sum of the atomic additions to a cell.
  AtomicSumBound& atomic_sum(std::size_t element, std::size_t component) {
    CellPage& containing_page = page(element);
    if (containing_page.atomic_sums.empty()) containing_page.atomic_sums.resize(containing_page.cells.size());
    return containing_page.atomic_sums[within(element) * components_.size() + component];
  }
  /// Starts a new sum for a cell, because something other than an addition changed it.
  void reset_sum(std::size_t element, std::size_t component) {
    CellPage& containing_page = page(element);
    if (!containing_page.atomic_sums.empty())
      containing_page.atomic_sums[within(element) * components_.size() + component] = AtomicSumBound{};
  }

  /// visit(cell index, cell) for all allocated cells, ascending. Some of them were not accessed.
  template <class Visit>
  void for_each_allocated_cell(Visit visit) {
    for (std::size_t p = 0; p < pages_.size(); ++p) {
      if (pages_[p] == nullptr) continue;
      const std::size_t first = (p << log2_page_size_) * components_.size();
      for (std::size_t k = 0; k < pages_[p]->cells.size(); ++k)
        visit(first + k, pages_[p]->cells[k]);
    }
  }
  /// visit(cell index, cell) for all cells, ascending.
  template <class Visit>
  void for_each_cell(Visit visit) {
    for (std::size_t p = 0; p < pages_.size(); ++p)
      page(p << log2_page_size_);
    for_each_allocated_cell(visit);
  }

  /// Returns the number of the element with this index in row-major order; nullopt if it is out of bounds.
  std::optional<std::int64_t> element_number(std::span<const std::int64_t> index) const {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      if (index[d] < 0 || index[d] >= shape()[d]) return std::nullopt;
      number = number * shape()[d] + index[d];
    }
    return number;
  }

  /// Records that the launch uses an index inside the array.
  void note_index(std::span<const std::int64_t> index) {
    for (std::size_t d = 0; d < index.size(); ++d)
      accessed_extents_[d] = std::max(accessed_extents_[d], static_cast<std::int32_t>(index[d] + 1));
  }
  /// By dimension: least extent that holds all recorded indices.
  const std::vector<std::int32_t>& accessed_extents() const { return accessed_extents_; }

  /// For each dimension: the extent that the array needs to hold all tiles; empty until the first tile.
  std::vector<std::int32_t> extents_required_by_tiles;

 private:
  /// The cells of some consecutive elements, which are allocated together.
  struct CellPage {
    std::vector<MemoryCell<Handle>> cells;  ///< cells of the page, by element and scalar component
    std::vector<AccessLog> logs;            ///< access log of each element, or of each cell
    /// Sum of the atomic additions to each cell; empty until the first such addition.
    std::vector<AtomicSumBound> atomic_sums;
  };
  /// The maximum number of elements of an array that is one page. Longer arrays have short pages, because only a few of
  /// their elements may be accessed.
  static constexpr std::size_t kMaxSinglePageElements = 2048;
  static constexpr int kLog2ShortPageSize = 2;  ///< binary logarithm of the number of elements in a short page

  std::size_t within(std::size_t element) const { return element & ((std::size_t{1} << log2_page_size_) - 1); }
  /// Returns the page that contains an element, and allocates it on first use.
  CellPage& page(std::size_t element) {
    std::unique_ptr<CellPage>& slot = pages_[element >> log2_page_size_];
    if (slot == nullptr) slot = make_page(element >> log2_page_size_ << log2_page_size_);
    return *slot;
  }

  /// Returns a new page whose first element is `first`, with the initial contents.
  std::unique_ptr<CellPage> make_page(std::size_t first) const {
    auto page = std::make_unique<CellPage>();
    const std::size_t count = std::min(element_count_ - first, std::size_t{1} << log2_page_size_);
    page->logs.resize(count * logs_per_element_);
    page->cells.resize(count * components_.size());
    std::size_t number = 0;
    for (std::size_t n = first; n < first + count; ++n) {
      const std::size_t offset = ir::element_offset(*argument_, static_cast<std::int64_t>(n));
      for (const ir::ScalarComponent& component : components_) {
        MemoryCell<Handle>& cell = page->cells[number++];
        cell.content = initial_content<Handle>(*argument_, offset + component.offset, component.scalar, input_error_);
        cell.is_initialized = is_initialized_;
        if (perturbation_ == nullptr || !ir::is_float(component.scalar)) continue;
        const double direction =
            component_value(perturbation_->direction, parameter_index_, first * components_.size() + number - 1);
        cell.content.f.v += perturbation_->step * static_cast<long double>(direction);
      }
    }
    return page;
  }

  std::size_t parameter_index_ = 0;              ///< number of the parameter
  const ir::Argument* argument_ = nullptr;       ///< argument bound to the parameter
  std::vector<ir::ScalarComponent> components_;  ///< scalar components of one element
  std::size_t logs_per_element_ = 1;  ///< number of access logs of each element: one, or one for each component
  InputError input_error_;            ///< error of the initial contents; see ArithmeticProfile::input_error
  bool is_initialized_ = true;        ///< whether the initial content may be read
  const Perturbation* perturbation_ = nullptr;  ///< change of the initial content; null: none
  std::size_t element_count_ = 0;               ///< number of elements
  /// For each dimension: the least extent that contains all recorded indices.
  std::vector<std::int32_t> accessed_extents_;
  int log2_page_size_ = 0;                        ///< binary logarithm of the number of elements in a page
  std::vector<std::unique_ptr<CellPage>> pages_;  ///< pages of cells; a page is null until its first access
};

}  // namespace assay::reference
