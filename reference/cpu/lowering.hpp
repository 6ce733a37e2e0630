// Lowering from IR to Program. One instance lowers one kernel.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/element_part.hpp"
#include "ir/launch.hpp"
#include "reference/cpu/program.hpp"

namespace assay::reference {

/// Registers of a value, one per scalar component, in memory order. Values are never modified in place, so components
/// may share a register.
using Registers = std::vector<RegisterId>;

/// Lowers one kernel.
class KernelLowering {
 public:
  KernelLowering(const ir::Module& module, Program& program, CustomReplays custom_replays)
      : module_(module), program_(program), custom_replays_(custom_replays) {}

  void lower_kernel(const ir::Function& kernel);
  /// Why the kernel cannot be lowered; the program is then unusable.
  const std::optional<Error>& error() const { return error_; }

 private:
  /// Where the value of a variable is stored.
  struct VariableStorage {
    RegisterId first_register = ir::kNone;  ///< for a value or local array: its first register
    std::int32_t parameter = ir::kNone;     ///< for an array in global memory: the kernel parameter that it is
    /// For the adjoint array of `parameter` in a custom gradient: the register whose derivatives by the elements of
    /// `parameter` the gradient defines.
    RegisterId derived_register = ir::kNone;
  };
  /// The state of lowering one function body.
  struct FunctionFrame {
    const ir::Function* function = nullptr;            ///< function that is lowered
    std::vector<VariableStorage> storage_by_variable;  ///< storage of each variable, by VarId
    std::vector<bool> is_variable_read;                ///< for each variable: whether any expression uses it
    Registers results;                                 ///< registers for the returned values
    /// Positions in Program::code of the jumps of return statements, whose target is not yet set.
    std::vector<std::size_t> return_jump_positions;
  };
  /// The jumps out of a loop body whose target is not yet set.
  struct LoopJumps {
    std::vector<std::size_t> break_jump_positions;  ///< positions in Program::code of the jumps of break statements
    /// Positions in Program::code of the jumps of continue statements.
    std::vector<std::size_t> continue_jump_positions;
  };

  // lowering_expressions.cpp
  Registers expression(ir::ExprId id);
  RegisterId scalar(ir::ExprId id) { return expression(id).at(0); }
  /// The register of a constant; bits as Expr::bits.
  RegisterId number(ir::Scalar type, std::uint64_t bits);
  Registers literal(const ir::Expr& expr);
  Registers operation(const ir::Expr& expr);
  Registers logic(const ir::Expr& expr);
  Registers conditional(const ir::Expr& expr);
  Registers select(const ir::Expr& expr);
  Registers cast(const ir::Expr& expr);
  Registers reinterpret(const ir::Expr& expr);
  Registers extract(const ir::Expr& expr);
  Registers insert(const ir::Expr& expr);
  Registers with_field(const ir::Expr& expr);
  Registers load(const ir::Expr& expr);
  /// Whether the expression reads a part of an element of an array parameter.
  bool is_part_of_element(ir::ExprId id) const;
  Registers load_part(ir::ExprId id);
  /// The position of the first component of a part: a constant plus the value of a register.
  struct ComponentOffset {
    std::int32_t constant_offset = 0;  ///< part of the position that is known
    /// Register with the other part of the position; kNone: there is none.
    RegisterId variable_offset_register = ir::kNone;
  };
  ComponentOffset component_offset(const std::vector<ir::ElementPartStep>& path);
  Registers field(const ir::Expr& expr);
  Registers call(std::int32_t function, const std::vector<ir::ExprId>& args);
  /// The call with its arguments evaluated; `values` is empty for arrays, which `args` names.
  Registers call_with(std::int32_t function, const std::vector<ir::ExprId>& args, const std::vector<Registers>& values);
  /// Lowers the body of a function in place of a call; returns the registers of its results.
  Registers inline_call(const ir::Function& callee, const std::vector<VariableStorage>& arrays,
                        const std::vector<Registers>& values);
  /// Lowers a call of a function with a custom gradient. Returns the registers of its results, which have the primal
  /// values and the derivatives that the gradient defines.
  Registers call_with_custom_gradient(const ir::Function& callee, const std::vector<VariableStorage>& arrays,
                                      const std::vector<Registers>& values, const Registers& primal);
  /// The arguments of the gradient of `callee` for the adjoint 1 of one component of the results and 0 of the others.
  std::vector<Registers> with_unit_adjoint(const ir::Function& callee, std::vector<Registers> values,
                                           std::size_t differentiated);
  /// destination = primal, with the derivatives `partials` by `sources`.
  RegisterId custom(ir::Scalar type, RegisterId primal, const Registers& sources, const Registers& partials);
  RegisterId seed(ir::Scalar type);
  /// The part of an aggregate selected by the index, if the index is constant and in range.
  std::optional<std::size_t> constant_index(ir::ExprId id, ir::Type aggregate) const;
  /// First scalar component and number of components of a struct field.
  std::pair<std::size_t, std::size_t> field_range(ir::Type type, std::int32_t field) const;

  // lowering_algebra.cpp
  /// An operation that evaluates all its operands and takes no index or field.
  Registers algebra(const ir::Expr& expr, const std::vector<Registers>& operands);
  /// Lowers an operation that is applied component by component; returns the registers of the result.
  Registers lower_elementwise(ir::Op op, ir::Scalar type, const std::vector<Registers>& operands,
                              std::int32_t branch_point_index = ir::kNone);
  Registers reduce(ir::Op op, ir::Scalar type, Registers operands);
  Registers dot(ir::Scalar type, const Registers& a, const Registers& b);
  Registers double_dot(ir::Type matrix, const Registers& a, const Registers& b);
  Registers cross(ir::Scalar type, const Registers& a, const Registers& b);
  Registers normalize(ir::Scalar type, const Registers& v);
  Registers product(const ir::Expr& expr, const std::vector<Registers>& operands);
  Registers negated(ir::Scalar type, const Registers& a) { return lower_elementwise(ir::Op::kNeg, type, {a}); }
  Registers quaternion_product(ir::Scalar type, const Registers& a, const Registers& b);
  Registers outer(ir::Scalar type, const Registers& a, const Registers& b);
  Registers inverse(ir::Type matrix, const Registers& a);

  // lowering_tiles.cpp
  /// The function applied to each element; arguments that are not tiles are broadcast.
  Registers call_on_tiles(const ir::Expr& expr);
  Registers load_tile(const ir::Expr& expr);
  /// Stores or adds the elements of a tile, each with a copy of `instruction`.
  void store_or_add_tile(Instruction instruction, ir::Type tile, const std::vector<ir::ExprId>& offsets,
                         const Registers& value);
  /// Index registers of each element of a tile, by dimension: the offset plus the position in the tile, or the number
  /// in a tile of indices.
  std::vector<Registers> tile_indices(ir::Type tile, const std::vector<ir::ExprId>& offsets);
  RegisterId integer(ir::Scalar type, std::int64_t value);
  Registers tile_algebra(const ir::Expr& expr, const std::vector<Registers>& operands);
  RegisterId sum(ir::Scalar type, const Registers& terms);
  RegisterId sum_of_products(ir::Scalar type, const Registers& a, const Registers& b);
  Registers tile_product(ir::Type a, ir::Type b, const std::vector<Registers>& operands);
  Registers tile_sum(ir::Type from, ir::Type to, const Registers& tile);
  Registers tile_scan(ir::Scalar type, const Registers& tile, bool inclusive);
  Registers tile_extreme(ir::Op op, ir::Scalar type, const Registers& tile);
  Registers tile_extreme_number(ir::Op op, ir::Scalar type, const Registers& tile);
  Registers tile_extract(ir::Type tile, const std::vector<Registers>& operands);
  Registers tile_insert(ir::Type tile, const std::vector<Registers>& operands);
  Registers tile_arange(ir::Type tile, RegisterId first, RegisterId step);
  Registers tile_diag_add(ir::Type tile, const std::vector<Registers>& operands);
  Registers tile_view(const ir::Expr& expr, const std::vector<Registers>& operands);
  Registers tile_assign(const ir::Expr& expr, const std::vector<Registers>& operands);
  Registers tile_run_sums(ir::Scalar type, const Registers& values, const Registers& terms);
  Registers tile_run_spread(ir::Scalar type, const Registers& values, const Registers& terms);
  /// Running minimum or maximum.
  Registers tile_scan_extreme(ir::Op op, ir::Scalar type, const Registers& tile);
  /// The offsets, if they are literals with which `part` is inside `whole`; otherwise nothing.
  std::optional<std::array<int, 2>> constant_offsets(ir::Type whole, ir::Type part,
                                                     std::span<const ir::ExprId> offsets) const;
  Registers tile_select(const Registers& conditions, const Registers& yes, const Registers& no);

  // lowering.cpp
  void block(const ir::Block& block);
  void statement(const ir::Stmt& statement);
  void lower(const ir::Let& let);
  void lower(const ir::Assign& assign);
  void lower(const ir::Store& store);
  /// Appends a store or an atomic that changes an element of an array parameter, or a part of the element, or a
  /// kElementDerivative of the element or part.
  void emit_element_change(Instruction instruction, const std::vector<ir::ExprId>& indices,
                           const ir::ChangedElementPart& part, ir::ExprId compare = ir::kNone);
  void lower(const ir::Atomic& atomic);
  void lower(const ir::Call& call);
  void lower(const ir::If& branch);
  void lower(const ir::For& loop);
  void lower(const ir::While& loop);
  void lower(const ir::Break&);
  void lower(const ir::Continue&);
  void lower(const ir::Return& statement);
  void bind_parameters(const ir::Function& kernel);
  static FunctionFrame frame_of(const ir::Function& function);

  VariableStorage& slot(ir::VarId variable) { return frame_->storage_by_variable[static_cast<std::size_t>(variable)]; }
  const ir::Expr& expr(ir::ExprId id) const { return frame_->function->expr(id); }
  ir::Type type_of(ir::ExprId id) const { return expr(id).type; }
  std::vector<ir::Scalar> component_types(ir::Type type) const;
  std::size_t component_count(ir::Type type) const;
  Registers variable_components(ir::VarId variable);
  /// Allocates the registers of a variable, once.
  void allocate(ir::VarId variable);
  RegisterId temporary() { return program_.register_count++; }
  Registers temporaries(std::size_t count);
  void move(const Registers& to, const Registers& from);
  /// Appends an instruction and returns its index.
  std::size_t emit(Instruction instruction, const Registers& operands = {});
  std::size_t here() const { return program_.code.size(); }
  /// Sets the target of a jump.
  void set_jump_target(std::size_t jump, std::size_t target) {
    program_.code[jump].target = static_cast<std::int32_t>(target);
  }
  void set_jump_target(const std::vector<std::size_t>& jumps, std::size_t target) {
    for (const std::size_t jump : jumps)
      set_jump_target(jump, target);
  }
  /// Index of the choice made by `origin`, a statement or expression.
  std::int32_t branch_point_index(const void* origin, BranchPoint::Kind kind);
  /// A jump on the value of the condition for the statement or expression `origin`; a literal condition is not a
  /// choice.
  std::size_t jump_unless(const void* origin, ir::ExprId condition);
  bool is_literal(ir::ExprId id) const { return expr(id).kind == ir::ExprKind::kLiteral; }
  void reject(std::string reason);

  const ir::Module& module_;                ///< module that contains the kernel
  Program& program_;                        ///< program that is built
  CustomReplays custom_replays_;            ///< what is lowered for calls of functions with replays
  FunctionFrame* frame_ = nullptr;          ///< function that is being lowered, the innermost one
  std::vector<LoopJumps> enclosing_loops_;  ///< loops around the current statement, the innermost last
  std::map<std::pair<ir::Scalar, std::uint64_t>, RegisterId>
      constant_registers_;  ///< register of each constant, by type and bits
  std::map<const void*, std::int32_t>
      branch_point_indices_;  ///< index in Program::branch_points of each statement or expression that branches
  std::map<ir::Scalar, RegisterId>
      unit_cotangent_registers_;  ///< for custom gradients: registers that hold the cotangent 1, by type
  bool is_lowering_custom_gradient_ =
      false;  ///< whether a custom gradient is lowered, which is not differentiated itself
  ir::Scalar derived_type_ = ir::Scalar::kF32;  ///< type of the result whose derivatives a custom gradient defines
  ir::Loc loc_;                                 ///< source location of the instructions that are appended
  std::optional<Error> error_;  ///< why the oracle does not support the kernel; nullopt: no reason so far
};

}  // namespace assay::reference
