// Integers and bits.
#include <algorithm>
#include <bit>
#include <map>

#include "backends/ptx/models/instruction_models.hpp"

namespace assay::ptx::models {

namespace {

__extension__ using Integer = __int128;

std::uint64_t mask_of(unsigned bits) { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }
unsigned width(const InstructionForm& s) { return 8 * bytes_of(s.type); }

/// The value of an operand in the type.
Integer number(std::uint64_t bits, unsigned width_in_bits, bool is_negative_possible) {
  bits &= mask_of(width_in_bits);
  const bool negative = is_negative_possible && (bits >> (width_in_bits - 1) & 1U) != 0;
  return negative ? Integer(bits) - (Integer(1) << width_in_bits) : Integer(bits);
}
Integer number(const InstructionForm& s, std::uint64_t bits) { return number(bits, width(s), is_signed(s.type)); }

InstructionResults wrapped(Integer value, unsigned bits) { return {static_cast<std::uint64_t>(value) & mask_of(bits)}; }
InstructionResults wrapped(const InstructionForm& s, Integer value) { return wrapped(value, width(s)); }

/// The part of a product selected by .lo or .hi.
Integer part_of(const InstructionForm& s, std::uint64_t a, std::uint64_t b) {
  if (!s.has("hi")) return Integer(Bits128(a) * b);  // the lower part does not depend on the sign
  if (is_signed(s.type)) return number(s, a) * number(s, b) >> width(s);
  return Integer(Bits128(a & mask_of(width(s))) * (b & mask_of(width(s))) >> width(s));
}

/// x + y + carry or x - y - carry on unsigned numbers, and the carry or borrow out of it.
InstructionResults with_carry(const InstructionForm& s, Integer x, Integer y, std::uint64_t carry, bool subtract) {
  const std::uint64_t mask = mask_of(width(s));
  const Integer a = Integer(static_cast<std::uint64_t>(x) & mask);
  const Integer b = Integer(static_cast<std::uint64_t>(y) & mask) + Integer(carry & 1U);
  const Integer exact = subtract ? a - b : a + b;
  return {static_cast<std::uint64_t>(exact) & mask, std::uint64_t{exact < 0 || exact > Integer(mask)}};
}

InstructionResults added(const InstructionForm& s, const Operands& in, bool subtract) {
  if (s.has("cc") || reads_carry(s)) {
    return with_carry(s, Integer(in[0]), Integer(in[1]), reads_carry(s) ? in[3] : 0, subtract);
  }
  const Integer exact = subtract ? number(s, in[0]) - number(s, in[1]) : number(s, in[0]) + number(s, in[1]);
  const Integer limit = Integer(1) << (width(s) - 1);
  return wrapped(s, s.has("sat") ? std::clamp(exact, -limit, limit - 1) : exact);
}

InstructionResults add(const InstructionForm& s, const Operands& in) { return added(s, in, false); }
InstructionResults sub(const InstructionForm& s, const Operands& in) { return added(s, in, true); }
InstructionResults mul(const InstructionForm& s, const Operands& in) { return wrapped(s, part_of(s, in[0], in[1])); }
InstructionResults mad(const InstructionForm& s, const Operands& in) {
  const Integer product = part_of(s, in[0], in[1]);
  if (s.has("cc") || reads_carry(s)) return with_carry(s, product, Integer(in[2]), reads_carry(s) ? in[3] : 0, false);
  if (!s.has("sat")) return wrapped(s, Integer(Bits128(product) + in[2]));
  const Integer limit = Integer(1) << (width(s) - 1);
  return wrapped(s, std::clamp(product + number(s, in[2]), -limit, limit - 1));
}
InstructionResults mul_wide(const InstructionForm& s, const Operands& in) {
  return wrapped(number(s, in[0]) * number(s, in[1]), 2 * width(s));
}
InstructionResults mad_wide(const InstructionForm& s, const Operands& in) {
  return wrapped(Integer(Bits128(number(s, in[0]) * number(s, in[1])) + in[2]), 2 * width(s));
}
Integer product_of_24(const InstructionForm& s, const Operands& in) {
  const Integer product = number(in[0], 24, is_signed(s.type)) * number(in[1], 24, is_signed(s.type));
  return s.has("hi") ? product >> 16 : product;
}
InstructionResults mul24(const InstructionForm& s, const Operands& in) { return wrapped(s, product_of_24(s, in)); }
InstructionResults mad24(const InstructionForm& s, const Operands& in) {
  return wrapped(s, product_of_24(s, in) + Integer(in[2]));
}
/// PTX leaves division by zero unspecified; the emulator does what devices do.
InstructionResults div(const InstructionForm& s, const Operands& in) {
  const Integer b = number(s, in[1]);
  return wrapped(s, b == 0 ? Integer(-1) : number(s, in[0]) / b);
}
InstructionResults rem(const InstructionForm& s, const Operands& in) {
  const Integer b = number(s, in[1]);
  return wrapped(s, b == 0 ? number(s, in[0]) : number(s, in[0]) % b);
}
InstructionResults min(const InstructionForm& s, const Operands& in) {
  return wrapped(s, std::min(number(s, in[0]), number(s, in[1])));
}
InstructionResults max(const InstructionForm& s, const Operands& in) {
  return wrapped(s, std::max(number(s, in[0]), number(s, in[1])));
}
InstructionResults abs(const InstructionForm& s, const Operands& in) {
  return wrapped(s, std::max(number(s, in[0]), -number(s, in[0])));
}
InstructionResults neg(const InstructionForm& s, const Operands& in) { return wrapped(s, -number(s, in[0])); }
InstructionResults sad(const InstructionForm& s, const Operands& in) {
  const Integer difference = number(s, in[0]) - number(s, in[1]);
  return wrapped(s, number(s, in[2]) + std::max(difference, -difference));
}

// A predicate is the lowest bit.
unsigned logic_width(const InstructionForm& s) { return s.type == Type::kPred ? 1 : width(s); }
InstructionResults logic_and(const InstructionForm& s, const Operands& in) {
  return {in[0] & in[1] & mask_of(logic_width(s))};
}
InstructionResults logic_or(const InstructionForm& s, const Operands& in) {
  return {(in[0] | in[1]) & mask_of(logic_width(s))};
}
InstructionResults logic_xor(const InstructionForm& s, const Operands& in) {
  return {(in[0] ^ in[1]) & mask_of(logic_width(s))};
}
InstructionResults logic_not(const InstructionForm& s, const Operands& in) {
  return {~in[0] & mask_of(logic_width(s))};
}
InstructionResults cnot(const InstructionForm& s, const Operands& in) {
  return {std::uint64_t{(in[0] & mask_of(width(s))) == 0}};
}

/// Amounts are clamped to the width.
InstructionResults shl(const InstructionForm& s, const Operands& in) {
  const auto amount = std::min<std::uint64_t>(in[1] & mask_of(32), width(s));
  return wrapped(s, Integer(Bits128(in[0]) << amount));
}
InstructionResults shr(const InstructionForm& s, const Operands& in) {
  return wrapped(s, number(s, in[0]) >> std::min<std::uint64_t>(in[1] & mask_of(32), width(s)));
}
/// Bit i of a word, if it exists.
std::uint64_t bit(std::uint64_t word, std::uint64_t i) { return i < 64 ? word >> i & 1U : 0; }

InstructionResults shf(const InstructionForm& s, const Operands& in) {
  const std::uint64_t a = in[0] & mask_of(32);
  const std::uint64_t b = in[1] & mask_of(32);
  const std::uint64_t c = in[2] & mask_of(32);
  const std::uint64_t n = s.has("wrap") ? c % 32 : std::min<std::uint64_t>(c, 32);
  return {(s.has("l") ? b << n | a >> (32 - n) : b << (32 - n) | a >> n) & mask_of(32)};
}
InstructionResults popc(const InstructionForm& s, const Operands& in) {
  std::uint64_t count = 0;
  for (unsigned i = 0; i < width(s); ++i)
    count += bit(in[0], i);
  return {count};
}
InstructionResults clz(const InstructionForm& s, const Operands& in) {
  std::uint64_t count = 0;
  while (count < width(s) && bit(in[0], width(s) - 1 - count) == 0)
    ++count;
  return {count};
}
InstructionResults brev(const InstructionForm& s, const Operands& in) {
  InstructionResults result;
  for (unsigned i = 0; i < width(s); ++i)
    result.result_bits |= bit(in[0], i) << (width(s) - 1 - i);
  return result;
}
InstructionResults bfind(const InstructionForm& s, const Operands& in) {
  const std::uint64_t sign = is_signed(s.type) ? bit(in[0], width(s) - 1) : 0;
  for (unsigned i = width(s); i-- > 0;) {
    if (bit(in[0], i) != sign) return {s.has("shiftamt") ? width(s) - 1 - i : i};
  }
  return {mask_of(32)};
}
InstructionResults bfe(const InstructionForm& s, const Operands& in) {
  const std::uint64_t place = in[1] & 255U;
  const std::uint64_t length = in[2] & 255U;
  const std::uint64_t highest = width(s) - 1;
  std::uint64_t sign = 0;
  if (is_signed(s.type) && length != 0) sign = bit(in[0], std::min(place + length - 1, highest));
  InstructionResults result;
  for (std::uint64_t i = 0; i <= highest; ++i)
    result.result_bits |= (i < length && place + i <= highest ? bit(in[0], place + i) : sign) << i;
  return result;
}
InstructionResults bfi(const InstructionForm& s, const Operands& in) {
  const std::uint64_t place = in[2] & 255U;
  const std::uint64_t length = in[3] & 255U;
  InstructionResults result{in[1] & mask_of(width(s))};
  for (std::uint64_t i = 0; i < length && place + i < width(s); ++i)
    result.result_bits = (result.result_bits & ~(std::uint64_t{1} << (place + i))) | bit(in[0], i) << (place + i);
  return result;
}
/// Bit 4a + 2b + c of the table, for each bit of the operands.
InstructionResults lop3(const InstructionForm& s, const Operands& in) {
  InstructionResults result;
  for (unsigned i = 0; i < 32; ++i)
    result.result_bits |= bit(s.truth_table, 4 * bit(in[0], i) + 2 * bit(in[1], i) + bit(in[2], i)) << i;
  return result;
}

/// The bytes of the result from the highest, for the four values of the selector, as in the manual's table.
struct PermutationMode {
  std::string_view name;
  std::array<std::string_view, 4> choices;
};
constexpr PermutationMode kPermutationModes[] = {
    {"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
    {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
    {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}}};

InstructionResults prmt(const InstructionForm& s, const Operands& in) {
  const std::uint64_t bytes = in[1] << 32U | (in[0] & mask_of(32));
  const auto byte = [&](std::uint64_t i) { return bytes >> (8 * i) & 255U; };
  InstructionResults result;
  for (const PermutationMode& mode : kPermutationModes) {
    if (!s.has(mode.name)) continue;
    for (const char choice : mode.choices[in[2] & 3U])
      result.result_bits = result.result_bits << 8U | byte(static_cast<std::uint64_t>(choice - '0'));
    return result;
  }
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint64_t selector = in[2] >> (4 * i) & 15U;
    const std::uint64_t chosen = byte(selector & 7U);
    result.result_bits |= (selector < 8 ? chosen : chosen >= 128 ? 255U : 0U) << (8 * i);
  }
  return result;
}

/// c plus the products of `parts` parts of a with as many bytes of b, starting at `first`.
InstructionResults dot(const InstructionForm& s, const Operands& in, unsigned parts, unsigned first) {
  Integer result = Integer(in[2]);
  for (unsigned i = 0; i < parts; ++i) {
    const unsigned size = 32 / parts;
    result += number(in[0] >> (size * i), size, is_signed(s.type)) *
              number(in[1] >> (8 * (first + i)), 8, is_signed(s.source_type));
  }
  return wrapped(result, 32);
}
InstructionResults dp4a(const InstructionForm& s, const Operands& in) { return dot(s, in, 4, 0); }
InstructionResults dp2a(const InstructionForm& s, const Operands& in) { return dot(s, in, 2, s.has("hi") ? 2 : 0); }

}  // namespace

Model find_integer_model(Opcode opcode) {
  static const std::map<Opcode, Model> kModels = {
      {Opcode::kAdd, add},          {Opcode::kAddc, add},      {Opcode::kSub, sub},       {Opcode::kSubc, sub},
      {Opcode::kMul, mul},          {Opcode::kMad, mad},       {Opcode::kMadc, mad},      {Opcode::kMulWide, mul_wide},
      {Opcode::kMadWide, mad_wide}, {Opcode::kMul24, mul24},   {Opcode::kMad24, mad24},   {Opcode::kDiv, div},
      {Opcode::kRem, rem},          {Opcode::kMin, min},       {Opcode::kMax, max},       {Opcode::kAbs, abs},
      {Opcode::kNeg, neg},          {Opcode::kSad, sad},       {Opcode::kAnd, logic_and}, {Opcode::kOr, logic_or},
      {Opcode::kXor, logic_xor},    {Opcode::kNot, logic_not}, {Opcode::kCnot, cnot},     {Opcode::kShl, shl},
      {Opcode::kShr, shr},          {Opcode::kShf, shf},       {Opcode::kPopc, popc},     {Opcode::kClz, clz},
      {Opcode::kBrev, brev},        {Opcode::kBfind, bfind},   {Opcode::kBfe, bfe},       {Opcode::kBfi, bfi},
      {Opcode::kLop3, lop3},        {Opcode::kPrmt, prmt},     {Opcode::kDp4a, dp4a},     {Opcode::kDp2a, dp2a},
  };
  const auto found = kModels.find(opcode);
  return found == kModels.end() ? nullptr : found->second;
}

}  // namespace assay::ptx::models
