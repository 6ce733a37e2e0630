// What the files that define Warp's library functions share: LibraryFunctionBuilder, which builds one function, and
// shorthand for formulas. Only library*.cpp include this header.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "ir/algebra.hpp"
#include "ir/library.hpp"

namespace assay::ir {

/// Builds the body of one library function.
class LibraryFunctionBuilder {
 public:
  LibraryFunctionBuilder(Module& module, Function& function, std::span<const Type> operands)
      : module_(module), builder_(module, function) {
    constexpr std::array<const char*, 7> kOperandNames = {"x", "y", "z", "u", "v", "w", "t"};
    for (std::size_t k = 0; k < operands.size(); ++k)
      operands_.push_back(builder_.parameter(kOperandNames[k], operands[k]));
  }

  /// Operand k.
  algebra::E operator[](std::size_t k) { return {&builder_, builder_.var(operands_[k])}; }
  /// The value stored in a variable, for values that the formula uses more than once.
  algebra::E let(const char* name, algebra::E value) { return {&builder_, builder_.var(builder_.let(name, value.id))}; }
  /// Calls another function of the library.
  algebra::E library(std::string_view name, const std::vector<algebra::E>& operands);
  /// Adds a result after the value of the formula.
  void also(algebra::E value) { additional_results_.push_back(value); }
  /// Appends the return statement; returns the types of the returned values.
  std::vector<Type> emit_return(algebra::E value) {
    std::vector<ExprId> ids{value.id};
    std::vector<Type> types{value.type()};
    for (const algebra::E result : additional_results_) {
      ids.push_back(result.id);
      types.push_back(result.type());
    }
    builder_.return_(ids);
    return types;
  }
  Builder& builder() { return builder_; }

 private:
  Module& module_;
  Builder builder_;                             ///< appends to the function
  std::vector<VarId> operands_;                 ///< variables of the operands
  std::vector<algebra::E> additional_results_;  ///< results that follow the value of the formula
};

/// A library function and the code that builds its body.
struct LibraryFunction {
  LibraryFunctionInfo info;                         ///< name and operands of the function
  algebra::E (*define)(LibraryFunctionBuilder& d);  ///< builds the formula and returns its value
};

/// The functions of the other files.
std::span<const LibraryFunction> rotation_functions();
std::span<const LibraryFunction> noise_functions();
std::span<const LibraryFunction> random_functions();
std::span<const LibraryFunction> geometry_functions();
std::span<const LibraryFunction> decomposition_functions();

namespace algebra {

inline Type vector_of(E like, int length) { return vector_type(like.type().scalar, length); }
inline Type matrix_of(E like, int rows, int cols) { return matrix_type(like.type().scalar, rows, cols); }
/// Only one branch is evaluated.
inline E choose(E condition, E yes, E no) { return apply(yes, Op::kConditional, {condition.id, yes.id, no.id}); }
inline E cross(E a, E b) { return call(Op::kCross, a, b); }
inline E dot(E a, E b) { return call(Op::kDot, a, b); }
inline E conjugate(E q) { return call(Op::kQuatInverse, q); }
inline Type quaternion_of(E like) { return quaternion_type(like.type().scalar); }
/// Components `first` to `first` + 2 as a vector.
inline E three(E a, int first) { return make(vector_of(a, 3), components(a, first, 3)); }

}  // namespace algebra
}  // namespace assay::ir
