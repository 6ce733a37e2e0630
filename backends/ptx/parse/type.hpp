// The fundamental types of PTX.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::ptx {

/// The types of PTX.
enum class Type : std::uint8_t {
  kNone,  ///< no type
  kPred,  ///< predicate
  kB8,    ///< 8 bits without interpretation
  kB16,   ///< 16 bits without interpretation
  kB32,   ///< 32 bits without interpretation
  kB64,   ///< 64 bits without interpretation
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,     ///< IEEE half precision
  kF16x2,   ///< two values of half precision in 32 bits
  kBf16,    ///< bfloat16
  kBf16x2,  ///< two bfloat16 values in 32 bits
  kF32,
  kF64,
  kTf32,    ///< TensorFloat-32, in 32 bits
  kE4m3,    ///< 8-bit float with 4 bits of exponent and no infinity
  kE5m2,    ///< 8-bit float with 5 bits of exponent
  kE4m3x2,  ///< two values of type kE4m3 in 16 bits
  kE5m2x2,  ///< two values of type kE5m2 in 16 bits
  kE2m3x2,  ///< two 6-bit floats with 2 bits of exponent, each in one byte of 16 bits
  kE3m2x2,  ///< two 6-bit floats with 3 bits of exponent, each in one byte of 16 bits
  kF32x2,   ///< two values of single precision in 64 bits
};

enum class TypeClass : std::uint8_t { kNone, kPredicate, kBits, kUnsigned, kSigned, kFloat };

/// The properties of a type; one row of kTypes.
struct TypeProperties {
  Type type;              ///< the type
  std::string_view name;  ///< spelling without the dot: "f32"
  std::uint8_t bytes;     ///< size in memory in bytes; 0 for predicates, which cannot be in memory
  TypeClass type_class;   ///< whether it is a predicate, bits, an integer or a float
};

inline constexpr std::array kTypes = {
    TypeProperties{Type::kNone, "", 0, TypeClass::kNone},
    TypeProperties{Type::kPred, "pred", 0, TypeClass::kPredicate},
    TypeProperties{Type::kB8, "b8", 1, TypeClass::kBits},
    TypeProperties{Type::kB16, "b16", 2, TypeClass::kBits},
    TypeProperties{Type::kB32, "b32", 4, TypeClass::kBits},
    TypeProperties{Type::kB64, "b64", 8, TypeClass::kBits},
    TypeProperties{Type::kU8, "u8", 1, TypeClass::kUnsigned},
    TypeProperties{Type::kU16, "u16", 2, TypeClass::kUnsigned},
    TypeProperties{Type::kU32, "u32", 4, TypeClass::kUnsigned},
    TypeProperties{Type::kU64, "u64", 8, TypeClass::kUnsigned},
    TypeProperties{Type::kS8, "s8", 1, TypeClass::kSigned},
    TypeProperties{Type::kS16, "s16", 2, TypeClass::kSigned},
    TypeProperties{Type::kS32, "s32", 4, TypeClass::kSigned},
    TypeProperties{Type::kS64, "s64", 8, TypeClass::kSigned},
    TypeProperties{Type::kF16, "f16", 2, TypeClass::kFloat},
    TypeProperties{Type::kF16x2, "f16x2", 4, TypeClass::kFloat},
    TypeProperties{Type::kBf16, "bf16", 2, TypeClass::kFloat},
    TypeProperties{Type::kBf16x2, "bf16x2", 4, TypeClass::kFloat},
    TypeProperties{Type::kF32, "f32", 4, TypeClass::kFloat},
    TypeProperties{Type::kF64, "f64", 8, TypeClass::kFloat},
    TypeProperties{Type::kTf32, "tf32", 4, TypeClass::kFloat},
    TypeProperties{Type::kE4m3, "e4m3", 1, TypeClass::kFloat},
    TypeProperties{Type::kE5m2, "e5m2", 1, TypeClass::kFloat},
    TypeProperties{Type::kE4m3x2, "e4m3x2", 2, TypeClass::kFloat},
    TypeProperties{Type::kE5m2x2, "e5m2x2", 2, TypeClass::kFloat},
    TypeProperties{Type::kE2m3x2, "e2m3x2", 2, TypeClass::kFloat},
    TypeProperties{Type::kE3m2x2, "e3m2x2", 2, TypeClass::kFloat},
    TypeProperties{Type::kF32x2, "f32x2", 8, TypeClass::kFloat},
};

constexpr const TypeProperties& row(Type type) { return kTypes[static_cast<std::size_t>(type)]; }
constexpr unsigned bytes_of(Type type) { return row(type).bytes; }
constexpr std::string_view to_text(Type type) { return row(type).name; }
constexpr bool is_signed(Type type) { return row(type).type_class == TypeClass::kSigned; }
constexpr bool is_float(Type type) { return row(type).type_class == TypeClass::kFloat; }

/// Returns the type of one number of a pair; other types are returned unchanged.
constexpr Type single(Type type) {
  if (type == Type::kF16x2) return Type::kF16;
  if (type == Type::kF32x2) return Type::kF32;
  return type == Type::kBf16x2 ? Type::kBf16 : type;
}

/// Returns whether the type is a pair of floats of 8 or 6 bits.
constexpr bool is_pair_of_small_floats(Type type) { return type >= Type::kE4m3x2 && type <= Type::kE3m2x2; }

/// Returns the type with this spelling, without the dot.
constexpr std::optional<Type> find_type(std::string_view name) {
  for (const TypeProperties& candidate : kTypes) {
    if (!name.empty() && candidate.name == name) return candidate.type;
  }
  return std::nullopt;
}

}  // namespace assay::ptx
