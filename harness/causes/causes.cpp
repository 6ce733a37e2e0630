#include "harness/causes/causes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "ir/analysis.hpp"
#include "ir/library.hpp"
#include "ir/visit.hpp"

namespace assay::warp {
namespace {

using namespace ir;

/// Warp unrolls loops over constant ranges up to this many trips.
constexpr std::int64_t kUnrolled = 16;

constexpr std::array kRows = {
    // Warp replays a `while` loop forward and then computes the adjoint of every iteration from the state after the
    // replay, so it uses values of the wrong iteration.
    GradientErrorCauseEntry{GradientErrorCause::kWhile, "While loops"},
    // Warp's reverse pass visits every iteration, including those that the forward pass skipped or never reached.
    GradientErrorCauseEntry{GradientErrorCause::kJumpInLoop, "`break`, `continue` and `return` in a loop"},
    // Warp's reverse pass reads the array as the launch left it, not as the forward pass read it.
    GradientErrorCauseEntry{GradientErrorCause::kReusedArray, "Arrays that the kernel reads and overwrites",
                            "Array Overwrite Tracking; In-Place Math Operations"},
    // Warp replays inner loops from the state after the launch, so it loses the accumulators of inner loops.
    GradientErrorCauseEntry{GradientErrorCause::kNestedLoop, "Dynamic loops inside loops", "Dynamic Loops"},
    // Warp does not replay dynamic loops before the reverse pass, so derivatives use values of loop-carried variables
    // from before the loop or from the wrong iteration.
    GradientErrorCauseEntry{GradientErrorCause::kLoop, "Dynamic loops with loop-carried variables", "Dynamic Loops"},
    // Warp unrolls constant loops of at most 16 trips; it treats longer loops as dynamic.
    GradientErrorCauseEntry{GradientErrorCause::kLongStaticLoop,
                            "Loops with a constant count of more than 16 iterations", "Dynamic Loops"},
    // Warp gives the cotangent to the previous value of the array even if a thread replaced that value, and in a tie it
    // gives the whole cotangent to every tied thread. Only one winning thread must receive it.
    GradientErrorCauseEntry{GradientErrorCause::kAtomicExtreme, "`wp.atomic_min` and `wp.atomic_max`"},
    // Warp gives the second operand no gradient; the correct derivative is -trunc(a / b). Vectors get no gradient.
    GradientErrorCauseEntry{GradientErrorCause::kFloatModulo, "`%` on floats"},
    // Warp gives no gradient; between the jumps the derivative is 1.
    GradientErrorCauseEntry{GradientErrorCause::kFrac, "`wp.frac`"},
    // Warp gives `lacunarity` and `gain` no gradient.
    GradientErrorCauseEntry{GradientErrorCause::kCurlNoise, "`wp.curlnoise`"},
    // Warp gives no gradient to the tile.
    GradientErrorCauseEntry{
        GradientErrorCause::kTileFunction,
        "`wp.tile_min`, `wp.tile_max`, `wp.tile_full`, `wp.tile_diag_add` and the functions `wp.tile_scan_...`"},
    // The adjoint doubles the elements of the tile, which the adjoints of earlier operations then read.
    GradientErrorCauseEntry{GradientErrorCause::kTileTranspose, "`wp.tile_transpose` of a tile with other uses"},
    // On a GPU, each thread of the block gives the tile the adjoint of the element, which may be the same for all.
    GradientErrorCauseEntry{GradientErrorCause::kScalarOfTile, "Elements of tiles that all threads of a block use"},
    // Warp drops or doubles adjoints if components of one vector or fields of one struct are assigned repeatedly, or
    // assigned and then read.
    GradientErrorCauseEntry{GradientErrorCause::kComponentAssignment,
                            "Vector components or struct fields assigned one by one",
                            "Vector, Matrix, and Quaternion Component Assignment"},
    // Warp multiplies the zero adjoint of the branch not taken by its infinite derivative, which gives NaN.
    GradientErrorCauseEntry{GradientErrorCause::kWhereOverflow, "`wp.where` around a function that overflows"},
    // Warp also differentiates with respect to the exponent. This needs the logarithm of the base, which may not exist.
    GradientErrorCauseEntry{GradientErrorCause::kPow, "`wp.pow` and `**`"},
    // The derivative does not exist at zero; Assay defines the gradient of normalize as 0 there.
    GradientErrorCauseEntry{GradientErrorCause::kNormalize, "`wp.normalize` and `wp.length`"},
    // The derivative does not exist, and Warp and Assay use different conventions; see docs/design/numerics.md.
    GradientErrorCauseEntry{
        GradientErrorCause::kNonDifferentiablePoint,
        "Ties, non-differentiable points and poles of `abs`, `min`, `max`, `acos` and similar functions"},
    GradientErrorCauseEntry{GradientErrorCause::kOther, "Other"},
};
static_assert(kRows.size() == static_cast<std::size_t>(GradientErrorCause::kOther) + 1);

class Detector {
 public:
  explicit Detector(const Module& module) : module_(module) {}

  void scan(const Function& function) {
    const ParameterUses uses = parameter_use(module_, function);
    if (function.is_kernel && std::ranges::any_of(uses, [](const auto& use) { return use.read && use.changed(); })) {
      found_.insert(GradientErrorCause::kReusedArray);
    }
    has_replaced_tiles_ = has_replaced_tiles_ || std::ranges::any_of(function.variables, &Variable::replaces_tile);
    scan(function, function.body, 0);
  }

  bool has_replaced_tiles() const { return has_replaced_tiles_; }
  GradientErrorCause first() const { return found_.empty() ? GradientErrorCause::kOther : *found_.begin(); }

 private:
  void scan(const Function& function, const Block& block, int loops) {
    for (const Stmt& statement : block.statements) {
      for_each_root_expression(statement, [&](ExprId root) {
        for_each_expression(function, root, [&](ExprId, const Expr& expr) { note(function, expr); });
      });
      int inside = loops;
      std::visit(Overloaded{
                     [&](const While&) { found_.insert(GradientErrorCause::kWhile), ++inside; },
                     [&](const For& loop) { note_loop(function, loop, loops), ++inside; },
                     [&](const Break&) { found_.insert(GradientErrorCause::kJumpInLoop); },
                     [&](const Continue&) { found_.insert(GradientErrorCause::kJumpInLoop); },
                     [&](const Return&) {
                       if (loops > 0) found_.insert(GradientErrorCause::kJumpInLoop);
                     },
                     [&](const Call& call) { scan_callee(call.function); },
                     [&](const Atomic& atomic) { note_atomic(function, atomic); },
                     [](const auto&) {},
                 },
                 statement.node);
      for_each_child_block(statement, [&](const Block& inner) { scan(function, inner, inside); });
    }
  }

  void note_atomic(const Function& function, const Atomic& atomic) {
    const bool selects = atomic.op == AtomicOp::kMin || atomic.op == AtomicOp::kMax;
    if (selects && function.expr(atomic.value).type.has_float_components())
      found_.insert(GradientErrorCause::kAtomicExtreme);
  }

  /// Warp's own code for a library function has other statements than ours.
  void scan_callee(std::int32_t index) {
    const Function& function = module_.functions[static_cast<std::size_t>(index)];
    if (!called_.insert(index).second) return;
    const auto name = library_name(function);
    if (!name) scan(function);
    if (name == "curlnoise") found_.insert(GradientErrorCause::kCurlNoise);
  }

  /// A dynamic loop inside any other loop counts as nested.
  void note_loop(const Function& function, const For& loop, int loops) {
    const auto start = constant(function, loop.start), stop = constant(function, loop.stop),
               step = constant(function, loop.step);
    if (!start || !stop || !step || *step == 0) {
      found_.insert(loops > 0 ? GradientErrorCause::kNestedLoop : GradientErrorCause::kLoop);
    } else if ((*stop - *start) / *step > kUnrolled) {
      found_.insert(GradientErrorCause::kLongStaticLoop);
    }
  }

  static std::optional<std::int64_t> constant(const Function& function, ExprId id) {
    const Expr& expr = function.expr(id);
    if (expr.kind == ExprKind::kLiteral) return static_cast<std::int64_t>(expr.bits);
    if (expr.kind == ExprKind::kOperation && expr.op == Op::kNeg) {
      const auto negated = constant(function, expr.args[0]);
      return negated ? std::optional(-*negated) : std::nullopt;
    }
    return std::nullopt;
  }

  void note(const Function& function, const Expr& expr) {
    if (expr.kind == ExprKind::kCall) scan_callee(expr.index);
    if (expr.kind != ExprKind::kOperation) return;
    const bool real = expr.type.has_float_components();
    switch (expr.op) {
      case Op::kMod:
      case Op::kFloorDiv:
        if (real) found_.insert(GradientErrorCause::kFloatModulo);
        break;
      case Op::kFrac: found_.insert(GradientErrorCause::kFrac); break;
      case Op::kTileMin:
      case Op::kTileMax:
      case Op::kTileScan:
      case Op::kTileScanExclusive:
      case Op::kTileScanMax:
      case Op::kTileScanMin:
      case Op::kTileDiagAdd:
        if (real) found_.insert(GradientErrorCause::kTileFunction);
        break;
      case Op::kSplat:
        if (real && expr.type.is_tile() && function.expr(expr.args[0]).kind != ExprKind::kLiteral)
          found_.insert(GradientErrorCause::kTileFunction);
        break;
      case Op::kTileTranspose:
        if (real) found_.insert(GradientErrorCause::kTileTranspose);
        break;
      case Op::kTileExtract:
        if (real) found_.insert(GradientErrorCause::kScalarOfTile);
        break;
      case Op::kWhere: found_.insert(GradientErrorCause::kWhereOverflow); break;
      case Op::kPow: found_.insert(GradientErrorCause::kPow); break;
      case Op::kNormalize:
      case Op::kLength: found_.insert(GradientErrorCause::kNormalize); break;
      case Op::kInsert: found_.insert(GradientErrorCause::kComponentAssignment); break;
      case Op::kAbs:
      case Op::kMin:
      case Op::kMax:
      case Op::kClamp:
      case Op::kSqrt:
      case Op::kAsin:
      case Op::kAcos:
      case Op::kSmoothstep:
        if (real) found_.insert(GradientErrorCause::kNonDifferentiablePoint);
        break;
      default: break;
    }
  }

  const Module& module_;
  std::set<GradientErrorCause> found_;
  std::set<std::int32_t> called_;
  bool has_replaced_tiles_ = false;
};

}  // namespace

std::span<const GradientErrorCauseEntry> causes() { return kRows; }

const GradientErrorCauseEntry& row_of(GradientErrorCause cause) { return kRows[static_cast<std::size_t>(cause)]; }

GradientErrorCause cause_of(const Module& module, const Function& kernel) {
  Detector detector(module);
  detector.scan(kernel);
  return detector.first();
}

bool has_replaced_tiles(const Module& module, const Function& kernel) {
  Detector detector(module);
  detector.scan(kernel);
  return detector.has_replaced_tiles();
}

}  // namespace assay::warp
