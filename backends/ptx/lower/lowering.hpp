// From parsed instructions to handlers and slots. Private to lower() of program.hpp: lowering.cpp gives values their
// places, lowering_instructions.cpp, lowering_memory.cpp and lowering_warps.cpp have the rule of each opcode.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "backends/ptx/instructions/program.hpp"

namespace assay::ptx {

class Lowering {
 public:
  explicit Lowering(Kernel& kernel) : kernel_(kernel) {}
  Result<void> run();

 private:
  /// A function's part of the kernel.
  struct State {
    std::vector<Slot> registers;
    std::vector<std::uint32_t> parameters;  ///< and results behind them; variables of the kernel's local memory
    std::vector<std::uint32_t> variables;   ///< of the kernel's local or shared memory
    std::uint32_t first_op = 0;
  };
  /// A result that is moved on once the instruction has run.
  struct Pending {
    Slot from;
    Slot to;
    unsigned width = 4;  ///< of `from`
  };

  [[nodiscard]] std::string place() const;
  [[nodiscard]] std::uint32_t function_index(const Function& function) const;
  Result<void> check_recursion(std::uint32_t index, std::set<std::uint32_t> callers) const;
  State& state_of(std::uint32_t index);
  void lower_function(std::uint32_t index);

  Slot new_slot(unsigned bytes);
  Slot new_predicate();
  std::uint32_t new_local(const Variable& variable);
  std::uint32_t new_shared(const Variable& variable);
  Slot constant(std::uint64_t value, unsigned bytes);
  Slot special(SpecialRegister which);
  Slot symbol_address(const Operand& symbol);
  static std::uint64_t local_address(std::uint32_t variable);
  static std::uint64_t shared_address(std::uint32_t variable);
  Slot source(const Operand& operand, unsigned bytes, Type type);
  Slot resized(Slot slot, unsigned width, bool is_signed);
  Slot source_predicate(const Operand& operand);
  Slot destination(const Operand& operand, unsigned bytes);
  void finish_destinations(bool is_signed);
  Op& emit(Control control, Handlers handlers = {});

  void lower_instruction(const Instruction& instruction);
  void lower_compute();
  void lower_comparison();
  void lower_class_test();
  void lower_space_test();
  void lower_move();
  void lower_pack(const Operand& whole, const Operand& parts);
  void lower_unpack(const Operand& parts, const Operand& whole);
  void lower_cvta();
  void lower_memory();
  void lower_call();
  void lower_barrier();
  void lower_warp();
  void set_address(MemoryOp& memory, Op& op, const Operand& address);

  Kernel& kernel_;
  const Function* function_ = nullptr;
  State* state_ = nullptr;
  const Instruction* current_ = nullptr;
  std::map<std::uint32_t, State> states_;
  std::vector<std::uint32_t> order_;
  std::map<std::pair<std::uint64_t, unsigned>, Slot> constants_;
  std::map<std::uint32_t, std::uint32_t> shared_variables_;
  std::vector<Pending> pending_;
  std::uint32_t next_predicate_ = 0;
  unsigned predicates_left_ = 0;
};

}  // namespace assay::ptx
