#include "ir/launch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "ir/builder.hpp"

namespace assay::ir {
namespace {

[[noreturn]] void misuse(const char* what) {
  std::fprintf(stderr, "ir: launch misused: %s\n", what);
  std::abort();
}

std::size_t round_up(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// Layout of struct Array<T, N> of the emitted code: a pointer, N extents of 4 bytes, N strides of 8 bytes.
MemoryLayout descriptor_layout(int rank) {
  const auto n = static_cast<std::size_t>(rank);
  return {.size = round_up(8 + 4 * n, 8) + 8 * n, .alignment = 8};
}

MemoryLayout struct_layout(const Module& module, const StructDef& definition) {
  MemoryLayout total;
  for (const Field& field : definition.fields) {
    const MemoryLayout layout = layout_of(module, field.type);
    total.size = round_up(total.size, layout.alignment) + layout.size;
    total.alignment = std::max(total.alignment, layout.alignment);
  }
  total.size = round_up(std::max<std::size_t>(total.size, 1), total.alignment);
  return total;
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class T>
void save(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

/// An IEEE interchange format of 16 bits: sign, biased exponent, fraction.
struct Format16 {
  int fraction_bits;
  int least_exponent;  ///< of normal numbers

  constexpr int greatest_field() const { return (1 << (15 - fraction_bits)) - 1; }
};
constexpr Format16 format16(Scalar scalar) { return scalar == Scalar::kF16 ? Format16{10, -14} : Format16{7, -126}; }

double decode(Format16 format, std::uint16_t bits) {
  const int field = (bits >> format.fraction_bits) & format.greatest_field();
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (field == format.greatest_field()) {
    return std::copysign(fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : HUGE_VAL, sign);
  }
  const int significand = field == 0 ? fraction : fraction + (1 << format.fraction_bits);
  const int exponent = format.least_exponent + std::max(field, 1) - 1;
  return sign * std::ldexp(significand, exponent - format.fraction_bits);
}

/// `value` must be a number of the format, infinite or NaN.
std::uint16_t encode(Format16 format, double value) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const auto assemble = [&](int field, int fraction) {
    return static_cast<std::uint16_t>(sign | (field << format.fraction_bits) | fraction);
  };
  if (std::isnan(value)) return assemble(format.greatest_field(), 1 << (format.fraction_bits - 1));
  if (std::isinf(value)) return assemble(format.greatest_field(), 0);
  if (value == 0) return assemble(0, 0);
  const int exponent = std::max(std::ilogb(value), format.least_exponent);
  const auto significand = static_cast<int>(std::ldexp(std::abs(value), format.fraction_bits - exponent));
  const int hidden = 1 << format.fraction_bits;
  if (significand < hidden) return assemble(0, significand);
  return assemble(exponent - format.least_exponent + 1, significand - hidden);
}

void append_scalar_components(const Module& module, Type type, std::size_t offset,
                              std::vector<ScalarComponent>& components) {
  if (type.shape == Shape::kStruct) {
    const StructDef& definition = module.structs[type.struct_id];
    for (std::size_t i = 0; i < definition.fields.size(); ++i) {
      const Type field = definition.fields[i].type;
      if (!field.is_array())
        append_scalar_components(module, field, offset + field_offset(module, definition, i), components);
    }
    return;
  }
  const auto bytes = static_cast<std::size_t>(row(type.scalar).bytes);
  for (int i = 0; i < type.components(); ++i) {
    components.push_back({.offset = offset + static_cast<std::size_t>(i) * bytes, .scalar = type.scalar});
  }
}

void copy_scalar(ScalarComponent from, const std::byte* source, ScalarComponent to, std::byte* target) {
  if (is_float(from.scalar)) {
    write_float(to.scalar, target + to.offset, read_float(from.scalar, source + from.offset));
  } else {
    write_integer(to.scalar, target + to.offset, read_integer(from.scalar, source + from.offset));
  }
}

/// Promotes the memory slot by slot, which preserves gaps between elements and overlapping strides.
Argument promoted(const Module& module, const Module& wide, const Argument& argument) {
  const Type element = argument.type.element();
  const std::size_t old_size = layout_of(module, element).size;
  const std::size_t new_size = layout_of(wide, promoted(element)).size;
  const std::vector<ScalarComponent> old_components = scalar_components(module, element);
  const std::vector<ScalarComponent> new_components = scalar_components(wide, promoted(element));
  const std::size_t slots = argument.bytes.size() / old_size;

  Argument result{.type = promoted(argument.type), .shape = argument.shape, .strides = argument.strides, .bytes = {}};
  for (std::int64_t& stride : result.strides) {
    if (stride % static_cast<std::int64_t>(old_size) != 0) misuse("stride is not a multiple of the element size");
    stride = stride / static_cast<std::int64_t>(old_size) * static_cast<std::int64_t>(new_size);
  }
  result.bytes.resize(slots * new_size);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const std::byte* source = argument.bytes.data() + slot * old_size;
    std::byte* target = result.bytes.data() + slot * new_size;
    for (std::size_t i = 0; i < old_components.size(); ++i)
      copy_scalar(old_components[i], source, new_components[i], target);
  }
  return result;
}

Function promoted(Function function) {
  for (Type& type : function.results)
    type = promoted(type);
  for (Variable& variable : function.variables)
    variable.type = promoted(variable.type);
  for (Expr& expr : function.expressions)
    expr.type = promoted(expr.type);
  return function;
}

}  // namespace

MemoryLayout layout_of(const Module& module, Type type) {
  if (type.is_array()) return descriptor_layout(type.rank);
  if (type.is_local_array()) {
    MemoryLayout layout = layout_of(module, type.element());
    layout.size *= type.extent;
    return layout;
  }
  if (type.shape == Shape::kStruct) return struct_layout(module, module.structs[type.struct_id]);
  const auto bytes = static_cast<std::size_t>(row(type.scalar).bytes);
  return {.size = bytes * static_cast<std::size_t>(type.components()), .alignment = bytes};
}

std::size_t field_offset(const Module& module, const StructDef& definition, std::size_t field) {
  std::size_t end = 0;
  for (std::size_t i = 0;; ++i) {
    const MemoryLayout layout = layout_of(module, definition.fields[i].type);
    const std::size_t offset = round_up(end, layout.alignment);
    if (i == field) return offset;
    end = offset + layout.size;
  }
}

std::int64_t Launch::threads() const {
  std::int64_t product = 1;
  for (const std::int32_t extent : extents)
    product *= extent;
  return product;
}

Argument make_argument(const Module& module, Type type, std::vector<std::int32_t> shape) {
  if (shape.size() != type.rank) misuse("shape and parameter have different ranks");
  const std::size_t size = layout_of(module, type.element()).size;
  Argument argument{.type = type, .shape = std::move(shape), .strides = {}, .bytes = {}};
  argument.strides.resize(type.rank);
  auto stride = static_cast<std::int64_t>(size);
  for (std::size_t i = type.rank; i-- > 0;) {
    argument.strides[i] = stride;
    stride *= argument.shape[i];
  }
  argument.bytes.resize(static_cast<std::size_t>(element_count(argument)) * size);
  return argument;
}

std::int64_t element_count(const Argument& argument) {
  std::int64_t product = 1;
  for (const std::int32_t extent : argument.shape)
    product *= extent;
  return product;
}

std::size_t element_offset(const Argument& argument, std::int64_t number) {
  // Divisions dominate the cost here, and most arrays need none.
  if (argument.shape.size() == 1) return static_cast<std::size_t>(number * argument.strides[0]);
  std::int64_t offset = 0;
  for (std::size_t i = argument.shape.size(); i-- > 0;) {
    offset += number % argument.shape[i] * argument.strides[i];
    number /= argument.shape[i];
  }
  return static_cast<std::size_t>(offset);
}

double read_float(Scalar scalar, const std::byte* at) {
  switch (scalar) {
    case Scalar::kF16:
    case Scalar::kBF16: return decode(format16(scalar), load<std::uint16_t>(at));
    case Scalar::kF32: return static_cast<double>(load<float>(at));
    case Scalar::kF64: return load<double>(at);
    default: misuse("cannot read an integer as a float");
  }
}

void write_float(Scalar scalar, std::byte* at, double value) {
  switch (scalar) {
    case Scalar::kF16:
    case Scalar::kBF16: return save(at, encode(format16(scalar), round_to(scalar, value)));
    case Scalar::kF32: return save(at, static_cast<float>(value));
    case Scalar::kF64: return save(at, value);
    default: misuse("cannot write an integer as a float");
  }
}

std::int64_t read_integer(Scalar scalar, const std::byte* at) {
  switch (scalar) {
    case Scalar::kBool: return load<std::uint8_t>(at) != 0 ? 1 : 0;
    case Scalar::kI8: return load<std::int8_t>(at);
    case Scalar::kI16: return load<std::int16_t>(at);
    case Scalar::kI32: return load<std::int32_t>(at);
    case Scalar::kU8: return load<std::uint8_t>(at);
    case Scalar::kU16: return load<std::uint16_t>(at);
    case Scalar::kU32: return load<std::uint32_t>(at);
    case Scalar::kI64:
    case Scalar::kU64: return load<std::int64_t>(at);
    default: misuse("cannot read a float as an integer");
  }
}

void write_integer(Scalar scalar, std::byte* at, std::int64_t value) {
  if (is_float(scalar)) misuse("cannot write a float as an integer");
  // Little-endian two's complement: the low bytes are the wrapped value.
  static_assert(std::endian::native == std::endian::little);
  const std::int64_t wrapped = wrap_to(scalar, value);
  std::memcpy(at, &wrapped, static_cast<std::size_t>(row(scalar).bytes));
}

std::vector<ScalarComponent> scalar_components(const Module& module, Type type) {
  std::vector<ScalarComponent> components;
  append_scalar_components(module, type, 0, components);
  return components;
}

Type promoted(Type type) {
  if (type.has_float_components()) type.scalar = Scalar::kF64;
  return type;
}

Module promoted(const Module& module) {
  Module result = module;
  for (StructDef& definition : result.structs) {
    for (Field& field : definition.fields)
      field.type = promoted(field.type);
  }
  for (Function& function : result.functions)
    function = promoted(std::move(function));
  for (Function& kernel : result.kernels)
    kernel = promoted(std::move(kernel));
  return result;
}

Launch promoted(const Module& module, const Launch& launch) {
  Module wide;
  wide.structs = module.structs;
  wide = promoted(wide);
  Launch result{.extents = launch.extents, .arguments = {}};
  for (const Argument& argument : launch.arguments)
    result.arguments.push_back(promoted(module, wide, argument));
  return result;
}

}  // namespace assay::ir
