#include "generators/generator.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/analysis.hpp"
#include "ir/library.hpp"
#include "ir/operations/operations.hpp"
#include "ir/visit.hpp"

namespace assay::generators {
namespace {

using ir::Op;
using ::testing::HasSubstr;

constexpr std::uint64_t kSeeds = 300;

/// Calls `visit` for every expression that a statement of the block reaches, and `see` for every statement.
void walk(const ir::Function& function, const ir::Block& block, const std::function<void(const ir::Expr&)>& visit,
          const std::function<void(const ir::Stmt&)>& see) {
  const std::function<void(ir::ExprId)> reach = [&](ir::ExprId id) {
    if (id == ir::kNone) return;
    visit(function.expr(id));
    for (const ir::ExprId arg : function.expr(id).args)
      reach(arg);
  };
  for (const ir::Stmt& statement : block.statements) {
    see(statement);
    if (const auto* let = std::get_if<ir::Let>(&statement.node)) {
      reach(let->value);
    } else if (const auto* assign = std::get_if<ir::Assign>(&statement.node)) {
      reach(assign->value);
    } else if (const auto* store = std::get_if<ir::Store>(&statement.node)) {
      std::ranges::for_each(store->indices, reach);
      reach(store->value);
    } else if (const auto* atomic = std::get_if<ir::Atomic>(&statement.node)) {
      std::ranges::for_each(atomic->indices, reach);
      reach(atomic->value);
    } else if (const auto* call = std::get_if<ir::Call>(&statement.node)) {
      std::ranges::for_each(call->args, reach);
    } else if (const auto* branch = std::get_if<ir::If>(&statement.node)) {
      reach(branch->condition);
      walk(function, branch->then_block, visit, see);
      walk(function, branch->else_block, visit, see);
    } else if (const auto* loop = std::get_if<ir::For>(&statement.node)) {
      for (const ir::ExprId bound : {loop->start, loop->stop, loop->step})
        reach(bound);
      walk(function, loop->body, visit, see);
    } else if (const auto* while_loop = std::get_if<ir::While>(&statement.node)) {
      reach(while_loop->condition);
      walk(function, while_loop->body, visit, see);
    }
  }
}

/// The operations and statements that the kernels of a family contain.
struct Contents {
  std::set<Op> operations;
  std::set<std::size_t> statements;  ///< indices of Stmt's variant
};

Contents contents_of(Family family) {
  Contents contents;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const GeneratedKernel made = generate(family, seed);
    const ir::Function& kernel = made.module.kernels[0];
    walk(
        kernel, kernel.body,
        [&](const ir::Expr& expr) {
          if (expr.kind == ir::ExprKind::kOperation) contents.operations.insert(expr.op);
        },
        [&](const ir::Stmt& statement) { contents.statements.insert(statement.node.index()); });
  }
  return contents;
}

std::vector<std::string> missing(const std::set<Op>& found, const std::vector<Op>& wanted) {
  std::vector<std::string> names;
  for (const Op op : wanted) {
    if (!found.contains(op)) names.emplace_back(row(op).mnemonic);
  }
  return names;
}

template <class Node>
std::size_t index_of() {
  return ir::Stmt{.node = Node{}}.node.index();
}

/// The text of all properties of a kernel, for comparison.
std::string fingerprint(const GeneratedKernel& made) {
  const ir::Function& kernel = made.module.kernels[0];
  std::string text = made.name;
  for (const ir::Variable& variable : kernel.variables)
    text += variable.name + ",";
  walk(
      kernel, kernel.body,
      [&](const ir::Expr& e) {
        text += fmt::format("{}.{}.{}.{};", static_cast<int>(e.kind), static_cast<int>(e.op), e.bits, e.variable);
      },
      [&](const ir::Stmt& statement) { text += fmt::format("<{}>", statement.node.index()); });
  return text;
}

TEST(Generator, SameSeedGivesSameKernel) {
  for (const KernelFamilyDefinition& family : families()) {
    std::set<std::string> seen;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const std::string first = fingerprint(generate(family.family, seed));
      EXPECT_EQ(first, fingerprint(generate(family.family, seed)));
      seen.insert(first.substr(first.find('_') + 3));
    }
    EXPECT_GE(seen.size(), 48U) << family.name;
  }
}

TEST(Generator, EveryFloatParameterIsUsedInKernelBody) {
  for (const KernelFamilyDefinition& family : families()) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const GeneratedKernel made = generate(family.family, seed);
      const ir::Function& kernel = made.module.kernels[0];
      std::set<ir::VarId> used;
      const auto see = [&](const ir::Stmt& statement) {
        if (const auto* store = std::get_if<ir::Store>(&statement.node))
          used.insert(kernel.expr(store->array).variable);
        if (const auto* atomic = std::get_if<ir::Atomic>(&statement.node))
          used.insert(kernel.expr(atomic->array).variable);
      };
      walk(
          kernel, kernel.body, [&](const ir::Expr& expr) { used.insert(expr.variable); }, see);
      for (ir::VarId parameter = 0; parameter < kernel.parameter_count; ++parameter) {
        const ir::Variable& variable = kernel.var(parameter);
        if (!variable.type.has_float_components()) continue;
        EXPECT_TRUE(used.contains(parameter)) << made.name << " " << variable.name;
      }
    }
  }
}

TEST(Generator, VariableNamesAreUnique) {
  for (const KernelFamilyDefinition& family : families()) {
    if (family.make == nullptr) continue;  // the frontend gives its own variables the same names again
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const GeneratedKernel made = generate(family.family, seed);
      std::set<std::string> names;
      for (const ir::Variable& variable : made.module.kernels[0].variables)
        EXPECT_TRUE(names.insert(variable.name).second) << made.name << " " << variable.name;
    }
  }
}

TEST(Generator, EveryIntegerInputHasADomainAnnotation) {
  for (const KernelFamilyDefinition& family : families()) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const GeneratedKernel made = generate(family.family, seed);
      const ir::Function& kernel = made.module.kernels[0];
      const ir::ParameterUses uses = ir::parameter_use(made.module, kernel);
      for (ir::VarId parameter = 0; parameter < kernel.parameter_count; ++parameter) {
        const ir::Variable& variable = kernel.var(parameter);
        const bool is_input = uses[static_cast<std::size_t>(parameter)].read;
        if (!ir::is_integer(variable.type.scalar) || variable.type.is_struct() || !is_input) continue;
        if (variable.name == "image") continue;  // every number stands for a texture
        const std::string range = fmt::format("<= {} <", variable.name);
        const std::string order = fmt::format("{} is a permutation", variable.name);
        EXPECT_TRUE(std::ranges::any_of(
            kernel.annotations,
            [&](const std::string& line) { return line.find(range) != line.npos || line.find(order) != line.npos; }))
            << made.name << " " << variable.name;
      }
    }
  }
}

/// Whether two expressions are the same tree.
bool same_tree(const ir::Function& function, ir::ExprId a, ir::ExprId b) {
  const ir::Expr& x = function.expr(a);
  const ir::Expr& y = function.expr(b);
  return x.kind == y.kind && x.op == y.op && x.bits == y.bits && x.variable == y.variable && x.index == y.index &&
         std::ranges::equal(x.args, y.args, [&](ir::ExprId s, ir::ExprId t) { return same_tree(function, s, t); });
}

// lerp(x, x, t) does not depend on t, but for rounding: its gradient by t is zero and nothing can be tested.
TEST(Generator, AvoidsEqualOperandsIfResultWouldBeConstant) {
  const std::set<Op> constant = {Op::kSub, Op::kDiv, Op::kMod, Op::kFloorDiv, Op::kLerp, Op::kLt, Op::kLe};
  for (const KernelFamilyDefinition& family : families()) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const GeneratedKernel made = generate(family.family, seed);
      const ir::Function& kernel = made.module.kernels[0];
      const auto visit = [&](const ir::Expr& expr) {
        if (expr.kind != ir::ExprKind::kOperation || !constant.contains(expr.op) ||
            !kernel.expr(expr.args[0]).type.has_float_components())
          return;
        EXPECT_FALSE(same_tree(kernel, expr.args[0], expr.args[1])) << made.name << ": " << row(expr.op).mnemonic;
      };
      walk(kernel, kernel.body, visit, [](const ir::Stmt&) {});
    }
  }
}

TEST(Generator, ArithmeticFamilyCoversEveryOperator) {
  const Contents contents = contents_of(Family::kArithmetic);
  EXPECT_THAT(missing(contents.operations,
                      {Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kMod, Op::kFloorDiv, Op::kNeg, Op::kPow, Op::kCast}),
              ::testing::IsEmpty());
  std::set<ir::Scalar> scalars;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const ir::Variable& variable : generate(Family::kArithmetic, seed).module.kernels[0].variables)
      scalars.insert(variable.type.scalar);
  }
  EXPECT_EQ(scalars.size(), 10U) << "eight integer types, f32 and f64";
}

TEST(Generator, MathFamilyCoversMathFunctionsOfWarp) {
  std::vector<Op> wanted;
  for (const ir::OperationEntry& operation : ir::kOperations) {
    const bool is_function = operation.op >= Op::kAbs && operation.op <= Op::kRadians;
    if (is_function && !operation.warp_pattern.empty()) wanted.push_back(operation.op);
  }
  EXPECT_GE(wanted.size(), 35U);
  EXPECT_THAT(missing(contents_of(Family::kMath).operations, wanted), ::testing::IsEmpty());
}

TEST(Generator, ConditionalFamiliesCoverEveryComparisonAndSelection) {
  EXPECT_THAT(missing(contents_of(Family::kConditional).operations,
                      {Op::kLt, Op::kLe, Op::kGt, Op::kGe, Op::kEq, Op::kNe, Op::kAnd, Op::kOr, Op::kNot, Op::kWhere,
                       Op::kConditional, Op::kMin, Op::kMax, Op::kClamp, Op::kAbs}),
              ::testing::IsEmpty());
  EXPECT_THAT(missing(contents_of(Family::kMultiConditional).operations,
                      {Op::kLt, Op::kLe, Op::kAnd, Op::kOr, Op::kConditional, Op::kMod, Op::kEq}),
              ::testing::IsEmpty());
}

TEST(Generator, LoopFamiliesCoverEveryControlFlowStatement) {
  EXPECT_TRUE(contents_of(Family::kLoop).statements.contains(index_of<ir::For>()));
  EXPECT_TRUE(contents_of(Family::kNestedLoop).statements.contains(index_of<ir::For>()));
  const std::set<std::size_t> statements = contents_of(Family::kControlFlow).statements;
  for (const std::size_t wanted : {index_of<ir::While>(), index_of<ir::For>(), index_of<ir::Break>(),
                                   index_of<ir::Continue>(), index_of<ir::Return>(), index_of<ir::If>()})
    EXPECT_TRUE(statements.contains(wanted)) << wanted;
}

TEST(Generator, VectorFamilyCoversEveryVectorOperation) {
  EXPECT_THAT(
      missing(contents_of(Family::kVector).operations,
              {Op::kMake, Op::kSplat, Op::kExtract, Op::kInsert, Op::kDot, Op::kCross, Op::kLength, Op::kLengthSquared,
               Op::kNormalize, Op::kCwMul, Op::kCwDiv, Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kNeg, Op::kWhere}),
      ::testing::IsEmpty());
}

/// The library functions that the kernels of a family call.
std::set<std::string> library_of(Family family) {
  std::set<std::string> called;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const ir::Function& function : generate(family, seed).module.functions)
      called.insert(std::string(ir::library_name(function).value()));
  }
  return called;
}

TEST(Generator, MatrixFamilyCoversEveryMatrixOperation) {
  EXPECT_THAT(missing(contents_of(Family::kMatrix).operations,
                      {Op::kMake, Op::kSplat, Op::kExtract, Op::kInsert, Op::kAdd, Op::kSub, Op::kMul, Op::kDiv,
                       Op::kNeg, Op::kCwMul, Op::kCwDiv, Op::kDoubleDot, Op::kTranspose, Op::kOuter, Op::kInverse}),
              ::testing::IsEmpty());
  EXPECT_THAT(library_of(Family::kMatrix),
              ::testing::IsSupersetOf({"determinant", "trace", "diag", "get_diag", "skew", "lerp", "transform_point",
                                       "transform_vector", "svd2", "qr3"}));
}

TEST(Generator, QuaternionFamilyCoversEveryQuaternionOperation) {
  EXPECT_THAT(missing(contents_of(Family::kQuaternion).operations,
                      {Op::kMake, Op::kExtract, Op::kInsert, Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kNeg, Op::kDot,
                       Op::kLength, Op::kLengthSquared, Op::kQuatInverse}),
              ::testing::IsEmpty());
  EXPECT_THAT(library_of(Family::kQuaternion),
              ::testing::IsSupersetOf({"normalize", "quat_rotate", "quat_rotate_inv", "quat_to_matrix",
                                       "quat_from_matrix", "quat_from_axis_angle", "quat_rpy", "quat_slerp", "lerp",
                                       "quat_from_euler", "quat_to_euler", "quat_to_rpy", "quat_twist",
                                       "quat_twist_angle", "quat_twist_angle_signed"}));
}

TEST(Generator, TransformFamilyCoversTransformAndSpatialVectorOperations) {
  EXPECT_THAT(missing(contents_of(Family::kTransform).operations,
                      {Op::kMake, Op::kExtract, Op::kInsert, Op::kAdd, Op::kSub, Op::kMul, Op::kTranslation,
                       Op::kRotation, Op::kSpatialTop, Op::kSpatialBottom}),
              ::testing::IsEmpty());
  EXPECT_THAT(
      library_of(Family::kTransform),
      ::testing::IsSupersetOf({"transform_multiply", "mul", "transform_inverse", "transform_point", "transform_vector",
                               "transform_to_matrix", "transform_from_matrix", "transform_twist", "transform_wrench",
                               "spatial_dot", "spatial_cross", "spatial_cross_dual", "spatial_adjoint",
                               "velocity_at_point", "transform_compose", "transform_decompose"}));
}

TEST(Generator, IntegerFamilyCountsAndReinterpretsBitsAndCallsNoise) {
  EXPECT_THAT(missing(contents_of(Family::kInteger).operations, {Op::kReinterpret}), ::testing::IsEmpty());
  EXPECT_THAT(library_of(Family::kInteger), ::testing::IsSupersetOf({"bit_count", "noise", "pnoise", "curlnoise"}));
}

TEST(Generator, VectorFamilyCallsNormsAndGeometry) {
  EXPECT_THAT(library_of(Family::kVector),
              ::testing::IsSupersetOf({"norm_l1", "norm_l2", "norm_huber", "norm_pseudo_huber", "smooth_normalize",
                                       "closest_point_edge_edge", "intersect_tri_tri"}));
}

TEST(Generator, AtomicFamilyUsesEveryAtomicOperation) {
  std::set<ir::AtomicOp> found;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const GeneratedKernel made = generate(Family::kAtomic, seed);
    ir::for_each_statement(made.module.kernels[0].body, [&](const ir::Stmt& statement) {
      if (const auto* const atomic = std::get_if<ir::Atomic>(&statement.node)) found.insert(atomic->op);
    });
  }
  EXPECT_EQ(found.size(), static_cast<std::size_t>(ir::AtomicOp::kCompareAndSwap) + 1);
}

TEST(Generator, TileFamilyPlacesOrdersAndConvertsElements) {
  EXPECT_THAT(missing(contents_of(Family::kTile).operations,
                      {Op::kSplat, Op::kCast, Op::kTileView, Op::kTileAssign, Op::kTileArange, Op::kTileScanMax,
                       Op::kTileScanMin, Op::kTileReshape, Op::kTileDiagAdd}),
              ::testing::IsEmpty());
}

TEST(Generator, TileFamilyHasPrefixSumsOfFloat32Only) {
  std::set<ir::Scalar> scanned;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const GeneratedKernel made = generate(Family::kTile, seed);
    const ir::Function& kernel = made.module.kernels[0];
    const auto visit = [&](const ir::Expr& expr) {
      if (expr.kind == ir::ExprKind::kOperation && ir::row(expr.op).rule == ir::TypeRule::kTileScan)
        scanned.insert(expr.type.scalar);
    };
    walk(kernel, kernel.body, visit, [](const ir::Stmt&) {});
  }
  EXPECT_THAT(scanned, ::testing::ElementsAre(ir::Scalar::kF32)) << "Warp has no prefix sums of float64";
}

TEST(Generator, ArrayAccessFamilyHasLocalArrays) {
  bool found = false;
  for (std::uint64_t seed = 0; seed < kSeeds && !found; ++seed) {
    const GeneratedKernel made = generate(Family::kArrayAccess, seed);
    found = std::ranges::any_of(made.module.kernels[0].variables,
                                [](const ir::Variable& variable) { return variable.type.is_local_array(); });
  }
  EXPECT_TRUE(found);
}

TEST(Generator, KernelCanBeRegeneratedFromItsName) {
  const GeneratedKernel made = generate(Family::kNestedLoop, 7);
  EXPECT_EQ(made.name, "nested_loop/r2_7");
  EXPECT_EQ(fingerprint(generate_named("nested/r2_7").value()), fingerprint(made));
  EXPECT_EQ(generate_named("loop/r2_18446744073709551615").value().name, "loop/r2_18446744073709551615");
  EXPECT_THAT(generate_named("loup/r2_7").error().message, HasSubstr("unknown family"));
  EXPECT_THAT(generate_named("loop/r0_7").error().message, HasSubstr("version"));
  for (const char* malformed : {"loop", "loop/", "loop/r2_", "loop/r2_x", "loop/r2_7 ", "loop/r2_18446744073709551616"})
    EXPECT_FALSE(generate_named(malformed).ok()) << malformed;
}

TEST(Generator, FindsFamiliesByNameOrAlias) {
  EXPECT_EQ(find_family("multi_cond"), Family::kMultiConditional);
  EXPECT_EQ(find_family("nested"), Family::kNestedLoop);
  EXPECT_EQ(find_family("conditional"), Family::kConditional);
  EXPECT_EQ(find_family("control_flow"), Family::kControlFlow);
  EXPECT_EQ(find_family(""), std::nullopt);
  EXPECT_EQ(find_family("loops"), std::nullopt);
}

}  // namespace
}  // namespace assay::generators
