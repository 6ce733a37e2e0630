#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "backends/ptx/checks/data_flow.hpp"

namespace assay::ptx {

namespace {

using Kind = Operand::Kind;
/// A variable: its kind and its index.
using Object = std::pair<SymbolKind, std::uint32_t>;

/// The variables from which a register may have been computed.
struct Origin {
  std::set<Object> objects;
  bool known = true;  ///< false: possibly also from memory, which may hold any address

  /// Returns whether this changed the origin.
  bool join(const Origin& other) {
    const std::size_t before = objects.size();
    objects.insert(other.objects.begin(), other.objects.end());
    const bool news = objects.size() != before || (known && !other.known);
    known = known && other.known;
    return news;
  }
};

bool is_memory(const Instruction& instruction) {
  return instruction.opcode == Opcode::kLd || instruction.opcode == Opcode::kSt ||
         instruction.opcode == Opcode::kAtom || instruction.opcode == Opcode::kRed;
}

bool ends(const Instruction& instruction) {
  return instruction.opcode == Opcode::kRet || instruction.opcode == Opcode::kExit ||
         instruction.opcode == Opcode::kTrap;
}

template <class Visit>
void for_each_component(const Operand& operand, Visit&& visit) {
  if (operand.elements.empty()) return visit(operand);
  for (const Operand& element : operand.elements)
    for_each_component(element, visit);
}

class BarrierUse {
 public:
  BarrierUse(const Module& module, const Function& kernel, std::uint64_t number)
      : module_(module), kernel_(kernel), number_(number), origins_(kernel.registers.size()) {}

  bool order_nothing() {
    if (!std::ranges::all_of(kernel_.instructions, [&](const Instruction& one) { return is_understood(one); }))
      return false;
    find_origins();
    link();
    for (std::uint32_t i = 0; i < count(); ++i) {
      if (is_asked(at(i)) && !may_be_crossed(i)) return false;
    }
    return true;
  }

 private:
  std::uint32_t count() const { return static_cast<std::uint32_t>(kernel_.instructions.size()); }
  const Instruction& at(std::uint32_t i) const { return kernel_.instructions[i]; }

  /// Instructions that leave the function, copies of matrices or asynchronous ones, and barriers for only some threads,
  /// are not analyzed.
  static bool is_understood(const Instruction& one) {
    switch (one.opcode) {
      case Opcode::kUnsupported:
      case Opcode::kCall:
      case Opcode::kCpAsync:
      case Opcode::kCpAsyncCommit:
      case Opcode::kCpAsyncWait:
      case Opcode::kWgmma:
      case Opcode::kWgmmaControl:
      case Opcode::kTensorMemory:
      case Opcode::kTensorProduct:
      case Opcode::kMbarrier:
      case Opcode::kBulkCopy:
      case Opcode::kBulkCopyControl:
      case Opcode::kTensorMap:
      case Opcode::kClusterBarrier:
      case Opcode::kBrx:
      case Opcode::kLdmatrix:
      case Opcode::kStmatrix:
      case Opcode::kWmmaLoad:
      case Opcode::kWmmaStore: return false;
      default: break;
    }
    if (one.opcode != Opcode::kBar) return true;
    return !one.is_guarded && one.operands.size() == 1 && one.operands[0].kind == Kind::kInteger;
  }
  static bool is_barrier(const Instruction& one) { return one.opcode == Opcode::kBar; }
  bool is_asked(const Instruction& one) const { return is_barrier(one) && one.operands[0].value == number_; }

  /// The variables from which an operand may have been computed.
  Origin origin_of(const Operand& operand) const {
    Origin origin;
    for_each_component(operand, [&](const Operand& component) {
      if (component.kind == Kind::kRegister) origin.join(origins_[component.index]);
      if (component.kind == Kind::kSymbol) origin.objects.insert({component.symbol_kind, component.index});
    });
    return origin;
  }

  void find_origins() {
    for (bool news = true; news;) {
      news = false;
      for (const Instruction& one : kernel_.instructions) {
        if (one.operands.empty() || one.opcode == Opcode::kSt || one.opcode == Opcode::kRed) continue;
        Origin origin;
        if (is_memory(one)) {
          origin.known = space_of(one.modifiers) == Space::kParam;
        } else {
          for (const Operand& operand : std::span(one.operands).subspan(1))
            origin.join(origin_of(operand));
        }
        for_each_component(one.operands[0], [&](const Operand& component) {
          // A predicate only chooses between values, so it is not an origin.
          const bool holds =
              component.kind == Kind::kRegister && kernel_.registers[component.index].type != Type::kPred;
          if (holds) news = origins_[component.index].join(origin) || news;
        });
      }
    }
  }

  void link() {
    next_.resize(count());
    previous_.resize(count());
    for (std::uint32_t i = 0; i < count(); ++i) {
      const Instruction& one = at(i);
      const bool jumps = one.opcode == Opcode::kBra;
      if (jumps) join(i, one.operands[0].index);
      if (one.is_guarded || (!jumps && !ends(one))) join(i, i + 1);
    }
  }
  void join(std::uint32_t from, std::uint32_t to) {
    if (to >= count()) return;
    next_[from].push_back(to);
    previous_[to].push_back(from);
  }

  /// The accesses on all paths from a barrier, in the direction of `links`, up to the remaining barriers.
  std::vector<const Instruction*> accesses_from(std::uint32_t barrier,
                                                const std::vector<std::vector<std::uint32_t>>& links) const {
    std::vector<const Instruction*> found;
    std::vector<bool> seen(count(), false);
    std::vector<std::uint32_t> open = links[barrier];
    while (!open.empty()) {
      const std::uint32_t i = open.back();
      open.pop_back();
      if (seen[i] || (is_barrier(at(i)) && !is_asked(at(i)))) continue;
      seen[i] = true;
      if (is_memory(at(i))) found.push_back(&at(i));
      open.insert(open.end(), links[i].begin(), links[i].end());
    }
    return found;
  }

  bool may_be_crossed(std::uint32_t barrier) const {
    const auto before = accesses_from(barrier, previous_);
    const auto behind = accesses_from(barrier, next_);
    return std::ranges::none_of(before, [&](const Instruction* a) {
      return std::ranges::any_of(behind, [&](const Instruction* b) { return conflict(*a, *b); });
    });
  }

  bool conflict(const Instruction& a, const Instruction& b) const {
    if (a.opcode == Opcode::kLd && b.opcode == Opcode::kLd) return false;
    const auto is_shared_by_threads = [](Space space) {
      return space == Space::kGlobal || space == Space::kShared || space == Space::kGeneric;
    };
    const Space space = space_of(a.modifiers), other = space_of(b.modifiers);
    if (!is_shared_by_threads(space) || !is_shared_by_threads(other)) return false;
    if (space == Space::kGeneric || other == Space::kGeneric) return true;
    if (space != other) return false;
    if (space == Space::kGlobal) return true;
    const std::set<Object> mine = shared_variables_of(a), its = shared_variables_of(b);
    return mine.empty() || its.empty() || std::ranges::any_of(mine, [&](Object one) { return its.contains(one); });
  }

  /// The variables that a shared-memory access may refer to; none if unknown.
  std::set<Object> shared_variables_of(const Instruction& access) const {
    const auto address = std::ranges::find(access.operands, Kind::kAddress, &Operand::kind);
    if (address == access.operands.end()) return {};
    const Origin origin = origin_of(*address);
    const bool all_shared = std::ranges::all_of(origin.objects, [&](Object one) { return is_shared_variable(one); });
    return origin.known && all_shared ? origin.objects : std::set<Object>{};
  }
  /// All dynamically sized shared variables start at the same address.
  bool is_shared_variable(Object object) const {
    const auto& [kind, index] = object;
    if (kind != SymbolKind::kVariable && kind != SymbolKind::kBodyVariable) return false;
    const Variable& variable = (kind == SymbolKind::kVariable ? module_.variables : kernel_.variables)[index];
    return variable.space == Space::kShared && !variable.is_external;
  }

  const Module& module_;
  const Function& kernel_;
  std::uint64_t number_;
  std::vector<Origin> origins_;                              ///< by register
  std::vector<std::vector<std::uint32_t>> next_, previous_;  ///< by instruction
};

}  // namespace

bool are_barriers_redundant(const Module& module, const Function& kernel, std::uint64_t number) {
  return BarrierUse(module, kernel, number).order_nothing();
}

}  // namespace assay::ptx
