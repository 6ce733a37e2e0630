// The interpreter: runs a Program for all threads of a launch, one after another.
//
// A Tracer determines the derivative information of each value: none, dual numbers, a tape for the reverse sweep, or
// the values at other points (points.hpp). It has
//   Handle                                        data attached to each value; default: no derivative
//   active(handle), full()                        whether its derivative is not zero; whether to stop the run
//   carries(handle)                               whether it depends on an input, even with a zero derivative
//   same(handle, handle)                          whether two derivatives are known to be equal
//   input_handle(parameter, component, type, value)
//                                                 handle of an input
// and, with kHasDerivatives,
//   apply_chain_rule(type, sources, partials, wanted)      handle of an operation's result
//   accumulate(type, old, contribution, sign)     handle of old + sign * contribution
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "reference/cpu/arithmetic.hpp"
#include "reference/cpu/decisions.hpp"
#include "reference/cpu/duals.hpp"
#include "reference/cpu/findings.hpp"
#include "reference/cpu/memory.hpp"
#include "reference/cpu/points.hpp"
#include "reference/cpu/program.hpp"
#include "reference/cpu/tape.hpp"

namespace assay::reference {

template <class Tracer>
class Interpreter {
 public:
  using Handle = typename Tracer::Handle;

  /// Keeps references to all. Without `bounds`, the bounds of all results are 0 and have no meaning.
  Interpreter(const Program& program, const OracleRun& run, Tracer& tracer, const Perturbation* perturbation = nullptr,
              bool bounds = true);

  void run();

  bool complete() const { return is_complete_; }
  std::int64_t instructions() const { return executed_instruction_count_; }
  const DecisionSummary& decisions() const { return decisions_.summary(); }
  const std::vector<BranchPoint>& branch_points() const { return branch_points_; }
  std::vector<Finding> take_findings() { return findings_.take(); }
  ArrayMemory<Handle>& array(std::size_t parameter) { return arrays_[parameter]; }
  /// Takes back the uncertain kinks of values on which no result depends: has_effect(handle) states whether one does.
  template <class HasEffect>
  void forget_kinks_without_effect(const HasEffect& has_effect) {
    for (const UncertainKinks& kinks : uncertain_kinks_) {
      if (!has_effect(kinks.value)) decisions_.forget_kinks(kinks.counts);
    }
  }
  /// Derivative of the content of a cell; of its initial content if it was not written.
  Handle handle_of(std::size_t parameter, std::size_t element, std::size_t component);
  /// Returns the derivative of the content of a cell, which is given by its index.
  Handle handle_of(std::size_t parameter, std::size_t cell) {
    const std::size_t components = arrays_[parameter].components();
    return handle_of(parameter, cell / components, cell % components);
  }

 private:
  using Value = TracedValue<Handle>;
  /// The uncertain kinks at which a value was calculated.
  struct UncertainKinks {
    Handle value;                                      ///< derivative of the value
    std::array<std::int64_t, kPrecisionCount> counts;  ///< number of kinks by precision
  };
  static constexpr std::size_t kMaxOperands = 32;  ///< maximum number of operands of an operation

  // machine.cpp
  void bind_arguments(const Perturbation* perturbation);
  void bind_array(std::size_t parameter, const Perturbation* perturbation);
  void run_thread(std::int64_t thread);  ///< runs all instructions for one thread
  void set_thread_indices(std::int64_t thread);
  std::size_t step(const Instruction& instruction, std::size_t pc);  ///< executes one instruction; returns the next
  void compute(const Instruction& instruction);
  void compute_float(const Instruction& instruction);
  void add_or_multiply(const Instruction& instruction);
  void compute_sum(const Instruction& instruction);
  void compute_test(const Instruction& instruction);
  void custom(const Instruction& instruction);
  void compute_integer(const Instruction& instruction);
  void compute_conversion(const Instruction& instruction);
  void float_to_integer(const Instruction& instruction);
  void float_to_bits(const Instruction& instruction);
  void extract(const Instruction& instruction);
  void insert(const Instruction& instruction);
  Operands gather(const Instruction& instruction);
  /// Counts a branch of an instruction as taken.
  void count_taken_branch(const Instruction& instruction, std::size_t branch) {
    if (instruction.branch_point != ir::kNone)
      ++branch_points_[static_cast<std::size_t>(instruction.branch_point)].branch_counts[branch];
  }
  void derive(const Instruction& instruction, Operands operands, Differentiate differentiate, Value& destination);
  /// The operands of an instruction, for a tracer of points.
  std::span<const Value* const> sources_of(const Instruction& instruction);
  PointTracer::PathChange path_change_since(std::uint64_t path) const { return {path, decisions_.summary().path_hash}; }

  // machine_memory.cpp
  void access(const Instruction& instruction);
  /// Registers a float as an input when it is first read or gets a cotangent, unless it was written.
  void ensure_input(MemoryCell<Handle>& source, std::size_t parameter, std::size_t element, std::size_t component);
  void load(const Instruction& instruction);
  void store(const Instruction& instruction);
  void atomic(const Instruction& instruction);
  void element_derivative(const Instruction& instruction);
  /// The position of a cell in the array that an instruction accesses.
  struct CellPosition {
    std::size_t element_index;    ///< number of the element in row-major order
    std::size_t component_index;  ///< number of the scalar component in the element
  };
  void update(const Instruction& instruction, CellPosition place, RegisterId value, RegisterId expected);
  void update_float(const Instruction& instruction, CellPosition place, const Value& value);
  void add_float(const Instruction& instruction, CellPosition place, const Value& value);
  void local_load(const Instruction& instruction);
  void local_store(const Instruction& instruction);
  std::optional<std::size_t> locate(const Instruction& instruction);  ///< nullopt: out of bounds
  bool note_tile(const Instruction& instruction, std::span<const std::int64_t> index);
  std::optional<std::int64_t> local_element(const Instruction& instruction);
  void note_read(const Instruction& instruction, std::size_t element, std::span<MemoryCell<Handle>> cells);

  // findings
  void report(Finding::Kind kind, const Instruction& instruction);
  void report_index(const Instruction& instruction, std::vector<std::int64_t> index, std::vector<std::int32_t> shape);
  template <class Note>
  void note_access(const Instruction& instruction, std::size_t element, std::span<AccessLog> logs, Note note);
  std::size_t first_component(const Instruction& instruction, std::size_t fixed);
  void report_conflict(const Instruction& instruction, std::size_t element, const AccessConflict& conflict);

  Value& at(RegisterId id) { return registers_[static_cast<std::size_t>(id)]; }  ///< value of a register
  /// Returns the register of the i-th operand.
  RegisterId operand_register(const Instruction& instruction, std::size_t i) const {
    return program_.operands[instruction.first_operand + i];
  }
  /// Returns the arithmetic of a float type.
  const BoundedArithmetic& arithmetic(ir::Scalar scalar) const {
    return arithmetic_by_type_[static_cast<std::size_t>(scalar) - static_cast<std::size_t>(ir::Scalar::kF16)];
  }
  /// Returns the array that an instruction accesses.
  ArrayMemory<Handle>& accessed_array(const Instruction& instruction) {
    return arrays_[static_cast<std::size_t>(instruction.target)];
  }

  const Program& program_;                               ///< program that is run
  const OracleRun& run_;                                 ///< launch and options of the run
  Tracer& tracer_;                                       ///< computes the derivative information of each value
  DecisionRecorder decisions_;                           ///< decisions recorded in this run
  std::vector<BranchPoint> branch_points_;               ///< branch points of the program, with the counts of this run
  std::array<BoundedArithmetic, 4> arithmetic_by_type_;  ///< arithmetic of each float type, from f16 to f64
  FindingLog findings_;                                  ///< defects found so far
  std::vector<Value> registers_;                         ///< registers of the current thread
  std::vector<ArrayMemory<Handle>> arrays_;              ///< memory of each array parameter
  std::array<const BoundedValue*, kMaxOperands> operand_values_ = {};  ///< operands of the current instruction
  /// Partial derivatives of the current result by these operands.
  std::array<BoundedValue, kMaxOperands> operand_partials_ = {};
  std::vector<const BoundedValue*> sum_terms_;  ///< operands of the current sum
  /// Operands of the current operation, for a tracer that evaluates other points.
  std::vector<const Value*> point_operands_;
  std::vector<UncertainKinks> uncertain_kinks_;  ///< those of all values with a derivative
  /// The elements stored so far by the current store of a tile at the indices in a tile.
  std::set<std::size_t> elements_of_tile_;
  std::int64_t executed_instruction_count_ = 0;  ///< number of instructions executed by all threads
  std::int32_t current_thread_index_ = 0;        ///< number of the current thread in the launch
  bool is_complete_ = true;                      ///< whether the run has not stopped early
};

extern template class Interpreter<NoDerivatives>;
extern template class Interpreter<DualNumbers>;
extern template class Interpreter<Tape>;
extern template class Interpreter<PointTracer>;

}  // namespace assay::reference
