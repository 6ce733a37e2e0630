// SSA form: every value is defined once, before its uses; branches and loops pass on all changed values.
#include "ir/transforms/ssa.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "generators/generator.hpp"
#include "ir/text.hpp"
#include "ir/transforms/local_arrays.hpp"
#include "ir/transforms/split_structs.hpp"
#include "ir/transforms/testing/random_program.hpp"
#include "ir/transforms/thread_private.hpp"

namespace assay::transforms::testing {
namespace {

/// Visits a kernel in execution order and tracks the values in scope.
class Checker {
 public:
  Checker(const ir::Function& kernel, const SsaKernel& ssa) : ssa_(ssa), defined_(ssa.values.size()) {
    const int given = kernel.parameter_count + kernel.launch_rank;
    for (ValueId v = 0; v < given; ++v)
      define(v);
    std::vector<bool> scope = scope_of_parameters(given);
    region(ssa.body, scope);
  }

  const std::string& fault() const { return fault_; }

 private:
  std::vector<bool> scope_of_parameters(int given) const {
    std::vector<bool> scope(ssa_.values.size());
    std::fill(scope.begin(), scope.begin() + given, true);
    return scope;
  }
  void define(ValueId value) {
    if (defined_[static_cast<std::size_t>(value)]) fault_ = "defined twice: " + name(value);
    defined_[static_cast<std::size_t>(value)] = true;
  }
  void define(ValueId value, std::vector<bool>& scope) {
    if (value == ir::kNone) return;
    define(value);
    scope[static_cast<std::size_t>(value)] = true;
  }
  void use(const Operand& operand, const std::vector<bool>& scope) {
    if (operand.is_constant()) return;
    if (!scope[static_cast<std::size_t>(operand.value)]) fault_ = "used out of scope: " + name(operand.value);
    if (operand.type != ssa_.values[static_cast<std::size_t>(operand.value)].type)
      fault_ = "type of " + name(operand.value);
  }
  void use(const std::vector<Operand>& operands, const std::vector<bool>& scope) {
    for (const Operand& operand : operands)
      use(operand, scope);
  }
  std::string name(ValueId value) const { return ssa_.values[static_cast<std::size_t>(value)].name; }

  void region(const Region& region, std::vector<bool>& scope) {
    for (const SsaNode& node : region.nodes)
      std::visit([&](const auto& concrete) { visit(concrete, scope); }, node.node);
  }
  void visit(const ComputeNode& compute, std::vector<bool>& scope) {
    use(compute.args, scope);
    define(compute.result, scope);
  }
  void visit(const LoadNode& load, std::vector<bool>& scope) {
    use(load.indices, scope);
    define(load.result, scope);
  }
  void visit(const StoreNode& store, std::vector<bool>& scope) {
    use(store.indices, scope);
    use(store.value, scope);
  }
  void visit(const AtomicNode& atomic, std::vector<bool>& scope) {
    use(atomic.indices, scope);
    use(atomic.value, scope);
    define(atomic.result, scope);
  }
  void visit(const CustomDerivativeNode& custom, std::vector<bool>& scope) {
    for (const Operand& arg : custom.args) {
      if (arg.type.is_value()) use(arg, scope);
    }
    use(custom.primal_values, scope);
    for (const ValueId result : custom.results)
      define(result, scope);
  }
  void visit(const Branch& branch, std::vector<bool>& scope) {
    use(branch.condition, scope);
    std::vector<bool> then_scope = scope;
    std::vector<bool> else_scope = scope;
    region(branch.then_region, then_scope);
    region(branch.else_region, else_scope);
    for (const MergedValue& merge : branch.merges) {
      use(merge.then_value, then_scope);
      use(merge.else_value, else_scope);
      define(merge.result, scope);
    }
  }
  void visit(const Loop& loop, std::vector<bool>& scope) {
    std::vector<bool> inner = scope;
    if (loop.is_range_loop) {
      use({loop.start, loop.stop, loop.step}, scope);
      define(loop.index, inner);
    }
    for (const CarriedValue& carried : loop.carried_values) {
      use(carried.initial_value, scope);
      define(carried.argument, inner);
    }
    region(loop.body, inner);
    for (const CarriedValue& carried : loop.carried_values) {
      use(carried.next_value, inner);
      define(carried.result, scope);
    }
    if (!loop.is_range_loop && loop.carried_values.at(loop.condition).next_value.type != ir::kBool)
      fault_ = "condition is not a bool";
  }

  const SsaKernel& ssa_;
  std::vector<bool> defined_;
  std::string fault_;
};

void expect_sound(const ir::Module& module) {
  const ir::Function& kernel = module.kernels[0];
  auto ssa = to_ssa(module, kernel);
  ASSERT_TRUE(ssa.ok()) << ssa.error().text();
  EXPECT_EQ(Checker(kernel, *ssa).fault(), "") << ir::to_text(module);
  split_structs(module, kernel, *ssa);
  EXPECT_EQ(Checker(kernel, *ssa).fault(), "") << ir::to_text(module);
  lower_private_atomics(kernel, *ssa);
  EXPECT_EQ(Checker(kernel, *ssa).fault(), "") << ir::to_text(module);
}

TEST(Ssa, IsValidForRandomPrograms) {
  for (std::uint64_t seed = 0; seed < 500 && !HasFailure(); ++seed)
    expect_sound(random_program(seed));
}

TEST(Ssa, IsValidForKernelsOfEveryFamily) {
  for (const generators::KernelFamilyDefinition& family : generators::families()) {
    for (std::uint64_t seed = 0; seed < 30 && !HasFailure(); ++seed) {
      ir::Module module = generators::generate(family.family, seed).module;
      module = replace_local_arrays(module).value_or(module);
      module.kernels[0] = replace_local_arrays(module, module.kernels[0]).value_or(module.kernels[0]);
      expect_sound(module);
    }
  }
}

SsaKernel ssa_of(const std::string& text) {
  const auto module = ir::parse_text(text);
  EXPECT_TRUE(module.ok()) << module.error().text();
  auto ssa = to_ssa(*module, module->kernels[0]);
  EXPECT_TRUE(ssa.ok());
  split_structs(*module, module->kernels[0], *ssa);
  EXPECT_EQ(Checker(module->kernels[0], *ssa).fault(), "") << text;
  lower_private_atomics(module->kernels[0], *ssa);
  return ssa.take();
}

template <class N>
int count(const Region& region) {
  int found = 0;
  for (const SsaNode& node : region.nodes) {
    found += std::holds_alternative<N>(node.node) ? 1 : 0;
    if (const auto* branch = std::get_if<Branch>(&node.node)) {
      found += count<N>(branch->then_region) + count<N>(branch->else_region);
    }
    if (const auto* loop = std::get_if<Loop>(&node.node)) found += count<N>(loop->body);
  }
  return found;
}

TEST(Ssa, LoopCarriesOnlyOuterVariablesThatItAssigns) {
  const SsaKernel ssa = ssa_of(R"(kernel k(x: array<f32,1>, n: i32; i) {
  let s: f32 = 0.0
  let kept: f32 = x[i]
  for j: i32 in range(0, n, 1) {
    let inner: f32 = mul(x[j], kept)
    s = add(s, inner)
  }
  x[i] = s
}
)");
  const auto& loop = std::get<Loop>(ssa.body.nodes[1].node);
  ASSERT_EQ(loop.carried_values.size(), 1U);
  EXPECT_EQ(ssa.values[static_cast<std::size_t>(loop.carried_values[0].argument)].name, "s");
}

TEST(Ssa, ShortCircuitedOperandsBecomeBranches) {
  const SsaKernel ssa = ssa_of(R"(kernel k(x: array<f32,1>, n: i32; i) {
  if and(lt(i, n), gt(x[i], 0.0)) {
    x[i] = 1.0
  }
}
)");
  ASSERT_EQ(ssa.body.nodes.size(), 3U);
  const auto& lazy = std::get<Branch>(ssa.body.nodes[1].node);
  EXPECT_EQ(count<LoadNode>(lazy.then_region), 1);
  EXPECT_TRUE(lazy.else_region.nodes.empty());
}

/// A kernel whose functions and structs are declared before it.
SsaKernel ssa_of_struct_kernel(const std::string& parameters, const std::string& statements) {
  return ssa_of(R"(struct Inner {
  gain: f32
  count: i32
}
struct Body {
  mass: f32
  inner: Inner
}

kernel k()" + parameters +
                "; i) {\n" + statements + "}\n");
}
std::string name_of(const SsaKernel& ssa, ValueId value) { return ssa.values[static_cast<std::size_t>(value)].name; }

TEST(SplitStructs, BranchMergesOnlyFieldsThatDiffer) {
  const SsaKernel ssa = ssa_of_struct_kernel("x: array<f32,1>, out: array<f32,1>", R"(  let b: Body
  b = with_field(b, mass, x[i])
  if gt(x[i], 0.0) {
    b = with_field(b, inner, with_field(b.inner, gain, 2.0))
  }
  out[i] = mul(b.mass, b.inner.gain)
)");
  ASSERT_EQ(count<Branch>(ssa.body), 1);
  for (const SsaNode& node : ssa.body.nodes) {
    const auto* const branch = std::get_if<Branch>(&node.node);
    if (branch == nullptr) continue;
    ASSERT_EQ(branch->merges.size(), 1U);
    EXPECT_EQ(name_of(ssa, branch->merges[0].result), "b_inner_gain");
  }
}

TEST(SplitStructs, LoopCarriesOnlyFieldsThatItChanges) {
  const SsaKernel ssa = ssa_of_struct_kernel("x: array<f32,1>, n: i32, out: array<f32,1>", R"(  let b: Body
  b = with_field(b, mass, x[i])
  let more: bool = lt(0, n)
  while more {
    b = with_field(b, inner, with_field(b.inner, count, add(b.inner.count, 1)))
    b = with_field(b, inner, with_field(b.inner, gain, mul(b.inner.gain, b.mass)))
    more = lt(b.inner.count, 7)
  }
  out[i] = b.mass
)");
  ASSERT_EQ(count<Loop>(ssa.body), 1);
  for (const SsaNode& node : ssa.body.nodes) {
    const auto* const loop = std::get_if<Loop>(&node.node);
    if (loop == nullptr) continue;
    // As in the unsplit kernel, the condition is the last carried value.
    EXPECT_EQ(loop->condition, loop->carried_values.size() - 1);
    std::vector<std::string> carried_fields;
    for (const CarriedValue& carried : loop->carried_values) {
      if (carried.initial_value.type != ir::kBool) carried_fields.push_back(name_of(ssa, carried.argument));
    }
    EXPECT_EQ(carried_fields, (std::vector<std::string>{"b_inner_gain", "b_inner_count"}));
  }
}

TEST(SplitStructs, ElementsAreLoadedAndStoredByField) {
  const SsaKernel ssa =
      ssa_of_struct_kernel("bodies: array<Body,1>, out: array<Body,1>",
                           "  let b: Body = bodies[i]\n  b = with_field(b, mass, 1.0)\n  out[i] = b\n");
  std::vector<std::size_t> stored_paths;
  for (const SsaNode& node : ssa.body.nodes) {
    if (const auto* store = std::get_if<StoreNode>(&node.node)) {
      stored_paths.push_back(store->path.size());
      EXPECT_FALSE(store->value.type.is_struct());
    }
    if (const auto* load = std::get_if<LoadNode>(&node.node)) {
      EXPECT_FALSE(load->path.empty());
    }
  }
  EXPECT_EQ(stored_paths, (std::vector<std::size_t>{1, 2, 2}));
  EXPECT_EQ(count<LoadNode>(ssa.body), 3);
}

TEST(SplitStructs, FieldsOfParametersAreSelectedBeforeTheBranchThatMergesThem) {
  const SsaKernel ssa = ssa_of_struct_kernel("given: Body, x: array<f32,1>, out: array<f32,1>", R"(  let b: Body
  if gt(x[i], 0.0) {
    b = given
  }
  out[i] = b.mass
)");
  ASSERT_FALSE(ssa.body.nodes.empty());
  const auto* const first = std::get_if<ComputeNode>(&ssa.body.nodes[0].node);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->kind, ir::ExprKind::kField);
}

TEST(SplitStructs, SelectionBetweenStructsSelectsEachField) {
  const SsaKernel ssa =
      ssa_of_struct_kernel("a: Body, b: Body, x: array<f32,1>, out: array<f32,1>",
                           "  let s: Body = where(gt(x[i], 0.0), a, b)\n  out[i] = mul(s.mass, s.inner.gain)\n");
  int selections = 0;
  for (const SsaNode& node : ssa.body.nodes) {
    const auto* const compute = std::get_if<ComputeNode>(&node.node);
    if (compute == nullptr || compute->kind != ir::ExprKind::kOperation || compute->op != ir::Op::kWhere) continue;
    ++selections;
    EXPECT_TRUE(compute->args[1].type.is_scalar());
  }
  EXPECT_EQ(selections, 3);
}

struct Cell {
  std::string name;
  std::string parameters;
  std::string update;  ///< the atomic
  std::string read;    ///< what the kernel reads
  bool is_private;
};

TEST(ThreadPrivateElements, AreIndexedByAllThreadIndices) {
  const Cell cells[] = {
      {"own", "; i", "a[i, 0]", "a[i, 1]", true},
      {"second index", "; i", "a[3, i]", "a[0, i]", true},
      {"both", "; i, j", "a[j, i]", "a[j, i]", true},
      {"shared", "; i", "a[0, 0]", "a[0, 0]", false},
      {"neighbour read", "; i", "a[i, 0]", "a[add(i, 1), 0]", false},
      {"index at two positions", "; i", "a[i, 0]", "a[0, i]", false},
      {"one of two", "; i, j", "a[i, 0]", "a[i, 0]", false},
      {"swapped", "; i, j", "a[i, j]", "a[j, i]", false},
  };
  for (const Cell& cell : cells) {
    const SsaKernel ssa = ssa_of("kernel k(a: array<f32,2>, x: array<f32,2>" + cell.parameters + ") {\n  atomic_add(" +
                                 cell.update + ", x[0, 0])\n  x[i, 0] = " + cell.read + "\n}\n");
    EXPECT_EQ(count<AtomicNode>(ssa.body), cell.is_private ? 0 : 1) << cell.name;
    EXPECT_EQ(count<StoreNode>(ssa.body), cell.is_private ? 2 : 1) << cell.name;
  }
}

TEST(ThreadPrivateElements, UpdatesStayAtomicIfElementIsNeverRead) {
  const SsaKernel ssa = ssa_of("kernel k(a: array<f32,1>, x: array<f32,1>; i) {\n  atomic_sub(a[i], x[i])\n}\n");
  EXPECT_EQ(count<AtomicNode>(ssa.body), 1);
}

}  // namespace
}  // namespace assay::transforms::testing
