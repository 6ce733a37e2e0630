#include "backends/ptx/models/spelling.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "backends/ptx/parse/module.hpp"

namespace assay::ptx::models {

namespace {

using Words = std::vector<std::string_view>;

/// Modifiers of which an instruction has at most one.
const std::array<Words, 13> kGroups = {{
    {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num",
     "nan"},
    {"and", "or", "xor"},
    {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna"},
    {"ftz"},
    {"sat"},
    {"NaN"},
    {"relu"},
    {"lo", "hi"},
    {"cc"},
    {"l", "r"},
    {"wrap", "clamp"},
    {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"},
    {"shiftamt"},
}};
const Words kClasses = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};

Words split(std::string_view text, char separator) {
  Words parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool is_half(Type type) {
  return type == Type::kF16 || type == Type::kBf16 || type == Type::kF16x2 || type == Type::kBf16x2;
}
bool is_integer(Type type) { return is_signed(type) || row(type).type_class == TypeClass::kUnsigned; }

/// Counts how many of the words the spelling has.
int count_of(const InstructionForm& spelling, const Words& words) {
  return static_cast<int>(std::ranges::count_if(words, [&](std::string_view word) { return spelling.has(word); }));
}

bool is_valid_conversion(const InstructionForm& s) {
  const bool rounds_to_float = count_of(s, {"rn", "rz", "rm", "rp"}) != 0;
  const bool rounds_to_integer = count_of(s, {"rni", "rzi", "rmi", "rpi"}) != 0;
  if (s.type == Type::kTf32) return count_of(s, {"rna", "rn", "rz"}) == 1;
  if (is_pair_of_small_floats(s.type) || is_pair_of_small_floats(s.source_type)) return s.has("rn");
  if (s.type == Type::kF16x2 || s.type == Type::kBf16x2) return count_of(s, {"rn", "rz"}) == 1;
  const bool to_float = is_float(s.type);
  const bool from_float = is_float(s.source_type);
  if (!from_float && !to_float) return !rounds_to_float && !rounds_to_integer && s.type != s.source_type;
  if (!to_float) return rounds_to_integer && !s.has("sat");
  if (!from_float) return rounds_to_float && !s.has("ftz");
  if (s.type == s.source_type) return !rounds_to_float && (rounds_to_integer || s.has("sat"));
  const auto digits = [](Type type) { return type == Type::kF64 ? 53 : type == Type::kF32 ? 24 : bytes_of(type) * 5U; };
  const bool narrows = digits(s.type) <= digits(s.source_type);
  return !rounds_to_integer && rounds_to_float == narrows;
}

bool is_valid_comparison(const InstructionForm& s) {
  const bool ordered = count_of(s, {"lt", "le", "gt", "ge"}) != 0;
  const bool of_unsigned = count_of(s, {"lo", "ls", "hi", "hs"}) != 0;
  const bool of_floats = count_of(s, {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}) != 0;
  const Type from = s.source_type;
  if (count_of(s, kGroups[0]) != 1 || (of_floats && !is_float(from))) return false;
  if (of_unsigned) return row(from).type_class == TypeClass::kUnsigned;
  return !ordered || is_integer(from) || is_float(from);
}

/// The manual's rules for combinations of modifiers and types.
bool is_valid(const InstructionForm& s) {
  const bool floats = is_float(s.type);
  const bool half = is_half(s.type);
  const bool rounds = count_of(s, {"rn", "rz", "rm", "rp"}) != 0;
  const bool part = count_of(s, {"lo", "hi"}) != 0;
  const bool compares = s.opcode_row->opcode == Opcode::kSet || s.opcode_row->opcode == Opcode::kSetp;
  if (s.has("ftz") && s.source_type != Type::kF32 && (compares || single(s.type) != Type::kF32)) return false;
  switch (s.opcode_row->opcode) {
    case Opcode::kCvt: return is_valid_conversion(s);
    case Opcode::kSet:
    case Opcode::kSetp: return is_valid_comparison(s);
    case Opcode::kSlct: return !s.has("ftz") || s.source_type == Type::kF32;
    case Opcode::kTestp: return count_of(s, kClasses) == 1;
    case Opcode::kShf: return count_of(s, {"l", "r"}) == 1 && count_of(s, {"wrap", "clamp"}) == 1;
    case Opcode::kDp2a:
    case Opcode::kMadc:
    case Opcode::kMul24:
    case Opcode::kMad24: return part;
    case Opcode::kAdd:
    case Opcode::kSub:
      if (s.has("cc")) return true;
      if (s.has("sat") && s.type != Type::kS32 && s.type != Type::kF32 && s.type != Type::kF16 &&
          s.type != Type::kF16x2)
        return false;
      return floats ? !half || !rounds || s.has("rn") : !rounds;
    case Opcode::kMul:
      if (s.has("sat") && s.type != Type::kF32 && s.type != Type::kF16 && s.type != Type::kF16x2) return false;
      return floats ? !part && (!half || !rounds || s.has("rn")) : part && !rounds;
    case Opcode::kMad:
      if (floats) return !part && rounds && !s.has("cc") && (!s.has("sat") || s.type == Type::kF32);
      return part && !rounds && (!s.has("sat") || (s.type == Type::kS32 && s.has("hi"))) &&
             (!s.has("cc") || bytes_of(s.type) >= 4);
    case Opcode::kFma:
      if (s.has("relu") && (!half || s.has("sat"))) return false;
      if (s.has("sat") && s.type != Type::kF32 && s.type != Type::kF16 && s.type != Type::kF16x2) return false;
      return half ? s.has("rn") : rounds;
    case Opcode::kDiv:
    case Opcode::kRcp:
    case Opcode::kSqrt: return floats == rounds;
    case Opcode::kMin:
    case Opcode::kMax: return !s.has("NaN") || (floats && s.type != Type::kF64);
    default: return true;
  }
}

/// The groups of the row's modifiers; nullopt if a modifier is in no group.
std::optional<std::vector<Words>> groups_of(const OpcodeRow& opcode) {
  Words left = split(opcode.modifiers, ' ');
  std::vector<Words> groups;
  const auto take = [&](const Words& group) {
    Words taken;
    for (const std::string_view word : group) {
      if (std::erase(left, word) != 0) taken.push_back(word);
    }
    if (!taken.empty()) groups.push_back(std::move(taken));
  };
  for (const Words& group : kGroups) {
    if (&group != &kGroups[0] || contains_word(opcode.modifiers, "eq")) take(group);
  }
  take(kClasses);
  return left.empty() ? std::optional(std::move(groups)) : std::nullopt;
}

/// All combinations of at most one modifier of each group.
std::vector<Words> choices_of(const std::vector<Words>& groups) {
  std::vector<Words> choices = {{}};
  for (const Words& group : groups) {
    const std::size_t before = choices.size();
    for (const std::string_view word : group) {
      for (std::size_t i = 0; i < before; ++i) {
        choices.push_back(choices[i]);
        choices.back().push_back(word);
      }
    }
  }
  return choices;
}

std::string_view register_of(unsigned bytes) {
  return bytes == 0 ? "%p" : bytes == 8 ? "%rd" : bytes == 4 ? "%r" : "%rs";
}
/// The size of a register: there are no 8-bit registers.
unsigned register_bytes(Type type) { return type == Type::kPred ? 0 : std::max(2U, bytes_of(type)); }

/// Sets the registers of the results, and branches around the instruction in lanes that are not marked.
std::string skip_in_unmarked_lanes(unsigned bytes) {
  const std::string set_result =
      bytes == 0
          ? "setp.ne.u32 %p16, %r1, %r1; setp.ne.u32 %p17, %r1, %r1;"
          : fmt::format("mov.b{} {}16, 0x{:x};", 8 * bytes, register_of(bytes),
                        bytes == 8 ? kUntouchedResult : kUntouchedResult & ((std::uint64_t{1} << 8 * bytes) - 1));
  return set_result + " ld.global.b32 %r5, [%rd1+44]; setp.eq.u32 %p1, %r5, 0; @%p1 bra SKIP;\n";
}

std::string body_of(const InstructionForm& spelling, ExecutingLanes lanes) {
  std::string body =
      "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 256, %r1;"
      " mul.wide.u32 %rd2, %r1, 48; add.s64 %rd1, %rd1, %rd2;\n";
  std::string operands;
  const std::vector<SourceOperand> sources = sources_of(spelling);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const unsigned bytes = register_bytes(sources[i].type);
    const std::string name = fmt::format("{}{}", register_of(bytes), 10 + i);
    body += bytes == 0 ? fmt::format("ld.global.b32 %r5, [%rd1+{}]; setp.ne.u32 {}, %r5, 0;\n", 8 * i, name)
                       : fmt::format("ld.global.b{} {}, [%rd1+{}];\n", 8 * bytes, name, 8 * i);
    operands += ", " + name;
  }
  if (spelling.opcode_row->opcode == Opcode::kLop3) operands += fmt::format(", {}", spelling.truth_table);
  if (reads_carry(spelling)) body += "ld.global.b32 %r5, [%rd1+24]; add.cc.u32 %r6, %r5, 0xffffffff;\n";
  const unsigned bytes = result_bytes(spelling);
  const bool pair = bytes == 0 && has_second_result(spelling);
  if (lanes == ExecutingLanes::kMarked) body += skip_in_unmarked_lanes(bytes);
  body += fmt::format("{} {}16{}{};\n", spelling.text(), register_of(bytes), pair ? "|%p17" : "", operands);
  if (lanes == ExecutingLanes::kMarked) body += "SKIP:\n";
  if (bytes == 0) {
    body += "selp.u32 %r16, 1, 0, %p16; st.global.b32 [%rd1+32], %r16;\n";
    if (pair) body += "selp.u32 %r17, 1, 0, %p17; st.global.b32 [%rd1+40], %r17;\n";
  } else {
    body += fmt::format("st.global.b{} [%rd1+32], {}16;\n", 8 * bytes, register_of(bytes));
    if (has_second_result(spelling)) body += "addc.u32 %r17, 0, 0; st.global.b32 [%rd1+40], %r17;\n";
  }
  return body;
}

/// A module with the entry "k", whose parameter is an array.
std::string module_of(const std::string& body) {
  return ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(\n  .param .u64 p0\n)\n{\n"
         ".reg .pred %p<20>; .reg .b16 %rs<20>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<20>; "
         ".reg .f64 %fd<20>;\n" +
         body + "\nret;\n}\n";
}

}  // namespace

bool InstructionForm::has(std::string_view word) const { return std::ranges::find(modifiers, word) != modifiers.end(); }

std::string InstructionForm::text() const {
  std::string text(opcode_row->name);
  for (const std::string_view word : modifiers)
    text += fmt::format(".{}", word);
  if (type != Type::kNone) text += fmt::format(".{}", to_text(type));
  if (opcode_row->allowed_types.find('/') != std::string_view::npos) text += fmt::format(".{}", to_text(source_type));
  return text;
}

bool is_computed(const OpcodeRow& opcode) {
  constexpr std::array kOthers = {InstructionCategory::kSpecialFunction, InstructionCategory::kLoad,
                                  InstructionCategory::kStore,           InstructionCategory::kAtomic,
                                  InstructionCategory::kControl,         InstructionCategory::kWarp,
                                  InstructionCategory::kBarrier};
  constexpr std::array kOfAddresses = {Opcode::kCvta, Opcode::kCvtaTo, Opcode::kIsspacep, Opcode::kMapa,
                                       Opcode::kGetctarank};
  const bool of_addresses = std::ranges::find(kOfAddresses, opcode.opcode) != kOfAddresses.end();
  return !of_addresses && std::ranges::find(kOthers, opcode.category) == kOthers.end();
}

std::vector<InstructionForm> spellings_of(const OpcodeRow& opcode) {
  const auto groups = groups_of(opcode);
  if (!groups) return {};
  const Words types = split(opcode.allowed_types, '/');
  std::vector<InstructionForm> spellings;
  for (const Words& choice : choices_of(*groups)) {
    for (const std::string_view type : split(types[0], ' ')) {
      for (const std::string_view source : split(types.back(), ' ')) {
        if (types.size() == 1 && source != type) continue;
        InstructionForm spelling{.opcode_row = &opcode, .type = *find_type(type), .source_type = *find_type(source)};
        spelling.modifiers = split(opcode.required_modifiers, ' ');
        std::erase_if(spelling.modifiers, [](std::string_view word) { return find_type(word).has_value(); });
        spelling.modifiers.insert(spelling.modifiers.end(), choice.begin(), choice.end());
        if (is_valid(spelling)) spellings.push_back(std::move(spelling));
      }
    }
  }
  if (opcode.opcode == Opcode::kLop3) {
    spellings.resize(256, spellings.front());
    for (unsigned table = 0; table < 256; ++table)
      spellings[table].truth_table = table;
  }
  return spellings;
}

std::vector<SourceOperand> sources_of(const InstructionForm& spelling) {
  const auto wide = [&] {
    return is_signed(spelling.type) ? (bytes_of(spelling.type) == 4 ? Type::kS64 : Type::kS32)
                                    : (bytes_of(spelling.type) == 4 ? Type::kU64 : Type::kU32);
  };
  const bool combines = count_of(spelling, {"and", "or", "xor"}) != 0;
  std::vector<SourceOperand> sources;
  bool optional = false;
  for (const char letter : spelling.opcode_row->operands.substr(1)) {
    if (letter == '?') optional = true;
    if (letter == '?' || (optional && !combines)) continue;
    switch (letter) {
      case 't':
      case 'x': sources.push_back({spelling.source_type}); break;
      case 'w': sources.push_back({wide()}); break;
      case 'p': sources.push_back({Type::kPred}); break;
      case 'u': sources.push_back({Type::kU32, true}); break;
      default: sources.push_back({spelling.type}); break;
    }
  }
  if (spelling.opcode_row->opcode == Opcode::kLop3) sources.pop_back();
  return sources;
}

unsigned result_bytes(const InstructionForm& spelling) {
  switch (spelling.opcode_row->operands[0]) {
    case 'q':
    case 'P': return 0;
    case 'W': return 2 * bytes_of(spelling.type);
    case 'X': {
      const Opcode opcode = spelling.opcode_row->opcode;
      return opcode == Opcode::kCvt || opcode == Opcode::kSet ? register_bytes(spelling.type) : 4;
    }
    default: return register_bytes(spelling.type);
  }
}

bool reads_carry(const InstructionForm& spelling) {
  return spelling.opcode_row->name == "addc" || spelling.opcode_row->name == "subc" ||
         spelling.opcode_row->name == "madc";
}

bool has_second_result(const InstructionForm& spelling) {
  return spelling.has("cc") || spelling.opcode_row->opcode == Opcode::kSetp;
}

std::shared_ptr<const Kernel> kernel_of(const InstructionForm& spelling, ExecutingLanes lanes) {
  Result<Module> module = parse(module_of(body_of(spelling, lanes)), "model.ptx");
  if (!module.ok()) return nullptr;
  Result<std::shared_ptr<const Kernel>> lowered = lower(std::make_shared<const Module>(module.take()), "k");
  if (!lowered.ok()) return nullptr;
  std::shared_ptr<const Kernel> kernel = lowered.take();
  const bool supported =
      std::ranges::none_of(kernel->ops, [](const Op& op) { return op.dispatch_kind == DispatchKind::kUnsupported; });
  return supported ? kernel : nullptr;
}

}  // namespace assay::ptx::models
