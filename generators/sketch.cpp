#include "generators/sketch.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "ir/library.hpp"

namespace assay::generators {
namespace {

ir::Module module_with_kernel(std::string name) {
  ir::Module module;
  module.kernels.push_back({.name = std::move(name), .is_kernel = true});
  return module;
}

std::string bound(ir::Type type, double value) {
  if (ir::is_integer(type.scalar)) return fmt::format("{}", static_cast<std::int64_t>(value));
  return fmt::format("{}", value);
}

}  // namespace

KernelSketch::KernelSketch(std::string kernel_name, Rng rng)
    : module_(module_with_kernel(std::move(kernel_name))), builder_(module_, module_.kernels[0]), rng_(rng) {}

std::string KernelSketch::unique_name(std::string_view name) {
  std::string candidate(name);
  for (int number = 2; !used_names_.insert(candidate).second; ++number)
    candidate = fmt::format("{}{}", name, number);
  return candidate;
}

void KernelSketch::remember(ir::VarId variable, Interval range) {
  value_ranges_by_variable_.resize(static_cast<std::size_t>(variable) + 1);
  value_ranges_by_variable_[static_cast<std::size_t>(variable)] = range;
}

ir::Type KernelSketch::add_struct(ir::StructDef definition) {
  module_.structs.push_back(std::move(definition));
  return ir::struct_type(static_cast<int>(module_.structs.size()) - 1);
}

ir::VarId KernelSketch::parameter(std::string_view name, ir::Type type, Interval domain) {
  const ir::VarId variable = builder_.parameter(unique_name(name), type);
  remember(variable, domain);
  return variable;
}

ir::VarId KernelSketch::array(std::string_view name, ir::Type element, int rank, Interval domain) {
  return scalar(name, element.array_of(rank), domain);
}

ir::VarId KernelSketch::scalar(std::string_view name, ir::Type type, Interval domain) {
  const ir::VarId variable = parameter(name, type, domain);
  const bool usual =
      ir::is_float(type.scalar) && domain.low == kDefaultInputDomain.low && domain.high == kDefaultInputDomain.high;
  if (!usual && type.shape != ir::Shape::kStruct && type.scalar != ir::Scalar::kBool) {
    comment(fmt::format("domain: {} <= {} <= {}", bound(type, domain.low), kernel().var(variable).name,
                        bound(type, domain.high)));
  }
  return variable;
}

ir::VarId KernelSketch::permutation(std::string_view name) {
  const ir::VarId variable = parameter(name, ir::kI32.array_of(1), {0, 1 << 20});
  comment(fmt::format("domain: {} is a permutation", kernel().var(variable).name));
  return variable;
}

void KernelSketch::start() {
  for (int d = 0; d < launch_rank_; ++d)
    remember(builder_.thread_index(unique_name(d == 0 ? "i" : "j")), {0, 1 << 20});
}

ir::ExprId KernelSketch::thread_index(int dimension) { return b().var(kernel().parameter_count + dimension); }

std::vector<ir::ExprId> KernelSketch::thread_indices() {
  std::vector<ir::ExprId> indices;
  for (int d = 0; d < launch_rank_; ++d)
    indices.push_back(thread_index(d));
  return indices;
}

void KernelSketch::offer_variable(ir::VarId variable) {
  offer({.type = kernel().var(variable).type,
         .range = value_ranges_by_variable_[static_cast<std::size_t>(variable)],
         .make = [this, variable] { return b().var(variable); },
         .variable = variable});
}

void KernelSketch::offer_element(ir::VarId array, std::function<std::vector<ir::ExprId>()> indices) {
  offer({.type = kernel().var(array).type.element(),
         .range = domain(array),
         .make = [this, array, indices = std::move(indices)] { return b().load(array, indices()); }});
}

void KernelSketch::offer_elements(std::initializer_list<ir::VarId> arrays) {
  for (const ir::VarId array : arrays) {
    const int rank = kernel().var(array).type.rank;
    offer_element(array, [this, rank] {
      return rank == launch_rank_ ? thread_indices() : std::vector<ir::ExprId>{thread_index()};
    });
  }
}

std::optional<RangedExpression> KernelSketch::leaf(ir::Type type, From from) {
  std::vector<std::size_t> all;
  std::vector<std::size_t> unused;
  all.reserve(available_operands_.size());
  unused.reserve(available_operands_.size());
  for (std::size_t i = 0; i < available_operands_.size(); ++i) {
    const bool is_input =
        available_operands_[i].variable < kernel().parameter_count && !available_operands_[i].is_discrete;
    if (available_operands_[i].type != type || (from == From::kInputs && !is_input)) continue;
    all.push_back(i);
    if (available_operands_[i].use_count == 0) unused.push_back(i);
  }
  if (all.empty()) return std::nullopt;
  AvailableOperand& chosen = available_operands_[rng_.choose(!unused.empty() && rng_.bernoulli(0.75) ? unused : all)];
  ++chosen.use_count;
  const Interval range = chosen.variable == ir::kNone ? chosen.range : domain(chosen.variable);
  return RangedExpression{chosen.make(), range};
}

ir::ExprId KernelSketch::warp(std::string_view name, const std::vector<ir::ExprId>& operands) {
  std::vector<ir::Type> types;
  for (const ir::ExprId operand : operands)
    types.push_back(b().type_of(operand));
  return b().call(ir::library_function(module_, name, types).value(), operands);
}

std::vector<ir::VarId> KernelSketch::warp_results(std::string_view name, const std::vector<ir::ExprId>& operands,
                                                  const std::vector<std::string>& names) {
  std::vector<ir::Type> types;
  for (const ir::ExprId operand : operands)
    types.push_back(b().type_of(operand));
  std::vector<std::string> unique;
  for (const std::string& wanted : names)
    unique.push_back(unique_name(wanted));
  return b().call_statement(ir::library_function(module_, name, types).value(), operands, unique);
}

ir::VarId KernelSketch::let(std::string_view name, RangedExpression value) {
  const ir::VarId variable = b().let(unique_name(name), value.expr);
  remember(variable, value.range);
  initial_values_.resize(static_cast<std::size_t>(variable) + 1, ir::kNone);
  initial_values_[static_cast<std::size_t>(variable)] = value.expr;
  offer_variable(variable);
  return variable;
}

ir::ExprId KernelSketch::initial_value(ir::VarId variable) const {
  const auto number = static_cast<std::size_t>(variable);
  return number < initial_values_.size() ? initial_values_[number] : ir::kNone;
}

void KernelSketch::assign(ir::VarId variable, RangedExpression value) {
  const Interval before = value_ranges_by_variable_[static_cast<std::size_t>(variable)];
  set_range(variable, nesting_depth_ > 0 ? hull(before, value.range) : value.range);
  b().assign(variable, value.expr);
}

void KernelSketch::set_range(ir::VarId variable, Interval range) {
  value_ranges_by_variable_[static_cast<std::size_t>(variable)] = range;
}

void KernelSketch::add_for_loop(std::string_view name, ir::ExprId start, ir::ExprId stop, ir::ExprId step,
                                Interval range, const std::function<void(ir::VarId)>& body) {
  b().for_(unique_name(name), start, stop, step, [&](ir::VarId variable) {
    remember(variable, range);
    inside([&] { body(variable); })();
  });
}

void KernelSketch::if_(RangedExpression condition, std::function<void()> then_body, std::function<void()> else_body) {
  b().if_(condition.expr, inside(std::move(then_body)),
          else_body ? inside(std::move(else_body)) : std::function<void()>());
}

std::function<void()> KernelSketch::inside(std::function<void()> body) {
  return [this, body = std::move(body)] {
    const std::size_t known = available_operands_.size();
    ++nesting_depth_;
    body();
    --nesting_depth_;
    available_operands_.erase(available_operands_.begin() + static_cast<std::ptrdiff_t>(known),
                              available_operands_.end());
  };
}

}  // namespace assay::generators
