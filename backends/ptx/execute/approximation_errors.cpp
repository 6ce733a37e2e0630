#include "backends/ptx/execute/approximation_errors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "backends/ptx/instructions/numbers.hpp"

namespace assay::ptx {
namespace {

/// The fields of a binary floating-point format with 16, 32 or 64 bits.
struct FloatFormat {
  int fraction_bits;
  int exponent_bits;

  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] std::uint64_t sign_bit() const { return std::uint64_t{1} << (fraction_bits + exponent_bits); }
  [[nodiscard]] bool is_normal(std::uint64_t bits) const {
    const std::uint64_t largest_exponent = (std::uint64_t{1} << exponent_bits) - 1;
    const std::uint64_t exponent = bits >> fraction_bits & largest_exponent;
    return exponent != 0 && exponent != largest_exponent;
  }
};

FloatFormat float_format_of(Type type) {
  switch (type) {
    case Type::kF16: return {10, 5};
    case Type::kBf16: return {7, 8};
    case Type::kF64: return {52, 11};
    default: return {23, 8};
  }
}

/// How far a result may be from the correct one.
struct DocumentedError {
  int ulps = 0;         ///< in units in the last place, from the correctly rounded result; 0: one of the others
  double relative = 0;  ///< from the exact result, relative to it
  double absolute = 0;  ///< from the exact result
};

/// The errors that the manual "Parallel Thread Execution ISA" 9.1 states, and, for rsqrt.approx.f64, that of rsqrt()
/// in the CUDA programming guide.
DocumentedError documented_error(Opcode opcode, Type type, double operand) {
  switch (opcode) {
    case Opcode::kEx2:
      if (type == Type::kF16) return {.relative = std::exp2(-9.9)};
      if (type == Type::kBf16) return {.relative = 0x1p-7};
      return {.ulps = 2};
    case Opcode::kLg2:
      if (operand > 0.5 && operand < 2) return {.absolute = 0x1p-22};
      return {.relative = 0x1p-22};
    case Opcode::kSin:
    case Opcode::kCos:
      // Outside of [-100 pi, 100 pi], no error is stated.
      return {.absolute = std::exp2(std::fabs(operand) <= 2 * std::numbers::pi ? -20.5 : -14.7)};
    case Opcode::kTanh:
      if (type == Type::kF16) return {.absolute = std::exp2(-10.987)};
      if (type == Type::kBf16) return {.absolute = 0x1p-8};
      return {.relative = 0x1p-11};
    case Opcode::kRcp: return {.ulps = 1};
    case Opcode::kRsqrt:
      if (type == Type::kF64) return {.ulps = 1};
      return {.relative = std::exp2(-22.9)};
    case Opcode::kSqrt: return {.relative = 0x1p-23};
    case Opcode::kDiv: return {.ulps = 2};
    default: return {};
  }
}

double exact_result(Opcode opcode, double x, double y) {
  switch (opcode) {
    case Opcode::kEx2: return std::exp2(x);
    case Opcode::kLg2: return std::log2(x);
    case Opcode::kSin: return std::sin(x);
    case Opcode::kCos: return std::cos(x);
    case Opcode::kTanh: return std::tanh(x);
    case Opcode::kRcp: return 1 / x;
    case Opcode::kRsqrt: return 1 / std::sqrt(x);
    case Opcode::kSqrt: return std::sqrt(x);
    default: return x / y;
  }
}

bool is_power_of_two(double x) {
  int exponent = 0;
  return std::fabs(std::frexp(x, &exponent)) == 0.5;
}

/// Whether GPUs compute the result exactly, or as the documentation of special values states.
bool is_exact(Opcode opcode, double x, double y, double rounded) {
  switch (opcode) {
    case Opcode::kEx2: return x == std::trunc(x);
    case Opcode::kTanh: return std::fabs(rounded) == 1;
    case Opcode::kRcp: return is_power_of_two(x);
    case Opcode::kDiv: return is_power_of_two(y);
    // The squares of floats with 24 bits are doubles.
    case Opcode::kSqrt: return rounded * rounded == x;
    case Opcode::kRsqrt: return is_power_of_two(x) && is_power_of_two(rounded) && rounded * rounded * x == 1;
    default: return false;
  }
}

/// Random bits that the operands determine (splitmix64).
std::uint64_t random_bits(std::uint64_t a, std::uint64_t b, std::uint64_t opcode) {
  std::uint64_t bits = (a ^ std::rotl(b, 32)) + 0x9e3779b97f4a7c15 * (opcode + 1);
  bits = (bits ^ bits >> 30U) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27U) * 0x94d049bb133111eb;
  return bits ^ bits >> 31U;
}

/// The bits of a positive number in the format, rounded down or up; nullopt if they would not be those of a normal
/// number.
std::optional<std::uint64_t> encode(double number, const FloatFormat& format, bool rounds_up) {
  constexpr FloatFormat kDouble{52, 11};
  const int dropped_bits = kDouble.fraction_bits - format.fraction_bits;
  const auto bits = std::bit_cast<std::uint64_t>(number);
  const std::int64_t exponent =
      static_cast<std::int64_t>(bits >> kDouble.fraction_bits) - kDouble.bias() + format.bias();
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << kDouble.fraction_bits) - 1);
  if (!(number > 0) || exponent <= 0 || exponent > 2 * format.bias()) return std::nullopt;
  const bool is_inexact = (fraction & ((std::uint64_t{1} << dropped_bits) - 1)) != 0;
  return (static_cast<std::uint64_t>(exponent) << format.fraction_bits | fraction >> dropped_bits) +
         (rounds_up && is_inexact ? 1 : 0);
}

/// An instruction that one lane has executed.
struct ExecutedInstruction {
  Opcode opcode;          ///< the function
  Type type;              ///< type of the operands and the result
  double x, y;            ///< the operands; y is 0 for a function of one operand
  std::uint64_t nearest;  ///< bits of the correctly rounded result
};

/// The bits of the result if its magnitude is greater or less than the correct one by `share` (from 0 to 1) of the
/// documented error; nullopt if no GPU has such a result.
std::optional<std::uint64_t> moved(const ExecutedInstruction& executed, double share, bool grows) {
  const FloatFormat format = float_format_of(executed.type);
  const DocumentedError error = documented_error(executed.opcode, executed.type, executed.x);
  const std::uint64_t nearest = executed.nearest & ~format.sign_bit();
  const double rounded = number_of(executed.type, nearest);
  const double exact = std::fabs(exact_result(executed.opcode, executed.x, executed.y));
  const double size = error.ulps > 0
                          ? std::ceil(share * error.ulps) * std::ldexp(1.0, std::ilogb(rounded) - format.fraction_bits)
                          : share * std::fmax(error.absolute, error.relative * exact);
  const double from = error.ulps > 0 ? rounded : exact;
  // Rounded towards the correct result, so that the error is not greater than documented.
  std::optional<std::uint64_t> result = encode(grows ? from + size : from - size, format, !grows);
  if (!result) return std::nullopt;
  result = grows ? std::max(*result, nearest) : std::min(*result, nearest);
  if (!format.is_normal(*result)) return std::nullopt;
  const bool is_at_most_one =
      executed.opcode == Opcode::kSin || executed.opcode == Opcode::kCos || executed.opcode == Opcode::kTanh;
  if (is_at_most_one && number_of(executed.type, *result) > 1) return std::nullopt;
  return *result | (executed.nearest & format.sign_bit());
}

/// The result with an error that depends on the operands' bits `a` and `b`.
std::uint64_t with_error(const ExecutedInstruction& executed, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t random = random_bits(a, b, static_cast<std::uint64_t>(executed.opcode));
  const bool grows = (random & 1U) != 0;
  const bool is_full = (random >> 1U & 3U) != 0;
  const double share = is_full ? 1 : static_cast<double>(random >> 40U) * 0x1p-24;
  for (const bool direction : {grows, !grows})
    if (const auto result = moved(executed, share, direction)) return *result;
  return executed.nearest;
}

template <class Word>
Word word_at(const std::byte* words, unsigned lane) {
  Word word;
  std::memcpy(&word, words + lane * sizeof(word), sizeof(word));
  return word;
}

template <class Word>
void add_errors(Opcode opcode, Type type, std::uint32_t mask, const ResultCorrection::Operands& operands,
                std::byte* results) {
  const FloatFormat format = float_format_of(type);
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t a = word_at<Word>(operands.a, lane);
    const std::uint64_t b = operands.b == nullptr ? 0 : word_at<Word>(operands.b, lane);
    const std::uint64_t nearest = word_at<Word>(results, lane);
    if (!format.is_normal(a) || (operands.b != nullptr && !format.is_normal(b)) || !format.is_normal(nearest)) return;
    const ExecutedInstruction executed{.opcode = opcode,
                                       .type = type,
                                       .x = number_of(type, a),
                                       .y = operands.b == nullptr ? 0 : number_of(type, b),
                                       .nearest = nearest};
    if (is_exact(opcode, executed.x, executed.y, number_of(type, nearest))) return;
    const auto result = static_cast<Word>(with_error(executed, a, b));
    std::memcpy(results + lane * sizeof(result), &result, sizeof(result));
  });
}

}  // namespace

std::optional<std::size_t> approximate_function_of(const Instruction& instruction) {
  const bool is_approximate =
      instruction.modifiers.has(Modifier::kApprox) || instruction.modifiers.has(Modifier::kFull);
  const bool is_upper_word = instruction.type == Type::kF64 && instruction.modifiers.has(Modifier::kFtz);
  if (!is_approximate || is_upper_word) return std::nullopt;
  const auto* const found = std::ranges::find(kApproximateFunctions, instruction.opcode, &ApproximateFunction::opcode);
  if (found == kApproximateFunctions.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kApproximateFunctions.begin());
}

void ApproximationErrors::apply(const Op& op, std::uint32_t mask, const Operands& operands, std::byte* results) {
  const Instruction& instruction = *op.instruction;
  const std::optional<std::size_t> function = approximate_function_of(instruction);
  if (!function || (functions_ >> *function & 1U) == 0) return;
  if (instruction.type == Type::kF64)
    add_errors<std::uint64_t>(instruction.opcode, instruction.type, mask, operands, results);
  else add_errors<std::uint32_t>(instruction.opcode, instruction.type, mask, operands, results);
}

}  // namespace assay::ptx
