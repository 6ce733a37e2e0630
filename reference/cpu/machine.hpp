// The interpreter: runs a Program for all threads of a launch, one after another.
//
// A Tracer says what to keep of derivatives: nothing, dual numbers, or a tape for the reverse sweep; or of the values
// at other points (points.hpp). It has
//   Handle                                        what goes along with each value; default: no derivative
//   active(handle), full()                        whether it moves with an input; whether to stop the run
//   carries(handle)                               whether it depends on an input at all, if only by zero
//   same(handle, handle)                          whether two derivatives are known to be the same
//   leaf(parameter, leaf, type, value)            handle of an input
// and, with kDerivatives,
//   combine(type, sources, partials, wanted)      handle of an operation's result
//   accumulate(type, old, contribution, sign)     handle of old + sign * contribution
#pragma once

#include <array>
#include <cstdint>
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
class Machine {
 public:
  using Handle = typename Tracer::Handle;

  /// Keeps references to all. Without `bounds` those of all results are 0 and say nothing.
  Machine(const Program& program, const Run& run, Tracer& tracer, const Perturbation* perturbation = nullptr,
          bool bounds = true);

  void run();

  bool complete() const { return complete_; }
  std::int64_t instructions() const { return instructions_; }
  const Decisions& decisions() const { return decisions_.summary(); }
  const std::vector<Choice>& choices() const { return choices_; }
  std::vector<Finding> take_findings() { return findings_.take(); }
  ArrayMemory<Handle>& array(std::size_t parameter) { return arrays_[parameter]; }
  /// Derivative of a cell's content, of its initial content if nothing was written.
  Handle handle_of(std::size_t parameter, std::size_t element, std::size_t leaf);
  Handle handle_of(std::size_t parameter, std::size_t cell) {
    const std::size_t leaves = arrays_[parameter].leaves();
    return handle_of(parameter, cell / leaves, cell % leaves);
  }

 private:
  using Value = Datum<Handle>;
  static constexpr std::size_t kMostOperands = 32;

  // machine.cpp
  void bind_arguments(const Perturbation* perturbation);
  void bind_array(std::size_t parameter, const Perturbation* perturbation);
  void run_thread(std::int64_t thread);
  void set_thread_indices(std::int64_t thread);
  std::size_t step(const Instruction& instruction, std::size_t pc);
  void compute(const Instruction& instruction);
  void compute_float(const Instruction& instruction);
  void add_or_multiply(const Instruction& instruction);
  void compute_sum(const Instruction& instruction);
  void compute_test(const Instruction& instruction);
  void custom(const Instruction& instruction);
  void compute_integer(const Instruction& instruction);
  void compute_conversion(const Instruction& instruction);
  void float_to_integer(const Instruction& instruction);
  void extract(const Instruction& instruction);
  void insert(const Instruction& instruction);
  Operands gather(const Instruction& instruction);
  void note_choice(const Instruction& instruction, std::size_t way) {
    if (instruction.choice != ir::kNone) ++choices_[static_cast<std::size_t>(instruction.choice)].taken[way];
  }
  void derive(const Instruction& instruction, Operands operands, Differentiate differentiate, Value& dst);
  /// The operands of an instruction, for a tracer of points.
  std::span<const Value* const> sources_of(const Instruction& instruction);
  Points::Way way_since(std::uint64_t path) const { return {path, decisions_.summary().path}; }

  // machine_memory.cpp
  void access(const Instruction& instruction);
  /// Makes a float that is read or seeded for the first time an input, if nothing was written to it.
  void touch(Cell<Handle>& source, std::size_t parameter, std::size_t element, std::size_t leaf);
  void load(const Instruction& instruction);
  void store(const Instruction& instruction);
  void atomic(const Instruction& instruction);
  /// A cell of the array that an instruction names.
  struct Place {
    std::size_t element;
    std::size_t leaf;
  };
  void update(const Instruction& instruction, Place place, RegisterId value, RegisterId expected);
  void update_float(const Instruction& instruction, Place place, const Value& value);
  void add_float(const Instruction& instruction, Place place, const Value& value);
  void local_load(const Instruction& instruction);
  void local_store(const Instruction& instruction);
  std::optional<std::size_t> locate(const Instruction& instruction);
  bool note_tile(const Instruction& instruction, std::span<const std::int64_t> index);
  std::optional<std::int64_t> local_element(const Instruction& instruction);
  void note_read(const Instruction& instruction, std::size_t element, std::span<Cell<Handle>> cells);

  // findings
  void report(Finding::Kind kind, const Instruction& instruction);
  void report_index(const Instruction& instruction, std::vector<std::int64_t> index, std::vector<std::int32_t> shape);
  void report_conflict(const Instruction& instruction, std::size_t element, const Conflict& conflict);

  Value& at(RegisterId id) { return registers_[static_cast<std::size_t>(id)]; }
  RegisterId operand(const Instruction& instruction, std::size_t i) const {
    return program_.operands[instruction.operands + i];
  }
  const Arithmetic& arithmetic(ir::Scalar scalar) const {
    return arithmetics_[static_cast<std::size_t>(scalar) - static_cast<std::size_t>(ir::Scalar::kF16)];
  }
  ArrayMemory<Handle>& array_of(const Instruction& instruction) {
    return arrays_[static_cast<std::size_t>(instruction.target)];
  }

  const Program& program_;
  const Run& run_;
  Tracer& tracer_;
  DecisionRecorder decisions_;
  std::vector<Choice> choices_;
  std::array<Arithmetic, 4> arithmetics_;
  FindingLog findings_;
  std::vector<Value> registers_;
  std::vector<ArrayMemory<Handle>> arrays_;
  std::array<const Bounded*, kMostOperands> operand_values_ = {};  ///< of the current instruction
  std::array<Bounded, kMostOperands> partials_ = {};               ///< the same
  std::vector<const Bounded*> terms_;                              ///< of the current sum
  std::vector<const Value*> sources_;                              ///< of the current operation at points
  std::int64_t instructions_ = 0;
  std::int32_t thread_ = 0;
  bool complete_ = true;
};

extern template class Machine<NoDerivatives>;
extern template class Machine<DualNumbers>;
extern template class Machine<Tape>;
extern template class Machine<Points>;

}  // namespace assay::reference
