// Lowers parsed instructions to handlers and slots. Private to lower() of program.hpp: lowering.cpp assigns slots to
// values; the other files contain the rule of each opcode.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "backends/ptx/instructions/program.hpp"
#include "backends/ptx/lower/register_parameters.hpp"

namespace assay::ptx {

/// The instruction that runs: the given one, except in tests that inject a fault into the interpreter.
const Instruction& interpreted(const Instruction& instruction);

/// Whether it is the type of an operand of 8 bits of a product of matrices.
constexpr bool is_byte(Type type) { return type == Type::kS8 || type == Type::kU8; }
constexpr bool is_small_float(Type type) { return type == Type::kE4m3 || type == Type::kE5m2; }

/// By index of the op: whether it is an order-sensitive atomic; see Kernel::is_order_sensitive_by_op.
std::vector<bool> find_order_sensitive_ops(const Kernel& kernel);

/// Lowers one kernel and the functions that it calls.
class Lowering {
 public:
  explicit Lowering(Kernel& kernel) : kernel_(kernel), register_parameters_(*kernel.module) {}
  Result<void> run();

 private:
  /// The registers and variables of one function.
  struct FunctionState {
    std::vector<FrameSlot> register_slots;  ///< position of each register, by index
    /// Indices of the variables in local memory that hold the parameters and then the results; none if they are in
    /// registers.
    std::vector<std::uint32_t> parameters;
    /// Registers that hold parts of the parameters and results.
    std::map<ParameterField, FrameSlot> parameter_slots;
    /// Indices of the function's variables in Kernel::local_variables or Kernel::shared_variables; kInRegisters for a
    /// variable that stands for a parameter in registers.
    std::vector<std::uint32_t> variables;
    std::uint32_t first_op_index = 0;  ///< index of its first instruction in Kernel::ops
    /// The values of registers that always hold the same address in local memory, or its generic address, by index.
    std::map<std::uint32_t, std::uint64_t> local_addresses;
    /// By index of the register: number of operands of the function's instructions that name it.
    std::vector<std::uint32_t> register_occurrence_counts;
    std::map<std::uint32_t, std::uint16_t> copy_numbers;  ///< by index of the register: see MemoryOp::copy_numbers
    std::set<const Instruction*> guess_loads;             ///< loads of the function that have MemoryOp::is_guess
  };
  static constexpr std::uint32_t kInRegisters = ~0U;  ///< in FunctionState::variables: not in memory

  /// A result that must be moved to another register after the instruction.
  struct PendingMove {
    FrameSlot source_slot;       ///< register that the instruction writes
    FrameSlot destination_slot;  ///< register that must get the value
    unsigned width_bytes = 4;    ///< size of `source_slot` in each lane, in bytes
  };

  [[nodiscard]] std::string place() const;  ///< module and kernel, for messages
  [[nodiscard]] std::uint32_t function_index(const Function& function) const;
  Result<void> check_recursion(std::uint32_t index, std::set<std::uint32_t> callers) const;
  FunctionState& state_of(std::uint32_t index);
  void lower_function(std::uint32_t index);

  FrameSlot new_slot(unsigned bytes);
  FrameSlot new_predicate();
  std::uint32_t new_local(const Variable& variable);   ///< index of the new variable
  std::uint32_t new_shared(const Variable& variable);  ///< index of the new variable
  FrameSlot constant(std::uint64_t value, unsigned bytes);
  FrameSlot special(SpecialRegister which);
  FrameSlot time(SpecialRegister which, unsigned width);
  /// The address of a symbol; nullopt for a variable in global memory, which has an address only at run time.
  std::optional<std::uint64_t> constant_address(const Operand& symbol);
  FrameSlot symbol_address(const Operand& symbol);
  static std::uint64_t local_address(std::uint32_t variable);
  [[nodiscard]] std::uint64_t shared_address(std::uint32_t variable) const;
  FrameSlot source(const Operand& operand, unsigned bytes, Type type);
  FrameSlot resized(FrameSlot slot, unsigned width, bool is_signed);  ///< conversion to another width
  FrameSlot source_predicate(const Operand& operand);
  FrameSlot destination(const Operand& operand, unsigned bytes);
  void finish_destinations(bool is_signed);
  Op& emit(DispatchKind control, InstructionHandlers handlers = {});

  void lower_instruction(const Instruction& instruction);
  void lower_compute();
  void lower_comparison();
  void lower_class_test();
  void lower_space_test();
  void lower_move();
  void lower_pack(const Operand& whole, const Operand& parts);
  void lower_unpack(const Operand& parts, const Operand& whole);
  void lower_cvta();
  void find_local_addresses();
  void count_register_occurrences();
  void find_copied_values();
  [[nodiscard]] bool is_access_to_local_memory(const Instruction& instruction) const;
  std::uint8_t unused_elements(const Operand& vector) const;
  void set_local_address(MemoryOp& memory, Op& op, std::uint64_t address);
  void lower_memory();
  /// The parameter in registers that the instruction accesses; nullopt if it accesses none.
  [[nodiscard]] std::optional<RegisterParameters::CalledParameter> register_parameter(
      const ParameterAccess& access) const;
  bool lower_register_parameter();  ///< false: the instruction accesses no parameter in registers
  void lower_vector_atomic(const MemoryOp& common, const Op& address, Modifier operation);
  void lower_async_copy();
  void lower_async_copy_control();
  std::uint32_t add_memory_op(MemoryOp memory);  ///< index of the new MemoryOp
  void lower_call();
  bool lower_system_call();  ///< false: the called function is not one of CUDA's system calls
  void lower_barrier();
  void lower_warp();
  void lower_matrix_move();
  void lower_matrix_product();
  void lower_wmma_move();
  void lower_mbarrier();
  void lower_bulk_copy();
  void lower_tensor_copy();
  void lower_tensor_map();
  void lower_tensor_map_fence();
  void lower_indexed_branch();
  void lower_cluster_operation();
  void lower_warpgroup_product();
  void lower_warpgroup_control();
  void lower_tensor_memory();
  void lower_tensor_operation();
  [[nodiscard]] std::vector<FrameSlot> sum_registers(const Operand& operand) const;
  Op& emit_matrix_operation(const MatrixOp& matrix);
  bool set_fragment(Fragment& fragment, const Operand& operand, std::size_t register_count, bool is_destination);
  void set_address(MemoryOp& memory, Op& op, const Operand& address, Space space);

  Kernel& kernel_;                                          ///< kernel that is built
  const RegisterParameters register_parameters_;            ///< the parameters of the module that are in registers
  const Function* function_ = nullptr;                      ///< function that is being lowered
  FunctionState* current_state_ = nullptr;                  ///< state of function_
  const Instruction* current_instruction_ = nullptr;        ///< instruction that is being lowered
  std::map<std::uint32_t, FunctionState> function_states_;  ///< states of the functions, by index in the module
  std::vector<std::uint32_t> queued_function_indices_;      ///< indices of the functions to lower next
  /// Registers of constants, by value and size in bytes.
  std::map<std::pair<std::uint64_t, unsigned>, FrameSlot> constant_slots_;
  /// Index in Kernel::shared_variables of each module variable.
  std::map<std::uint32_t, std::uint32_t> shared_variable_indices_;
  std::vector<PendingMove> pending_moves_;  ///< moves to append after the current instruction
  /// Whether the kernel has descriptors of matrices or copies boxes of tensors, so that the offsets of shared variables
  /// must differ.
  bool has_matrix_descriptors_ = false;
  std::uint32_t next_predicate_offset_ = 0;  ///< offset of the next free predicate in the frame
  unsigned free_predicate_count_ = 0;        ///< number of free predicates in the word at this offset
};

}  // namespace assay::ptx
