#include "harness/compilers/cuda_reduction.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "backends/ptx/execute/machine.hpp"
#include "backends/ptx/parse/module.hpp"
#include "harness/compilers/statement_tree.hpp"
#include "support/parallel.hpp"
#include "support/rng.hpp"

namespace assay::compilers {
namespace {

using Clock = std::chrono::steady_clock;
using Tree = std::vector<CudaStatement>;

constexpr std::size_t kElements = 4;
constexpr std::uint64_t kInstructions = 2'000'000;

// ---------------------------------------------------------------------------------------------------------- launches

struct Parameter {
  std::string type;  ///< "float", "int"
  std::string name;
  bool is_array = false;
  std::vector<double> values = {};  ///< kElements values of an array, or one
};

template <class T>
std::vector<std::byte> bytes_of(const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}
template <class T>
std::vector<double> values_of(const std::vector<std::byte>& bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value{};
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

struct NumberType {
  std::string_view name;
  std::vector<std::byte> (*bytes)(const std::vector<double>&);
  std::vector<double> (*values)(const std::vector<std::byte>&);
};
constexpr std::array kNumberTypes{NumberType{"float", bytes_of<float>, values_of<float>},
                                  NumberType{"double", bytes_of<double>, values_of<double>},
                                  NumberType{"int", bytes_of<std::int32_t>, values_of<std::int32_t>},
                                  NumberType{"long long", bytes_of<std::int64_t>, values_of<std::int64_t>}};

const NumberType* find_type(std::string_view name) {
  const auto found = std::ranges::find(kNumberTypes, name, &NumberType::name);
  return found == kNumberTypes.end() ? nullptr : &*found;
}

/// The values of all arrays after a launch of one thread; empty if it did not complete or a check found an error.
std::optional<std::vector<std::vector<double>>> run(const std::string& ptx, const std::string& entry,
                                                    const std::vector<Parameter>& parameters) {
  Result<ptx::Module> module = ptx::parse(ptx, "kernel.ptx");
  if (!module.ok()) return std::nullopt;
  const auto kernel = ptx::lower(std::make_shared<const ptx::Module>(module.take()), entry);
  if (!kernel.ok()) return std::nullopt;
  std::vector<std::vector<std::byte>> memory;
  for (const Parameter& parameter : parameters)
    memory.push_back(find_type(parameter.type)->bytes(parameter.values));
  ptx::Machine machine;
  ptx::KernelArguments arguments;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].is_array) arguments.add(machine.address(machine.adopt(parameters[i].name, memory[i])));
    else arguments.add_bytes(memory[i]);
  }
  ptx::LaunchOptions options;
  options.instruction_limit = kInstructions;
  if (!machine.launch(*kernel, {{1}, {1}}, arguments, options).ok()) return std::nullopt;
  std::vector<std::vector<double>> results;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].is_array) results.push_back(find_type(parameters[i].type)->values(memory[i]));
  return results;
}

using Values = std::vector<std::vector<double>>;

/// The position of the first value that differs by more than the share, or is not finite in `right`.
std::optional<std::pair<std::size_t, std::size_t>> first_difference(const Values& a, const Values& b, double share) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < a[i].size(); ++k) {
      const double scale = std::max({1.0, std::abs(a[i][k]), std::abs(b[i][k])});
      if (!(std::abs(a[i][k] - b[i][k]) <= share * scale)) return std::pair(i, k);
    }
  }
  return std::nullopt;
}

bool all_finite(const Values& values) {
  return std::ranges::all_of(values, [](const auto& array) {
    return std::ranges::all_of(array, [](double value) { return std::isfinite(value); });
  });
}

// ------------------------------------------------------------------------------------------------- texts of functions

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? "" : std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

/// Replaces a word.
std::string with_word(const std::string& text, const std::string& word, const std::string& replacement) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const bool starts = i == 0 || (!is_word(text[i - 1]) && text[i - 1] != '.');
    const bool matches = starts && text.compare(i, word.size(), word) == 0 &&
                         (i + word.size() == text.size() || !is_word(text[i + word.size()]));
    result += matches ? replacement : std::string(1, text[i]);
    i += matches ? word.size() : 1;
  }
  return result;
}

/// The position after the bracket that closes the one at `open`.
std::size_t after_bracket(const std::string& text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if ((text[i] == ')' || text[i] == ']') && --depth == 0) return i + 1;
  }
  return text.size();
}

/// The parts between commas outside of brackets.
std::vector<std::string> arguments_in(const std::string& text) {
  std::vector<std::string> parts{""};
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[' || c == '<') ++depth;
    if (c == ')' || c == ']' || c == '>') --depth;
    if (c == ',' && depth == 0) parts.emplace_back();
    else parts.back() += c;
  }
  for (std::string& part : parts)
    part = trim(part);
  return parts;
}

/// "x.at(i)" as "x[i]"; "x.data" as "x"; "x.shape[0]" as a number; sums of atomic_add as sums.
std::string flat_text(std::string text, bool is_block) {
  text = with_word(text, "real", "float");
  constexpr std::string_view kAt = ".at(";
  for (std::size_t at = text.find(kAt); at != std::string::npos; at = text.find(kAt)) {
    const std::size_t end = after_bracket(text, at + kAt.size() - 1);
    text[end - 1] = ']';
    text.replace(at, kAt.size(), "[");
  }
  static const std::regex kData(R"(\.data\b)");
  static const std::regex kShape(R"(\w+\.shape\[0\])");
  text = std::regex_replace(std::regex_replace(text, kData, ""), kShape, std::to_string(kElements));
  constexpr std::string_view kAtomic = "atomic_add(";
  if (const std::size_t at = text.find(kAtomic); at != std::string::npos && !is_block) {
    const std::size_t open = at + kAtomic.size() - 1;
    const std::size_t end = after_bracket(text, open);
    const std::vector<std::string> parts = arguments_in(text.substr(open + 1, end - open - 2));
    if (parts.size() == 2 && end == text.size())
      text = fmt::format("{}{} += {}", text.substr(0, at), parts[0], parts[1]);
  }
  return text;
}

void flatten_texts(Tree& tree) {
  for (CudaStatement& statement : tree) {
    statement.text = flat_text(statement.text, statement.is_block);
    flatten_texts(statement.body);
  }
}

/// Replaces the loop over the threads by its body, for thread 0.
void run_one_thread(Tree& body) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (!body[i].is_block || !body[i].text.starts_with("for (long long thread")) continue;
    Tree inner = std::move(body[i].body);
    inner.insert(inner.begin(), {.text = "const long long thread = 0"});
    body = std::move(inner);
    return;
  }
}

struct FlatProgram {
  Tree tree;                          ///< the function is the last statement
  std::vector<Parameter> parameters;  ///< its parameters
};

std::string head_of(const std::string& entry, const std::vector<Parameter>& parameters) {
  std::string list;
  for (const Parameter& parameter : parameters)
    list += fmt::format("{}{}{} {}", list.empty() ? "" : ", ", parameter.type, parameter.is_array ? "*" : "",
                        parameter.name);
  return fmt::format("extern \"C\" __global__ void {}({})", entry, list);
}

Result<FlatProgram> flatten(const std::string& source, const std::string& entry) {
  FlatProgram program{.tree = parse_statements(source), .parameters = {}};
  std::erase_if(program.tree, [&](const CudaStatement& statement) {
    const bool other =
        statement.text.find("__global__") != std::string::npos && statement.text.find(entry + "(") == std::string::npos;
    return other || statement.text.starts_with("using real");
  });
  if (program.tree.empty() || program.tree.back().text.find(entry + "(") == std::string::npos)
    return Error{fmt::format("the source has no function {}", entry)};
  CudaStatement& function = program.tree.back();
  const std::size_t open = function.text.find(entry + "(") + entry.size();
  const std::string list = function.text.substr(open + 1, after_bracket(function.text, open) - open - 2);
  for (const std::string& text : arguments_in(list)) {
    if (text == "long long count") continue;
    const std::size_t space = text.rfind(' ');
    Parameter parameter{.type = text.substr(0, space), .name = text.substr(space + 1)};
    static const std::regex kArray(R"(Array<(.*), 1>)");
    std::smatch match;
    if (std::regex_match(parameter.type, match, kArray)) {
      parameter.is_array = true;
      parameter.type = match[1].str();
    }
    parameter.type = with_word(parameter.type, "real", "float");
    if (find_type(parameter.type) == nullptr)
      return Error{fmt::format("parameter {} must be a number or a one-dimensional array of numbers", text)};
    program.parameters.push_back(std::move(parameter));
  }
  run_one_thread(function.body);
  flatten_texts(program.tree);
  function.text = head_of(entry, program.parameters);
  return program;
}

// ---------------------------------------------------------------------------------------------------------- the test

/// The PTX and the results of the three builds of a text that the compiler translates incorrectly.
struct Evidence {
  std::string incorrect_ptx;
  std::string correct_ptx;
  Values wrong;
  Values right;
};

class Examiner {
 public:
  Examiner(std::string entry, cuda::Nvrtc wrong, cuda::Nvrtc witness, CudaBuild wrong_build, CudaBuild witness_build)
      : entry_(std::move(entry)),
        wrong_(std::move(wrong)),
        witness_(std::move(witness)),
        wrong_build_(std::move(wrong_build)),
        witness_build_(std::move(witness_build)) {}

  /// Empty if the text is not translated incorrectly.
  std::optional<Evidence> examine(const std::string& text, const std::vector<Parameter>& parameters) const {
    Evidence evidence;
    constexpr double kDiffers = 1e-3;
    constexpr double kAgrees = 1e-5;
    auto incorrect_ptx = compiled(text, wrong_, wrong_build_, false);
    if (!incorrect_ptx) return std::nullopt;
    auto wrong = run(*incorrect_ptx, entry_, parameters);
    if (!wrong) return std::nullopt;
    const auto unoptimized_ptx = compiled(text, wrong_, wrong_build_, true);
    if (!unoptimized_ptx) return std::nullopt;
    const auto unoptimized = run(*unoptimized_ptx, entry_, parameters);
    if (!unoptimized || !all_finite(*unoptimized) || !first_difference(*wrong, *unoptimized, kDiffers))
      return std::nullopt;
    auto correct_ptx = compiled(text, witness_, witness_build_, false);
    if (!correct_ptx) return std::nullopt;
    auto right = run(*correct_ptx, entry_, parameters);
    if (!right || first_difference(*right, *unoptimized, kAgrees)) return std::nullopt;
    return Evidence{.incorrect_ptx = std::move(*incorrect_ptx),
                    .correct_ptx = std::move(*correct_ptx),
                    .wrong = std::move(*wrong),
                    .right = std::move(*right)};
  }

 private:
  static std::optional<std::string> compiled(const std::string& text, const cuda::Nvrtc& nvrtc, const CudaBuild& build,
                                             bool unoptimized) {
    backends::BuildFlags flags = backends::BuildFlags::strict();
    flags.contracts_multiply_add = build.contracts_multiply_add && !unoptimized;
    cuda::CompileOutcome outcome =
        nvrtc.compile(text, "reduced.cu",
                      {.architecture = build.architecture, .flags = flags, .disables_optimizations = unoptimized});
    auto* code = std::get_if<cuda::CompiledCode>(&outcome);
    return code == nullptr ? std::nullopt : std::optional(std::move(code->ptx));
  }

  std::string entry_;
  cuda::Nvrtc wrong_;
  cuda::Nvrtc witness_;
  CudaBuild wrong_build_;
  CudaBuild witness_build_;
};

// ------------------------------------------------------------------------------------------------------------- steps

/// All lists of statements in a tree, in the order of the text.
void lists_in(Tree& tree, std::vector<Tree*>& lists) {
  lists.push_back(&tree);
  for (CudaStatement& statement : tree)
    lists_in(statement.body, lists);
}
std::vector<Tree*> lists_in(Tree& tree) {
  std::vector<Tree*> lists;
  lists_in(tree, lists);
  return lists;
}

void replace_word(Tree& tree, const std::string& word, const std::string& replacement) {
  for (CudaStatement& statement : tree) {
    statement.text = with_word(statement.text, word, replacement);
    replace_word(statement.body, word, replacement);
  }
}

/// All trees that a step makes of one.
using Step = std::function<std::vector<Tree>(const Tree&)>;

/// Calls the function with a copy of the tree for each statement: the copy's list, and the position in it.
std::vector<Tree> for_each_statement(
    const Tree& tree, const std::function<void(Tree&, std::size_t, const std::function<void()>&)>& change) {
  std::vector<Tree> results;
  Tree counted = tree;
  const std::size_t lists = lists_in(counted).size();
  for (std::size_t l = 0; l < lists; ++l) {
    Tree copy = tree;
    const std::size_t size = lists_in(copy)[l]->size();
    for (std::size_t i = 0; i < size; ++i) {
      Tree changed = tree;
      Tree& list = *lists_in(changed)[l];
      change(list, i, [&] { results.push_back(changed); });
    }
  }
  return results;
}

Step remove_statements(std::size_t count) {
  return [count](const Tree& tree) {
    return for_each_statement(tree, [&](Tree& list, std::size_t i, const std::function<void()>& keep) {
      const std::size_t end = std::min(i + count, list.size());
      if (count > 1 && end - i < 2) return;
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(i), list.begin() + static_cast<std::ptrdiff_t>(end));
      keep();
    });
  };
}

/// Replaces a block by its content.
std::vector<Tree> unwrap_blocks(const Tree& tree) {
  return for_each_statement(tree, [](Tree& list, std::size_t i, const std::function<void()>& keep) {
    if (!list[i].is_block || list[i].text.find("__global__") != std::string::npos) return;
    Tree inner = std::move(list[i].body);
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(i), inner.begin(), inner.end());
    keep();
  });
}

/// Replaces a variable by its initial value.
std::vector<Tree> inline_variables(const Tree& tree) {
  static const std::regex kDeclaration(R"((?:const )?(?:float|double|int|bool|long long) (\w+) = (.*))");
  return for_each_statement(tree, [](Tree& list, std::size_t i, const std::function<void()>& keep) {
    std::smatch match;
    const std::string text = list[i].text;
    if (list[i].is_block || !std::regex_match(text, match, kDeclaration)) return;
    const std::string value = match[2].str();
    const bool is_atom = std::ranges::all_of(value, [](char c) { return is_word(c) || c == '.'; });
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    const auto rest = list.begin() + static_cast<std::ptrdiff_t>(i);
    Tree tail(rest, list.end());
    replace_word(tail, match[1].str(), is_atom ? value : "(" + value + ")");
    std::ranges::copy(tail, rest);
    keep();
  });
}

/// The beginning of the operand that ends at `end`, and the end of the one that begins at `begin`.
std::size_t operand_begin(const std::string& text, std::size_t end) {
  std::size_t i = end;
  for (;;) {
    if (i > 0 && (text[i - 1] == ')' || text[i - 1] == ']')) {
      int depth = 0;
      do {
        --i;
        if (text[i] == ')' || text[i] == ']') ++depth;
        if (text[i] == '(' || text[i] == '[') --depth;
      } while (i > 0 && depth > 0);
      if (i > 0 && is_word(text[i - 1])) continue;
      return i;
    }
    while (i > 0 && (is_word(text[i - 1]) || text[i - 1] == '.'))
      --i;
    return i;
  }
}
std::size_t operand_end(const std::string& text, std::size_t begin) {
  std::size_t i = begin;
  if (i < text.size() && text[i] == '-') ++i;
  while (i < text.size() && (is_word(text[i]) || text[i] == '.'))
    ++i;
  while (i < text.size() && (text[i] == '(' || text[i] == '['))
    i = after_bracket(text, i);
  return i;
}

/// Simpler versions of a statement's text.
std::vector<std::string> simpler_texts(const std::string& text) {
  std::vector<std::string> texts;
  if (text.starts_with("if (")) {
    const std::size_t end = after_bracket(text, 3);
    if (end < text.size()) texts.push_back(trim(text.substr(end)));
  }
  if (const std::size_t equals = text.find(" = "); equals != std::string::npos && !text.starts_with("for")) {
    const std::string left = text.substr(0, equals + 3);
    const std::string right = text.substr(equals + 3);
    for (const char* value : {"0", "1"})
      if (right != "0" && right != value) texts.push_back(left + value);
    if (const std::size_t question = right.find(" ? "); question != std::string::npos) {
      const std::size_t colon = right.find(" : ", question);
      if (colon != std::string::npos) {
        texts.push_back(left + right.substr(question + 3, colon - question - 3));
        texts.push_back(left + right.substr(colon + 3));
      }
    }
  }
  for (const std::string_view op : {" + ", " - ", " * ", " / ", " && ", " || "}) {
    for (std::size_t at = text.find(op); at != std::string::npos; at = text.find(op, at + 1)) {
      const std::size_t left = operand_begin(text, at);
      const std::size_t right = operand_end(text, at + op.size());
      texts.push_back(text.substr(0, at) + text.substr(right));
      texts.push_back(text.substr(0, left) + text.substr(at + op.size()));
    }
  }
  for (std::size_t open = text.find('('); open != std::string::npos; open = text.find('(', open + 1)) {
    const std::size_t begin = operand_begin(text, open);
    const std::string name = text.substr(begin, open - begin);
    if (name == "if" || name == "for" || name == "while") continue;
    const std::size_t end = after_bracket(text, open);
    const std::string inner = text.substr(open + 1, end - open - 2);
    for (const std::string& argument : arguments_in(inner)) {
      texts.push_back(text.substr(0, begin) + argument + text.substr(end));
      if (!name.empty()) texts.push_back(text.substr(0, begin) + "(" + argument + ")" + text.substr(end));
    }
  }
  static const std::regex kArraySize(R"(\[(\d\d+)\])");
  std::smatch match;
  if (std::regex_search(text, match, kArraySize)) texts.push_back(match.prefix().str() + "[4]" + match.suffix().str());
  std::erase(texts, text);
  return texts;
}

std::vector<Tree> simplify_texts(const Tree& tree) {
  return for_each_statement(tree, [](Tree& list, std::size_t i, const std::function<void()>& keep) {
    if (list[i].text.find("__global__") != std::string::npos) return;
    for (std::string& text : simpler_texts(list[i].text)) {
      list[i].text = std::move(text);
      keep();
    }
  });
}

// ---------------------------------------------------------------------------------------------------------- reducing

class CudaReducer {
 public:
  CudaReducer(const Examiner& examiner, FlatProgram program, std::string entry, Clock::time_point end, unsigned jobs)
      : examiner_(examiner),
        program_(std::move(program)),
        entry_(std::move(entry)),
        end_(end),
        jobs_(std::max(jobs, 1U)) {}

  /// Applies all steps until none succeeds or the time is over. Returns whether none succeeds.
  bool reduce() {
    const std::vector<Step> steps{remove_statements(16), remove_statements(8), remove_statements(4),
                                  remove_statements(2),  remove_statements(1), unwrap_blocks,
                                  inline_variables,      simplify_texts};
    for (bool changed = true; changed;) {
      changed = false;
      for (const Step& step : steps)
        changed = apply(step) || changed;
      changed = remove_parameters() || changed;
      if (Clock::now() >= end_) return false;
    }
    return true;
  }

  [[nodiscard]] const FlatProgram& program() const { return program_; }
  [[nodiscard]] std::size_t trials() const { return trials_; }

 private:
  /// Whether one of the trees that the step makes is still translated incorrectly; repeats as long as one is.
  bool apply(const Step& step) {
    bool changed = false;
    for (std::size_t next = 0;;) {
      const std::vector<Tree> candidates = step(program_.tree);
      const std::optional<std::size_t> found = first_that_fails(candidates, next);
      if (!found) return changed;
      program_.tree = candidates[*found];
      changed = true;
      next = *found;
    }
  }

  std::optional<std::size_t> first_that_fails(const std::vector<Tree>& candidates, std::size_t next) {
    while (next < candidates.size() && Clock::now() < end_) {
      const std::size_t count = std::min<std::size_t>(jobs_, candidates.size() - next);
      std::vector<char> fails(count, 0);
      for_each_index_in_parallel(count, jobs_,
                                 [&](std::size_t i) { fails[i] = still_fails(candidates[next + i]) ? 1 : 0; });
      for (std::size_t i = 0; i < count; ++i)
        if (fails[i] != 0) return next + i;
      next += count;
    }
    return std::nullopt;
  }

  bool still_fails(const Tree& tree) {
    const std::string text = to_text(tree);
    {
      const std::lock_guard lock(mutex_);
      if (!tried_.insert(text).second) return false;
      ++trials_;
    }
    return examiner_.examine(text, program_.parameters).has_value();
  }

  bool remove_parameters() {
    bool changed = false;
    for (std::size_t i = program_.parameters.size(); i-- > 0;) {
      FlatProgram smaller = program_;
      smaller.parameters.erase(smaller.parameters.begin() + static_cast<std::ptrdiff_t>(i));
      smaller.tree.back().text = head_of(entry_, smaller.parameters);
      ++trials_;
      if (!examiner_.examine(to_text(smaller.tree), smaller.parameters)) continue;
      program_ = std::move(smaller);
      changed = true;
    }
    return changed;
  }

  const Examiner& examiner_;
  FlatProgram program_;
  std::string entry_;
  Clock::time_point end_;
  unsigned jobs_;
  std::mutex mutex_;
  std::set<std::string> tried_;
  std::size_t trials_ = 0;
};

/// Draws values until a build is incorrect. Gradients of outputs are 1, and other values lie on both sides of 0 and 1.
std::optional<Evidence> find_inputs(const Examiner& examiner, FlatProgram& program) {
  constexpr int kDraws = 40;
  Rng rng(1);
  for (int draw = 0; draw < kDraws; ++draw) {
    for (Parameter& parameter : program.parameters) {
      parameter.values.assign(parameter.is_array ? kElements : 1, 0);
      const bool is_integer = parameter.type != "float" && parameter.type != "double";
      for (double& value : parameter.values) {
        const double unit = static_cast<double>(rng.next() % 33) / 8 - 2;  // from -2 to 2 in eighths
        value = is_integer ? static_cast<double>(1 + rng.next() % (kElements - 1)) : unit;
        if (parameter.name.starts_with("grad_")) value = 1;
      }
    }
    if (auto evidence = examiner.examine(to_text(program.tree), program.parameters)) return evidence;
  }
  return std::nullopt;
}

std::string inputs_text(const std::vector<Parameter>& parameters) {
  std::string text;
  for (const Parameter& parameter : parameters) {
    text += fmt::format("{}{} {}{} = ", text.empty() ? "" : "; ", parameter.type, parameter.name,
                        parameter.is_array ? "[]" : "");
    text += parameter.is_array ? fmt::format("{{{}}}", fmt::join(parameter.values, ", "))
                               : fmt::format("{}", parameter.values.front());
  }
  return text;
}

std::string results_text(const std::vector<Parameter>& parameters, const Evidence& evidence) {
  const auto at = first_difference(evidence.wrong, evidence.right, 1e-4);
  if (!at) return "";
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters)
    if (parameter.is_array) names.push_back(parameter.name);
  return fmt::format("{}[{}] is {} and must be {}", names[at->first], at->second, evidence.wrong[at->first][at->second],
                     evidence.right[at->first][at->second]);
}

std::string host_program_of(const std::string& entry, const std::vector<Parameter>& parameters) {
  std::string setup;
  std::string arguments;
  std::string output;
  for (const Parameter& parameter : parameters) {
    arguments += (arguments.empty() ? "" : ", ") + parameter.name;
    if (!parameter.is_array) {
      setup += fmt::format("  {} {} = {};\n", parameter.type, parameter.name, parameter.values.front());
      continue;
    }
    setup += fmt::format("  {} host_{}[] = {{{}}};\n  {}* {} = nullptr;\n", parameter.type, parameter.name,
                         fmt::join(parameter.values, ", "), parameter.type, parameter.name);
    setup += fmt::format(
        "  cudaMalloc(&{0}, sizeof host_{0});\n"
        "  cudaMemcpy({0}, host_{0}, sizeof host_{0}, cudaMemcpyHostToDevice);\n",
        parameter.name);
    output += fmt::format(
        "  cudaMemcpy(host_{0}, {0}, sizeof host_{0}, cudaMemcpyDeviceToHost);\n"
        "  for (auto value : host_{0}) std::printf(\"{0} %g\\n\", double(value));\n",
        parameter.name);
  }
  return fmt::format(
      "// Runs reduced.cu on a GPU: nvcc -fmad=false -arch=native host.cu && ./a.out\n#include <cstdio>\n\n"
      "#include \"reduced.cu\"\n\nint main() {{\n{}  {}<<<1, 1>>>({});\n{}}}\n",
      setup, entry, arguments, output);
}

}  // namespace

Result<CudaReduction> reduce_cuda(const MiscompiledCuda& failure, std::chrono::milliseconds time, unsigned jobs) {
  const auto end = Clock::now() + time;
  Result<FlatProgram> flat = flatten(failure.source, failure.function_name);
  if (!flat.ok()) return flat.error();
  const Result<cuda::Nvrtc> wrong = cuda::Nvrtc::load(failure.incorrect_build.nvrtc_version_or_path);
  if (!wrong.ok()) return wrong.error();
  for (const CudaBuild& build : failure.reference_builds) {
    const Result<cuda::Nvrtc> witness = cuda::Nvrtc::load(build.nvrtc_version_or_path);
    if (!witness.ok() || !witness->supports(build.architecture)) continue;
    const Examiner examiner(failure.function_name, *wrong, *witness, failure.incorrect_build, build);
    FlatProgram program = *flat;
    if (!find_inputs(examiner, program)) continue;
    CudaReducer reducer(examiner, std::move(program), failure.function_name, end, jobs);
    const bool is_minimal = reducer.reduce();
    const FlatProgram& reduced = reducer.program();
    const std::string text = to_text(reduced.tree);
    const std::optional<Evidence> evidence = examiner.examine(text, reduced.parameters);
    if (!evidence) return Error{"compiling the reduced source again does not reproduce the incorrect result"};
    return CudaReduction{.source = text,
                         .line_count = line_count(text),
                         .original_line_count = line_count(failure.source),
                         .incorrect_ptx = evidence->incorrect_ptx,
                         .correct_ptx = evidence->correct_ptx,
                         .incorrect_build = failure.incorrect_build,
                         .reference_build = build,
                         .inputs = inputs_text(reduced.parameters),
                         .result_difference = results_text(reduced.parameters, *evidence),
                         .host_program = host_program_of(failure.function_name, reduced.parameters),
                         .compilation_count = reducer.trials(),
                         .is_minimal = is_minimal};
  }
  return Error{"the incorrect result cannot be reproduced with the inputs of a single thread"};
}

}  // namespace assay::compilers
