#include <algorithm>
#include <utility>

#include "ir/analysis.hpp"
#include "ir/transforms/thread_private.hpp"

namespace assay::transforms {
namespace {

using namespace ir;

/// Facts about the accesses to one array.
struct CellAccesses {
  bool any = false;
  bool read = false;
  bool is_accessed_by_gradient = false;  ///< whether a custom gradient adds to its adjoint
  /// By index position and launch dimension: whether every access so far has that thread index at that position.
  std::vector<std::vector<bool>> fixed;
};

class Lowering {
 public:
  Lowering(const Function& kernel, SsaKernel& ssa)
      : kernel_(kernel), ssa_(ssa), accesses_(static_cast<std::size_t>(kernel.parameter_count)) {}

  void run() {
    inspect(ssa_.body);
    rewrite(ssa_.body);
  }

 private:
  CellAccesses& of(VarId array) { return accesses_[static_cast<std::size_t>(array)]; }

  void access(VarId array, const std::vector<Operand>& indices, bool reads) {
    CellAccesses& known = of(array);
    const auto dimensions = static_cast<std::size_t>(kernel_.launch_rank);
    if (!known.any) known.fixed.assign(indices.size(), std::vector<bool>(dimensions, true));
    known.any = true;
    known.read |= reads;
    for (std::size_t position = 0; position < indices.size(); ++position) {
      for (std::size_t d = 0; d < dimensions; ++d) {
        const ValueId thread_index = kernel_.parameter_count + static_cast<ValueId>(d);
        if (indices[position].value != thread_index) known.fixed[position][d] = false;
      }
    }
  }

  void inspect(const Region& region) {
    for (const SsaNode& node : region.nodes) {
      if (const auto* load = std::get_if<LoadNode>(&node.node)) access(load->array, load->indices, true);
      if (const auto* store = std::get_if<StoreNode>(&node.node)) access(store->array, store->indices, false);
      if (const auto* atomic = std::get_if<AtomicNode>(&node.node)) {
        access(atomic->array, atomic->indices, false);
      }
      // A custom gradient may add to the adjoint of any element.
      if (const auto* custom = std::get_if<CustomDerivativeNode>(&node.node)) {
        for (const VarId array : custom->adjoint_arrays)
          of(custom->args[static_cast<std::size_t>(array)].value).is_accessed_by_gradient = true;
      }
      if (const auto* branch = std::get_if<Branch>(&node.node)) {
        inspect(branch->then_region);
        inspect(branch->else_region);
      }
      if (const auto* loop = std::get_if<Loop>(&node.node)) inspect(loop->body);
    }
  }

  bool is_private(const CellAccesses& known) const {
    if (known.is_accessed_by_gradient) return false;
    for (std::size_t d = 0; d < static_cast<std::size_t>(kernel_.launch_rank); ++d) {
      const bool somewhere =
          std::any_of(known.fixed.begin(), known.fixed.end(), [&](const auto& position) { return position[d]; });
      if (!somewhere) return false;
    }
    return true;
  }

  void rewrite(Region& region) {
    std::vector<SsaNode> nodes;
    for (SsaNode& node : region.nodes) {
      if (auto* branch = std::get_if<Branch>(&node.node)) {
        rewrite(branch->then_region);
        rewrite(branch->else_region);
      }
      if (auto* loop = std::get_if<Loop>(&node.node)) rewrite(loop->body);
      const auto* atomic = std::get_if<AtomicNode>(&node.node);
      const bool sums = atomic != nullptr && (atomic->op == AtomicOp::kAdd || atomic->op == AtomicOp::kSub);
      if (sums && of(atomic->array).read && is_private(of(atomic->array))) {
        expand(*atomic, node.loc, nodes);
      } else {
        nodes.push_back(std::move(node));
      }
    }
    region.nodes = std::move(nodes);
  }

  ValueId new_value(const AtomicNode& atomic, const std::string& name, Loc loc) {
    ssa_.values.push_back({.name = name, .type = atomic.value.type, .loc = loc});
    return static_cast<ValueId>(ssa_.values.size()) - 1;
  }

  void expand(const AtomicNode& atomic, Loc loc, std::vector<SsaNode>& nodes) {
    const std::string& name = kernel_.var(atomic.array).name;
    const ValueId old = atomic.result != kNone ? atomic.result : new_value(atomic, name + "_before", loc);
    const ValueId sum = new_value(atomic, name + "_after", loc);
    const Type type = atomic.value.type;
    const Op op = atomic.op == AtomicOp::kAdd ? Op::kAdd : Op::kSub;
    nodes.push_back(
        {.node = LoadNode{.result = old, .array = atomic.array, .indices = atomic.indices, .path = atomic.path},
         .loc = loc});
    nodes.push_back({.node = ComputeNode{.result = sum, .op = op, .args = {{.value = old, .type = type}, atomic.value}},
                     .loc = loc});
    nodes.push_back({.node = StoreNode{.array = atomic.array,
                                       .indices = atomic.indices,
                                       .value = {.value = sum, .type = type},
                                       .path = atomic.path},
                     .loc = loc});
  }

  const Function& kernel_;
  SsaKernel& ssa_;
  std::vector<CellAccesses> accesses_;
};

}  // namespace

void lower_private_atomics(const Function& kernel, SsaKernel& ssa) {
  if (!uses_tiles(kernel)) Lowering(kernel, ssa).run();
}

}  // namespace assay::transforms
