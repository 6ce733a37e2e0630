#include "harness/dataset/foreign/belonging.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/hash.hpp"

namespace assay::foreign {
namespace {

constexpr std::string_view kBlockSize = "#define WP_TILE_BLOCK_DIM ";
constexpr std::array<std::string_view, 3> kLaunchAttributes{"__launch_bounds__", "WP_MAXNREG", "WP_CLUSTER_DIMS"};
/// Two functions of the same name whose statements agree less than this belong to different kernels.
constexpr double kSameKernel = 0.4;

std::string_view suffix_of(Target target) { return target == Target::kCpp ? "_cpu" : "_cuda"; }

std::string entry_suffix(Target target, std::string_view pass) {
  return fmt::format("{}_kernel_{}", suffix_of(target), pass);
}

/// Names of the kernels whose functions a text contains, without hashes.
std::vector<std::string> kernels_in(const GeneratedCode& code, Target target) {
  std::vector<std::string> names;
  for (const CodeSection& section : code.sections) {
    for (const std::string_view pass : {"forward", "backward"}) {
      const std::string suffix = entry_suffix(target, pass);
      if (!section.name.ends_with(suffix)) continue;
      const std::string name = section.name.substr(0, section.name.size() - suffix.size());
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

bool is_backward(std::string_view name) {
  return name.starts_with("adj_") || name.find("_backward") != std::string_view::npos;
}

bool is_option(const CodeSection& section) { return section.tokens.front().text.starts_with(kBlockSize); }

using Key = std::pair<std::string, int>;

/// Sections with a name, by name and number among the sections of this name.
std::map<Key, const CodeSection*> named(const GeneratedCode& code) {
  std::map<std::string, int> counts;
  std::map<Key, const CodeSection*> result;
  for (const CodeSection& section : code.sections) {
    if (!section.name.empty()) result.emplace(Key(section.name, counts[section.name]++), &section);
  }
  return result;
}

const CodeSection* find(const GeneratedCode& code, std::string_view name) {
  const auto found = std::ranges::find(code.sections, name, &CodeSection::name);
  return found == code.sections.end() ? nullptr : &*found;
}

/// The tokens of a range without launch attributes and their arguments.
std::vector<std::string_view> plain(std::span<const CodeToken> tokens) {
  std::vector<std::string_view> texts;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (std::ranges::find(kLaunchAttributes, tokens[i].text) == kLaunchAttributes.end()) {
      texts.push_back(tokens[i].text);
      continue;
    }
    int depth = 0;
    while (i + 1 < tokens.size()) {
      const std::string& text = tokens[++i].text;
      depth += text == "(" ? 1 : text == ")" ? -1 : 0;
      if (depth == 0) break;
    }
  }
  return texts;
}

std::span<const CodeToken> prefix_of(const CodeSection& section) {
  return std::span(section.tokens).first(section.name_token_index);
}
std::span<const CodeToken> parameters_of(const CodeSection& section) {
  return std::span(section.tokens)
      .subspan(section.name_token_index, section.body_token_index - section.name_token_index);
}

bool same(const CodeSection& a, const CodeSection& b) {
  return std::ranges::equal(a.tokens, b.tokens, {}, &CodeToken::text, &CodeToken::text);
}

/// The statements of a body, each as one text.
std::vector<std::string> statements_of(const CodeSection& section) {
  std::vector<std::string> statements(1);
  for (std::size_t i = section.body_token_index; i < section.tokens.size(); ++i) {
    const std::string& text = section.tokens[i].text;
    if (text == ";" || text == "{" || text == "}") statements.emplace_back();
    else statements.back() += text + " ";
  }
  std::erase(statements, "");
  std::ranges::sort(statements);
  return statements;
}

/// The share of statements that two functions have in common, from 0 to 1.
double similarity(const CodeSection& a, const CodeSection& b) {
  const std::vector<std::string> left = statements_of(a);
  const std::vector<std::string> right = statements_of(b);
  if (left.empty() && right.empty()) return 1;
  std::vector<std::string> common;
  std::ranges::set_intersection(left, right, std::back_inserter(common));
  return 2.0 * static_cast<double>(common.size()) / static_cast<double>(left.size() + right.size());
}

class Comparer {
 public:
  explicit Comparer(const CodePair& pair)
      : pair_(pair),
        found_(split_code(pair.found_text)),
        expected_(split_code(pair.expected)),
        forward_(std::string(pair.kernel) + entry_suffix(pair.target, "forward")),
        backward_(std::string(pair.kernel) + entry_suffix(pair.target, "backward")) {
    std::set<std::string> names = numbered_functions(expected_);
    names.merge(numbered_functions(found_));
    renumber_functions(found_, names);
    renumber_functions(expected_, names);
  }

  std::optional<RowDamageFinding> run() const {
    for (const auto check :
         {&Comparer::truncated, &Comparer::other_name, &Comparer::other_version, &Comparer::other_kernel,
          &Comparer::other_options, &Comparer::missing, &Comparer::differences}) {
      if (std::optional<RowDamageFinding> finding = (this->*check)()) return finding;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] RowDamageFinding finding(RowDamage damage, std::string message) const {
    return {.damage = damage,
            .message = fmt::format("{}: {}", to_text(pair_.target), message),
            .field = std::string(to_text(pair_.target)),
            .function = {},
            .found_text = {},
            .expected = {}};
  }
  [[nodiscard]] CodeLine found_line(std::uint32_t line) const {
    return {.line = line, .text = std::string(line_of(pair_.found_text, line))};
  }
  [[nodiscard]] CodeLine expected_line(std::uint32_t line) const {
    return {.line = line, .text = std::string(line_of(pair_.expected, line))};
  }
  /// The finding with the first lines in which two sections differ.
  [[nodiscard]] RowDamageFinding difference(RowDamage damage, const CodeSection& found, const CodeSection& expected,
                                            std::string_view what) const {
    const auto [left, right] =
        std::ranges::mismatch(found.tokens, expected.tokens, {}, &CodeToken::text, &CodeToken::text);
    const CodeToken& a = left == found.tokens.end() ? found.tokens.back() : *left;
    const CodeToken& b = right == expected.tokens.end() ? expected.tokens.back() : *right;
    RowDamageFinding result = finding(damage, "");
    result.function = found.name;
    result.found_text = found_line(a.line);
    result.expected = expected_line(b.line);
    const std::string place = found.name.empty() ? "" : fmt::format(", {}", found.name);
    result.message = fmt::format("{}:{}{}: {}found '{}', expected '{}' (line {} of Warp's text)", to_text(pair_.target),
                                 a.line, place, what, result.found_text.text, result.expected.text, b.line);
    return result;
  }

  [[nodiscard]] std::optional<RowDamageFinding> truncated() const {
    if (!found_.unfinished_section_line) return std::nullopt;
    const auto last = static_cast<std::uint32_t>(std::ranges::count(pair_.found_text, '\n') +
                                                 (pair_.found_text.ends_with('\n') ? 0 : 1));
    RowDamageFinding result = finding(
        RowDamage::kTruncated, fmt::format("the code ends in line {}, inside the declaration that begins in line {}",
                                           last, *found_.unfinished_section_line));
    result.found_text = found_line(last);
    return result;
  }

  [[nodiscard]] std::optional<RowDamageFinding> other_name() const {
    if (find(found_, forward_) != nullptr || find(found_, backward_) != nullptr) return std::nullopt;
    const std::vector<std::string> others = kernels_in(found_, pair_.target);
    if (others.empty()) return std::nullopt;
    return finding(RowDamage::kKernelMismatch,
                   fmt::format("the code is that of kernel '{}', not '{}'", others.front(), pair_.kernel));
  }

  /// Code of another kernel with the same name: other parameters, or mostly other statements.
  [[nodiscard]] std::optional<RowDamageFinding> other_kernel() const {
    const CodeSection* const forward = find(found_, forward_);
    const CodeSection* const own = find(expected_, forward_);
    if (forward == nullptr || own == nullptr) return std::nullopt;
    for (const std::string& name : {forward_, fmt::format("wp_args_{}", pair_.kernel)}) {
      const CodeSection* const a = find(found_, name);
      const CodeSection* const b = find(expected_, name);
      const bool is_struct = name != forward_;
      if (a == nullptr || b == nullptr) continue;
      if (is_struct ? same(*a, *b) : plain(parameters_of(*a)) == plain(parameters_of(*b))) continue;
      return difference(RowDamage::kKernelMismatch, *a, *b, "the kernel's parameters differ: ");
    }
    if (similarity(*forward, *own) >= kSameKernel) return std::nullopt;
    return difference(RowDamage::kKernelMismatch, *forward, *own, "most statements differ: ");
  }

  [[nodiscard]] std::optional<RowDamageFinding> other_version() const {
    if (found_.has_preamble) {
      if (auto result = other_directives()) return result;
    }
    for (const std::string& name : {forward_, backward_}) {
      const CodeSection* const a = find(found_, name);
      const CodeSection* const b = find(expected_, name);
      if (a == nullptr || b == nullptr || plain(prefix_of(*a)) == plain(prefix_of(*b))) continue;
      return difference(RowDamage::kWarpVersionMismatch, *a, *b,
                        fmt::format("Warp {} declares kernels differently: ", pair_.version));
    }
    const std::string own = std::string(pair_.kernel) + std::string(suffix_of(pair_.target));
    for (const CodeSection& section : found_.sections) {
      if (!section.name.starts_with(own) || find(expected_, section.name) != nullptr) continue;
      if (section.name == backward_ || is_backward(section.name)) continue;
      RowDamageFinding result = finding(RowDamage::kWarpVersionMismatch,
                                        fmt::format("Warp {} does not generate '{}'", pair_.version, section.name));
      result.function = section.name;
      result.found_text = found_line(section.tokens.front().line);
      return result;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<RowDamageFinding> other_directives() const {
    const auto directives = [](const GeneratedCode& code) {
      std::multimap<std::string, std::uint32_t> texts;
      for (const CodeSection& section : code.sections) {
        if (section.is_directive && !is_option(section))
          texts.emplace(section.tokens.front().text, section.tokens.front().line);
      }
      return texts;
    };
    const auto found = directives(found_);
    const auto expected = directives(expected_);
    for (const auto& [text, line] : found) {
      if (found.count(text) <= expected.count(text)) continue;
      RowDamageFinding result =
          finding(RowDamage::kWarpVersionMismatch,
                  fmt::format("Warp {} does not generate '{}' (line {})", pair_.version, text, line));
      result.found_text = found_line(line);
      return result;
    }
    for (const auto& [text, line] : expected) {
      if (expected.count(text) <= found.count(text)) continue;
      RowDamageFinding result = finding(RowDamage::kWarpVersionMismatch,
                                        fmt::format("'{}', which Warp {} generates, is missing", text, pair_.version));
      result.expected = expected_line(line);
      return result;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<RowDamageFinding> other_options() const {
    for (const CodeSection& section : found_.sections) {
      if (!section.is_directive || !is_option(section)) continue;
      const auto same_option = [&](const CodeSection& other) {
        return other.is_directive && is_option(other) && !same(section, other);
      };
      const auto other = std::ranges::find_if(expected_.sections, same_option);
      if (other != expected_.sections.end())
        return difference(RowDamage::kOptionMismatch, section, *other, "the block size differs: ");
    }
    for (const std::string& name : {forward_, backward_}) {
      const CodeSection* const a = find(found_, name);
      const CodeSection* const b = find(expected_, name);
      if (a == nullptr || b == nullptr) continue;
      if (!std::ranges::equal(prefix_of(*a), prefix_of(*b), {}, &CodeToken::text, &CodeToken::text))
        return difference(RowDamage::kOptionMismatch, *a, *b, "the launch attributes differ: ");
      if (has_grid_stride(*a) != has_grid_stride(*b)) {
        return difference(
            RowDamage::kOptionMismatch, *a, *b,
            "the loop over threads differs, because of the option grid_stride or another version of Warp: ");
      }
    }
    return std::nullopt;
  }
  /// Whether the body of a CUDA kernel loops over the threads of the launch.
  static bool has_grid_stride(const CodeSection& section) {
    static constexpr std::array<std::string_view, 4> kLoop{"for", "(", "size_t", "_idx"};
    return !std::ranges::search(section.tokens, kLoop, {}, &CodeToken::text).empty();
  }

  [[nodiscard]] std::optional<RowDamageFinding> missing() const {
    const std::map<Key, const CodeSection*> found = named(found_);
    std::vector<const CodeSection*> lacking;
    std::size_t last_present = 0;
    std::size_t first_lacking = expected_.sections.size();
    std::map<std::string, int> counts;
    for (std::size_t i = 0; i < expected_.sections.size(); ++i) {
      const CodeSection& section = expected_.sections[i];
      if (section.name.empty()) continue;
      const bool is_present = found.contains(Key(section.name, counts[section.name]++));
      if (is_present) last_present = i;
      const bool is_required = found_.has_preamble || section.name == forward_ || section.name == backward_;
      if (is_present || !is_required || is_of_other_kernel(section)) continue;
      if (!pair_.requires_backward && is_backward(section.name)) continue;
      lacking.push_back(&section);
      first_lacking = std::min(first_lacking, i);
    }
    if (lacking.empty()) return std::nullopt;
    const CodeSection& first = *lacking.front();
    const auto is_adjoint = [](const CodeSection* section) { return is_backward(section->name); };
    RowDamageFinding result = finding(RowDamage::kMissingFunction, "");
    result.function = first.name;
    result.expected = expected_line(first.tokens.front().line);
    if (std::ranges::all_of(lacking, is_adjoint)) result.damage = RowDamage::kMissingBackward;
    else if (found_.has_preamble && last_present < first_lacking) result.damage = RowDamage::kTruncated;
    else if (find(found_, forward_) == nullptr) result.damage = RowDamage::kMissingForward;
    result.message += result.damage == RowDamage::kTruncated ? fmt::format("the code ends before '{}'", first.name)
                                                             : fmt::format("'{}' is missing", first.name);
    return result;
  }
  /// Whether a section belongs to another kernel of the same module, which a row may omit.
  [[nodiscard]] bool is_of_other_kernel(const CodeSection& section) const {
    for (const std::string& other : kernels_in(expected_, pair_.target)) {
      if (other == pair_.kernel) continue;
      if (section.name == "wp_args_" + other ||
          section.name.starts_with(other + std::string(suffix_of(pair_.target)) + "_"))
        return true;
    }
    return false;
  }

  [[nodiscard]] std::optional<RowDamageFinding> differences() const {
    const std::map<Key, const CodeSection*> expected = named(expected_);
    std::map<std::string, int> counts;
    const CodeSection* first = nullptr;
    const CodeSection* other = nullptr;
    bool forward = false;
    bool backward = false;
    for (const CodeSection& section : found_.sections) {
      if (section.name.empty()) continue;
      const auto own = expected.find(Key(section.name, counts[section.name]++));
      if (own == expected.end()) {
        if (!pair_.requires_backward && is_backward(section.name)) continue;
        RowDamageFinding result =
            finding(RowDamage::kCodeDiffers, fmt::format("Warp does not generate '{}'", section.name));
        result.function = section.name;
        result.found_text = found_line(section.tokens.front().line);
        return result;
      }
      if (same(section, *own->second)) continue;
      const bool is_function = section.body_token_index > section.name_token_index + 1;
      (is_backward(section.name) ? backward : forward) = true;
      if (!is_function) forward = backward = true;
      if (first == nullptr) {
        first = &section;
        other = own->second;
      }
    }
    if (first == nullptr) return std::nullopt;
    const RowDamage damage = forward && backward ? RowDamage::kCodeDiffers
                             : forward           ? RowDamage::kForwardDiffers
                                                 : RowDamage::kBackwardDiffers;
    return difference(damage, *first, *other, "");
  }

  const CodePair& pair_;
  GeneratedCode found_;
  GeneratedCode expected_;
  std::string forward_;   ///< name of the kernel's forward function
  std::string backward_;  ///< name of the kernel's backward function
};

}  // namespace

std::optional<RowDamageFinding> find_damage(const CodePair& pair) { return Comparer(pair).run(); }

std::string forward_key(Target target, std::string_view text) {
  GeneratedCode code = split_code(text);
  renumber_functions(code, numbered_functions(code));
  const std::string suffix = entry_suffix(target, "forward");
  for (const CodeSection& section : code.sections) {
    if (!section.name.ends_with(suffix)) continue;
    std::string whole;
    for (const CodeToken& token : section.tokens)
      whole += token.text + "\n";
    return sha256_hex(whole);
  }
  return "";
}

std::optional<int> block_size_of(std::string_view text) {
  const std::size_t at = text.find(kBlockSize);
  if (at == std::string_view::npos) return std::nullopt;
  int size = 0;
  const char* const begin = text.data() + at + kBlockSize.size();
  if (std::from_chars(begin, text.data() + text.size(), size).ec != std::errc()) return std::nullopt;
  return size;
}

}  // namespace assay::foreign
