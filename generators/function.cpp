// Functions: with one result and with two, called several times and by one another, with branches and loops inside, of
// scalars and of arrays; some with a custom gradient.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "generators/carried_state.hpp"
#include "generators/families.hpp"
#include "generators/ingredients.hpp"
#include "ir/custom.hpp"

namespace assay::generators {
namespace {

using ir::Op;

const std::vector<Op> kMenu = {Op::kAdd, Op::kSub, Op::kMul, Op::kMul, Op::kSin, Op::kTanh, Op::kDiv, Op::kConditional};
constexpr Interval kResult{-2, 2};

/// A function of the module: its arguments and results are in kResult.
struct HelperFunction {
  std::int32_t index = 0;
  int scalars = 0;         ///< float parameters, first
  bool has_array = false;  ///< then an array and an index into it
  std::size_t results = 1;
};

/// Calls of earlier functions with the parameters as arguments, as leaves that expressions may use.
void offer_calls(ExpressionGenerator& generator, const std::vector<HelperFunction>& functions,
                 const std::vector<ir::VarId>& parameters, ir::VarId array, ir::VarId index) {
  KernelSketch& sketch = generator.sketch();
  for (const HelperFunction& made : functions) {
    if (made.results != 1 || (made.has_array && array == ir::kNone)) continue;
    sketch.offer(
        {.type = generator.real(),
         .range = kResult,
         .make =
             [&sketch, made, parameters, array, index] {
               std::vector<ir::ExprId> args;
               // Different arguments: equal ones cancel too much, as in the derivative of (a - b) * b.
               const auto first = sketch.rng().uniform_int<std::size_t>(0, parameters.size() - 1);
               for (std::size_t k = 0; k < static_cast<std::size_t>(made.scalars); ++k) {
                 const ir::ExprId plain = sketch.b().var(parameters[(first + k) % parameters.size()]);
                 const double scale = k < parameters.size() ? 1 : (k < 2 * parameters.size() ? 0.75 : 0.4);
                 const ir::Type type = sketch.b().type_of(plain);
                 args.push_back(scale == 1 ? plain : sketch.b().op(Op::kMul, {plain, sketch.b().literal(type, scale)}));
               }
               if (made.has_array) {
                 args.push_back(sketch.b().var(array));
                 args.push_back(sketch.b().var(index));
               }
               return sketch.b().call(made.index, std::move(args));
             },
         .use_count = 1,
         .is_discrete = true});
  }
}

/// A custom gradient that differs from the true derivative in each parameter, and that one path may omit.
void add_gradient(KernelSketch& outer, const HelperFunction& made, ir::Type real) {
  const ir::Module& module = outer.b().module();
  const ir::Function& of = module.functions[static_cast<std::size_t>(made.index)];
  const std::string name = of.name + "_gradient";
  KernelSketch sketch(name, outer.rng().split(name));
  sketch.copy_functions_of(outer);
  ir::Function& gradient = sketch.b().function();
  gradient.is_kernel = false;
  std::vector<ir::VarId> parameters;
  for (ir::VarId p = 0; p < of.parameter_count; ++p)
    parameters.push_back(sketch.scalar(of.var(p).name, real, kResult));
  const ir::VarId adjoint = sketch.scalar("adj_ret", real, kResult);
  gradient.annotations.clear();
  gradient.results.assign(parameters.size(), real);
  for (const ir::VarId parameter : parameters) {
    const auto make = [&sketch, parameter] { return sketch.b().var(parameter); };
    sketch.offer({.type = real, .range = kResult, .make = make, .variable = parameter, .is_discrete = true});
  }
  ir::Builder& b = sketch.b();
  std::vector<ir::VarId> sums;
  for (const ir::VarId parameter : parameters)
    sums.push_back(b.let_zero("adj_" + gradient.var(parameter).name, real));
  ExpressionGenerator generator(sketch, real, kMenu);
  const auto leave = [&] {
    std::vector<ir::ExprId> values;
    for (const ir::VarId sum : sums)
      values.push_back(b.var(sum));
    b.return_(std::move(values));
  };
  const auto add = [&](ir::VarId sum) {
    const ir::ExprId partial = generator.fit(generator.grow(2), kResult).expr;
    b.assign(sum, b.op(Op::kAdd, {b.var(sum), b.op(Op::kMul, {partial, b.var(adjoint)})}));
  };
  for (const ir::VarId sum : sums)
    add(sum);
  if (sketch.rng().bernoulli(0.5)) {
    sketch.if_(generator.condition(1), leave);
    add(sums.front());
  }
  leave();
  ir::Module written = sketch.take();
  outer.add_gradient(made.index, std::move(written.kernels[0]));
  ir::Function& kernel = outer.b().function();
  if (!ir::trusts_custom_gradients(kernel)) kernel.annotations.emplace_back(ir::kTrustCustomGradientsAnnotation);
}

/// A function as a separate sketch, whose results are built by `body`.
HelperFunction add_function(KernelSketch& outer, ir::Type real, const std::vector<HelperFunction>& earlier) {
  Rng& rng = outer.rng();
  const std::string name =
      fmt::format("{}{}", rng.choose({"shape", "blend", "force", "gain", "curve"}), earlier.size());
  KernelSketch sketch(name, rng.split(name));
  ir::Function& function = sketch.b().function();
  sketch.copy_functions_of(outer);
  function.is_kernel = false;
  HelperFunction made{.index = static_cast<std::int32_t>(outer.b().module().functions.size())};
  made.scalars = rng.uniform_int(1, 3);
  made.has_array = rng.bernoulli(0.25);
  made.results = rng.bernoulli(0.3) ? 2 : 1;
  const auto parameters = add_scalar_parameters(sketch, real, made.scalars, made.scalars);
  const ir::VarId array = made.has_array ? sketch.array("values", real, 1) : ir::kNone;
  const ir::VarId index = made.has_array ? sketch.scalar("k", ir::kI32, {0, 16}) : ir::kNone;
  function.annotations.clear();
  function.results.assign(made.results, real);
  // Two arguments may be equal, so conditions must not compare them as inputs.
  for (const ir::VarId parameter : parameters) {
    const auto make = [&sketch, parameter] { return sketch.b().var(parameter); };
    sketch.offer({.type = real, .range = kResult, .make = make, .variable = parameter, .is_discrete = true});
  }
  ir::Builder& b = sketch.b();
  if (made.has_array) sketch.offer_element(array, [&b, index] { return std::vector<ir::ExprId>{b.var(index)}; });

  ExpressionGenerator generator(sketch, real, kMenu);
  offer_calls(generator, earlier, parameters, array, index);
  const auto result = [&](int depth) { return generator.fit(generator.grow(depth), kResult).expr; };
  const auto leave = [&] {
    std::vector<ir::ExprId> values;
    for (std::size_t r = 0; r < made.results; ++r)
      values.push_back(result(2));
    b.return_(std::move(values));
  };
  const int shape = rng.uniform_int(0, 3);
  if (shape == 0) sketch.if_(generator.condition(1), leave);
  if (shape == 1) {
    const LoopCarriedVariable state = start_state(generator, 4);
    sketch.add_for_loop("j", b.i32(0), b.i32(4), b.i32(1), {0, 3},
                        [&](ir::VarId) { update_state(generator, state, false); });
  }
  if (shape == 2) add_temporaries(generator, 2, 2);
  std::vector<ir::ExprId> values{generator.fit(generator.add_unused_leaves(generator.grow(2)), kResult).expr};
  if (made.results == 2) values.push_back(result(2));
  b.return_(std::move(values));
  ir::Module module = sketch.take();
  outer.add_function(std::move(module.kernels[0]));
  const bool has_own = made.results == 1 && !made.has_array && outer.rng().split(name + "_own").bernoulli(0.3);
  if (has_own) add_gradient(outer, made, real);
  return made;
}

}  // namespace

void make_function(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng);
  std::vector<HelperFunction> functions;
  for (int left = rng.uniform_int(1, 4); left > 0; --left)
    functions.push_back(add_function(sketch, real, functions));
  const auto inputs = add_inputs(sketch, real, 1, 1, 3);
  const auto scalars = add_scalar_parameters(sketch, real, 0, 1);
  const auto outputs = add_outputs(sketch, real, 1, 2);
  sketch.start();
  offer_arrays(sketch, inputs);
  offer_variables(sketch, scalars);

  ExpressionGenerator generator(sketch, real, kMenu);
  ir::Builder& b = sketch.b();
  const auto arguments = [&](const HelperFunction& made) {
    std::vector<ir::ExprId> args;
    for (int k = 0; k < made.scalars; ++k)
      args.push_back(generator.grow_in(kResult, 1).expr);
    if (made.has_array) {
      args.push_back(b.var(inputs[0]));
      args.push_back(sketch.thread_index());
    }
    return args;
  };
  // Call each function once or twice, so that none is unused; then the outputs use the results.
  for (const HelperFunction& made : functions) {
    for (int left = rng.uniform_int(1, 2); left > 0; --left) {
      std::vector<ir::ExprId> args = arguments(made);
      if (made.results == 1) {
        sketch.let("r", {b.call(made.index, std::move(args)), kResult});
        continue;
      }
      const std::vector<std::string> names{sketch.unique_name("p"), sketch.unique_name("q")};
      for (const ir::VarId result : b.call_statement(made.index, std::move(args), names)) {
        sketch.set_new_range(result, kResult);
        sketch.offer_variable(result);
      }
    }
  }
  store_outputs(generator, outputs, 2);
}

}  // namespace assay::generators
