#include "harness/mutation/warp_code.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace assay::mutation {
namespace {

/// A statement `name(arguments);`, such as `wp::adj_mul(var_1, var_2, adj_1, adj_2, adj_3);`.
struct WarpCall {
  std::string indent;
  std::string name;
  std::vector<std::string> arguments;

  [[nodiscard]] std::string text() const { return fmt::format("{}{}({});", indent, name, fmt::join(arguments, ", ")); }
};

std::string_view trimmed(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" \t");
  return start == std::string_view::npos ? std::string_view() : line.substr(start);
}

/// The arguments of a call whose text starts after the opening parenthesis; empty if it is not closed on the line.
std::optional<std::vector<std::string>> arguments_in(std::string_view text) {
  std::vector<std::string> arguments(1);
  int depth = 0;
  for (const char c : text) {
    if (c == ')' && depth == 0) return arguments;
    depth += c == '(' || c == '{' ? 1 : c == ')' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0) arguments.emplace_back();
    else if (c != ' ' || !arguments.back().empty()) arguments.back() += c;
  }
  return std::nullopt;
}

std::optional<WarpCall> call_in(std::string_view line) {
  const std::string_view statement = trimmed(line);
  const std::size_t open = statement.find('(');
  if (open == std::string_view::npos || !statement.ends_with(");") || statement.starts_with("//")) return std::nullopt;
  const std::string_view name = statement.substr(0, open);
  const bool is_name = std::ranges::all_of(
      name, [](char c) { return c == ':' || c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; });
  auto arguments = arguments_in(statement.substr(open + 1));
  if (!is_name || !arguments) return std::nullopt;
  return WarpCall{.indent = std::string(line.substr(0, line.size() - statement.size())),
                  .name = std::string(name),
                  .arguments = std::move(*arguments)};
}

/// One function of the text, line by line.
class WarpFunction {
 public:
  WarpFunction(const std::string& source, const std::string& function) : source_(source) {
    begin_ = function.empty() ? std::string::npos : source.find(function);
    if (begin_ == std::string::npos) return;
    for (std::size_t at = begin_; at < begin_ + function.size();) {
      const std::size_t end = source.find('\n', at);
      lines_.emplace_back(source.substr(at, end - at));
      at = end + 1;
    }
    static const std::regex kDeclaration(
        R"(^\s*(?:const )?(wp::[\w:<>, ]+[*&]?|bool) ((?:var|adj)_\w+)(?: = .*)?[;,)]+$)");
    for (std::size_t l = 0; l < lines_.size(); ++l) {
      if (trimmed(lines_[l]) == "// reverse") reverse_ = l + 1;
      std::smatch match;
      if (std::regex_match(lines_[l], match, kDeclaration)) types_.emplace(match[2], match[1]);
    }
  }

  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  /// Number of the first line of the reverse part; the number of lines if there is none.
  [[nodiscard]] std::size_t reverse() const { return std::min(reverse_, lines_.size()); }
  [[nodiscard]] std::string type_of(const std::string& variable) const {
    const auto found = types_.find(variable);
    return found == types_.end() ? "" : found->second;
  }
  [[nodiscard]] const std::map<std::string, std::string>& types() const { return types_; }

  /// The file with a line replaced by the text, which may be several lines or none.
  [[nodiscard]] std::string with_line(std::size_t number, const std::string& text) const {
    std::size_t at = begin_;
    for (std::size_t l = 0; l < number; ++l)
      at += lines_[l].size() + 1;
    std::string changed = source_;
    changed.replace(at, lines_[number].size(), text);
    return changed;
  }

 private:
  const std::string& source_;
  std::size_t begin_ = 0;
  std::size_t reverse_ = std::string::npos;
  std::vector<std::string> lines_;
  std::map<std::string, std::string> types_;  ///< by variable, as far as they are declared on one line
};

bool is_scalar_float(const std::string& type) { return type == "wp::float32" || type == "wp::float64"; }

/// Collects the mutations of one function.
class WarpFinder {
 public:
  WarpFinder(const WarpFunction& function, std::vector<WarpMutation>& found) : function_(function), found_(found) {}

  void replace(std::size_t line, const std::string& text) {
    const std::string before(trimmed(function_.lines()[line]));
    const std::string after(trimmed(text));
    found_.push_back({.description = after.empty() ? fmt::format("'{}' is dropped", before)
                                                   : fmt::format("'{}' becomes '{}'", before, after),
                      .source = function_.with_line(line, text)});
  }

  using OnCall = std::function<void(std::size_t line, const WarpCall& call)>;
  /// The adjoint calls in the reverse part.
  void for_each_adjoint(const OnCall& visit) const {
    for (std::size_t l = function_.reverse(); l < function_.lines().size(); ++l) {
      const auto call = call_in(function_.lines()[l]);
      if (call && call->name.find("adj_") != std::string::npos && !call->arguments.back().empty()) visit(l, *call);
    }
  }

  /// Inserts a statement before each adjoint call whose last argument, the incoming adjoint, has a suitable type.
  void before_each_adjoint(
      bool (*is_suitable)(const std::string& type),
      const std::function<std::string(const std::string& adjoint, const std::string& type)>& statement) {
    for_each_adjoint([&](std::size_t line, const WarpCall& call) {
      const std::string& adjoint = call.arguments.back();
      const std::string type = function_.type_of(adjoint);
      // The last argument of the adjoint of a store or an assignment receives the adjoint.
      const bool receives = call.name.ends_with("_store") || call.name.ends_with("adj_assign");
      if (!receives && is_suitable(type))
        replace(line, call.indent + statement(adjoint, type) + " " + std::string(trimmed(function_.lines()[line])));
    });
  }

  /// Renames each call of the reverse part by the table, if it has `count` arguments (0: any number).
  void rename_adjoints(const std::map<std::string, std::string>& names, std::size_t count = 0) {
    for_each_adjoint([&](std::size_t line, WarpCall call) {
      const auto found = names.find(call.name);
      if (found == names.end() || (count != 0 && call.arguments.size() != count)) return;
      call.name = found->second;
      replace(line, call.text());
    });
  }

  /// Replaces the first match of the pattern in each line from `first` on, where there is one.
  void replace_pattern(std::size_t first, const std::regex& pattern, const std::string& by) {
    for (std::size_t l = first; l < function_.lines().size(); ++l) {
      const std::string& line = function_.lines()[l];
      const std::string after = std::regex_replace(line, pattern, by, std::regex_constants::format_first_only);
      if (after != line) replace(l, after);
    }
  }

  const WarpFunction& function() const { return function_; }

 private:
  const WarpFunction& function_;
  std::vector<WarpMutation>& found_;
};

// ---- the backward function

/// Number of indices of an array access `name(array, index..., [value,] adjoints..., result)`.
std::size_t indices_of(const WarpCall& call) {
  const bool has_value = call.name.ends_with("_store") || call.name.find("atomic") != std::string::npos;
  if (!has_value && !call.name.ends_with("adj_address")) return 0;
  // Each parameter has an adjoint; all but a store have the adjoint of the result as well.
  const std::size_t parameters = call.arguments.size() / 2;
  return parameters - 1 - (has_value ? 1 : 0);
}

void change_indices(MutationOperator op, WarpFinder& finder) {
  finder.for_each_adjoint([&](std::size_t line, WarpCall call) {
    const std::size_t indices = indices_of(call);
    if (indices == 0) return;
    if (op == MutationOperator::kTransposedIndex) {
      if (indices < 2 || call.arguments[1] == call.arguments[2]) return;
      std::swap(call.arguments[1], call.arguments[2]);
    } else {
      call.arguments[1] += op == MutationOperator::kIndexPlusOne ? " + 1" : " - 1";
    }
    finder.replace(line, call.text());
  });
}

/// Swaps the first two operands, or uses the result of the operation as its first operand.
void find_operands(MutationOperator op, WarpFinder& finder) {
  const WarpFunction& function = finder.function();
  finder.for_each_adjoint([&](std::size_t line, WarpCall call) {
    std::vector<std::string>& arguments = call.arguments;
    if (indices_of(call) > 0 || arguments.size() < 3 || !arguments[0].starts_with("var_")) return;
    const std::string type = function.type_of(arguments[0]);
    if (op == MutationOperator::kWrongOperand) {
      if (!arguments[1].starts_with("var_") || arguments[0] == arguments[1] || function.type_of(arguments[1]) != type)
        return;
      std::swap(arguments[0], arguments[1]);
    } else {
      const std::string result = "var_" + arguments.back().substr(std::min<std::size_t>(4, arguments.back().size()));
      if (type.empty() || function.type_of(result) != type || result == arguments[0]) return;
      arguments[0] = result;
    }
    finder.replace(line, call.text());
  });
}

/// Reads the adjoint of another array of the same type.
void find_other_cotangent(WarpFinder& finder) {
  const WarpFunction& function = finder.function();
  finder.for_each_adjoint([&](std::size_t line, WarpCall call) {
    if (!call.name.ends_with("adj_array_store")) return;
    for (std::string& argument : call.arguments) {
      const std::string type = function.type_of(argument);
      if (!argument.starts_with("adj_") || !type.starts_with("wp::array_t")) continue;
      for (const auto& [other, other_type] : function.types()) {
        if (other == argument || other_type != type || !other.starts_with("adj_")) continue;
        argument = other;
        return finder.replace(line, call.text());
      }
    }
  });
}

void find_statements(MutationOperator op, WarpFinder& finder) {
  finder.for_each_adjoint([&](std::size_t line, const WarpCall& call) {
    if (op == MutationOperator::kDropContribution) return finder.replace(line, "");
    // A store's adjoint clears the adjoint that it reads, so a second one adds nothing.
    if (call.name.ends_with("_store") || call.name.ends_with("adj_assign")) return;
    finder.replace(line, call.text() + " " + std::string(trimmed(call.text())));
  });
}

/// Before the adjoint of a store, runs one whose result nothing uses.
void find_early_clearing(WarpFinder& finder) {
  finder.for_each_adjoint([&](std::size_t line, const WarpCall& call) {
    if (!call.name.ends_with("adj_array_store")) return;
    WarpCall clearing = call;
    clearing.indent.clear();
    clearing.arguments.back() = "cleared";
    finder.replace(line, fmt::format("{}{{ auto cleared = {}; {} }} {}", call.indent, call.arguments.back(),
                                     clearing.text(), trimmed(call.text())));
  });
}

void find_trips(MutationOperator op, WarpFinder& finder) {
  const WarpFunction& function = finder.function();
  for (std::size_t l = 0; l < function.lines().size(); ++l) {
    const std::string& line = function.lines()[l];
    constexpr std::string_view kRange = "wp::range(";
    const std::size_t at = line.find(kRange);
    if (at == std::string::npos || trimmed(line).starts_with("//")) continue;
    auto arguments = arguments_in(std::string_view(line).substr(at + kRange.size()));
    if (!arguments) continue;
    (*arguments)[arguments->size() > 1 ? 1 : 0] += op == MutationOperator::kOneIterationMore ? " + 1" : " - 1";
    finder.replace(l, fmt::format("{}{}{});", line.substr(0, at), kRange, fmt::join(*arguments, ", ")));
  }
}

/// Whether the function reads an array that it writes. If it does not, a repeated store writes what is there already.
bool reads_what_it_writes(const WarpFunction& function) {
  static const std::regex kWrite(R"(wp::(?:array_store|atomic_\w+)\((var_\w+),)");
  static const std::regex kRead(R"(wp::address\((var_\w+),)");
  std::set<std::string> written, read;
  for (const std::string& line : function.lines()) {
    std::smatch match;
    if (std::regex_search(line, match, kWrite)) written.insert(match[1]);
    if (std::regex_search(line, match, kRead)) read.insert(match[1]);
  }
  return std::ranges::any_of(written, [&](const std::string& array) { return read.contains(array); });
}

/// Runs a store or an atomic again that the repeated forward part leaves out.
void find_replayed(MutationOperator op, WarpFinder& finder) {
  const std::string_view what = op == MutationOperator::kReplayedStore ? "wp::array_store(" : "wp::atomic_";
  const WarpFunction& function = finder.function();
  if (op == MutationOperator::kReplayedStore && !reads_what_it_writes(function)) return;
  for (std::size_t l = 0; l < function.reverse(); ++l) {
    const std::string& line = function.lines()[l];
    const std::size_t comment = line.find("// ");
    if (comment != std::string::npos && line.find(what) != std::string::npos && line.ends_with(");"))
      finder.replace(l, line.substr(0, comment) + line.substr(comment + 3));
  }
}

void find_backward(MutationOperator op, WarpFinder& finder) {
  const std::size_t reverse = finder.function().reverse();
  const auto is_any = [](const std::string& type) { return type.find("float") != std::string::npos; };
  const auto scaled_by = [](const char* factor) {
    return [factor](const std::string& adjoint, const std::string& type) {
      return fmt::format("{0} = {0} * {1}({2});", adjoint, type, factor);
    };
  };
  static const std::regex kBranch(R"(^(\s*if \()(var_\w+)\) \{$)");
  switch (op) {
    case MutationOperator::kDropContribution:
    case MutationOperator::kCountContributionTwice: return find_statements(op, finder);
    case MutationOperator::kNegateContribution:
      return finder.before_each_adjoint(
          is_any, [](const std::string& adjoint, const std::string&) { return fmt::format("{0} = -{0};", adjoint); });
    case MutationOperator::kDerivativeOffByOnePercent:
      return finder.before_each_adjoint(is_scalar_float, scaled_by("1.01"));
    case MutationOperator::kDerivativeOffByBasisPoint:
      return finder.before_each_adjoint(is_scalar_float, scaled_by("1.0001"));
    case MutationOperator::kUnitCotangent:
      return finder.before_each_adjoint(is_scalar_float, [](const std::string& adjoint, const std::string& type) {
        return fmt::format("{} = {}(1.0);", adjoint, type);
      });
    case MutationOperator::kStaleAdjoint:
      return finder.replace_pattern(reverse, std::regex(R"(^\s*adj_\w+ = \{\};$)"), "");
    case MutationOperator::kClearAdjointBeforeRead: return find_early_clearing(finder);
    case MutationOperator::kCotangentOfOtherArray: return find_other_cotangent(finder);
    case MutationOperator::kWrongOperand:
    case MutationOperator::kResultInsteadOfOperand: return find_operands(op, finder);
    case MutationOperator::kWrongFunction:
      return finder.rename_adjoints({{"wp::adj_sin", "wp::adj_cos"},
                                     {"wp::adj_cos", "wp::adj_sin"},
                                     {"wp::adj_sinh", "wp::adj_cosh"},
                                     {"wp::adj_cosh", "wp::adj_sinh"}});
    case MutationOperator::kMissingChainRuleFactor: return finder.rename_adjoints({{"wp::adj_mul", "wp::adj_add"}}, 5);
    case MutationOperator::kWrongSign:
      return finder.rename_adjoints({{"wp::adj_add", "wp::adj_sub"}, {"wp::adj_sub", "wp::adj_add"}}, 5);
    case MutationOperator::kGradientToOtherBranch:
      return finder.rename_adjoints({{"wp::adj_min", "wp::adj_max"}, {"wp::adj_max", "wp::adj_min"}});
    case MutationOperator::kLoopRunsForward:
      return finder.replace_pattern(reverse, std::regex(R"(^\s*var_\w+ = wp::iter_reverse\(.*\);$)"), "");
    case MutationOperator::kOneIterationMore:
    case MutationOperator::kOneIterationFewer: return find_trips(op, finder);
    case MutationOperator::kBranchNegated: return finder.replace_pattern(reverse, kBranch, "$1!$2) {");
    case MutationOperator::kSkippedBranchReversal: return finder.replace_pattern(reverse, kBranch, "$1false) {");
    case MutationOperator::kIndexPlusOne:
    case MutationOperator::kIndexMinusOne:
    case MutationOperator::kTransposedIndex: return change_indices(op, finder);
    case MutationOperator::kReplayedStore:
    case MutationOperator::kReplayedAtomic: return find_replayed(op, finder);
    default: return;
  }
}

// ---- the forward function

void find_wrong_operator(WarpFinder& finder) {
  const WarpFunction& function = finder.function();
  static const std::map<std::string, std::string> kOther{
      {"add", "sub"}, {"sub", "add"}, {"mul", "add"}, {"div", "mul"}};
  static const std::regex kOperation(R"(^(\s*)(var_\w+) = wp::(add|sub|mul|div)\((var_\w+), (var_\w+)\);$)");
  for (std::size_t l = 0; l < function.lines().size(); ++l) {
    std::smatch match;
    if (!std::regex_match(function.lines()[l], match, kOperation)) continue;
    const std::string type = function.type_of(match[2]);
    if (function.type_of(match[4]) != type || function.type_of(match[5]) != type) continue;
    finder.replace(l, fmt::format("{}{} = wp::{}({}, {});", match[1].str(), match[2].str(), kOther.at(match[3]),
                                  match[4].str(), match[5].str()));
  }
}

void find_wrong_comparison(WarpFinder& finder) {
  const WarpFunction& function = finder.function();
  static const std::map<std::string, std::string> kOther{{"<", "<="}, {"<=", "<"}, {">", ">="}, {">=", ">"}};
  static const std::regex kComparison(R"(^(\s*var_\w+ = \(var_\w+) (<|<=|>|>=) (var_\w+\);)$)");
  for (std::size_t l = 0; l < function.lines().size(); ++l) {
    std::smatch match;
    if (!std::regex_match(function.lines()[l], match, kComparison)) continue;
    finder.replace(l, fmt::format("{} {} {}", match[1].str(), kOther.at(match[2]), match[3].str()));
  }
}

void find_constants(MutationOperator op, WarpFinder& finder) {
  const WarpFunction& function = finder.function();
  static const std::regex kInteger(R"(^(\s*const wp::int\d+ var_\w+ = )(-?\d+);$)");
  static const std::regex kFloat(R"(^(\s*const (wp::float\d+) var_\w+ = )(-?[\d.e+-]+);$)");
  for (std::size_t l = 0; l < function.lines().size(); ++l) {
    std::smatch match;
    const std::string& line = function.lines()[l];
    if (op == MutationOperator::kGuardOffByOne && std::regex_match(line, match, kInteger)) {
      finder.replace(l, fmt::format("{}{} + 1;", match[1].str(), match[2].str()));
    } else if (op == MutationOperator::kFloatConstantOffByThousandth && std::regex_match(line, match, kFloat)) {
      if (std::strtod(match[3].str().c_str(), nullptr) == 0) continue;
      finder.replace(l, fmt::format("{}{} * 1.001;", match[1].str(), match[3].str()));
    }
  }
}

/// Accesses another array of the same type.
void find_wrong_array(WarpFinder& finder) {
  const WarpFunction& function = finder.function();
  static const std::regex kAccess(R"(^(\s*(?:var_\w+ = )?wp::(?:address|array_store)\()(var_\w+)(, .*\);)$)");
  for (std::size_t l = 0; l < function.lines().size(); ++l) {
    std::smatch match;
    if (!std::regex_match(function.lines()[l], match, kAccess)) continue;
    const std::string type = function.type_of(match[2]);
    for (const auto& [other, other_type] : function.types()) {
      if (other == match[2].str() || other_type != type || !type.starts_with("wp::array_t")) continue;
      finder.replace(l, match[1].str() + other + match[3].str());
      break;
    }
  }
}

void find_forward_of(MutationOperator op, WarpFinder& finder) {
  switch (op) {
    case MutationOperator::kWrongOperator: return find_wrong_operator(finder);
    case MutationOperator::kWrongComparison: return find_wrong_comparison(finder);
    case MutationOperator::kGuardOffByOne:
    case MutationOperator::kFloatConstantOffByThousandth: return find_constants(op, finder);
    case MutationOperator::kReadOfOtherArray: return find_wrong_array(finder);
    case MutationOperator::kDroppedStatement:
      return finder.replace_pattern(
          0, std::regex(R"(^\s*(?:var_\w+ = )?wp::(?:array_store|assign|atomic_\w+)\(.*\);$)"), "");
    default: return;
  }
}

/// Lets the loop over the threads of the backward pass run one thread more.
void find_thread_guard(const WarpCode& code, std::vector<WarpMutation>& found) {
  const std::size_t backward = code.backward.empty() ? std::string::npos : code.source.find(code.backward);
  if (backward == std::string::npos) return;
  for (const std::string guard : {"_idx < dim.size", "task_index < dim->size"}) {
    const std::size_t at = code.source.find(guard, backward);
    if (at == std::string::npos) continue;
    WarpMutation mutation{.description = fmt::format("'{}' compares with <=", guard), .source = code.source};
    mutation.source.insert(at + guard.find('<') + 1, "=");
    found.push_back(std::move(mutation));
  }
}

const std::set<MutationOperator>& warp_operators() {
  static const std::set<MutationOperator> operators{MutationOperator::kDropContribution,
                                                    MutationOperator::kCountContributionTwice,
                                                    MutationOperator::kNegateContribution,
                                                    MutationOperator::kStaleAdjoint,
                                                    MutationOperator::kClearAdjointBeforeRead,
                                                    MutationOperator::kCotangentOfOtherArray,
                                                    MutationOperator::kWrongOperand,
                                                    MutationOperator::kResultInsteadOfOperand,
                                                    MutationOperator::kWrongFunction,
                                                    MutationOperator::kMissingChainRuleFactor,
                                                    MutationOperator::kWrongSign,
                                                    MutationOperator::kDerivativeOffByOnePercent,
                                                    MutationOperator::kDerivativeOffByBasisPoint,
                                                    MutationOperator::kUnitCotangent,
                                                    MutationOperator::kGradientToOtherBranch,
                                                    MutationOperator::kLoopRunsForward,
                                                    MutationOperator::kOneIterationMore,
                                                    MutationOperator::kOneIterationFewer,
                                                    MutationOperator::kBranchNegated,
                                                    MutationOperator::kSkippedBranchReversal,
                                                    MutationOperator::kIndexPlusOne,
                                                    MutationOperator::kIndexMinusOne,
                                                    MutationOperator::kTransposedIndex,
                                                    MutationOperator::kNoThreadGuard,
                                                    MutationOperator::kReplayedAtomic,
                                                    MutationOperator::kReplayedStore,
                                                    MutationOperator::kWrongOperator,
                                                    MutationOperator::kWrongComparison,
                                                    MutationOperator::kGuardOffByOne,
                                                    MutationOperator::kReadOfOtherArray,
                                                    MutationOperator::kDroppedStatement,
                                                    MutationOperator::kFloatConstantOffByThousandth};
  return operators;
}

}  // namespace

bool applies_to_warp_code(MutationOperator op) { return warp_operators().contains(op); }

std::vector<WarpMutation> find_warp_mutations(MutationOperator op, const WarpCode& code) {
  std::vector<WarpMutation> found;
  if (!applies_to_warp_code(op)) return found;
  if (op == MutationOperator::kNoThreadGuard) {
    find_thread_guard(code, found);
    return found;
  }
  const bool is_forward = row(op).changed_part == MutatedKernelPart::kForward;
  const WarpFunction function(code.source, is_forward ? code.forward : code.backward);
  WarpFinder finder(function, found);
  if (is_forward) find_forward_of(op, finder);
  else find_backward(op, finder);
  return found;
}

}  // namespace assay::mutation
