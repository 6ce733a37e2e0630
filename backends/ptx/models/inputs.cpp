#include "backends/ptx/models/inputs.hpp"

#include <algorithm>
#include <bit>

#include "support/rng.hpp"

namespace assay::ptx::models {

namespace {

using Values = std::vector<std::uint64_t>;

std::uint64_t mask_of(unsigned bits) { return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }

Values special_floats(const FloatFormat& format) {
  const int fraction_bits = format.significand_digits - 1;
  const std::uint64_t most = mask_of(static_cast<unsigned>(format.total_bits - format.significand_digits));
  const std::uint64_t all = mask_of(static_cast<unsigned>(fraction_bits));
  const std::uint64_t one = most / 2;  // the exponent of 1.0
  Values values;
  for (const std::uint64_t exponent : {std::uint64_t{0}, std::uint64_t{1}, one - 1, one, one + 1, most - 1}) {
    for (const std::uint64_t fraction : {std::uint64_t{0}, std::uint64_t{1}, all / 3, all / 2 + 1, all})
      values.push_back(exponent << fraction_bits | fraction);
  }
  values.push_back(most << fraction_bits);
  values.push_back(most << fraction_bits | all);
  const std::size_t positive = values.size();
  for (std::size_t i = 0; i < positive; ++i)
    values.push_back(values[i] | std::uint64_t{1} << (format.total_bits - 1));
  return values;
}

Values special_integers(unsigned bits) {
  Values values;
  for (unsigned bit = 0; bit < bits; bit += bit < 8 || bit >= bits - 2 ? 1 : 4) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    for (const std::uint64_t near : {power, power - 1, 0 - power, ~power})
      values.push_back(near & mask_of(bits));
  }
  values.push_back(0x8372615094a5b6c7 & mask_of(bits));
  return values;
}

/// Pairs of the halves' special values, each with a different partner.
Values special_pairs(const FloatFormat& format) {
  const Values halves = special_floats(format);
  Values values;
  for (std::size_t i = 0; i < halves.size(); ++i)
    values.push_back(halves[i] | halves[(i * 7 + 3) % halves.size()] << format.total_bits);
  return values;
}

bool is_pair(Type type) { return single(type) != type; }

/// The ends of every binade and the midpoints between halves; for integers, the powers of two and their neighbors.
/// They include every limit of every type that they may be converted to.
Values edges(Type type) {
  const unsigned bits = 8 * bytes_of(type);
  Values values;
  if (!is_float(type) || is_pair(type)) {
    for (unsigned bit = 0; bit < bits; ++bit) {
      const std::uint64_t power = std::uint64_t{1} << bit;
      for (const std::uint64_t near : {power - 1, power, power + 1, 0 - power, 1 - power, ~power})
        values.push_back(near & mask_of(bits));
    }
    return values;
  }
  const FloatFormat& format = format_of(type);
  const auto fraction_bits = static_cast<unsigned>(format.significand_digits - 1);
  for (std::uint64_t exponent = 0; exponent <= mask_of(bits - 1 - fraction_bits); ++exponent) {
    for (const std::uint64_t fraction :
         {std::uint64_t{0}, std::uint64_t{1}, mask_of(fraction_bits), std::uint64_t{3} << (fraction_bits - 12)}) {
      values.push_back(exponent << fraction_bits | fraction);
      values.push_back(exponent << fraction_bits | fraction | std::uint64_t{1} << (bits - 1));
    }
  }
  return values;
}

/// Random bits; a third of the integers have leading zeros.
std::uint64_t random_value(Type type, Rng& random) {
  const std::uint64_t bits = random.next();
  return !is_float(type) && bits % 3 == 0 ? random.next() >> (bits >> 2U) % 64 : bits;
}

Values of_one_operand(Type type, const InputCounts& extent) {
  Values values;
  const unsigned bits = 8 * bytes_of(type);
  if (type == Type::kPred) return {0, 1};
  if (bits <= 16) {  // bytes are in 16-bit registers, whose upper half must be ignored
    for (std::uint64_t value = 0; value <= mask_of(16); ++value)
      values.push_back(value);
    return values;
  }
  values = edges(type);
  const Values special_registers = special_values({type});
  values.insert(values.end(), special_registers.begin(), special_registers.end());
  Rng random(11);
  for (std::size_t i = 0; i < extent.random_operand_count; ++i)
    values.push_back(random_value(type, random));
  return values;
}

}  // namespace

std::vector<std::uint64_t> special_values(const SourceOperand& source) {
  if (source.type == Type::kPred) return {0, 1};
  if (source.is_control_operand) {
    return {0, 1, 2, 5, 7, 8, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 200, 255, 256, 0x80000000, 0xffffffff};
  }
  if (is_pair(source.type)) return special_pairs(format_of(source.type));
  if (is_float(source.type)) return special_floats(format_of(source.type));
  return special_integers(8 * bytes_of(source.type));
}

std::vector<Operands> operands_for(const InstructionForm& spelling, const InputCounts& extent) {
  const std::vector<SourceOperand> sources = sources_of(spelling);
  std::vector<Operands> list;
  if (sources.size() == 1 && !reads_carry(spelling)) {
    for (const std::uint64_t value : of_one_operand(sources[0].type, extent))
      list.push_back({value});
    return list;
  }
  std::array<Values, 4> special_registers{Values{0}, Values{0}, Values{0}, Values{0}};
  for (std::size_t i = 0; i < sources.size(); ++i)
    special_registers[i] = special_values(sources[i]);
  if (reads_carry(spelling)) special_registers[3] = {0, 1};
  // The third and the fourth operand take all values if these are few, otherwise they cycle through them.
  constexpr std::size_t kFew = 32;
  const std::size_t rest = special_registers[2].size() * special_registers[3].size();
  const std::size_t turns = rest <= kFew ? rest : 1;
  std::size_t step = 0;
  const auto add = [&](std::uint64_t a, std::uint64_t b) {
    for (std::size_t turn = 0; turn < turns; ++turn) {
      const std::size_t at = turns > 1 ? turn : step++;
      list.push_back({a, b, special_registers[2][(at * (turns > 1 ? 1 : 7)) % special_registers[2].size()],
                      special_registers[3][(turns > 1 ? at / special_registers[2].size() : at * 11) %
                                           special_registers[3].size()]});
    }
  };
  for (const std::uint64_t a : special_registers[0]) {
    for (const std::uint64_t b : special_registers[1])
      add(a, b);
  }
  if (bytes_of(sources[0].type) == 2 && (turns == 1 || extent.combines_all_with_specials)) {
    for (std::uint64_t a = 0; a <= mask_of(16); ++a) {
      const std::size_t tried = extent.combines_all_with_specials ? special_registers[1].size() : 1;
      for (std::size_t i = 0; i < tried; ++i)
        add(a, special_registers[1][(a + i) % special_registers[1].size()]);
    }
  }
  // All numbers near a float of at most 8 bits, or near the middle between two of them.
  if (is_pair_of_small_floats(spelling.type)) {
    constexpr std::uint64_t kSign = 0x80000000, kFirstExponent = 108, kLastExponent = 143,
                            kPart = std::uint64_t{1} << 18U;
    for (std::uint64_t bits = kFirstExponent << 23U; bits < kLastExponent << 23U; bits += kPart) {
      add(bits - 1, bits | kSign);
      add((bits + 1) | kSign, bits + 1);
    }
  }
  Rng random(12);
  for (std::size_t i = 0; i < extent.random_tuple_count; ++i) {
    Operands operands{};
    for (std::size_t k = 0; k < 4; ++k) {
      const bool free = k < sources.size() && !sources[k].is_control_operand && sources[k].type != Type::kPred;
      operands[k] = free ? random_value(sources[k].type, random)
                         : special_registers[k][random.next() % special_registers[k].size()];
    }
    list.push_back(operands);
  }
  return list;
}

}  // namespace assay::ptx::models
