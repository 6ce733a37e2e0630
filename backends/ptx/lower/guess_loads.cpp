#include "backends/ptx/lower/guess_loads.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace assay::ptx {

namespace {

using Kind = Operand::Kind;

/// What a register holds on a path from the load.
enum class Content : std::uint8_t {
  kGuess,       ///< the loaded value
  kDerived,     ///< a value computed from it
  kStale,       ///< a value of an earlier execution of the load, or computed from one
  kSwapResult,  ///< the value that a compare-and-swap returned which compared the memory with the guess
  kSuccess,     ///< a predicate: whether that compare-and-swap succeeded
  kFailure,     ///< its negation
};

/// The state of a path: the contents of the registers that concern the guess, and whether the register from which the
/// address was computed has changed.
struct PathState {
  std::map<std::uint32_t, Content> contents;
  bool has_address_changed = false;

  friend auto operator<=>(const PathState&, const PathState&) = default;

  [[nodiscard]] std::optional<Content> of(const Operand& operand) const {
    const auto found = operand.kind == Kind::kRegister ? contents.find(operand.index) : contents.end();
    return found == contents.end() ? std::nullopt : std::optional(found->second);
  }
};

bool depends_on_guess(Content content) {
  return content == Content::kGuess || content == Content::kDerived || content == Content::kStale;
}

/// Calls `use` with each register in an operand.
template <class Use>
void each_register(const Operand& operand, const Use& use) {
  if (operand.kind == Kind::kRegister) use(operand);
  for (const Operand& element : operand.elements)
    each_register(element, use);
}

/// Calls `use` with each register in the destination of an instruction.
template <class Use>
void each_assigned(const Instruction& instruction, const Use& use) {
  if (!instruction.operands.empty() && instruction.operands[0].kind != Kind::kAddress)
    each_register(instruction.operands[0], use);
}

/// An address: a register or symbol, and an offset.
struct Address {
  Kind kind = Kind::kInteger;
  SymbolKind symbol_kind = SymbolKind::kVariable;
  std::uint32_t index = 0;
  std::uint64_t offset = 0;
  friend bool operator==(const Address&, const Address&) = default;
};

/// Finds the guesses in one function.
class GuessLoads {
 public:
  explicit GuessLoads(const Function& function) : function_(function), definitions_(function.registers.size()) {
    for (const Instruction& instruction : function.instructions) {
      // If the first operand is only read, as that of a barrier, the register seems to be assigned once more.
      each_assigned(instruction, [&](const Operand& operand) {
        Definition& definition = definitions_[operand.index];
        definition = {&instruction, definition.count + 1};
      });
    }
  }

  [[nodiscard]] std::set<const Instruction*> find() {
    std::vector<std::uint32_t> swaps;
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i)
      if (is_swap(function_.instructions[i])) swaps.push_back(i);
    std::set<const Instruction*> found;
    if (swaps.empty()) return found;
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
      const Instruction& load = function_.instructions[i];
      if (!is_plain_load(load)) continue;
      load_ = &load;
      address_ = address_of(load.operands[1]);
      const auto swaps_same_word = [&](std::uint32_t swap) { return is_same_word(function_.instructions[swap]); };
      if (std::ranges::any_of(swaps, swaps_same_word) && is_guess(i)) found.insert(&load);
    }
    return found;
  }

 private:
  /// The last instruction that assigns a register, and the number of such instructions.
  struct Definition {
    const Instruction* instruction = nullptr;
    std::uint32_t count = 0;
  };

  static bool is_swap(const Instruction& instruction) {
    return instruction.opcode == Opcode::kAtom && instruction.modifiers.has(Modifier::kCas) &&
           instruction.operands.size() == 4;
  }

  static bool is_plain_load(const Instruction& instruction) {
    using enum Modifier;
    return instruction.opcode == Opcode::kLd && instruction.operands[0].kind == Kind::kRegister &&
           !instruction.modifiers.first_of(std::array{kNc, kVolatile, kRelaxed, kAcquire, kParam, kConst, kLocal});
  }

  /// The sum to which an address amounts. Follows copies, additions of constants, and conversions between a space and
  /// generic addresses, of registers that are assigned once.
  [[nodiscard]] Address address_of(const Operand& operand) const {
    Operand base = operand.elements[0];
    std::uint64_t offset = operand.value;
    while (base.kind == Kind::kRegister && definitions_[base.index].count == 1) {
      const Instruction& definition = *definitions_[base.index].instruction;
      const auto& operands = definition.operands;
      const bool copies = definition.opcode == Opcode::kMov || definition.opcode == Opcode::kCvta ||
                          definition.opcode == Opcode::kCvtaTo;
      const bool adds = definition.opcode == Opcode::kAdd && operands.size() == 3 && operands[2].kind == Kind::kInteger;
      const bool is_known =
          operands.size() > 1 && (operands[1].kind == Kind::kSymbol ||
                                  (operands[1].kind == Kind::kRegister && definitions_[operands[1].index].count == 1));
      if (definition.is_guarded || !(copies || adds) || !is_known) break;
      if (adds) offset += operands[2].value;
      base = operands[1];
    }
    return {base.kind, base.symbol_kind, base.index, offset + (base.kind == Kind::kRegister ? 0 : base.value)};
  }

  /// Whether a compare-and-swap has the address and the width of the load.
  [[nodiscard]] bool is_same_word(const Instruction& swap) const {
    return bytes_of(swap.type) == bytes_of(load_->type) && address_of(swap.operands[1]) == address_;
  }

  /// Follows all paths from the load, each state at each instruction once.
  [[nodiscard]] bool is_guess(std::uint32_t load) {
    constexpr std::size_t kMaxStates = 20'000;
    std::set<std::pair<std::uint32_t, PathState>> seen;
    pending_.clear();
    is_compared_ = false;
    PathState start;
    assign(start, *load_, Content::kGuess);
    continue_at(load + 1, std::move(start));
    while (!pending_.empty()) {
      auto next = seen.insert(std::move(pending_.back()));
      pending_.pop_back();
      if (!next.second) continue;
      if (seen.size() > kMaxStates || !step(next.first->first, next.first->second)) return false;
    }
    return is_compared_;
  }

  /// Continues a path, unless no register depends on the guess any more.
  void continue_at(std::uint32_t index, PathState state) {
    const bool is_relevant =
        std::ranges::any_of(state.contents, [](const auto& each) { return depends_on_guess(each.second); });
    if (is_relevant && index < function_.instructions.size()) pending_.emplace_back(index, std::move(state));
  }

  /// Executes one instruction. Returns false if it uses the guess otherwise than allowed.
  bool step(std::uint32_t index, const PathState& state) {
    const Instruction& instruction = function_.instructions[index];
    if (!instruction.is_guarded) return execute(index, state, false);
    const std::optional<Content> guard = state.of(instruction.guard);
    for (const bool is_executed : {true, false}) {
      PathState after = state;
      if (guard == Content::kSuccess || guard == Content::kFailure) {
        const bool is_true = is_executed != instruction.guard.is_negated;
        if (is_true == (guard == Content::kSuccess)) validate(after);
      }
      const bool is_dependent = guard && depends_on_guess(*guard);
      if (is_executed) {
        if (!execute(index, after, is_dependent)) return false;
        continue;
      }
      // Whether the destination is assigned depends on the guess, too.
      if (is_dependent && is_computation(instruction)) assign(after, instruction, Content::kDerived);
      continue_at(index + 1, std::move(after));
    }
    return true;
  }

  /// The compare-and-swap succeeded: the guess was the content of the memory, and so what was computed from it is
  /// valid.
  static void validate(PathState& state) {
    std::erase_if(state.contents, [](const auto& each) { return each.second != Content::kStale; });
  }

  static bool is_computation(const Instruction& instruction) {
    using enum InstructionCategory;
    switch (instruction.category) {
      case kFloat:
      case kSpecialFunction:
      case kInteger:
      case kConvert:
      case kMove:
      case kPredicate: return !instruction.operands.empty();
      default: return false;
    }
  }

  /// Sets the content of the registers in the destination; nullopt: they do not concern the guess.
  void assign(PathState& state, const Instruction& instruction, std::optional<Content> content) const {
    each_assigned(instruction, [&](const Operand& operand) {
      if (content) state.contents[operand.index] = *content;
      else state.contents.erase(operand.index);
      state.has_address_changed |= address_.kind == Kind::kRegister && address_.index == operand.index;
    });
  }

  /// `is_dependent`: whether the guess decides that the instruction is executed.
  bool execute(std::uint32_t index, PathState state, bool is_dependent) {
    const Instruction& instruction = function_.instructions[index];
    const auto& operands = instruction.operands;
    switch (instruction.opcode) {
      case Opcode::kRet:
      case Opcode::kExit:
      case Opcode::kTrap: return true;
      case Opcode::kBra: continue_at(operands[0].index, std::move(state)); return true;
      case Opcode::kBrx:
        for (const Operand& operand : operands) {
          if (const auto content = state.of(operand); content && depends_on_guess(*content)) return false;
          for (const Operand& target : operand.elements)
            continue_at(target.index, state);
        }
        return true;
      default: break;
    }
    const bool is_valid = is_computation(instruction)         ? compute(instruction, state, is_dependent)
                          : instruction.opcode == Opcode::kLd ? load(instruction, state, is_dependent)
                          : is_swap(instruction) && is_same_word(instruction) ? swap(instruction, state)
                                                                              : use(instruction, state, is_dependent);
    if (is_valid) continue_at(index + 1, std::move(state));
    return is_valid;
  }

  bool compute(const Instruction& instruction, PathState& state, bool is_dependent) const {
    const auto& operands = instruction.operands;
    const bool has_one_source = operands.size() == 2 && operands[0].kind == Kind::kRegister;
    if (!is_dependent && has_one_source && instruction.opcode == Opcode::kMov && operands[1].kind == Kind::kRegister) {
      assign(state, instruction, state.of(operands[1]));
      return true;
    }
    if (!is_dependent && has_one_source && instruction.opcode == Opcode::kNot) {
      const auto content = state.of(operands[1]);
      if (content == Content::kSuccess || content == Content::kFailure) {
        assign(state, instruction, content == Content::kSuccess ? Content::kFailure : Content::kSuccess);
        return true;
      }
    }
    if (const auto content = is_dependent ? std::nullopt : compare(instruction, state)) {
      assign(state, instruction, content);
      return true;
    }
    std::optional<Content> result = is_dependent ? std::optional(Content::kDerived) : std::nullopt;
    for (std::size_t i = 1; i < operands.size(); ++i) {
      each_register(operands[i], [&](const Operand& operand) {
        const auto content = state.of(operand);
        if (!content || !depends_on_guess(*content) || result == Content::kStale) return;
        result = content == Content::kStale ? Content::kStale : Content::kDerived;
      });
    }
    // The carry flag is not followed.
    if (result && instruction.modifiers.has(Modifier::kCc)) return false;
    assign(state, instruction, result);
    return true;
  }

  /// The predicate of a comparison of the guess with the result of the compare-and-swap; nullopt for others.
  [[nodiscard]] static std::optional<Content> compare(const Instruction& instruction, const PathState& state) {
    const auto& operands = instruction.operands;
    const bool is_equality = instruction.modifiers.has(Modifier::kEq);
    if (instruction.opcode != Opcode::kSetp || operands.size() != 3 || operands[0].kind != Kind::kRegister ||
        is_float(instruction.type) || !(is_equality || instruction.modifiers.has(Modifier::kNe)))
      return std::nullopt;
    const auto a = state.of(operands[1]);
    const auto b = state.of(operands[2]);
    const bool compares =
        (a == Content::kGuess && b == Content::kSwapResult) || (a == Content::kSwapResult && b == Content::kGuess);
    if (!compares) return std::nullopt;
    return is_equality ? Content::kSuccess : Content::kFailure;
  }

  bool load(const Instruction& instruction, PathState& state, bool is_dependent) const {
    bool is_valid = true;
    each_register(instruction.operands[1], [&](const Operand& operand) {
      const auto content = state.of(operand);
      is_valid = is_valid && !(content && depends_on_guess(*content));
    });
    if (&instruction == load_) {
      std::erase_if(state.contents, [](const auto& each) { return !depends_on_guess(each.second); });
      for (auto& [register_index, content] : state.contents)
        content = Content::kStale;
      state.has_address_changed = false;
    }
    assign(state, instruction,
           &instruction == load_ ? std::optional(Content::kGuess)
           : is_dependent        ? std::optional(Content::kDerived)
                                 : std::nullopt);
    return is_valid;
  }

  /// A compare-and-swap of the word that the load has read.
  bool swap(const Instruction& instruction, PathState& state) {
    const auto& operands = instruction.operands;
    const auto compared = state.of(operands[2]);
    const auto stored = state.of(operands[3]);
    const bool stores_guess = stored && depends_on_guess(*stored);
    if (compared == Content::kGuess) {
      if (state.has_address_changed || stored == Content::kStale) return false;
      is_compared_ = true;
      assign(state, instruction, Content::kSwapResult);
      return true;
    }
    if (stores_guess || (compared && depends_on_guess(*compared))) return false;
    assign(state, instruction, std::nullopt);
    return true;
  }

  /// An instruction that must not use the guess.
  bool use(const Instruction& instruction, PathState& state, bool is_dependent) const {
    using enum InstructionCategory;
    const bool has_effect = instruction.category != kControl && instruction.category != kBarrier;
    bool is_valid = !(is_dependent && has_effect);
    for (std::size_t i = instruction.opcode == Opcode::kAtom ? 1 : 0; i < instruction.operands.size(); ++i) {
      each_register(instruction.operands[i], [&](const Operand& operand) {
        const auto content = state.of(operand);
        is_valid = is_valid && !(content && depends_on_guess(*content));
      });
    }
    assign(state, instruction, std::nullopt);
    return is_valid;
  }

  const Function& function_;
  std::vector<Definition> definitions_;                       ///< by index of the register
  const Instruction* load_ = nullptr;                         ///< load that is analyzed
  Address address_;                                           ///< its address
  std::vector<std::pair<std::uint32_t, PathState>> pending_;  ///< instructions to execute, with the states before them
  bool is_compared_ = false;  ///< whether the guess reaches the compared value of a compare-and-swap
};

}  // namespace

std::set<const Instruction*> find_guess_loads(const Function& function) { return GuessLoads(function).find(); }

}  // namespace assay::ptx
