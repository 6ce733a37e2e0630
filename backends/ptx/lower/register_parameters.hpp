// Which functions of a module can get their arguments and return their results in registers.
//
// In PTX, a call passes its arguments and results through variables in the space .param. With few optimizations, NVRTC
// inlines no function, and one instruction in four accesses such a variable. If all callers store whole fields of the
// arguments right before the call, and load whole fields of the results right after it, each field can be a register,
// and each access a move.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

/// A part of a parameter or result of a function that is loaded or stored at once.
struct ParameterField {
  std::uint32_t parameter = 0;  ///< number of the parameter; the results follow after the parameters
  std::uint64_t offset = 0;     ///< position in the parameter, in bytes
  unsigned bytes = 0;           ///< size: 4 or 8
  friend auto operator<=>(const ParameterField&, const ParameterField&) = default;
};

/// An access to a parameter of a function, or to a variable in the space .param in its body.
struct ParameterAccess {
  std::uint32_t symbol_index = 0;  ///< number of the parameter or index of the variable
  bool is_of_variable = false;     ///< whether it accesses a variable, not a parameter
  std::uint64_t offset = 0;        ///< position of the first element, in bytes
  unsigned bytes = 0;              ///< size of each element: 4 or 8
  unsigned element_count = 1;      ///< number of elements; more than 1 for a vector
  bool is_load = false;            ///< whether it is a load, not a store
  bool is_guarded = false;         ///< whether the instruction has a guard
};

/// Returns the access of an instruction of `function`; nullopt if it does not load or store elements of 4 or 8 bytes at
/// a constant position in a parameter or variable in the space .param. Parameters of an entry point do not count.
std::optional<ParameterAccess> parameter_access(const Function& function, const Instruction& instruction);

/// Analyzes the calls of a module.
class RegisterParameters {
 public:
  /// A parameter or result of a called function.
  struct CalledParameter {
    std::uint32_t function = 0;   ///< index of the function in the module
    std::uint32_t parameter = 0;  ///< number of the parameter; the results follow after the parameters
  };

  explicit RegisterParameters(const Module& module);

  /// Whether the function gets its arguments and returns its results in registers.
  [[nodiscard]] bool uses_registers(std::uint32_t function) const { return !functions_[function].needs_memory; }
  /// Returns the parameter for which a variable in the body of `caller` stands; nullopt if the variable is in memory.
  [[nodiscard]] std::optional<CalledParameter> called_parameter(std::uint32_t caller, std::uint32_t variable) const;

 private:
  /// What a function does with its parameters and with the variables of its calls.
  struct FunctionUse {
    bool needs_memory = false;
    /// By instruction, and for the end of the function: number of earlier branches, calls and returns, and of targets
    /// of branches up to here.
    std::vector<std::uint32_t> block_numbers;
    std::vector<std::pair<std::uint32_t, ParameterAccess>> accesses;  ///< with the indices of their instructions
    std::vector<std::uint32_t> access_counts;                         ///< by variable of the body, number of accesses
    std::vector<std::uint32_t> call_counts;   ///< by variable of the body, number of times that calls pass it
    std::set<std::uint32_t> other_variables;  ///< variables that are used in another way
    std::set<ParameterField> loaded;          ///< fields of arguments that the function loads
    std::set<ParameterField> returned;        ///< fields of results that it stores right before each return
    std::set<ParameterField> fields;          ///< all fields that the function or a caller accesses
    std::map<std::uint32_t, CalledParameter> parameters_by_variable;
  };

  void find_uses(std::uint32_t function);
  void find_own_fields(std::uint32_t function);
  void check_call(std::uint32_t caller, std::uint32_t call);
  bool bind(std::uint32_t caller, std::uint32_t call, const Operand& operand, CalledParameter parameter);
  [[nodiscard]] bool is_right_before(std::uint32_t function, std::uint32_t index, std::uint32_t later) const;
  [[nodiscard]] static std::vector<ParameterField> fields_of(const ParameterAccess& access, std::uint32_t parameter);

  const Module& module_;
  std::vector<FunctionUse> functions_;  ///< by index in the module
};

}  // namespace assay::ptx
