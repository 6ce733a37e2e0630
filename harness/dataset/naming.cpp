#include "harness/dataset/naming.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/dataset/difficulty.hpp"
#include "harness/dataset/influence.hpp"
#include "ir/analysis.hpp"
#include "ir/library.hpp"
#include "ir/program_key.hpp"
#include "ir/visit.hpp"

namespace assay::dataset {
namespace {

/// Longest name of a kernel or variable; longer ones are not what people write.
constexpr std::size_t kMaxKernelName = 64;
constexpr std::size_t kMaxVariableName = 24;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "energy" of "energy2".
std::string_view without_number(std::string_view name) {
  while (!name.empty() && is_digit(name.back()))
    name.remove_suffix(1);
  return name;
}

bool has_number(std::string_view name) { return without_number(name).size() < name.size(); }

/// Names of all variables, functions and structs, which a new name must differ from.
std::set<std::string> names_in(const ir::Module& module) {
  std::set<std::string> names;
  for (const ir::StructDef& definition : module.structs)
    names.insert(definition.name);
  for (const auto* functions : {&module.functions, &module.kernels}) {
    for (const ir::Function& function : *functions) {
      if (!function.is_kernel) names.insert(function.name);
      for (const ir::Variable& variable : function.variables)
        names.insert(variable.name);
    }
  }
  return names;
}

// ---- variables

/// Parameter names without a number, by role. Chosen in order from a start that depends on the program, so that not all
/// kernels have the same ones. Vectors, matrices, structs and integers get names that say nothing about their type.
constexpr std::array<std::string_view, 14> kInputNames = {"velocity", "density", "pressure", "charge", "x",
                                                          "y",        "z",       "u",        "width",  "depth",
                                                          "angle",    "speed",   "sample",   "signal"};
constexpr std::array<std::string_view, 8> kNeutralNames = {"x", "y", "z", "u", "p", "q", "first", "second"};
constexpr std::array<std::string_view, 10> kOutputNames = {"out",      "result", "response", "flux", "score",
                                                           "estimate", "output", "residual", "cost", "updated"};
constexpr std::array<std::string_view, 10> kScalarNames = {"alpha",  "beta",   "gamma",    "factor", "offset",
                                                           "weight", "radius", "strength", "slope",  "damping"};

class VariableNamer {
 public:
  explicit VariableNamer(ir::Module& module)
      : module_(module), kernel_(module.kernels[0]), names_(names_in(module)), start_(ir::program_key(kernel_)) {}

  void run() {
    name_functions();
    name_parameters();
    name_temporaries();
  }

 private:
  /// Takes the name if it is free.
  bool take(std::string& name, const std::string& wanted) {
    if (!names_.insert(wanted).second) return false;
    name = wanted;
    return true;
  }

  void name_functions() {
    for (ir::Function& function : module_.functions) {
      if (ir::library_name(function) || !has_number(function.name)) continue;
      const std::string base(without_number(function.name));
      for (const char* const suffix : {"", "_term", "_part", "_value", "_step"}) {
        if (take(function.name, base + suffix)) break;
      }
    }
  }

  void name_parameters() {
    const ir::ParameterUses uses = ir::parameter_use(module_, kernel_);
    for (std::size_t p = 0; p < uses.size(); ++p) {
      ir::Variable& variable = kernel_.variables[p];
      if (!has_number(variable.name)) continue;
      std::span<const std::string_view> words = kInputNames;
      if (variable.type.is_value()) words = kScalarNames;
      else if (uses[p].changed()) words = kOutputNames;
      else if (variable.type.shape != ir::Shape::kScalar || !ir::is_float(variable.type.scalar)) words = kNeutralNames;
      const std::string before = variable.name;
      for (std::size_t i = 0; i < words.size(); ++i) {
        if (take(variable.name, std::string(words[(start_ + p + i) % words.size()]))) break;
      }
      for (std::string& line : kernel_.annotations)
        line = with_name_replaced(line, before, variable.name);
    }
  }

  /// The text with each occurrence of the identifier replaced.
  static std::string with_name_replaced(std::string_view text, std::string_view name, std::string_view by) {
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    std::string replaced;
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i + 1;
      if (is_word(text[i])) {
        while (end < text.size() && is_word(text[end]))
          ++end;
      }
      const std::string_view word = text.substr(i, end - i);
      replaced += word == name ? by : word;
      i = end;
    }
    return replaced;
  }

  /// Names the variables whose value is never changed and whose name is one letter, with or without a number.
  void name_temporaries() {
    const std::vector<ir::VarId> assigned = ir::assigned_variables(kernel_.body);
    ir::for_each_statement(kernel_.body, [&](const ir::Stmt& statement) {
      const auto* const let = std::get_if<ir::Let>(&statement.node);
      if (let == nullptr || let->value == ir::kNone) return;
      std::string& name = kernel_.variables[static_cast<std::size_t>(let->variable)].name;
      if (without_number(name).size() != 1 || std::ranges::binary_search(assigned, let->variable)) return;
      const std::string wanted = role_of(let->value);
      if (wanted.empty() || wanted.size() > kMaxVariableName || take(name, wanted)) return;
      for (int number = 2; !take(name, fmt::format("{}_{}", wanted, number));)
        ++number;
    });
  }

  std::string role_of(ir::ExprId id) const {
    const ir::Expr& expr = kernel_.expr(id);
    const std::string subject = subject_of(id);
    if (subject.empty()) return depends_on_variable(id) ? general_role_of(expr) : "";
    if (expr.kind == ir::ExprKind::kLoad) return subject + (expr.type.is_tile() ? "_tile" : "_value");
    if (expr.kind == ir::ExprKind::kCall) return called_name(expr) + "_of_" + subject;
    if (expr.kind != ir::ExprKind::kOperation) return "";
    switch (expr.op) {
      case ir::Op::kAdd: return joined(expr, "plus", "shifted_" + subject);
      case ir::Op::kSub: return joined(expr, "minus", subject + "_difference");
      case ir::Op::kMul: return joined(expr, "times", "scaled_" + subject);
      case ir::Op::kDiv: return joined(expr, "over", subject + "_ratio");
      case ir::Op::kNeg: return "negative_" + subject;
      case ir::Op::kWhere:
      case ir::Op::kConditional: return "selected_" + subject;
      case ir::Op::kMake:
      case ir::Op::kSplat: return "combined_" + subject;
      case ir::Op::kExtract: return subject + "_component";
      default: break;
    }
    const ir::OperationEntry& operation = ir::row(expr.op);
    return operation.warp_pattern.starts_with("wp.") ? fmt::format("{}_{}", operation.mnemonic, subject) : "";
  }

  /// The role of a value whose first variable has a long name already.
  std::string general_role_of(const ir::Expr& expr) const {
    if (expr.kind == ir::ExprKind::kCall) return called_name(expr) + "_value";
    if (expr.kind != ir::ExprKind::kOperation) return "";
    switch (expr.op) {
      case ir::Op::kAdd: return "total";
      case ir::Op::kSub: return "difference";
      case ir::Op::kMul: return "product";
      case ir::Op::kDiv: return "ratio";
      case ir::Op::kWhere:
      case ir::Op::kConditional: return "selected";
      default: break;
    }
    const ir::OperationEntry& operation = ir::row(expr.op);
    return operation.warp_pattern.starts_with("wp.") ? fmt::format("{}_value", operation.mnemonic) : "";
  }

  /// "x_times_y" if both operands are variables or elements of arrays, else `otherwise`.
  std::string joined(const ir::Expr& expr, std::string_view word, std::string otherwise) const {
    const std::string first = simple_name(expr.args[0]);
    const std::string second = simple_name(expr.args[1]);
    if (first.empty() || second.empty() || first == second) return otherwise;
    return fmt::format("{}_{}_{}", first, word, second);
  }

  /// The name of a variable or of the array of an element; empty for others and for names that are long already.
  std::string simple_name(ir::ExprId id) const {
    const ir::Expr& expr = kernel_.expr(id);
    if (expr.kind == ir::ExprKind::kLoad) return simple_name(expr.args[0]);
    if (expr.kind != ir::ExprKind::kVariable) return "";
    const std::string& name = kernel_.var(expr.variable).name;
    return name.find('_') == std::string::npos ? name : "";
  }

  bool depends_on_variable(ir::ExprId id) const { return first_read(id) != ir::kNone; }

  /// The first variable or element of an array that the expression reads, apart from indices.
  ir::ExprId first_read(ir::ExprId id) const {
    const ir::Expr& expr = kernel_.expr(id);
    if (expr.kind == ir::ExprKind::kLoad) return id;
    if (expr.kind == ir::ExprKind::kVariable) return kernel_.is_thread_index(expr.variable) ? ir::kNone : id;
    for (const ir::ExprId arg : expr.args) {
      if (const ir::ExprId read = first_read(arg); read != ir::kNone) return read;
    }
    return ir::kNone;
  }

  /// The name of what the expression reads first; empty if there is none, or if it cannot become part of another name.
  std::string subject_of(ir::ExprId id) const {
    const ir::ExprId read = first_read(id);
    return read == ir::kNone ? "" : simple_name(read);
  }

  std::string called_name(const ir::Expr& expr) const {
    const ir::Function& function = module_.functions[static_cast<std::size_t>(expr.index)];
    return std::string(ir::library_name(function).value_or(function.name));
  }

  ir::Module& module_;
  ir::Function& kernel_;
  std::set<std::string> names_;  ///< names that are taken
  std::uint64_t start_;          ///< depends on the program only
};

// ---- kernels

/// Whether a name says something about the kernel: names of one or two letters, and those of any output, do not.
bool is_telling(std::string_view name) {
  constexpr std::string_view kEmptyWords[] = {"out", "result", "next", "output", "value", "values", "copy", "updated"};
  return name.size() > 2 && std::ranges::find(kEmptyWords, name) == std::end(kEmptyWords);
}

/// "a", "a_and_b", "a_b_and_c".
std::string joined_by_and(std::span<const std::string> words) {
  if (words.empty()) return "";
  if (words.size() == 1) return words[0];
  return fmt::format("{}_and_{}", fmt::join(words.first(words.size() - 1), "_"), words.back());
}

/// Functions that say little about a kernel: operators, selections, limits of an argument or an index, loads of tiles.
constexpr std::string_view kCommonFunctions[] = {"add", "sub", "mul",   "div",       "neg",
                                                 "min", "max", "where", "tile_load", "tile_load_indexed"};

constexpr std::string_view kAccumulate = "accumulate", kScatter = "scatter";

class KernelNamer {
 public:
  explicit KernelNamer(const ir::Module& module)
      : module_(module), kernel_(module.kernels[0]), taken_(names_in(module)) {
    collect_parameters();
    collect_functions();
    collect_endings();
  }

  std::vector<std::string> names() {
    const std::string first_ending = endings_.empty() ? "" : endings_[0];
    const std::string both_endings = first_ending + (endings_.size() < 2 ? "" : endings_[1]);
    const std::string one = joined_by_and(first(functions_, 1));
    const std::string two = joined_by_and(first(functions_, 2));
    const std::string all = joined_by_and(first(functions_, 3));
    const std::string with_one = with("_with_", joined_by_and(first(functions_of_output_, 1)));
    const std::string with_two = with("_with_", joined_by_and(first(functions_of_output_, 2)));
    const std::string with_all = with("_with_", joined_by_and(first(functions_of_output_, 3)));
    const std::string of_one_input = of(first(inputs_, 1));
    const std::string of_inputs = of(first(inputs_, 2));
    const std::string of_more_inputs = of(first(inputs_, 3));

    // What the kernel calls, and how; then what it computes from what; then both.
    add(one, first_ending);
    add(two, first_ending);
    add(output_, of_one_input, first_ending);
    rotate_by_program();
    add(output_, of_inputs, first_ending);
    add(output_, with_two, first_ending);
    add(all, first_ending);
    add(two, both_endings);
    add(output_, of_more_inputs, first_ending);
    add(output_, with_all, first_ending);
    add(output_, of_inputs, both_endings);
    add(output_, of_one_input, with_one, first_ending);
    add(output_, of_inputs, with_one, first_ending);
    add(output_, of_inputs, with_two, first_ending);
    add(output_, of_inputs, with_two, both_endings);
    add(output_, of_more_inputs, with_one, both_endings);
    add(output_, of_more_inputs, with_all, both_endings);
    add(outputs_, of_inputs, first_ending);
    add(outputs_, of_more_inputs, both_endings);
    add(outputs_, of_one_input, with_all, first_ending);
    add(outputs_, of_inputs, with_one, both_endings);
    add(outputs_, of_more_inputs, with_all, both_endings);
    add_other_wordings();
    if (names_.empty()) names_.push_back("compute_" + (output_.empty() ? "nothing" : output_));
    return std::move(names_);
  }

 private:
  static std::span<const std::string> first(const std::vector<std::string>& words, std::size_t count) {
    return std::span(words).first(std::min(words.size(), count));
  }
  static std::string of(std::span<const std::string> words) { return with("_of_", joined_by_and(words)); }
  static std::string with(const char* word, const std::string& words) { return words.empty() ? "" : word + words; }

  /// Functions that influence an output, except those that say little about it.
  void collect_functions() {
    std::set<std::string> behind;
    const ir::ParameterUses uses = ir::parameter_use(module_, kernel_);
    for (std::size_t p = 0; p < uses.size(); ++p) {
      if (!uses[p].changed()) continue;
      ConstructsBehind constructs = constructs_behind(module_, kernel_, static_cast<ir::VarId>(p));
      if (kernel_.variables[p].name == output_) behind_output_ = constructs;
      behind.merge(constructs.functions);
    }
    for (const std::string& name : functions_called(module_, kernel_)) {
      if (std::ranges::find(kCommonFunctions, name) != std::end(kCommonFunctions)) continue;
      if (behind.contains(name)) functions_.push_back(name);
      if (behind_output_.functions.contains(name)) functions_of_output_.push_back(name);
    }
  }

  void collect_parameters() {
    const ir::ParameterUses uses = ir::parameter_use(module_, kernel_);
    ir::VarId output = ir::kNone;
    std::tuple best_rank{false, false, false};
    for (std::size_t p = 0; p < uses.size(); ++p) {
      const std::string& name = kernel_.variables[p].name;
      if (!uses[p].changed()) continue;
      // An output that depends on inputs, then one of floats, then a telling name.
      const std::tuple rank{!parameters_behind(module_, kernel_, static_cast<ir::VarId>(p)).empty(),
                            kernel_.variables[p].type.has_float_components(), is_telling(name)};
      if (output != ir::kNone && rank <= best_rank) continue;
      output = static_cast<ir::VarId>(p);
      best_rank = rank;
    }
    if (output == ir::kNone) return;
    output_ = kernel_.var(output).name;
    std::vector<std::string> names{output_};
    for (std::size_t p = 0; p < uses.size(); ++p) {
      if (uses[p].changed() && static_cast<ir::VarId>(p) != output) names.push_back(kernel_.variables[p].name);
    }
    outputs_ = joined_by_and(first(names, 2));
    const std::vector<ir::VarId> behind = parameters_behind(module_, kernel_, output);
    for (const ir::VarId input : behind) {
      if (input != output && kernel_.var(input).type.has_float_components()) inputs_.push_back(kernel_.var(input).name);
    }
    std::ranges::stable_sort(inputs_, {}, [](const std::string& name) { return !is_telling(name); });
    for (const ir::VarId input : behind) {
      if (input != output && !kernel_.var(input).type.has_float_components())
        inputs_.push_back(kernel_.var(input).name);
    }
    is_stored_ = uses[static_cast<std::size_t>(output)].written;
    is_in_place_ = is_stored_ && std::ranges::binary_search(behind, output);
  }

  /// Endings that say how the kernel computes, the most telling first.
  void collect_endings() {
    const ControlFlow flow = control_flow_of(kernel_);
    const KernelDifficulty difficulty = measure_difficulty(module_, kernel_);
    const auto has = [](const std::vector<std::string>& words, std::string_view word) {
      return std::ranges::find(words, word) != words.end();
    };
    const auto add_ending = [&](bool applies, std::string ending) {
      if (applies) endings_.push_back(std::move(ending));
    };
    bool adds_atomically = false;  // to the output in the name
    int atomic_count = 0;
    ir::for_each_statement(kernel_.body, [&](const ir::Stmt& statement) {
      const auto* const atomic = std::get_if<ir::Atomic>(&statement.node);
      if (atomic == nullptr) return;
      const bool is_of_output = kernel_.var(kernel_.expr(atomic->array).variable).name == output_;
      adds_atomically |= atomic->op == ir::AtomicOp::kAdd && is_of_output;
      ++atomic_count;
    });
    add_ending(adds_atomically && !is_stored_, fmt::format("_and_{}", kAccumulate));
    add_ending(atomic_count > 0 && (!adds_atomically || is_stored_),
               atomic_count == 1 ? "_with_atomic" : "_with_atomics");
    const bool has_loop = behind_output_.loop;
    const bool has_simple_loop = has_loop && !flow.has_nested_loops;
    add_ending(has_loop && flow.has_nested_loops, "_with_nested_loops");
    add_ending(has_simple_loop && flow.while_count > 1, "_with_while_loops");
    add_ending(has_simple_loop && flow.while_count == 1, "_with_while_loop");
    add_ending(has_simple_loop && flow.while_count == 0 && flow.for_count > 1, "_with_loops");
    add_ending(has_simple_loop && flow.while_count == 0 && flow.for_count == 1, "_with_loop");
    add_ending(has(difficulty.memory_patterns, "scatter"), fmt::format("_and_{}", kScatter));
    add_ending(has(difficulty.memory_patterns, "gather"), "_with_gather");
    add_ending(is_in_place_, "_in_place");
    add_ending(has(difficulty.features, "tile"), "_on_tiles");
    add_ending(has(difficulty.features, "struct"), module_.structs.size() == 1 ? "_with_struct" : "_with_structs");
    add_ending(has(difficulty.features, "quaternion"), "_with_quaternions");
    add_ending(has(difficulty.features, "matrix"), "_with_matrices");
    add_ending(has(difficulty.features, "transform"), "_with_transforms");
    add_ending(has(difficulty.features, "vector"), "_with_vectors");
    add_ending(behind_output_.branch && flow.branch_count > 1, "_with_branches");
    add_ending(behind_output_.branch && flow.branch_count == 1, "_with_branch");
    add_ending(has(difficulty.memory_patterns, "transposed"), "_with_transpose");
    add_ending(has(difficulty.features, "half_precision"), "_with_16_bit_floats");
  }

  /// "energy_with_sin_cos_and_loop" for "energy_with_sin_and_cos_with_loop".
  static std::string with_one_list(const std::string& name) {
    constexpr std::string_view kWith = "_with_", kAnd = "_and_";
    const std::size_t first = name.find(kWith);
    if (first == std::string::npos) return name;
    std::string list = name.substr(first + kWith.size());
    const auto replace_all = [&](std::string_view word, std::string_view by) {
      for (std::size_t at = list.find(word); at != std::string::npos; at = list.find(word, at + by.size()))
        list.replace(at, word.size(), by);
    };
    replace_all(kWith, kAnd);
    const std::size_t last = list.rfind(kAnd);
    if (last == std::string::npos) return name;
    const std::string end = list.substr(last);
    list.resize(last);
    replace_all(kAnd, "_");
    return name.substr(0, first + kWith.size()) + list + end;
  }

  /// Adds a name of these parts, unless its first part is missing or the name cannot be used.
  void add(const std::string& start, const std::string& middle, const std::string& later, const std::string& end = "") {
    if (start.empty()) return;
    std::string name = start + middle + later + end;
    // "accumulate_energy_of_force" for "energy_of_force_and_accumulate": an output is not an action like "sin"
    for (const std::string_view verb : {kAccumulate, kScatter}) {
      const std::string ending = fmt::format("_and_{}", verb);
      const std::size_t at = name.find(ending);
      if (at == std::string::npos || (start != output_ && start != outputs_)) continue;
      name = fmt::format("{}_{}", verb, name.erase(at, ending.size()));
    }
    name = with_one_list(name);
    // A single word, such as "sin", would hide a function that a reader knows.
    if (name.find('_') == std::string::npos || name.size() > kMaxKernelName || taken_.contains(name)) return;
    if (std::ranges::find(names_, name) == names_.end()) names_.push_back(name);
  }
  void add(const std::string& start, const std::string& end) { add(start, end, ""); }

  /// Adds "energy_from_force" for each "energy_of_force", and then each name with a verb: "compute_energy_of_force" or
  /// "apply_sin_with_loop".
  void add_other_wordings() {
    constexpr std::string_view kOf = "_of_";
    for (std::size_t i = 0, count = names_.size(); i < count; ++i) {
      std::string name = names_[i];
      const std::size_t at = name.find(kOf);
      if (at != std::string::npos) add(name.replace(at, kOf.size(), "_from_"), "");
    }
    for (const std::string_view verb : {"compute_", "evaluate_"}) {
      for (std::size_t i = 0, count = names_.size(); i < count; ++i) {
        const std::string& name = names_[i];
        if (name.starts_with(output_)) add(std::string(verb) + name, "");
      }
    }
    for (std::size_t i = 0, count = names_.size(); i < count && !functions_.empty(); ++i) {
      const std::string& name = names_[i];
      if (name.starts_with(functions_[0])) add("apply_" + name, "");
    }
  }

  /// Lets each of the first names come first in some kernels.
  void rotate_by_program() {
    if (names_.empty()) return;
    std::ranges::rotate(names_, names_.begin() + static_cast<std::ptrdiff_t>(ir::program_key(kernel_) % names_.size()));
  }

  const ir::Module& module_;
  const ir::Function& kernel_;
  std::set<std::string> taken_;                   ///< names of variables, functions and structs
  std::vector<std::string> functions_;            ///< names of functions that influence an output
  std::vector<std::string> functions_of_output_;  ///< those that influence the output in the name
  std::vector<std::string> inputs_;               ///< names of float inputs, the telling ones first
  std::string output_;                            ///< name of an output
  ConstructsBehind behind_output_;                ///< what influences this output
  std::string outputs_;                           ///< names of this output and of another one
  bool is_stored_ = false;                        ///< whether the kernel stores elements of this output
  bool is_in_place_ = false;                      ///< whether its content also depends on that before the launch
  std::vector<std::string> endings_;
  std::vector<std::string> names_;  ///< the names so far
};

}  // namespace

std::vector<std::string> kernel_names(const ir::Module& module) { return KernelNamer(module).names(); }

void name_variables(ir::Module& module) { VariableNamer(module).run(); }

}  // namespace assay::dataset
