#include "backends/ptx/models/self_check.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "backends/ptx/execute/machine.hpp"
#include "backends/ptx/parse/module.hpp"
#include "support/rng.hpp"

namespace assay::ptx::models {

namespace {

/// A record of the kernels of spelling.hpp.
struct ModelRecord {
  Operands operands{};
  InstructionResults results;
};

Result<std::vector<ModelRecord>> executed(const std::shared_ptr<const Kernel>& kernel,
                                          std::vector<ModelRecord> records) {
  const std::size_t count = records.size();
  records.resize((count + 255) / 256 * 256);
  Machine machine;
  KernelArguments arguments;
  arguments.add(machine.address(machine.adopt("x", std::as_writable_bytes(std::span(records)))));
  LaunchOptions options;
  options.checks = EnabledChecks::none();
  const RunResult run =
      machine.launch(kernel, {{static_cast<std::uint32_t>(records.size() / 256)}, {256}}, arguments, options);
  if (!run.ok()) return Error{run.message};
  records.resize(count);
  return records;
}

// The word by which a kernel decides whether a lane executes the instruction: the upper half of the second result.
constexpr std::uint64_t kMark = std::uint64_t{1} << 32U;
constexpr std::uint64_t kWithoutMark = kMark - 1;

/// Marks all or some lanes of each warp: in turns about half of them, one, some of the first eight, and all but one.
void mark_lanes(std::span<ModelRecord> records) {
  Rng rng(1);
  for (std::size_t warp = 0; warp * kLanesPerWarp < records.size(); ++warp) {
    const auto random = static_cast<std::uint32_t>(rng.next());
    const std::uint32_t one_lane = 1U << (random % kLanesPerWarp);
    constexpr std::uint32_t kFirstEight = 0xff;
    const std::uint32_t masks[] = {random, one_lane, random & kFirstEight, ~one_lane};
    const std::uint32_t mask = masks[warp % std::size(masks)];
    for (std::size_t lane = 0; lane < kLanesPerWarp && warp * kLanesPerWarp + lane < records.size(); ++lane)
      records[warp * kLanesPerWarp + lane].results.second_result_bits = (mask >> lane & 1U) != 0 ? kMark : 0;
  }
}

/// PTX leaves the bits of 64-bit NaN results unspecified, and those of any width for abs, neg and copysign.
bool is_open_nan(const InstructionForm& spelling, std::uint64_t expected, std::uint64_t got) {
  const bool of_signs = spelling.opcode_row->name == "abs" || spelling.opcode_row->name == "neg" ||
                        spelling.opcode_row->name == "copysign";
  if (!is_float(spelling.type) || (spelling.type != Type::kF64 && !of_signs)) return false;
  const bool pair = spelling.type == Type::kF16x2 || spelling.type == Type::kBf16x2;
  for (unsigned half = 0; half < (pair ? 2 : 1); ++half) {
    const FloatFormat& format = format_of(spelling.type);
    const std::uint64_t mask =
        format.total_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << format.total_bits) - 1;
    const std::uint64_t a = expected >> (16 * half) & mask;
    const std::uint64_t b = got >> (16 * half) & mask;
    if (a != b && !(exact_float(format, a).is_nan() && exact_float(format, b).is_nan())) return false;
  }
  return true;
}

std::string disagreement_of(const InstructionForm& spelling, const Operands& operands, const InstructionResults& got,
                            const InstructionResults& expected) {
  return fmt::format(
      "{}{} of the operands 0x{:x}, 0x{:x}, 0x{:x}, 0x{:x}: got the results 0x{:x} and {}, expected "
      "0x{:x} and {}",
      spelling.text(), spelling.truth_table != 0 ? fmt::format(" {}", spelling.truth_table) : "", operands[0],
      operands[1], operands[2], operands[3], got.result_bits, got.second_result_bits, expected.result_bits,
      expected.second_result_bits);
}

/// The words of a spelling in alphabetical order: their order in the PTX and in the tables may differ.
std::string sorted_words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('.'), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::ranges::sort(words);
  std::string sorted;
  for (const std::string_view word : words)
    sorted += std::string(word) + ".";
  return sorted;
}

using SpellingKey = std::pair<std::string, unsigned>;

std::map<SpellingKey, InstructionForm> all_spellings() {
  std::map<SpellingKey, InstructionForm> spellings;
  for (const OpcodeRow& row : opcode_rows()) {
    if (!is_computed(row)) continue;
    for (InstructionForm& spelling : spellings_of(row)) {
      if (find_model(spelling) == nullptr) continue;
      SpellingKey key(sorted_words(spelling.text()), spelling.truth_table);
      spellings.emplace(std::move(key), std::move(spelling));
    }
  }
  return spellings;
}

/// "setp.lt.f32" of "setp.lt.f32 %p1, %f1, %f2".
std::string_view without_operands(std::string_view text) { return text.substr(0, text.find_first_of(" \t\n;")); }

/// What an instruction without a model does, regardless of types, memory and caches: "ld", "atom.add". Compilers spell
/// the same instruction in several ways.
std::string class_of(std::string_view text) {
  static const std::set<std::string_view> kIgnored{"global", "local", "shared", "param", "const",    "nc",
                                                   "v2",     "v4",    "uni",    "sync",  "aligned",  "relaxed",
                                                   "gpu",    "sys",   "weak",   "cta",   "volatile", "to"};
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('.'), text.size());
    const std::string_view word = text.substr(0, end);
    if (!kIgnored.contains(word) && !find_type(word)) result += (result.empty() ? "" : ".") + std::string(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

unsigned table_of(const Instruction& instruction) {
  return instruction.opcode == Opcode::kLop3 && !instruction.operands.empty()
             ? static_cast<unsigned>(instruction.operands.back().value)
             : 0;
}

}  // namespace

namespace {

/// The first result that the model contradicts, or an empty text.
std::string find_disagreement(const InstructionForm& spelling, Model model, std::span<const Operands> operands,
                              ExecutingLanes lanes) {
  std::vector<ModelRecord> before(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i)
    before[i].operands = operands[i];
  if (lanes == ExecutingLanes::kMarked) mark_lanes(before);
  const auto got = executed(kernel_of(spelling, lanes), before);
  if (!got.ok()) return fmt::format("{}: {}", spelling.text(), got.error().text());
  const unsigned bytes = result_bytes(spelling);
  const std::uint64_t untouched =
      bytes == 8 ? kUntouchedResult : kUntouchedResult & ((std::uint64_t{1} << 8 * bytes) - 1);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    InstructionResults result = (*got)[i].results;
    result.second_result_bits &= kWithoutMark;
    if (lanes == ExecutingLanes::kMarked && before[i].results.second_result_bits == 0) {
      // Outside the instruction, the carry flag is unspecified.
      const bool second = bytes == 0 && result.second_result_bits != 0;
      if (result.result_bits == untouched && !second) continue;
      return fmt::format("{} changed the results of a lane that did not execute it to 0x{:x} and {}", spelling.text(),
                         result.result_bits, result.second_result_bits);
    }
    const InstructionResults expected = model(spelling, operands[i]);
    const bool same =
        expected.result_bits == result.result_bits || is_open_nan(spelling, expected.result_bits, result.result_bits);
    const bool second = !has_second_result(spelling) || expected.second_result_bits == result.second_result_bits;
    if (!same || !second) return disagreement_of(spelling, operands[i], result, expected);
  }
  return {};
}

}  // namespace

ModelComparison compare(const InstructionForm& spelling, const InputCounts& counts) {
  if (kernel_of(spelling, ExecutingLanes::kAll) == nullptr) return {};
  const Model model = find_model(spelling);
  if (model == nullptr) return {.compared_input_count = 0, .first_disagreement = {}, .has_model = false};
  constexpr std::size_t kLaunch = std::size_t{1} << 17U;
  const std::vector<Operands> operands = operands_for(spelling, counts);
  ModelComparison comparison{.compared_input_count = operands.size()};
  for (std::size_t first = 0; first < operands.size() && comparison.first_disagreement.empty(); first += kLaunch) {
    const std::span part = std::span(operands).subspan(first, std::min(kLaunch, operands.size() - first));
    comparison.first_disagreement = find_disagreement(spelling, model, part, ExecutingLanes::kAll);
  }
  if (!comparison.first_disagreement.empty()) return comparison;
  // The lanes that execute an instruction do not depend on the operands, so a sample of these suffices.
  constexpr std::size_t kSample = std::size_t{1} << 11U;
  const std::size_t step = std::max<std::size_t>(1, operands.size() / kSample);
  std::vector<Operands> sample;
  for (std::size_t i = 0; i < operands.size(); i += step)
    sample.push_back(operands[i]);
  comparison.first_disagreement = find_disagreement(spelling, model, sample, ExecutingLanes::kMarked);
  return comparison;
}

const InstructionForm* find_spelling(std::string_view text, unsigned table) {
  static const std::map<SpellingKey, InstructionForm> kSpellings = all_spellings();
  const auto found = kSpellings.find({sorted_words(text), table});
  return found == kSpellings.end() ? nullptr : &found->second;
}

Result<InstructionCheckResult> check_instructions(std::span<const std::string> texts, bool compares) {
  std::set<std::string> used;
  std::set<const InstructionForm*> forms;
  std::set<std::string> unchecked;
  for (const std::string& text : texts) {
    const Result<Module> module = parse(text, "kernel.ptx");
    if (!module.ok()) return module.error();
    for (const Function& function : module->functions) {
      for (const Instruction& instruction : function.instructions) {
        const std::string_view name = without_operands(instruction.text);
        if (const InstructionForm* const form = find_spelling(name, table_of(instruction))) {
          forms.insert(form);
          used.emplace(name);
        } else {
          unchecked.insert(class_of(name));
        }
      }
    }
  }
  used.insert(unchecked.begin(), unchecked.end());
  InstructionCheckResult check{.used_instructions = {used.begin(), used.end()},
                               .unchecked_instructions = {unchecked.begin(), unchecked.end()}};
  if (!compares) return check;
  for (const InstructionForm* const form : forms) {
    ModelComparison comparison = compare(*form, {});
    if (!comparison.first_disagreement.empty()) check.disagreements.push_back(std::move(comparison.first_disagreement));
  }
  std::ranges::sort(check.disagreements);
  return check;
}

}  // namespace assay::ptx::models
