#include "backends/source/helpers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/source/helper_texts.hpp"
#include "ir/operations/operations.hpp"
#include "support/concat.hpp"
#include "support/text_hash.hpp"

namespace assay::source {
namespace {

using backends::SourceTarget;

/// A C library function, which CPU code declares itself and overloads on float. CUDA C++ provides both.
struct LibraryFunction {
  std::string_view name;
  int operands;
};
constexpr std::array<std::string_view, 3> kPlaceholders{"$0", "$1", "$2"};
/// Library functions that are called by helpers, or with the result of one; the others are in the operation table.
constexpr auto kFunctionsOfHelpers =
    std::to_array<LibraryFunction>({{"fabs", 1}, {"fmod", 2}, {"asin", 1}, {"acos", 1}});

std::string library_text(const LibraryFunction& function) {
  constexpr std::string_view kNames[] = {"x", "y", "z"};
  std::string doubles;
  std::string floats;
  std::string parameters;
  std::string arguments;
  for (int i = 0; i < function.operands; ++i) {
    const std::string_view comma = i == 0 ? "" : ", ";
    doubles += fmt::format("{}double", comma);
    floats += fmt::format("{}float", comma);
    parameters += fmt::format("{}float {}", comma, kNames[i]);
    arguments += fmt::format("{}{}", comma, kNames[i]);
  }
  return fmt::format(
      "extern \"C\" double {0}({1});\n"
      "extern \"C\" float {0}f({2});\n"
      "static inline float {0}({3}) {{ return {0}f({4}); }}\n",
      function.name, doubles, floats, parameters, arguments);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

[[noreturn]] void broken(std::string_view what, std::string_view name) {
  std::fprintf(stderr, "assay: bug: %.*s: %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(name.size()), name.data());
  std::abort();
}

/// A section of a file in helpers/, between two lines that start with "===".
struct Section {
  std::string name;
  std::vector<std::string> dependencies;  ///< names of other sections, and functions of the target language
  std::string text;
};

std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if (end > 0) words.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

std::vector<Section> parse_sections(std::string_view file) {
  constexpr std::string_view kMark = "\n=== ";
  std::vector<Section> sections;
  std::size_t at = file.find(kMark);
  while (at != std::string_view::npos) {
    const std::size_t line_end = file.find('\n', at + 1);
    const std::string_view header = file.substr(at + kMark.size(), line_end - at - kMark.size());
    at = file.find(kMark, line_end);
    const std::size_t colon = header.find(':');
    if (colon == std::string_view::npos) broken("the header line of a helper function must contain a colon", header);
    Section& section = sections.emplace_back();
    section.name = header.substr(0, colon);
    section.dependencies = words(header.substr(colon + 1));
    section.text = file.substr(line_end + 1, std::min(at, file.size()) - line_end - 1);
    section.text.erase(section.text.find_last_not_of('\n') + 1);
    section.text += "\n\n";
  }
  return sections;
}

// ---- Helpers in two versions, as helpers.hpp describes them

constexpr std::string_view kSumMark = " $+ ";
constexpr std::string_view kDifferenceMark = " $- ";
static_assert(kSumMark.size() == kDifferenceMark.size());

/// The first marked sum or difference, or the end of the text.
std::size_t find_mark(std::string_view text) {
  return std::min({text.find(kSumMark), text.find(kDifferenceMark), text.size()});
}

bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

/// The start of the operand that ends at `end`: after the bracket, comma, "=" or "return" before it.
std::size_t operand_start(std::string_view text, std::size_t end) {
  int depth = 0;
  for (std::size_t at = end; at > 0; --at) {
    const char c = text[at - 1];
    const bool ends_before = opens(c) || c == ',' || c == '=' || text.substr(0, at).ends_with("return ");
    if (depth == 0 && ends_before) return text.find_first_not_of(' ', at);
    if (closes(c)) ++depth;
    if (opens(c)) --depth;
  }
  return 0;
}

/// The end of the operand that starts at `start`: before the bracket, comma, semicolon or mark after it.
std::size_t operand_end(std::string_view text, std::size_t start) {
  int depth = 0;
  for (std::size_t at = start; at < text.size(); ++at) {
    const char c = text[at];
    const std::string_view rest = text.substr(at);
    const bool begins_after =
        closes(c) || c == ',' || c == ';' || rest.starts_with(kSumMark) || rest.starts_with(kDifferenceMark);
    if (depth == 0 && begins_after) return at;
    if (opens(c)) ++depth;
    if (closes(c)) --depth;
  }
  return text.size();
}

/// The text with calls instead of marked sums. A chain of sums is evaluated from left to right.
std::string with_rounded_sums(std::string text) {
  for (std::size_t at = find_mark(text); at < text.size(); at = find_mark(text)) {
    const std::size_t start = operand_start(text, at);
    const std::size_t right = at + kSumMark.size();
    const std::size_t end = operand_end(text, right);
    const bool is_sum = std::string_view(text).substr(at).starts_with(kSumMark);
    const std::string call = fmt::format("rounded_{}({}, {})", is_sum ? "sum" : "difference",
                                         text.substr(start, at - start), text.substr(right, end - right));
    const bool is_in_parentheses = start >= 2 && text.compare(start - 2, 2, " (") == 0 && text[end] == ')';
    if (is_in_parentheses) text.replace(start - 1, end + 1 - (start - 1), call);
    else text.replace(start, end - start, call);
  }
  return text;
}

/// Whether a name with a mark, such as "$dot", starts here. "$F" and "$M" stand for qualifiers.
bool is_marked_name(std::string_view text) {
  return text.size() > 1 && text[0] == '$' && std::islower(static_cast<unsigned char>(text[1])) != 0;
}

void replace_marks_of_names(std::string& text, std::string_view replacement) {
  for (std::size_t at = 0; (at = text.find('$', at)) != std::string::npos;) {
    if (is_marked_name(std::string_view(text).substr(at))) text.replace(at, 1, replacement);
    else ++at;
  }
}

bool has_two_versions(const Section& section) {
  const std::string_view text = section.text;
  for (std::size_t at = 0; (at = text.find('$', at)) != std::string_view::npos; ++at)
    if (is_marked_name(text.substr(at))) return true;
  return false;
}

/// The version with sums that are not contracted. It uses this version of other helpers.
Section rounded_version(const Section& section, std::span<const Section> sections) {
  Section rounded{.name = concat(kRoundedPrefix, section.name), .dependencies = {"rounded_sum"}, .text = {}};
  for (const std::string& needed : section.dependencies) {
    const auto found = std::ranges::find(sections, needed, &Section::name);
    const bool has_version = found != sections.end() && has_two_versions(*found);
    rounded.dependencies.push_back(has_version ? concat(kRoundedPrefix, needed) : needed);
  }
  rounded.text = with_rounded_sums(section.text);
  replace_all(rounded.text, "$operator+(", "rounded_sum(");
  replace_all(rounded.text, "$operator-(", "rounded_difference(");
  replace_all(rounded.text, "$operator*(", "rounded_product(");
  replace_marks_of_names(rounded.text, kRoundedPrefix);
  return rounded;
}

/// Each section without marks, followed by its other version if it has one.
std::vector<Section> with_rounded_versions(std::span<const Section> sections) {
  std::vector<Section> all;
  for (const Section& section : sections) {
    Section& plain = all.emplace_back(section);
    if (!has_two_versions(section)) continue;
    replace_all(plain.text, kSumMark, " + ");
    replace_all(plain.text, kDifferenceMark, " - ");
    replace_marks_of_names(plain.text, "");
    all.push_back(rounded_version(section, sections));
  }
  return all;
}

/// The library functions that operations are printed as: operations whose pattern is a single call of a function that
/// is not a helper.
std::vector<LibraryFunction> library_functions(const std::vector<Section>& helpers) {
  std::vector<LibraryFunction> functions;
  for (const ir::OperationEntry& row : ir::kOperations) {
    const std::string_view name = row.cpp_pattern.substr(0, row.cpp_pattern.find('('));
    const bool is_call =
        row.cpp_pattern ==
        fmt::format("{}({})", name,
                    fmt::join(kPlaceholders.begin(), kPlaceholders.begin() + std::max(0, row.arity), ", "));
    const bool has_helper = std::ranges::find(helpers, name, &Section::name) != helpers.end();
    if (row.rule == ir::TypeRule::kFloatScalars && is_call && !has_helper) functions.push_back({name, row.arity});
  }
  std::ranges::copy(kFunctionsOfHelpers, std::back_inserter(functions));
  return functions;
}

/// The text with each index "$I(i, N)" as `i`, or if `is_checked`, as an expression that raises SIGILL unless
/// 0 <= i < N. -fsanitize=bounds does not detect i = N where a reference to the component is returned.
std::string with_indices(std::string text, bool is_checked) {
  constexpr std::string_view kMark = "$I(";
  for (std::size_t at = 0; (at = text.find(kMark, at)) != std::string::npos;) {
    const std::size_t comma = text.find(", ", at);
    const std::size_t end = text.find(')', at);
    const std::string index = text.substr(at + kMark.size(), comma - at - kMark.size());
    const std::string count = text.substr(comma + 2, end - comma - 2);
    text.replace(at, end + 1 - at,
                 is_checked ? fmt::format("((unsigned){0} < {1} ? {0} : (__builtin_trap(), 0))", index, count) : index);
  }
  return text;
}

class Registry {
 public:
  explicit Registry(SourceTarget target) {
    const bool cpp = target == SourceTarget::kCpp;
    std::vector<Section> sections;
    for (const std::string_view file : {cpp ? kCpuHelpers : kCudaHelpers, kCommonHelpers, kTileHelpers})
      std::ranges::move(parse_sections(file), std::back_inserter(sections));
    if (cpp) {
      for (const LibraryFunction& function : library_functions(sections))
        add(std::string(function.name), library_text(function) + "\n", {});
    }
    for (Section& section : with_rounded_versions(sections)) {
      replace_all(section.text, "$F", cpp ? "static inline" : "__device__ inline");
      replace_all(section.text, "$M ", cpp ? "" : "__device__ ");
      std::string text = with_indices(section.text, false);
      std::string checked = with_indices(section.text, true);
      if (checked == text) checked.clear();
      add(std::move(section.name), std::move(text), indices(section.dependencies), std::move(checked));
    }
  }

  const std::vector<HelperWithDependencies>& helpers() const { return helpers_; }
  std::optional<std::size_t> find(std::string_view name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  void add(std::string name, std::string text, std::vector<std::size_t> dependencies, std::string checked_text = {}) {
    if (!index_.emplace(name, helpers_.size()).second) broken("duplicate helper", name);
    helpers_.push_back({.helper = {std::move(name), std::move(text), std::move(checked_text)},
                        .dependency_indices = std::move(dependencies)});
  }

  /// Names without a helper are functions of the target language.
  std::vector<std::size_t> indices(std::span<const std::string> names) const {
    std::vector<std::size_t> found;
    for (const std::string& name : names)
      if (const auto index = find(name)) found.push_back(*index);
    return found;
  }

  std::vector<HelperWithDependencies> helpers_;
  TextMap<std::size_t> index_;
};

const Registry& registry(SourceTarget target) {
  static const Registry cpp(SourceTarget::kCpp);
  static const Registry cuda(SourceTarget::kCuda);
  return target == SourceTarget::kCpp ? cpp : cuda;
}

constexpr SourceTarget kTargets[] = {SourceTarget::kCpp, SourceTarget::kCuda};
constexpr std::size_t number(SourceTarget target) { return target == SourceTarget::kCpp ? 0 : 1; }

/// The index of each helper for each target, by name.
const TextMap<std::array<std::optional<std::size_t>, 2>>& index_by_name() {
  static const auto kIndex = [] {
    TextMap<std::array<std::optional<std::size_t>, 2>> index;
    for (const SourceTarget target : kTargets) {
      const std::vector<HelperWithDependencies>& helpers = registry(target).helpers();
      for (std::size_t i = 0; i < helpers.size(); ++i)
        index[helpers[i].helper.name][number(target)] = i;
    }
    return index;
  }();
  return kIndex;
}

}  // namespace

const std::vector<HelperWithDependencies>& helpers_of(SourceTarget target) { return registry(target).helpers(); }

HelperSet::HelperSet() {
  for (const SourceTarget target : kTargets)
    used_helpers_[number(target)].resize(helpers_of(target).size());
}

void HelperSet::use(std::string_view name) {
  const auto found = index_by_name().find(name);
  if (found == index_by_name().end()) return;
  for (const SourceTarget target : kTargets) {
    if (const auto index = found->second[number(target)]) add(target, *index);
  }
}

void HelperSet::use(SourceTarget target, std::string_view name) {
  if (const auto index = registry(target).find(name)) add(target, *index);
}

void HelperSet::add(SourceTarget target, std::size_t index) {
  if (used_helpers_[number(target)][index]) return;
  used_helpers_[number(target)][index] = true;
  for (const std::size_t need : helpers_of(target)[index].dependency_indices)
    add(target, need);
}

bool HelperSet::exists(std::string_view name) { return index_by_name().contains(name); }

bool HelperSet::contains(SourceTarget target, std::string_view name) const {
  const auto index = registry(target).find(name);
  return index && used_helpers_[number(target)][*index];
}

std::vector<backends::SourceHelper> HelperSet::list(SourceTarget target) const {
  const std::vector<bool>& used = used_helpers_[number(target)];
  std::vector<backends::SourceHelper> helpers;
  helpers.reserve(static_cast<std::size_t>(std::ranges::count(used, true)));
  for (std::size_t index = 0; index < used.size(); ++index) {
    if (used[index]) helpers.push_back(helpers_of(target)[index].helper);
  }
  return helpers;
}

std::string host_parts(const HelperSet& used) {
  std::string text;
  for (const Section& section : parse_sections(kHostProgramParts)) {
    if (used.contains(SourceTarget::kCuda, section.name)) text += section.text;
  }
  return text;
}

}  // namespace assay::source
