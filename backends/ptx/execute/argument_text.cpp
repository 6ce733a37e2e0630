#include "backends/ptx/execute/argument_text.hpp"

#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace assay::ptx {

namespace {

/// Removes `word` from the front of `text` if present.
bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

constexpr std::size_t kMaxElements = std::size_t{1} << 31U;

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  std::from_chars_result parsed{};
  if constexpr (std::is_floating_point_v<T>) {
    parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  } else {
    const int base = take(text, "0x") ? 16 : 10;
    parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
  }
  if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The bits of a value of the type; nullopt if the text is not a value.
std::optional<std::uint64_t> bits_of(Type type, std::string_view text) {
  const auto as_bits = [](auto value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(value));
    return bits;
  };
  if (type == Type::kF32) return number<float>(text) ? std::optional(as_bits(*number<float>(text))) : std::nullopt;
  if (type == Type::kF64) return number<double>(text) ? std::optional(as_bits(*number<double>(text))) : std::nullopt;
  if (const auto value = number<std::int64_t>(text)) return as_bits(*value);
  return number<std::uint64_t>(text);
}

bool is_usable(Type type) {
  return bytes_of(type) != 0 && (!is_float(type) || type == Type::kF32 || type == Type::kF64);
}

/// "f32", or "f32x3" for vectors.
struct Element {
  Type type = Type::kNone;
  std::int32_t components = 1;
};
std::optional<Element> element_of(std::string_view text) {
  Element element;
  if (const std::size_t cross = text.rfind('x'); cross != std::string_view::npos) {
    const auto components = number<std::int32_t>(text.substr(cross + 1));
    if (!components || *components < 1) return std::nullopt;
    element.components = *components;
    text = text.substr(0, cross);
  }
  const std::optional<Type> type = find_type(text);
  if (!type || !is_usable(*type)) return std::nullopt;
  element.type = *type;
  return element;
}

std::uint64_t filled(Type type, std::string_view fill, std::size_t index, Rng& random) {
  if (fill == "ramp" || fill == "random") {
    const double uniform = random.uniform_real();
    const double value = fill == "ramp" ? static_cast<double>(index) : uniform + 0.5;
    if (is_float(type)) return *bits_of(type, fmt::format("{}", value));
    return fill == "ramp" ? index : static_cast<std::uint64_t>(8 * uniform);
  }
  return fill.empty() || fill == "?" ? 0 : bits_of(type, fill).value_or(0);
}

Error malformed(const std::string& name, std::string_view found, std::string_view expected) {
  return Error{fmt::format("must be {}, got '{}'", expected, found), fmt::format("argument '{}'", name)};
}

/// Parses the extents "8,4" after the bracket.
std::vector<std::int32_t> extents_of(std::string_view text) {
  std::vector<std::int32_t> extents;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto extent = number<std::int32_t>(text.substr(0, comma));
    if (!extent || *extent < 0) return {};
    extents.push_back(*extent);
    if (comma == text.size()) return extents;
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::byte> view_of(std::uint64_t address, const std::vector<std::int32_t>& extents, std::int64_t stride) {
  std::vector<std::byte> bytes((8 + 4 * extents.size() + 7) / 8 * 8 + 8 * extents.size());
  std::memcpy(bytes.data(), &address, 8);
  std::memcpy(bytes.data() + 8, extents.data(), 4 * extents.size());
  for (std::size_t d = extents.size(); d-- > 0; stride *= extents[d])
    std::memcpy(bytes.data() + bytes.size() - 8 * (extents.size() - d), &stride, 8);
  return bytes;
}

/// The text before the extents or the value.
struct Head {
  std::string name;
  std::string_view whole;  ///< for messages
  Element element;
  bool read_only = false;
  bool as_view = false;
};

Result<ParsedArgument> add_scalar(KernelArguments& arguments, const Head& head, std::string_view text) {
  const Type type = head.element.type;
  const auto bits = bits_of(type, text);
  if (!bits || head.as_view || head.read_only || head.element.components != 1) {
    return malformed(head.name, head.whole, fmt::format("a value of type {}", to_text(type)));
  }
  std::vector<std::byte> bytes(bytes_of(type));
  std::memcpy(bytes.data(), &*bits, bytes.size());
  arguments.add_bytes(std::move(bytes));
  return ParsedArgument{head.name, type, std::nullopt};
}

/// `text` starts after the opening bracket.
Result<ParsedArgument> add_memory(Machine& machine, KernelArguments& arguments, const Head& head, std::string_view text,
                                  Rng& random) {
  const Type type = head.element.type;
  const std::size_t close = text.find(']');
  if (close == std::string_view::npos) return malformed(head.name, head.whole, "a type with extents, such as f32[64]");
  const std::vector<std::int32_t> extents = extents_of(text.substr(0, close));
  if (extents.empty() || extents.size() > 4)
    return malformed(head.name, head.whole, "a type with 1 to 4 extents, such as f32[8,4]");
  text.remove_prefix(close + 1);
  const std::string_view fill = take(text, "=") ? text : std::string_view();
  const bool is_word = fill.empty() || fill == "ramp" || fill == "random" || fill == "?";
  if ((!is_word && !bits_of(type, fill)) || (fill.empty() && !text.empty())) {
    return malformed(head.name, head.whole,
                     "a type with extents, optionally followed by =NUMBER, =ramp, =random or =?");
  }
  auto count = static_cast<std::size_t>(head.element.components);
  for (const std::int32_t extent : extents) {
    count *= static_cast<std::size_t>(extent);
    if (count > kMaxElements) return malformed(head.name, head.whole, "smaller extents");
  }
  const unsigned width = bytes_of(type);
  Result<AllocationId> memory =
      machine.allocate(head.name, count * width, {.read_only = head.read_only, .uninitialized = fill == "?"});
  if (!memory) return memory.error();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = filled(type, fill, i, random);
    std::memcpy(machine.bytes(*memory).data() + i * width, &bits, width);
  }
  const std::uint64_t address = machine.address(*memory);
  if (head.as_view) {
    arguments.add_bytes(view_of(address, extents, std::int64_t{width} * head.element.components));
  } else {
    arguments.add(address);
  }
  return ParsedArgument{head.name, type, *memory};
}

}  // namespace

Result<ParsedArgument> add_argument(Machine& machine, KernelArguments& arguments, const std::string& name,
                                    std::string_view text, Rng& random) {
  Head head{.name = name, .whole = text};
  head.read_only = take(text, "ro:");
  head.as_view = take(text, "array:");
  const std::size_t end = std::min(text.find_first_of(":["), text.size());
  const std::optional<Element> element = element_of(text.substr(0, end));
  if (!element) return malformed(name, head.whole, "an array such as f32[64] or a scalar such as s32:5");
  head.element = *element;
  text.remove_prefix(end);
  if (take(text, ":")) return add_scalar(arguments, head, text);
  if (take(text, "[")) return add_memory(machine, arguments, head, text, random);
  return malformed(name, head.whole, "a type with extents, such as f32[64]");
}

std::string element_text(std::span<const std::byte> memory, Type type, std::size_t index) {
  const unsigned width = bytes_of(type);
  std::uint64_t bits = 0;
  std::memcpy(&bits, memory.data() + index * width, width);
  if (type == Type::kF32) {
    float value = 0;
    std::memcpy(&value, &bits, 4);
    return fmt::format("{}", value);
  }
  if (type == Type::kF64) {
    double value = 0;
    std::memcpy(&value, &bits, 8);
    return fmt::format("{}", value);
  }
  if (!is_signed(type)) return fmt::format("{}", bits);
  const unsigned shift = 64 - 8 * width;
  return fmt::format("{}", static_cast<std::int64_t>(bits << shift) >> shift);
}

}  // namespace assay::ptx
