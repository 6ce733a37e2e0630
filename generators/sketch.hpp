// A kernel under construction: its parameters and domains, and the values available to expressions at the current
// statement, each with its interval.
//
//     ir::VarId x = sketch.array("x", kF32, 1);
//     ir::VarId out = sketch.output("out", kF32);
//     sketch.start();
//     sketch.offer_elements({x});                      // x[i] may now be used
//     ir::VarId t = sketch.let("t", some_term);        // t too
//     sketch.store(out, term);
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generators/ranges.hpp"
#include "ir/builder.hpp"
#include "support/rng.hpp"

namespace assay::generators {

/// An expression and the interval of its value or, for vectors, of each component. It can be used only once, because
/// expressions are trees.
struct RangedExpression {
  ir::ExprId expr = ir::kNone;  ///< the expression
  Interval range;               ///< interval of its value, or of each component
};

/// A variable, a parameter or an array element that expressions may use.
struct AvailableOperand {
  ir::Type type;                     ///< type of the value
  Interval range;                    ///< interval of the value, or of each component
  std::function<ir::ExprId()> make;  ///< makes a new expression for each use
  ir::VarId variable = ir::kNone;    ///< variable that is read; kNone: not a variable
  int use_count = 0;                 ///< number of expressions that have used it so far
  bool is_discrete = false;  ///< whether it takes few values, so that a discontinuity may lie exactly at one of them
};

/// A kernel under construction.
class KernelSketch {
 public:
  KernelSketch(std::string kernel_name, Rng rng);
  KernelSketch(const KernelSketch&) = delete;
  KernelSketch& operator=(const KernelSketch&) = delete;

  Rng& rng() { return rng_; }
  ir::Builder& b() { return builder_; }
  /// Adds a struct to the module; before the parameters that use it.
  ir::Type add_struct(ir::StructDef definition);

  /// Adds a finished function to the module; before the kernel's body calls it.
  void add_function(ir::Function function) { module_.functions.push_back(std::move(function)); }
  /// Adds a finished function as the gradient of the function `of`.
  void add_gradient(std::int32_t of, ir::Function gradient) {
    module_.functions[static_cast<std::size_t>(of)].gradient_function_index =
        static_cast<std::int32_t>(module_.functions.size());
    module_.functions.push_back(std::move(gradient));
  }
  /// Lets the body call the functions of another sketch, by the same numbers.
  void copy_functions_of(const KernelSketch& other) { module_.functions = other.module_.functions; }

  // ---- parameters, all before start(). Names are made unique.
  ir::VarId array(std::string_view name, ir::Type element, int rank, Interval domain = kDefaultInputDomain);
  ir::VarId scalar(std::string_view name, ir::Type type, Interval domain = kDefaultInputDomain);
  ir::VarId output(std::string_view name, ir::Type element) { return parameter(name, element.array_of(launch_rank_)); }
  /// An index array of rank 1 that holds every index below its length once.
  ir::VarId permutation(std::string_view name);
  /// The rank of the launch and of all outputs; 1 unless set before the first output.
  void set_launch_rank(int rank) { launch_rank_ = rank; }
  /// Declares the thread indices i, j.
  void start();
  /// A comment of the kernel, "domain: 0 <= n < 4".
  void comment(std::string text) { kernel().annotations.push_back(std::move(text)); }

  // ---- places
  int launch_rank() const { return launch_rank_; }
  /// New expressions for all indices of the thread.
  std::vector<ir::ExprId> thread_indices();
  ir::ExprId thread_index(int dimension = 0);
  Interval domain(ir::VarId parameter) const { return value_ranges_by_variable_[static_cast<std::size_t>(parameter)]; }
  /// Returns an element of an array parameter, with the interval of the elements.
  RangedExpression element(ir::VarId array, std::vector<ir::ExprId> indices) {
    return {b().load(array, std::move(indices)), domain(array)};
  }
  /// Returns the value of a variable or by-value parameter, with its current interval.
  RangedExpression read(ir::VarId variable) {
    return {b().var(variable), value_ranges_by_variable_[static_cast<std::size_t>(variable)]};
  }

  // ---- leaves
  void offer(AvailableOperand leaf) { available_operands_.push_back(std::move(leaf)); }
  void offer_variable(ir::VarId variable);
  /// Offers array[i] (array[i, j]) for arrays of the launch's rank, or array[i] for those of rank 1.
  void offer_elements(std::initializer_list<ir::VarId> arrays);
  void offer_element(ir::VarId array, std::function<std::vector<ir::ExprId>()> indices);
  /// Inputs are parameters and elements with arbitrary values, as opposed to variables of the body and converted
  /// integers.
  enum class From : std::uint8_t { kAll, kInputs };
  /// A leaf of the type, preferably an unused one; nullopt if there is none.
  std::optional<RangedExpression> leaf(ir::Type type, From from = From::kAll);
  std::vector<AvailableOperand>& leaves() { return available_operands_; }

  /// The call of wp.<name>, a function of Warp's library that takes these operands.
  ir::ExprId warp(std::string_view name, const std::vector<ir::ExprId>& operands);

  /// Calls a Warp function with several results; returns the new variables that hold the results.
  std::vector<ir::VarId> warp_results(std::string_view name, const std::vector<ir::ExprId>& operands,
                                      const std::vector<std::string>& names);

  // ---- statements
  /// Declares a variable and offers it.
  ir::VarId let(std::string_view name, RangedExpression value);
  /// The initial value given to let; kNone for other variables.
  ir::ExprId initial_value(ir::VarId variable) const;
  /// Assigns a variable. In a branch or loop (inside) its interval is widened, elsewhere replaced.
  void assign(ir::VarId variable, RangedExpression value);
  void set_range(ir::VarId variable, Interval range);
  /// Sets the interval of a variable that Builder declared.
  void set_new_range(ir::VarId variable, Interval range) { remember(variable, range); }
  void store(ir::VarId output, RangedExpression value) { b().store(output, thread_indices(), value.expr); }
  /// Adds `for name in range(start, stop, step)`. The variable's values are in `range`. Variables of the body go out of
  /// scope after it.
  void add_for_loop(std::string_view name, ir::ExprId start, ir::ExprId stop, ir::ExprId step, Interval range,
                    const std::function<void(ir::VarId)>& body);
  /// Adds a while loop.
  void while_(RangedExpression condition, std::function<void()> body) {
    b().while_(condition.expr, inside(std::move(body)));
  }
  void if_(RangedExpression condition, std::function<void()> then_body, std::function<void()> else_body = nullptr);
  /// `body` as a block whose variables go out of scope after it, for statements added through Builder.
  std::function<void()> inside(std::function<void()> body);

  std::string unique_name(std::string_view name);
  ir::Type type_of(RangedExpression term) { return builder_.type_of(term.expr); }
  /// The module with its kernel; the sketch is done.
  ir::Module take() { return std::move(module_); }

 private:
  ir::VarId parameter(std::string_view name, ir::Type type, Interval domain = kModerateRange);
  ir::Function& kernel() { return module_.kernels[0]; }
  void remember(ir::VarId variable, Interval range);  ///< sets the interval of a new variable

  ir::Module module_;      ///< module with the kernel and the functions that it calls
  ir::Builder builder_;    ///< appends to the kernel's body
  Rng rng_;                ///< random numbers for all choices
  int launch_rank_ = 1;    ///< number of dimensions of the launch and of all outputs
  int nesting_depth_ = 0;  ///< nesting depth of branches and loops around the current statement
  std::vector<Interval> value_ranges_by_variable_;  ///< current interval of each variable
  std::vector<ir::ExprId> initial_values_;  ///< for each variable: the initial value given to let(); kNone: none
  std::vector<AvailableOperand> available_operands_;  ///< operands that the current statement may use
  std::set<std::string, std::less<>> used_names_;     ///< names of all variables of the kernel
};

}  // namespace assay::generators
