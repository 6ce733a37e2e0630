// The lowering from IR to Program: one instance lowers one kernel.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/launch.hpp"
#include "reference/cpu/program.hpp"

namespace assay::reference {

/// Registers of a value, one per leaf, in memory order. Values are never modified in place, so a register may
/// stand for several leaves.
using Leaves = std::vector<RegisterId>;

class Lowering {
 public:
  Lowering(const ir::Module& module, Program& program) : module_(module), program_(program) {}

  void lower_kernel(const ir::Function& kernel);
  /// Why the kernel cannot be lowered; the program is then of no use.
  const std::optional<Error>& error() const { return error_; }

 private:
  /// Where a variable lives.
  struct Slot {
    RegisterId base = ir::kNone;         ///< values and local arrays
    std::int32_t parameter = ir::kNone;  ///< arrays in global memory: the kernel's parameter
  };
  /// A function body being lowered.
  struct Frame {
    const ir::Function* function = nullptr;
    std::vector<Slot> slots;
    std::vector<bool> is_read;         ///< variables that some expression uses
    Leaves results;                    ///< functions: where a return leaves its values
    std::vector<std::size_t> returns;  ///< jumps to patch
  };
  struct Loop {
    std::vector<std::size_t> breaks;
    std::vector<std::size_t> continues;
  };

  // lowering_expressions.cpp
  Leaves expression(ir::ExprId id);
  RegisterId scalar(ir::ExprId id) { return expression(id).at(0); }
  /// The register of a constant; bits as Expr::bits.
  RegisterId number(ir::Scalar type, std::uint64_t bits);
  Leaves literal(const ir::Expr& expr);
  Leaves operation(const ir::Expr& expr);
  Leaves logic(const ir::Expr& expr);
  Leaves conditional(const ir::Expr& expr);
  Leaves select(const ir::Expr& expr);
  Leaves cast(const ir::Expr& expr);
  Leaves extract(const ir::Expr& expr);
  Leaves insert(const ir::Expr& expr);
  Leaves with_field(const ir::Expr& expr);
  Leaves load(const ir::Expr& expr);
  Leaves field(const ir::Expr& expr);
  Leaves call(std::int32_t function, const std::vector<ir::ExprId>& args);
  /// The call with its arguments evaluated; `values` is empty for arrays, which `args` names.
  Leaves call_with(std::int32_t function, const std::vector<ir::ExprId>& args, const std::vector<Leaves>& values);
  Leaves inlined(const ir::Function& callee, const std::vector<Slot>& arrays, const std::vector<Leaves>& values);
  /// The results of a function with a gradient of its own: the primal's numbers with the derivatives that it gives.
  Leaves with_custom_gradient(const ir::Function& callee, const std::vector<Slot>& arrays,
                              const std::vector<Leaves>& values, const Leaves& primal);
  /// dst = primal, with the derivatives `partials` by `sources`.
  RegisterId custom(ir::Scalar type, RegisterId primal, const Leaves& sources, const Leaves& partials);
  RegisterId seed(ir::Scalar type);
  /// Number of the part that a constant index of an aggregate means, if it is one and there is such a part.
  std::optional<std::size_t> constant_index(ir::ExprId id, ir::Type aggregate) const;
  /// First leaf and number of leaves of a struct's field.
  std::pair<std::size_t, std::size_t> field_range(ir::Type type, std::int32_t field) const;

  // lowering_algebra.cpp
  /// An operation that evaluates all its operands, none of which is an index or a field.
  Leaves algebra(const ir::Expr& expr, const std::vector<Leaves>& operands);
  Leaves elementwise(ir::Op op, ir::Scalar type, const std::vector<Leaves>& operands, std::int32_t choice = ir::kNone);
  Leaves reduce(ir::Op op, ir::Scalar type, Leaves operands);
  Leaves dot(ir::Scalar type, const Leaves& a, const Leaves& b);
  Leaves double_dot(ir::Type matrix, const Leaves& a, const Leaves& b);
  Leaves cross(ir::Scalar type, const Leaves& a, const Leaves& b);
  Leaves normalize(ir::Scalar type, const Leaves& v);
  Leaves product(const ir::Expr& expr, const std::vector<Leaves>& operands);
  Leaves negated(ir::Scalar type, const Leaves& a) { return elementwise(ir::Op::kNeg, type, {a}); }
  Leaves quaternion_product(ir::Scalar type, const Leaves& a, const Leaves& b);
  Leaves outer(ir::Scalar type, const Leaves& a, const Leaves& b);
  Leaves inverse(ir::Type matrix, const Leaves& a);

  // lowering_tiles.cpp
  /// The function applied to each element; arguments that are no tiles are the same for all.
  Leaves call_on_tiles(const ir::Expr& expr);
  Leaves load_tile(const ir::Expr& expr);
  /// Stores or adds the elements of a tile, as `instruction` does it with one.
  void change_tile(Instruction instruction, ir::Type tile, const std::vector<ir::ExprId>& offsets, const Leaves& value);
  /// Index registers of each element of a tile, by dimension: the offset and what lies before the element.
  std::vector<Leaves> tile_indices(ir::Type tile, const std::vector<ir::ExprId>& offsets);
  RegisterId integer(ir::Scalar type, std::int64_t value);
  Leaves tile_algebra(const ir::Expr& expr, const std::vector<Leaves>& operands);
  RegisterId sum(ir::Scalar type, const Leaves& terms);
  RegisterId sum_of_products(ir::Scalar type, const Leaves& a, const Leaves& b);
  Leaves tile_product(ir::Type a, ir::Type b, const std::vector<Leaves>& operands);
  Leaves tile_sum(ir::Type from, ir::Type to, const Leaves& tile);
  Leaves tile_scan(ir::Scalar type, const Leaves& tile, bool inclusive);
  Leaves tile_extreme(ir::Op op, ir::Scalar type, const Leaves& tile);
  Leaves tile_extreme_number(ir::Op op, ir::Scalar type, const Leaves& tile);
  Leaves tile_extract(ir::Type tile, const std::vector<Leaves>& operands);
  Leaves tile_insert(ir::Type tile, const std::vector<Leaves>& operands);
  Leaves tile_select(const Leaves& conditions, const Leaves& yes, const Leaves& no);

  // lowering.cpp
  void block(const ir::Block& block);
  void statement(const ir::Stmt& statement);
  void lower(const ir::Let& let);
  void lower(const ir::Assign& assign);
  void lower(const ir::Store& store);
  void lower(const ir::Atomic& atomic);
  void lower(const ir::Call& call);
  void lower(const ir::If& branch);
  void lower(const ir::For& loop);
  void lower(const ir::While& loop);
  void lower(const ir::Break&);
  void lower(const ir::Continue&);
  void lower(const ir::Return& statement);
  void bind_parameters(const ir::Function& kernel);
  static Frame frame_of(const ir::Function& function);

  Slot& slot(ir::VarId variable) { return frame_->slots[static_cast<std::size_t>(variable)]; }
  const ir::Expr& expr(ir::ExprId id) const { return frame_->function->expr(id); }
  ir::Type type_of(ir::ExprId id) const { return expr(id).type; }
  std::vector<ir::Scalar> component_types(ir::Type type) const;
  std::size_t component_count(ir::Type type) const;
  Leaves variable_leaves(ir::VarId variable);
  /// Gives a variable its registers, once.
  void allocate(ir::VarId variable);
  RegisterId temporary() { return program_.registers++; }
  Leaves temporaries(std::size_t count);
  void move(const Leaves& to, const Leaves& from);
  /// Appends an instruction at the current place and returns its number.
  std::size_t emit(Instruction instruction, const Leaves& operands = {});
  std::size_t here() const { return program_.code.size(); }
  void patch(std::size_t jump, std::size_t target) { program_.code[jump].target = static_cast<std::int32_t>(target); }
  void patch(const std::vector<std::size_t>& jumps, std::size_t target) {
    for (const std::size_t jump : jumps)
      patch(jump, target);
  }
  /// Number of the choice that `origin`, a statement or expression, makes.
  std::int32_t choice(const void* origin, Choice::Kind kind);
  /// A jump on the condition's value, from the statement or expression `origin`; literals choose nothing.
  std::size_t jump_unless(const void* origin, ir::ExprId condition);
  bool is_literal(ir::ExprId id) const { return expr(id).kind == ir::ExprKind::kLiteral; }
  void reject(std::string reason);

  const ir::Module& module_;
  Program& program_;
  Frame* frame_ = nullptr;
  std::vector<Loop> loops_;
  std::map<std::pair<ir::Scalar, std::uint64_t>, RegisterId> constants_;
  std::map<const void*, std::int32_t> choices_;  ///< by origin
  std::map<ir::Scalar, RegisterId> seeds_;
  bool in_gradient_ = false;  ///< lowering a custom gradient, of which no derivative is taken
  ir::Loc loc_;
  std::optional<Error> error_;
};

}  // namespace assay::reference
