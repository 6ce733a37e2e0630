#include "backends/candidate/gradients.hpp"

#include <cstring>

#include <fmt/format.h>

#include "backends/device/backend.hpp"

namespace assay::candidate {

using namespace backends;

namespace {

template <typename T>
void add_elements(std::span<std::byte> sum, std::span<const std::byte> terms, std::size_t count) {
  for (std::size_t at = 0; at < count * sizeof(T); at += sizeof(T)) {
    T value, term;
    std::memcpy(&value, sum.data() + at, sizeof(T));
    std::memcpy(&term, terms.data() + at, sizeof(T));
    value += term;
    std::memcpy(sum.data() + at, &value, sizeof(T));
  }
}

template <typename T>
void add_floats(std::span<std::byte> elements, std::span<const std::byte> before, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* const place = elements.data() + i * sizeof(UnroundedElement);
    UnroundedElement element;
    T value;
    std::memcpy(&element, place, sizeof(element));
    std::memcpy(&value, before.data() + i * sizeof(T), sizeof(T));
    element.value += static_cast<double>(value);
    std::memcpy(place, &element, sizeof(element));
  }
}

}  // namespace

Result<void> add_gradient(std::string_view type, std::span<std::byte> sum, std::span<const std::byte> terms,
                          std::size_t count) {
  if (type == "float32") {
    add_elements<float>(sum, terms, count);
  } else if (type == "float64") {
    add_elements<double>(sum, terms, count);
  } else {
    return Error{fmt::format(
        "gradients of type {} are supported only if the candidate adds to them; state \"accumulates\": true", type)};
  }
  return {};
}

void add_to_unrounded(std::span<std::byte> unrounded, std::string_view type, std::span<const std::byte> before,
                      std::size_t count) {
  const std::span<std::byte> elements = unrounded.subspan(sizeof(UnroundedArrayHeader));
  if (type == "float32") add_floats<float>(elements, before, count);
  else if (type == "float64") add_floats<double>(elements, before, count);
}

}  // namespace assay::candidate
