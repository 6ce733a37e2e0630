// The oracle's memory: the arrays of one launch, a cell per scalar with its bound, history and derivative.
//
// Cells come into being when a thread first comes near them: of a launch of many threads the oracle runs a few, and
// what these leave alone costs nothing.
#pragma once

#include <algorithm>
#include <bit>
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

/// A value in flight or at rest. `Handle` is what a tracer knows of its derivative.
template <class Handle>
struct Datum {
  Bounded f;
  std::int64_t i = 0;
  Handle h = {};
};

/// Changes of the initial float leaves: `step` times `direction`.
struct Perturbation {
  const ComponentValues& direction;
  long double step = 0;
};

inline double component_value(const ComponentValues& values, std::size_t parameter, std::size_t leaf) {
  return parameter < values.size() && leaf < values[parameter].size() ? values[parameter][leaf] : 0;
}

template <class Handle>
struct Cell {
  Datum<Handle> content;
  bool initialised = true;
  bool written = false;
  bool has_leaf = false;  ///< the tracer knows the initial content
};

/// Reads one leaf of an argument.
template <class Handle>
Datum<Handle> initial_content(const ir::Argument& argument, std::size_t offset, ir::Scalar scalar) {
  Datum<Handle> datum;
  const std::byte* const at = argument.bytes.data() + offset;
  if (ir::is_float(scalar)) datum.f.v = static_cast<long double>(ir::read_float(scalar, at));
  else datum.i = ir::read_integer(scalar, at);
  return datum;
}

/// One array parameter. Elements are numbered in row-major order; cells are element * leaves + leaf.
template <class Handle>
class ArrayMemory {
 public:
  /// Before the first use. Keeps references to the argument and the perturbation, if there is one.
  void bind(std::size_t parameter, const ir::Argument& argument, std::vector<ir::ScalarComponent> leaves,
            bool initialised, const Perturbation* perturbation) {
    parameter_ = parameter;
    argument_ = &argument;
    leaves_ = std::move(leaves);
    initialised_ = initialised;
    perturbation_ = perturbation;
    elements_ = static_cast<std::size_t>(ir::element_count(argument));
    page_shift_ = elements_ <= kWhole ? static_cast<int>(std::bit_width(elements_)) : kPageShift;
    pages_.resize(elements_ == 0 ? 0 : ((elements_ - 1) >> page_shift_) + 1);
  }

  const std::vector<std::int32_t>& shape() const { return argument_->shape; }
  std::size_t leaves() const { return leaves_.size(); }
  ir::Scalar type(std::size_t leaf) const { return leaves_[leaf].scalar; }
  std::size_t cells() const { return elements_ * leaves_.size(); }

  Cell<Handle>& cell(std::size_t element, std::size_t leaf) {
    return page(element).cells[within(element) * leaves_.size() + leaf];
  }
  AccessLog& log(std::size_t element) { return page(element).log[within(element)]; }
  struct Element {
    std::span<Cell<Handle>> cells;  ///< by leaf
    AccessLog& log;
  };
  Element at(std::size_t element) {
    Page& its = page(element);
    const std::size_t number = within(element);
    return {std::span(its.cells).subspan(number * leaves_.size(), leaves_.size()), its.log[number]};
  }
  /// The additions by atomics to a cell.
  AtomicSum& sum(std::size_t element, std::size_t leaf) {
    Page& its = page(element);
    if (its.sums.empty()) its.sums.resize(its.cells.size());
    return its.sums[within(element) * leaves_.size() + leaf];
  }
  /// A cell that got another content than by an addition.
  void forget_sum(std::size_t element, std::size_t leaf) {
    Page& its = page(element);
    if (!its.sums.empty()) its.sums[within(element) * leaves_.size() + leaf] = AtomicSum{};
  }

  /// visit(cell number, cell) for those that a thread came near, ascending. Some of them were not touched.
  template <class Visit>
  void for_each_near(Visit visit) {
    for (std::size_t p = 0; p < pages_.size(); ++p) {
      if (pages_[p] == nullptr) continue;
      const std::size_t first = (p << page_shift_) * leaves_.size();
      for (std::size_t k = 0; k < pages_[p]->cells.size(); ++k)
        visit(first + k, pages_[p]->cells[k]);
    }
  }
  /// visit(cell number, cell) for all, ascending.
  template <class Visit>
  void for_each(Visit visit) {
    for (std::size_t p = 0; p < pages_.size(); ++p)
      page(p << page_shift_);
    for_each_near(visit);
  }

  std::optional<std::int64_t> element(std::span<const std::int64_t> index) const {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      if (index[d] < 0 || index[d] >= shape()[d]) return std::nullopt;
      number = number * shape()[d] + index[d];
    }
    return number;
  }

  std::vector<std::int32_t> asked;  ///< by dimension: extent that would hold all tiles; empty until the first tile

 private:
  struct Page {
    std::vector<Cell<Handle>> cells;
    std::vector<AccessLog> log;   ///< by element
    std::vector<AtomicSum> sums;  ///< by cell; empty until the first atomic addition
  };
  /// Arrays of so many elements are one page; of longer ones pages are short, for threads far apart.
  static constexpr std::size_t kWhole = 2048;
  static constexpr int kPageShift = 2;

  std::size_t within(std::size_t element) const { return element & ((std::size_t{1} << page_shift_) - 1); }
  Page& page(std::size_t element) {
    std::unique_ptr<Page>& slot = pages_[element >> page_shift_];
    if (slot == nullptr) slot = make_page(element >> page_shift_ << page_shift_);
    return *slot;
  }

  std::unique_ptr<Page> make_page(std::size_t first) const {
    auto page = std::make_unique<Page>();
    const std::size_t count = std::min(elements_ - first, std::size_t{1} << page_shift_);
    page->log.resize(count);
    page->cells.resize(count * leaves_.size());
    std::size_t number = 0;
    for (std::size_t n = first; n < first + count; ++n) {
      const std::size_t offset = ir::element_offset(*argument_, static_cast<std::int64_t>(n));
      for (const ir::ScalarComponent& leaf : leaves_) {
        Cell<Handle>& cell = page->cells[number++];
        cell.content = initial_content<Handle>(*argument_, offset + leaf.offset, leaf.scalar);
        cell.initialised = initialised_;
        if (perturbation_ == nullptr || !ir::is_float(leaf.scalar)) continue;
        const double direction =
            component_value(perturbation_->direction, parameter_, first * leaves_.size() + number - 1);
        cell.content.f.v += perturbation_->step * static_cast<long double>(direction);
      }
    }
    return page;
  }

  std::size_t parameter_ = 0;
  const ir::Argument* argument_ = nullptr;
  std::vector<ir::ScalarComponent> leaves_;
  bool initialised_ = true;
  const Perturbation* perturbation_ = nullptr;
  std::size_t elements_ = 0;
  int page_shift_ = 0;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace assay::reference
