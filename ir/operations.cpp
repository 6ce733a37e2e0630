#include "ir/operations.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace assay::ir {
namespace {

bool is_numeric_scalar(Type type) { return type.is_scalar() && type.scalar != Scalar::kBool; }
bool is_linear(Type type) {
  return type.is_value() && type.shape != Shape::kStruct && type.shape != Shape::kTransform &&
         type.scalar != Scalar::kBool;
}
bool is_float_vector(Type type) { return type.is_vector() && is_float(type.scalar); }
bool is_signed_component(Type type) { return row(type.scalar).is_signed; }

bool all_same(std::span<const Type> types) {
  return std::all_of(types.begin(), types.end(), [&](Type type) { return type == types[0]; });
}

/// One rule applied: the result type, or void where the operands do not fit.
Type apply(TypeRule rule, std::span<const Type> t, Type requested) {
  switch (rule) {
    case TypeRule::kLinear: return is_linear(t[0]) && t[0] == t[1] ? t[0] : kVoid;
    case TypeRule::kProduct:
      if (is_numeric_scalar(t[0]) && t[0] == t[1]) return t[0];
      if (t[0].is_vector() && t[1] == t[0].component()) return t[0];
      if (t[1].is_vector() && t[0] == t[1].component()) return t[1];
      return kVoid;
    case TypeRule::kQuotient:
      if (is_numeric_scalar(t[0]) && t[0] == t[1]) return t[0];
      return t[0].is_vector() && t[1] == t[0].component() ? t[0] : kVoid;
    case TypeRule::kNegation: return is_linear(t[0]) && is_signed_component(t[0]) ? t[0] : kVoid;
    case TypeRule::kNumeric: return is_numeric_scalar(t[0]) && all_same(t) ? t[0] : kVoid;
    case TypeRule::kFloat: return t[0].is_float_scalar() && all_same(t) ? t[0] : kVoid;
    case TypeRule::kFloatTest: return t[0].is_float_scalar() ? kBool : kVoid;
    case TypeRule::kOrder: return is_numeric_scalar(t[0]) && all_same(t) ? kBool : kVoid;
    case TypeRule::kEquality: return t[0].is_scalar() && all_same(t) ? kBool : kVoid;
    case TypeRule::kLogic: return t[0].is_bool() && all_same(t) ? kBool : kVoid;
    case TypeRule::kSelect: return t[0].is_bool() && t[1].is_value() && t[1] == t[2] ? t[1] : kVoid;
    case TypeRule::kBits: return t[0].is_integer_scalar() && all_same(t) ? t[0] : kVoid;
    case TypeRule::kConversion: return t[0].is_scalar() && requested.is_scalar() ? requested : kVoid;
    case TypeRule::kVectorOf:
      return t.size() >= 2 && t.size() <= 16 && is_numeric_scalar(t[0]) && all_same(t)
                 ? vector_type(t[0].scalar, static_cast<int>(t.size()))
                 : kVoid;
    case TypeRule::kSplat: return requested.is_vector() && t[0] == requested.component() ? requested : kVoid;
    case TypeRule::kExtract: return t[0].is_vector() && t[1] == kI32 ? t[0].component() : kVoid;
    case TypeRule::kInsert: return t[0].is_vector() && t[1] == kI32 && t[2] == t[0].component() ? t[0] : kVoid;
    case TypeRule::kVectorPair: return t[0].is_vector() && t[0] == t[1] ? t[0] : kVoid;
    case TypeRule::kDot: return t[0].is_vector() && t[0] == t[1] ? t[0].component() : kVoid;
    case TypeRule::kCross: return t[0].is_vector() && t[0].rows == 3 && t[0] == t[1] ? t[0] : kVoid;
    case TypeRule::kLength: return is_float_vector(t[0]) ? t[0].component() : kVoid;
    case TypeRule::kNormalize: return is_float_vector(t[0]) ? t[0] : kVoid;
    case TypeRule::kWithField: return t[0].is_struct() && t[0] == requested ? t[0] : kVoid;
  }
  return kVoid;
}

std::string_view expectation(TypeRule rule) {
  switch (rule) {
    case TypeRule::kLinear: return "two numeric scalars, vectors, matrices or quaternions of one type";
    case TypeRule::kProduct: return "two numeric scalars of one type, or a vector and its scalar";
    case TypeRule::kQuotient: return "two numeric scalars of one type, or a vector by its scalar";
    case TypeRule::kNegation: return "a signed numeric value";
    case TypeRule::kNumeric: return "numeric scalars of one type";
    case TypeRule::kFloat: return "float scalars of one type";
    case TypeRule::kFloatTest: return "a float scalar";
    case TypeRule::kOrder: return "two numeric scalars of one type";
    case TypeRule::kEquality: return "two scalars of one type";
    case TypeRule::kLogic: return "bool operands";
    case TypeRule::kSelect: return "a bool and two values of one type";
    case TypeRule::kBits: return "integer scalars of one type";
    case TypeRule::kConversion: return "a scalar and a scalar type to convert it to";
    case TypeRule::kVectorOf: return "2 to 16 numeric scalars of one type";
    case TypeRule::kSplat: return "one scalar of the vector's component type";
    case TypeRule::kExtract: return "a vector and an i32 index";
    case TypeRule::kInsert: return "a vector, an i32 index and a component";
    case TypeRule::kVectorPair: return "two vectors of one type";
    case TypeRule::kDot: return "two vectors of one type";
    case TypeRule::kCross: return "two vectors of length 3 of one type";
    case TypeRule::kLength: return "a float vector";
    case TypeRule::kNormalize: return "a float vector";
    case TypeRule::kWithField: return "a struct and a value of its field's type";
  }
  return "";
}

}  // namespace

Result<Type> result_type(Op op, std::span<const Type> operands, Type requested) {
  const OperationRow& operation = row(op);
  if (operation.arity >= 0 && operands.size() != static_cast<std::size_t>(operation.arity)) {
    return Error{fmt::format("{} takes {} operands, got {}", operation.mnemonic, operation.arity, operands.size())};
  }
  if (operands.empty()) return Error{fmt::format("{} takes operands, got none", operation.mnemonic)};
  const Type type = apply(operation.rule, operands, requested);
  if (type.is_void()) {
    return Error{fmt::format("{} takes {}", operation.mnemonic, expectation(operation.rule))};
  }
  return type;
}

}  // namespace assay::ir
