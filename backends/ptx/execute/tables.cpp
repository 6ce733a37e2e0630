#include "backends/ptx/execute/tables.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "backends/ptx/execute/machine.hpp"
#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

namespace {

// Operands are evaluated in chunks of this size.
constexpr std::size_t kPiece = std::size_t{1} << 20U;
constexpr std::uint64_t kBitPatterns = std::uint64_t{1} << 32U;

// One binade of a float has 2^23 numbers, of the upper word of a double 2^20.
constexpr OperandRange kOneToTwo{0x3f800000, 1U << 23U};
constexpr OperandRange kOneToFour{0x3f800000, 1U << 24U};
constexpr OperandRange kHalfToTwo{0x3f000000, 1U << 24U};
constexpr OperandRange kNegativeOneToTwo{0xbf800000, 1U << 23U};
// The fractional part of an exponent: 1/8 to 1/2.
constexpr OperandRange kFraction{0x3e000000, 1U << 24U};
constexpr OperandRange kNegativeFraction{0xbe000000, 1U << 24U};
constexpr OperandRange kUpperOneToTwo{0x3ff00000, 1U << 20U};
constexpr OperandRange kUpperOneToFour{0x3ff00000, 1U << 21U};

constexpr std::array kUnits = {
    ApproximationUnit{"ex2.approx.f32", Opcode::kEx2, Type::kF32, false, 0, 0, {kFraction, kNegativeFraction}},
    ApproximationUnit{"ex2.approx.ftz.f32", Opcode::kEx2, Type::kF32, true, 0, 0, {kFraction, kNegativeFraction}},
    ApproximationUnit{"lg2.approx.f32", Opcode::kLg2, Type::kF32, false, 0, 0, {kHalfToTwo}},
    ApproximationUnit{"lg2.approx.ftz.f32", Opcode::kLg2, Type::kF32, true, 0, 0, {kHalfToTwo}},
    ApproximationUnit{"rcp.approx.f32", Opcode::kRcp, Type::kF32, false, 1, -1, {kOneToTwo}},
    ApproximationUnit{"rcp.approx.ftz.f32", Opcode::kRcp, Type::kF32, true, 1, -1, {kOneToTwo}},
    ApproximationUnit{"rcp.approx.ftz.f64", Opcode::kRcp, Type::kF64, true, 1, -1, {kUpperOneToTwo}},
    ApproximationUnit{"rsqrt.approx.f32", Opcode::kRsqrt, Type::kF32, false, 2, -1, {kOneToFour}},
    ApproximationUnit{"rsqrt.approx.ftz.f32", Opcode::kRsqrt, Type::kF32, true, 2, -1, {kOneToFour}},
    ApproximationUnit{"rsqrt.approx.ftz.f64", Opcode::kRsqrt, Type::kF64, true, 2, -1, {kUpperOneToFour}},
    ApproximationUnit{"sqrt.approx.f32", Opcode::kSqrt, Type::kF32, false, 2, 1, {kOneToFour}},
    ApproximationUnit{"sqrt.approx.ftz.f32", Opcode::kSqrt, Type::kF32, true, 2, 1, {kOneToFour}},
    ApproximationUnit{"sin.approx.f32", Opcode::kSin, Type::kF32, false, 0, 0, {kOneToTwo, kNegativeOneToTwo}},
    ApproximationUnit{"sin.approx.ftz.f32", Opcode::kSin, Type::kF32, true, 0, 0, {kOneToTwo, kNegativeOneToTwo}},
    ApproximationUnit{"cos.approx.f32", Opcode::kCos, Type::kF32, false, 0, 0, {kOneToTwo, kNegativeOneToTwo}},
    ApproximationUnit{"cos.approx.ftz.f32", Opcode::kCos, Type::kF32, true, 0, 0, {kOneToTwo, kNegativeOneToTwo}},
    ApproximationUnit{"tanh.approx.f32", Opcode::kTanh, Type::kF32, false, 0, 0, {kOneToTwo, kNegativeOneToTwo}},
};

/// The layout of the words of a unit's type.
struct WordFormat {
  int fraction_bits;
  int bias;  ///< the exponent field of 1.0
  int infinite;
};
WordFormat format_of(const ApproximationUnit& unit) {
  return unit.type == Type::kF64 ? WordFormat{20, 1023, 2047} : WordFormat{23, 127, 255};
}

int exponent_of(const WordFormat& format, std::uint32_t word) {
  return static_cast<int>(word >> format.fraction_bits) & format.infinite;
}
bool is_normal(const WordFormat& format, std::uint32_t word) {
  const int exponent = exponent_of(format, word);
  return exponent != 0 && exponent != format.infinite;
}

constexpr std::uint32_t kSign = 0x80000000;

/// The equivalent operand within the window, for a unit that scales.
std::uint32_t moved_into_window(const ApproximationUnit& unit, std::uint32_t operand) {
  if (unit.operand_scale_exponent == 0) return operand;
  const WordFormat format = format_of(unit);
  const int above = exponent_of(format, operand) - format.bias;
  const int kept = (above % unit.operand_scale_exponent + unit.operand_scale_exponent) % unit.operand_scale_exponent;
  const std::uint32_t fraction = operand & ((1U << format.fraction_bits) - 1);
  return static_cast<std::uint32_t>(format.bias + kept) << format.fraction_bits | fraction;
}

/// A PTX kernel that evaluates the unit, one thread per word.
std::string kernel_text(const ApproximationUnit& unit) {
  const bool wide = unit.type == Type::kF64;
  return fmt::format(
      ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry ask(.param .u64 words)\n{{\n"
      ".reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<3>; .reg .f64 %fd<3>;\n"
      "ld.param.u64 %rd1, [words]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 256, %r1;\n"
      "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; ld.global.u32 %r3, [%rd1]; mov.u32 %r4, 0;\n"
      "{0}\n{1} {2}2, {2}1;\n{3}\nst.global.u32 [%rd1], %r3; ret;\n}}\n",
      wide ? "mov.b64 %fd1, {%r4, %r3};" : "mov.b32 %f1, %r3;", unit.instruction_name, wide ? "%fd" : "%f",
      wide ? "mov.b64 {%r5, %r3}, %fd2;" : "mov.b32 %r3, %f2;");
}

/// The difference of the device's result from the correctly rounded result in units in the last place; kNotMeasured if
/// it is not small.
std::int8_t difference_of(const ApproximationUnit& unit, std::uint32_t got, std::uint32_t nearest) {
  const WordFormat format = format_of(unit);
  if (!is_normal(format, got) || !is_normal(format, nearest) || ((got ^ nearest) & kSign) != 0) {
    return ApproximationTable::kNotMeasured;
  }
  const std::int64_t difference = std::int64_t{got} - std::int64_t{nearest};
  const bool fits = difference > INT8_MIN && difference <= INT8_MAX;
  return fits ? static_cast<std::int8_t>(difference) : ApproximationTable::kNotMeasured;
}

Result<ApproximationTable::OperandWindow> measure_window(const ApproximationUnit& unit, const OperandRange& range,
                                                         const EvaluateUnit& device) {
  ApproximationTable::OperandWindow window{.first_operand = range.first_operand, .ulp_differences = {}};
  window.ulp_differences.reserve(range.operand_count);
  while (window.ulp_differences.size() < range.operand_count) {
    const std::size_t done = window.ulp_differences.size();
    std::vector<std::uint32_t> operands(std::min<std::size_t>(kPiece, range.operand_count - done));
    for (std::size_t i = 0; i < operands.size(); ++i)
      operands[i] = static_cast<std::uint32_t>(range.first_operand + done + i);
    const auto got = device(unit, operands);
    if (!got) return got.error();
    const auto nearest = compute_nearest_results(unit, operands);
    if (!nearest) return nearest.error();
    for (std::size_t i = 0; i < operands.size(); ++i)
      window.ulp_differences.push_back(difference_of(unit, (*got)[i], (*nearest)[i]));
  }
  return window;
}

}  // namespace

std::span<const ApproximationUnit> units() { return kUnits; }

const ApproximationUnit* unit_of(const Instruction& instruction) {
  if (instruction.category != InstructionCategory::kSpecialFunction) return nullptr;
  const auto found = std::ranges::find_if(kUnits, [&](const ApproximationUnit& unit) {
    return unit.opcode == instruction.opcode && unit.type == instruction.type &&
           unit.ftz == instruction.modifiers.has(Modifier::kFtz);
  });
  return found == kUnits.end() ? nullptr : &*found;
}

std::optional<std::uint32_t> ApproximationTable::answer(std::uint32_t operand, std::uint32_t nearest) const {
  const WordFormat format = format_of(*unit_);
  const bool negative_root = unit_->operand_scale_exponent == 2 && (operand & kSign) != 0;
  if (!is_normal(format, operand) || !is_normal(format, nearest) || negative_root) return std::nullopt;
  const std::uint32_t standing = moved_into_window(*unit_, operand);
  for (const OperandWindow& window : windows_) {
    const std::uint32_t place = standing - window.first_operand;
    if (place >= window.ulp_differences.size()) continue;
    if (window.ulp_differences[place] == kNotMeasured) return std::nullopt;
    const auto answer = static_cast<std::uint32_t>(std::int64_t{nearest} + window.ulp_differences[place]);
    return is_normal(format, answer) ? std::optional(answer) : std::nullopt;
  }
  return std::nullopt;
}

const ApproximationTable* ApproximationTables::find(const ApproximationUnit& unit) const {
  const auto found =
      std::ranges::find_if(tables, [&](const ApproximationTable& table) { return &table.unit() == &unit; });
  return found == tables.end() ? nullptr : &*found;
}

Result<std::vector<std::uint32_t>> compute_nearest_results(const ApproximationUnit& unit,
                                                           std::span<const std::uint32_t> operands) {
  Result<Module> module = parse(kernel_text(unit), std::string(unit.instruction_name));
  if (!module) return module.error();
  const auto kernel = lower(std::make_shared<const Module>(module.take()), "ask");
  if (!kernel) return kernel.error();
  std::vector<std::uint32_t> words(operands.begin(), operands.end());
  words.resize((words.size() + 255) / 256 * 256);
  Machine machine;
  KernelArguments arguments;
  arguments.add(machine.address(machine.adopt("words", std::as_writable_bytes(std::span(words)))));
  const auto blocks = static_cast<std::uint32_t>(words.size() / 256);
  const RunResult run = machine.launch(*kernel, {{blocks}, {256}}, arguments, {.checks = EnabledChecks::none()});
  if (!run.ok()) return Error{run.message, std::string(unit.instruction_name)};
  words.resize(operands.size());
  return words;
}

Result<MeasuredTable> measure_unit(const ApproximationUnit& unit, const EvaluateUnit& device, std::uint64_t step) {
  std::vector<ApproximationTable::OperandWindow> windows;
  for (const OperandRange& range : unit.measured_operand_ranges) {
    if (range.operand_count == 0) continue;
    auto window = measure_window(unit, range, device);
    if (!window) return window.error();
    windows.push_back(window.take());
  }
  const ApproximationTable table(unit, windows, 0);
  MeasuredTable measured;
  for (std::uint64_t bits = 0; bits < kBitPatterns;) {
    std::vector<std::uint32_t> operands;
    for (; operands.size() < kPiece && bits < kBitPatterns; bits += step)
      operands.push_back(static_cast<std::uint32_t>(bits));
    const auto got = device(unit, operands);
    if (!got) return got.error();
    const auto nearest = compute_nearest_results(unit, operands);
    if (!nearest) return nearest.error();
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto foretold = table.answer(operands[i], (*nearest)[i]);
      if (!foretold) continue;
      ++measured.verified_operand_count;
      if (*foretold == (*got)[i]) continue;
      if (measured.mismatching_operand_count++ == 0) measured.first_mismatching_operand = operands[i];
    }
  }
  if (measured.mismatching_operand_count == 0)
    measured.table.emplace(unit, std::move(windows), measured.verified_operand_count);
  return measured;
}

}  // namespace assay::ptx
