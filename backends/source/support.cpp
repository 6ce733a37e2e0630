#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "backends/source/print_parts.hpp"
#include "backends/source/unit.hpp"
#include "ir/source_location.hpp"
#include "ir/visit.hpp"

namespace assay::source {
namespace {

using backends::SourceTarget;

class Check {
 public:
  Check(const ir::Module& module, SourceTarget target) : module_(module), target_(target) {}

  Result<void> function(const ir::Function& function) {
    for (const ir::Expr& expr : function.expressions)
      if (expr.kind == ir::ExprKind::kCall) called(expr.index);
    ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
      if (const auto* call = std::get_if<ir::Call>(&statement.node)) called(call->function);
      if (const auto* atomic = std::get_if<ir::Atomic>(&statement.node)) update(function, *atomic, statement.loc);
    });
    return result_;
  }

 private:
  void reject(std::string message, ir::Loc loc) {
    if (!result_.ok()) return;
    std::string where = loc.line > 0 ? ir::location_text(module_, loc) : "";
    result_ = Error{std::move(message), std::move(where)};
  }

  void called(std::int32_t index) { (void)function(module_.functions[static_cast<std::size_t>(index)]); }

  void update(const ir::Function& function, const ir::Atomic& atomic, ir::Loc loc) {
    const ir::Type type = function.expr(atomic.value).type.tile_element_type();
    const bool by_component = atomic.op == ir::AtomicOp::kAdd || atomic.op == ir::AtomicOp::kSub ||
                              atomic.op == ir::AtomicOp::kMin || atomic.op == ir::AtomicOp::kMax ||
                              atomic.op == ir::AtomicOp::kCompareAndSwap;
    const bool adds = atomic.op == ir::AtomicOp::kAdd || atomic.op == ir::AtomicOp::kSub;
    if (!type.is_scalar() && !(type.is_aggregate() && by_component)) {
      reject(fmt::format("{} is supported only on scalars{}", ir::row(atomic.op).warp_name,
                         by_component ? ", vectors and matrices" : ""),
             loc);
    } else if (is_half(type.scalar) && !adds) {
      reject(fmt::format("{} on {} is not supported: half-precision types support only atomic add and subtract",
                         ir::row(atomic.op).warp_name, ir::row(type.scalar).warp_name),
             loc);
    } else if (target_ == SourceTarget::kCuda && ir::row(type.scalar).bytes < 4 && !is_half(type.scalar)) {
      reject(fmt::format("{} on {} is not supported: CUDA atomics need 32 or 64 bits", ir::row(atomic.op).warp_name,
                         ir::row(type.scalar).warp_name),
             loc);
    }
  }

  const ir::Module& module_;
  SourceTarget target_;
  Result<void> result_;
};

}  // namespace

Result<void> check_supported(const ir::Module& module, const ir::Function& function, SourceTarget target) {
  return Check(module, target).function(function);
}

}  // namespace assay::source
