#include "harness/dataset/description.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/dataset/difficulty.hpp"
#include "harness/dataset/influence.hpp"
#include "ir/analysis.hpp"
#include "ir/launch.hpp"
#include "ir/library.hpp"
#include "ir/visit.hpp"
#include "support/trim.hpp"

namespace assay::dataset {
namespace {

/// "a", "a and b", "a, b and c".
std::string listed(std::span<const std::string> words) {
  if (words.empty()) return "";
  if (words.size() == 1) return words[0];
  return fmt::format("{} and {}", fmt::join(words.first(words.size() - 1), ", "), words.back());
}

std::string in_backquotes(std::string_view text) { return fmt::format("`{}`", text); }

/// Number of brackets that the text opens and does not close; nullopt if it closes others, or has a string or comment.
std::optional<int> open_brackets(std::string_view text) {
  int open = 0;
  for (const char c : text) {
    if (c == '#' || c == '"' || c == '\'' || c == '\\' || c == '`') return std::nullopt;
    open += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (open < 0) return std::nullopt;
  }
  return open;
}

/// Whether the text is one complete piece of code: its brackets are closed, and it has no string or comment.
bool is_complete(std::string_view text) { return open_brackets(text) == 0 && !text.empty(); }

/// Lines of a statement that are quoted, at most.
constexpr std::size_t kMostLinesOfStatement = 16;

/// The code that starts on a line and ends where its brackets are closed, as one line without comments; empty if it has
/// no such end, or contains a string.
std::string joined_lines(std::span<const std::string> lines) {
  std::string joined;
  for (std::string_view line : lines.first(std::min(lines.size(), kMostLinesOfStatement))) {
    if (line.find_first_of("\"'") == std::string_view::npos) line = line.substr(0, line.find('#'));
    line = trimmed(line);
    const bool is_inside = joined.ends_with('(') || joined.ends_with('[');
    const bool is_end = line.starts_with(')') || line.starts_with(']');
    if (is_end && joined.ends_with(',')) joined.pop_back();
    if (!joined.empty() && !is_inside && !is_end && !line.empty()) joined += ' ';
    joined += line;
    const std::optional<int> open = open_brackets(joined);
    if (!open) return "";
    if (*open == 0) return joined;
  }
  return "";
}

/// Whether the line begins a block.
bool is_head(std::string_view line) {
  return line.ends_with(':') && (line.starts_with("for ") || line.starts_with("while ") || line.starts_with("if ") ||
                                 line.starts_with("elif "));
}

/// The code as the texts quote it: without `wp.` before functions, and with `0.5` for the literal `wp.float64(0.5)` if
/// `literal_type` is "float64".
std::string without_prefixes(std::string_view code, std::string_view literal_type) {
  std::string text;
  while (!code.empty()) {
    if (!code.starts_with("wp.")) {
      text += code.front();
      code.remove_prefix(1);
      continue;
    }
    code.remove_prefix(3);
    const std::size_t open = code.find('(');
    const std::string_view name = code.substr(0, open);
    const std::size_t close = code.find(')');
    if (open == std::string_view::npos || close == std::string_view::npos) continue;
    const bool is_float = !literal_type.empty() && name == literal_type;
    const std::string_view argument = close > open ? code.substr(open + 1, close - open - 1) : "";
    if (!is_float || argument.empty() || argument.find_first_not_of("-0123456789.e") != std::string_view::npos)
      continue;
    text += argument;
    code.remove_prefix(close + 1);
  }
  return text;
}

/// A type of values in words: "float32", "vector of 3 float32".
std::string type_text(const ir::Module& module, ir::Type type) {
  const std::string scalar(ir::row(type.scalar).warp_name);
  switch (type.shape) {
    case ir::Shape::kVector: return fmt::format("vector of {} {}", int{type.rows}, scalar);
    case ir::Shape::kMatrix: return fmt::format("{} x {} matrix of {}", int{type.rows}, int{type.cols}, scalar);
    case ir::Shape::kQuaternion: return fmt::format("quaternion of {}", scalar);
    case ir::Shape::kTransform: return fmt::format("transform of {}", scalar);
    case ir::Shape::kStruct: return module.structs[type.struct_id].name;
    case ir::Shape::kVoid:
    case ir::Shape::kScalar: break;
  }
  return scalar;
}

class Describer {
 public:
  Describer(const ir::Module& module, const ir::Function& kernel)
      : module_(module),
        kernel_(kernel),
        uses_(ir::parameter_use(module, kernel)),
        literal_type_(literal_type_of(module, kernel)) {}

  std::string docstring() const {
    std::string text;
    for (const std::string& sentence : {results(), control_flow(), functions()}) {
      if (!sentence.empty()) text += (text.empty() ? "" : " ") + sentence;
    }
    return text;
  }

  std::string instruction() const {
    std::vector<std::string> names;
    for (std::size_t p = 0; p < uses_.size(); ++p)
      names.push_back(kernel_.variables[p].name);
    std::string text =
        fmt::format("Write a kernel {} in NVIDIA Warp. It is launched over {}. ",
                    in_backquotes(fmt::format("{}({})", kernel_.name, fmt::join(names, ", "))), launch());
    text += parameters();
    text += structs_and_functions();
    text += fmt::format("Each {} does the following: {}.", ir::uses_tiles(kernel_) ? "block" : "thread",
                        steps(kernel_.body));
    if (!literal_type_.empty()) text += fmt::format(" All floating-point constants are of type {}.", literal_type_);
    const std::string conditions = preconditions();
    return conditions.empty() ? text : text + " " + conditions;
  }

 private:
  // ---- code of the source

  /// The float type of all floats of the parameters, if it is not float32, whose literals need no type; otherwise
  /// empty.
  static std::string literal_type_of(const ir::Module& module, const ir::Function& kernel) {
    std::optional<ir::Scalar> type;
    for (int p = 0; p < kernel.parameter_count; ++p) {
      const ir::Type element = kernel.variables[static_cast<std::size_t>(p)].type.element();
      for (const ir::ScalarComponent& component : ir::scalar_components(module, element)) {
        if (!ir::is_float(component.scalar)) continue;
        if (type && *type != component.scalar) return "";
        type = component.scalar;
      }
    }
    if (!type || *type == ir::Scalar::kF32) return "";
    return std::string(ir::row(*type).warp_name);
  }

  std::string plain(std::string_view code) const { return without_prefixes(code, literal_type_); }

  /// The code of a statement, as one line; empty if it is unknown or cannot be quoted.
  std::string line_of(const ir::Stmt& statement) const {
    const auto line = static_cast<std::size_t>(statement.loc.line);
    if (line == 0 || line > module_.source_lines.size()) return "";
    return joined_lines(std::span(module_.source_lines).subspan(line - 1));
  }

  /// The code between the keyword and the colon of a compound statement, such as a condition.
  std::string head_of(const ir::Stmt& statement, std::initializer_list<std::string_view> keywords) const {
    const std::string line = line_of(statement);
    for (const std::string_view keyword : keywords) {
      if (line.starts_with(keyword) && line.ends_with(':'))
        return plain(trimmed(std::string_view(line).substr(keyword.size(), line.size() - keyword.size() - 1)));
    }
    return "";
  }

  struct Assignment {
    std::string target;
    std::string sign;  ///< "=", or "+=" and the like
    std::string value;
  };
  std::optional<Assignment> assignment_of(const ir::Stmt& statement) const {
    const std::string line = line_of(statement);
    for (const char* const sign : {" = ", " += ", " -= ", " *= ", " /= "}) {
      const std::size_t at = line.find(sign);
      if (at == std::string::npos) continue;
      return Assignment{.target = plain(line.substr(0, at)),
                        .sign = std::string(trimmed(sign)),
                        .value = plain(line.substr(at + std::string_view(sign).size()))};
    }
    return std::nullopt;
  }

  // ---- summary

  std::vector<std::string> thread_indices() const {
    std::vector<std::string> names;
    for (int d = 0; d < kernel_.launch_rank; ++d)
      names.push_back(in_backquotes(kernel_.variables[static_cast<std::size_t>(kernel_.parameter_count + d)].name));
    return names;
  }

  std::string for_each_index() const {
    const std::vector<std::string> names = thread_indices();
    const char* const unit = ir::uses_tiles(kernel_) ? "block" : "index";
    if (names.size() == 1) return fmt::format("For each {} {}", unit, names[0]);
    return fmt::format("For each {} ({})", unit, fmt::join(names, ", "));
  }

  /// How a kernel changes an array.
  enum class Update : std::uint8_t { kStores, kAtomics, kStoresAndAtomics };
  static Update update_of(const ir::ParameterUse& use) {
    if (!use.is_atomically_updated) return Update::kStores;
    return use.written ? Update::kStoresAndAtomics : Update::kAtomics;
  }

  /// "For each index `i`, compute `out` from `x` and `n`."
  std::string results() const {
    struct Group {
      Update update = Update::kStores;
      std::vector<std::string> targets;
      std::vector<std::string> sources;
    };
    std::vector<Group> groups;
    for (std::size_t p = 0; p < uses_.size(); ++p) {
      if (!uses_[p].changed()) continue;
      std::vector<std::string> behind;
      for (const ir::VarId source : parameters_behind(module_, kernel_, static_cast<ir::VarId>(p)))
        behind.push_back(in_backquotes(kernel_.var(source).name));
      const std::string name = in_backquotes(kernel_.variables[p].name);
      const Update update = update_of(uses_[p]);
      const auto same = std::ranges::find_if(
          groups, [&](const Group& group) { return group.update == update && group.sources == behind; });
      if (same == groups.end()) groups.push_back({.update = update, .targets = {name}, .sources = behind});
      else same->targets.push_back(name);
    }
    std::vector<std::string> parts;
    for (const Group& group : groups) {
      if (group.sources.empty() && group.update == Update::kStores) {
        parts.push_back(fmt::format("set {} to constant values", listed(group.targets)));
        continue;
      }
      std::string part =
          fmt::format("{} {}", group.update == Update::kStores ? "compute" : "update", listed(group.targets));
      if (group.update == Update::kAtomics) part += " atomically";
      if (!group.sources.empty()) part += fmt::format(" from {}", listed(group.sources));
      if (group.update == Update::kStoresAndAtomics) part += " with stores and atomic operations";
      parts.push_back(std::move(part));
    }
    std::string text = fmt::format("{}, {}.", for_each_index(),
                                   parts.empty() ? "do nothing" : fmt::format("{}", fmt::join(parts, "; ")));
    return text;
  }

  static std::string counted(int count, const char* one, const char* many) {
    constexpr std::string_view kWords[] = {"no",     "one",      "two",      "three",   "four",   "five",
                                           "six",    "seven",    "eight",    "nine",    "ten",    "eleven",
                                           "twelve", "thirteen", "fourteen", "fifteen", "sixteen"};
    const auto number = static_cast<std::size_t>(count);
    const std::string word = number < std::size(kWords) ? std::string(kWords[number]) : fmt::format("{}", count);
    return fmt::format("{} {}", word, count == 1 ? one : many);
  }

  std::string control_flow() const {
    const ControlFlow flow = control_flow_of(kernel_);
    std::vector<std::string> parts;
    if (flow.has_nested_loops && flow.for_count == 2 && flow.while_count == 0)
      parts.emplace_back("two nested range loops");
    else if (flow.for_count > 0) parts.push_back(counted(flow.for_count, "range loop", "range loops"));
    if (flow.while_count > 0) parts.push_back(counted(flow.while_count, "while loop", "while loops"));
    if (flow.branch_count > 0) parts.push_back(counted(flow.branch_count, "branch", "branches"));
    if (flow.early_return_count > 0)
      parts.push_back(counted(flow.early_return_count, "conditional return", "conditional returns"));
    if (parts.empty()) return "";
    const bool is_nesting_stated = parts[0].find("nested") != std::string::npos;
    return fmt::format("Has {}{}.", listed(parts),
                       flow.has_nested_loops && !is_nesting_stated ? ", with nested loops" : "");
  }

  std::string functions() const {
    std::vector<std::string> names;
    for (const std::string& name : functions_called(module_, kernel_))
      names.push_back(in_backquotes(name));
    return names.empty() ? "" : fmt::format("Calls {}.", listed(names));
  }

  // ---- instruction

  std::string launch() const {
    const std::vector<std::string> names = thread_indices();
    if (ir::uses_tiles(kernel_)) {
      if (names.size() == 1) return fmt::format("blocks of threads with the index {}", names[0]);
      return fmt::format("a {}-dimensional grid of blocks of threads with the indices {}", names.size(), listed(names));
    }
    if (names.size() == 1) return fmt::format("one dimension with the index {}", names[0]);
    return fmt::format("{} dimensions with the indices {}", names.size(), listed(names));
  }

  std::string parameters() const {
    std::vector<std::string> parts;
    for (std::size_t p = 0; p < uses_.size(); ++p) {
      const ir::Variable& variable = kernel_.variables[p];
      const std::string type = type_text(module_, variable.type.element());
      std::string text = in_backquotes(variable.name);
      text += variable.type.is_array()
                  ? fmt::format(" is a {}-dimensional array of type {}", int{variable.type.rank}, type)
                  : fmt::format(" is a value of type {}", type);
      if (uses_[p].changed()) {
        const bool is_input = uses_[p].is_atomically_updated || is_behind_an_output(static_cast<ir::VarId>(p));
        text += is_input ? " (input and output)" : " (output)";
      } else if (!is_used(static_cast<ir::VarId>(p))) {
        text += " (unused)";
      }
      parts.push_back(std::move(text));
    }
    return parts.empty() ? "" : fmt::format("{}. ", fmt::join(parts, "; "));
  }

  /// Whether the content of the array before the launch may influence an output.
  bool is_behind_an_output(ir::VarId array) const {
    for (std::size_t p = 0; p < uses_.size(); ++p) {
      if (uses_[p].changed() &&
          std::ranges::binary_search(parameters_behind(module_, kernel_, static_cast<ir::VarId>(p)), array))
        return true;
    }
    return false;
  }

  bool is_used(ir::VarId variable) const {
    bool is_used = false;
    ir::for_each_statement(kernel_.body, [&](const ir::Stmt& statement) {
      ir::for_each_root_expression(statement, [&](const ir::ExprId& root) {
        ir::for_each_expression(kernel_, root, [&](ir::ExprId, const ir::Expr& expr) {
          is_used |= expr.kind == ir::ExprKind::kVariable && expr.variable == variable;
        });
      });
    });
    return is_used;
  }

  /// "`vec6` is `types.vector(length=6, dtype=float)`. " for each type that the source names.
  std::string named_types() const {
    constexpr std::string_view kType = " = wp.types.";
    std::string text;
    for (const std::string& line : module_.source_lines) {
      const std::size_t at = line.find(kType);
      if (at == std::string::npos || at == 0 || line.front() == ' ' || !is_complete(line)) continue;
      text += fmt::format("{} is {}. ", in_backquotes(line.substr(0, at)), in_backquotes(plain(line.substr(at + 3))));
    }
    return text;
  }

  std::string structs_and_functions() const {
    std::string text = named_types();
    for (const ir::StructDef& definition : module_.structs) {
      std::vector<std::string> fields;
      for (const ir::Field& field : definition.fields)
        fields.push_back(
            fmt::format("{} of type {}", in_backquotes(field.name), type_text(module_, field.type.element())));
      text += fmt::format("The struct {} has the {} {}. ", in_backquotes(definition.name),
                          fields.size() == 1 ? "field" : "fields", listed(fields));
    }
    for (const ir::Function& function : module_.functions) {
      if (ir::library_name(function) || !is_in_source(function)) continue;
      const std::string purpose = purpose_of(function);
      text += fmt::format("The function {}{} does the following: {}. ", in_backquotes(signature_of(function)),
                          purpose.empty() ? types_of_parameters(function) : purpose, steps(function.body));
    }
    return text;
  }

  /// Whether the source contains the function. It does not contain the functions that the frontend adds for queries of
  /// meshes.
  static bool is_in_source(const ir::Function& function) {
    bool is_in_source = false;
    ir::for_each_statement(function.body, [&](const ir::Stmt& statement) { is_in_source |= statement.loc.line > 0; });
    return is_in_source;
  }

  /// For a custom gradient or a replay, what it belongs to: " is the custom gradient of `f` and".
  std::string purpose_of(const ir::Function& function) const {
    const auto number = static_cast<std::int32_t>(&function - module_.functions.data());
    for (const ir::Function& owner : module_.functions) {
      if (owner.gradient_function_index == number)
        return fmt::format(" is the custom gradient (`wp.func_grad`) of {} and", in_backquotes(owner.name));
      if (owner.replay_function_index == number)
        return fmt::format(" is the replay (`wp.func_replay`) of {} and", in_backquotes(owner.name));
    }
    return "";
  }

  /// ", where `x` and `y` are of type float32,"; parameters of one type are listed together.
  std::string types_of_parameters(const ir::Function& function) const {
    std::vector<std::pair<ir::Type, std::vector<std::string>>> names_by_type;
    for (ir::VarId p = 0; p < function.parameter_count; ++p) {
      const ir::Type& type = function.var(p).type;
      auto group = std::ranges::find(names_by_type, type, [](const auto& one) { return one.first; });
      if (group == names_by_type.end()) group = names_by_type.insert(group, {type, {}});
      group->second.push_back(in_backquotes(function.var(p).name));
    }
    std::vector<std::string> parts;
    for (const auto& [type, names] : names_by_type) {
      const bool is_one = names.size() == 1;
      const std::string array = !type.is_array() ? ""
                                : is_one         ? fmt::format("a {}-dimensional array ", int{type.rank})
                                                 : fmt::format("{}-dimensional arrays ", int{type.rank});
      parts.push_back(fmt::format("{} {} {}of type {}", listed(names), is_one ? "is" : "are", array,
                                  type_text(module_, type.element())));
    }
    return parts.empty() ? "" : fmt::format(", where {},", listed(parts));
  }

  /// The signature in the source, where the adjoint arrays of a gradient, the only nullable parameters, are not stated.
  static std::string signature_of(const ir::Function& function) {
    std::vector<std::string> names;
    for (ir::VarId p = 0; p < function.parameter_count; ++p)
      if (!function.var(p).is_nullable) names.push_back(function.var(p).name);
    return fmt::format("{}({})", function.name, fmt::join(names, ", "));
  }

  /// The steps of a block, separated by semicolons; a step with steps of its own is in parentheses.
  std::string steps(const ir::Block& block) const {
    std::vector<std::string> texts;
    bool changes_operand = false;  // whether the statement belongs to the call before it
    for (const ir::Stmt& statement : block.statements) {
      if (!changes_operand && !is_implicit(statement, texts)) texts.push_back(step(statement));
      const auto* const call = std::get_if<ir::Call>(&statement.node);
      changes_operand =
          call != nullptr && ir::changes_first_operand(module_.functions[static_cast<std::size_t>(call->function)]);
    }
    if (texts.empty()) return "nothing";
    return fmt::format("{}", fmt::join(texts, "; "));
  }

  /// Whether the source does not contain the statement. A part of the condition of a loop or of an `if` can be a
  /// statement of its own, and so can a step of a loop over the results of a query. A custom gradient declares its
  /// adjoints at its beginning and returns them at its end, and gets the lines of its `def` and of its last statement
  /// there.
  bool is_implicit(const ir::Stmt& statement, const std::vector<std::string>& texts_before) const {
    const std::string line = line_of(statement);
    if (line.starts_with("def ")) return true;
    if (is_head(line)) {
      const bool is_if = std::holds_alternative<ir::If>(statement.node);
      const bool is_loop =
          std::holds_alternative<ir::For>(statement.node) || std::holds_alternative<ir::While>(statement.node);
      if (line.starts_with("for ") || line.starts_with("while ")) return !is_loop;
      return !is_if;
    }
    return std::holds_alternative<ir::Return>(statement.node) && !line.starts_with("return") && !texts_before.empty() &&
           texts_before.back() == in_backquotes(plain(line));
  }

  std::string nested(const ir::Block& block) const {
    if (block.statements.empty()) return "do nothing";
    const auto has_steps = [](const ir::Stmt& statement) {
      return std::holds_alternative<ir::If>(statement.node) || std::holds_alternative<ir::For>(statement.node) ||
             std::holds_alternative<ir::While>(statement.node);
    };
    const bool is_simple = block.statements.size() == 1 && !has_steps(block.statements[0]);
    return is_simple ? steps(block) : fmt::format("({})", steps(block));
  }

  std::string step(const ir::Stmt& statement) const {
    return std::visit(
        ir::Overloaded{
            [&](const ir::Let&) { return assignment(statement); },
            [&](const ir::Assign&) { return assignment(statement); },
            [&](const ir::Store&) { return assignment(statement); },
            [&](const ir::Atomic&) { return whole(statement, "update an array atomically"); },
            [&](const ir::Call&) { return whole(statement, "call a function"); },
            [&](const ir::If& node) {
              const std::string condition = head_of(statement, {"if ", "elif "});
              std::string text =
                  fmt::format("if {}, {}", condition.empty() ? "a condition holds" : in_backquotes(condition),
                              nested(node.then_block));
              if (!node.else_block.statements.empty()) text += fmt::format(", otherwise {}", nested(node.else_block));
              return text;
            },
            [&](const ir::For& node) {
              const std::string head = head_of(statement, {"for "});
              return fmt::format("for {}: ({})", head.empty() ? "each index of a range" : in_backquotes(head),
                                 steps(node.body));
            },
            [&](const ir::While& node) {
              // A loop over the results of a query is a `while` loop.
              if (const std::string head = head_of(statement, {"for "}); !head.empty())
                return fmt::format("for {}: ({})", in_backquotes(head), steps(node.body));
              const std::string condition = head_of(statement, {"while "});
              return fmt::format("while {}: ({})", condition.empty() ? "a condition holds" : in_backquotes(condition),
                                 steps(node.body));
            },
            [](const ir::Break&) { return std::string("leave the loop"); },
            [](const ir::Continue&) { return std::string("continue with the next iteration"); },
            [&](const ir::Return& node) {
              return node.values.empty() ? std::string("return") : whole(statement, "return a value");
            },
        },
        statement.node);
  }

  /// The statement's own line, or a description if it cannot be quoted.
  std::string whole(const ir::Stmt& statement, const char* otherwise) const {
    const std::string line = line_of(statement);
    return line.empty() ? otherwise : in_backquotes(plain(line));
  }

  std::string assignment(const ir::Stmt& statement) const {
    const std::optional<Assignment> found = assignment_of(statement);
    if (!found || found->sign != "=") return whole(statement, "compute a value");
    if (std::holds_alternative<ir::Store>(statement.node))
      return fmt::format("store {} in {}", in_backquotes(found->value), in_backquotes(found->target));
    return fmt::format("set {} to {}", in_backquotes(found->target), in_backquotes(found->value));
  }

  std::string preconditions() const {
    std::vector<std::string> conditions;
    constexpr std::string_view kDomain = "domain: ";
    for (const std::string& line : kernel_.annotations) {
      if (!line.starts_with(kDomain)) continue;
      const std::string_view condition = std::string_view(line).substr(kDomain.size());
      // The one kind of condition that is a sentence: "at is a permutation".
      const std::size_t is = condition.find(" is a ");
      if (is == std::string_view::npos) conditions.push_back(in_backquotes(condition));
      else
        conditions.push_back(fmt::format("{} is a permutation of its indices", in_backquotes(condition.substr(0, is))));
    }
    if (conditions.empty()) return "";
    return fmt::format("The inputs satisfy {}: {}.", conditions.size() == 1 ? "this condition" : "these conditions",
                       listed(conditions));
  }

  const ir::Module& module_;
  const ir::Function& kernel_;
  const ir::ParameterUses uses_;
  const std::string literal_type_;  ///< the type of literals such as `wp.float64(0.5)` that are quoted without it
};

}  // namespace

KernelDescription describe(const ir::Module& module, const ir::Function& kernel) {
  const Describer describer(module, kernel);
  return {.docstring = describer.docstring(), .instruction = describer.instruction()};
}

}  // namespace assay::dataset
