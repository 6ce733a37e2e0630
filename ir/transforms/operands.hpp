// Visits the operands of nodes.
#pragma once

#include <variant>
#include <vector>

#include "ir/transforms/ssa.hpp"

namespace assay::transforms {

/// Calls `visit` with each operand of a node, and of the nodes inside it. N is SsaNode or const SsaNode.
template <class N, class F>
void for_each_operand_of(N& node, const F& visit) {
  const auto visit_all = [&](auto& operands) {
    for (auto& operand : operands)
      visit(operand);
  };
  const auto visit_place = [&](auto& access) {
    visit_all(access.indices);
    for (auto& step : access.path)
      visit(step.index);
  };
  const auto visit_region = [&](auto& region) {
    for (auto& inner : region.nodes)
      for_each_operand_of(inner, visit);
  };
  if (auto* compute = std::get_if<ComputeNode>(&node.node)) visit_all(compute->args);
  if (auto* load = std::get_if<LoadNode>(&node.node)) visit_place(*load);
  if (auto* store = std::get_if<StoreNode>(&node.node)) {
    visit_place(*store);
    visit(store->value);
  }
  if (auto* atomic = std::get_if<AtomicNode>(&node.node)) {
    visit_place(*atomic);
    visit(atomic->value);
  }
  if (auto* custom = std::get_if<CustomDerivativeNode>(&node.node)) {
    visit_all(custom->args);
    visit_all(custom->primal_values);
  }
  if (auto* branch = std::get_if<Branch>(&node.node)) {
    visit(branch->condition);
    visit_region(branch->then_region);
    visit_region(branch->else_region);
    for (auto& merge : branch->merges) {
      visit(merge.then_value);
      visit(merge.else_value);
    }
  }
  if (auto* loop = std::get_if<Loop>(&node.node)) {
    visit(loop->start);
    visit(loop->stop);
    visit(loop->step);
    visit_region(loop->body);
    for (auto& carried : loop->carried_values) {
      visit(carried.initial_value);
      visit(carried.next_value);
    }
  }
}

/// Calls `visit` with each operand of a kernel or function. K is SsaKernel or const SsaKernel.
template <class K, class F>
void for_each_operand(K& kernel, const F& visit) {
  for (auto& node : kernel.body.nodes)
    for_each_operand_of(node, visit);
  for (auto& result : kernel.results)
    visit(result);
}

}  // namespace assay::transforms
