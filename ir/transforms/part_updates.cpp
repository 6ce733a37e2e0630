#include "ir/transforms/part_updates.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ir/transforms/operands.hpp"

namespace assay::transforms {

using namespace ir;

namespace {

/// Indices that are computed by more nested operations are not compared.
constexpr int kMostNestedOperations = 8;

class UpdateFinder {
 public:
  explicit UpdateFinder(const SsaKernel& kernel)
      : definitions_(kernel.values.size()), remaining_uses_(kernel.values.size()) {
    collect(kernel.body);
    for_each_operand(kernel, [&](const Operand& operand) {
      if (!operand.is_constant()) ++remaining_uses_[index(operand)];
    });
  }

  PartUpdates run() {
    PartUpdates updates{.by_result = {}, .values_without_adjoint = ValueSet(definitions_.size())};
    for (const Definition& definition : definitions_) {
      if (definition.node == nullptr) continue;
      std::optional<PartUpdate> update = update_of(definition);
      const bool is_simpler = update && (update->adds_to_part || update->indices.size() > 1);
      if (!is_simpler) continue;
      pass_over(*definition.node, 2, update->term, updates.values_without_adjoint);
      updates.by_result.emplace(definition.node->result, std::move(*update));
    }
    return updates;
  }

 private:
  struct Definition {
    const ComputeNode* node = nullptr;
    const Region* region = nullptr;
  };

  static std::size_t index(const Operand& operand) { return static_cast<std::size_t>(operand.value); }

  void collect(const Region& region) {
    for (const SsaNode& node : region.nodes) {
      if (const auto* compute = std::get_if<ComputeNode>(&node.node))
        definitions_[static_cast<std::size_t>(compute->result)] = {compute, &region};
      if (const auto* branch = std::get_if<Branch>(&node.node)) {
        collect(branch->then_region);
        collect(branch->else_region);
      }
      if (const auto* loop = std::get_if<Loop>(&node.node)) collect(loop->body);
    }
  }

  static bool is_operation(const Definition& definition, Op op) {
    return definition.node != nullptr && definition.node->kind == ExprKind::kOperation && definition.node->op == op;
  }

  /// The operation that computes the operand; none if it is not in the region.
  Definition definition_in(const Region* region, const Operand& operand) const {
    if (operand.is_constant()) return {};
    const Definition& found = definitions_[index(operand)];
    return found.region == region ? found : Definition{};
  }

  bool are_equal(const Operand& a, const Operand& b, int depth = 0) const {
    if (a.value == b.value) return a.type == b.type && a.bits == b.bits;
    if (a.is_constant() || b.is_constant() || depth == kMostNestedOperations) return false;
    const ComputeNode* const x = definitions_[index(a)].node;
    const ComputeNode* const y = definitions_[index(b)].node;
    if (x == nullptr || y == nullptr || x->kind != y->kind || x->op != y->op || x->index != y->index ||
        x->array != y->array)
      return false;
    return std::ranges::equal(
        x->args, y->args, [&](const Operand& one, const Operand& other) { return are_equal(one, other, depth + 1); });
  }

  /// Whether the operand is the part of `whole` that the index selects.
  bool is_part(const Operand& operand, const Operand& whole, const Operand& part_index, const Region* region) const {
    const Definition extract = definition_in(region, operand);
    return is_operation(extract, Op::kExtract) && are_equal(extract.node->args[0], whole) &&
           are_equal(extract.node->args[1], part_index);
  }

  std::optional<PartUpdate> update_of(const Definition& insert) const {
    if (!is_operation(insert, Op::kInsert)) return std::nullopt;
    const Operand& whole = insert.node->args[0];
    const Operand& part_index = insert.node->args[1];
    const Operand& part = insert.node->args[2];
    PartUpdate update{.whole = whole, .indices = {part_index}, .part = part, .term = part};
    const Definition value = definition_in(insert.region, part);
    if (is_operation(value, Op::kInsert)) {
      std::optional<PartUpdate> inner = update_of(value);
      if (!inner || !is_part(inner->whole, whole, part_index, insert.region)) return update;
      update.indices.insert(update.indices.end(), inner->indices.begin(), inner->indices.end());
      update.part = inner->part;
      update.term = inner->term;
      update.adds_to_part = inner->adds_to_part;
      update.subtracts_term = inner->subtracts_term;
    } else if (is_operation(value, Op::kAdd) || is_operation(value, Op::kSub)) {
      const Operand& first = value.node->args[0];
      const Operand& second = value.node->args[1];
      if (first.type != second.type) return update;
      const bool is_difference = value.node->op == Op::kSub;
      const bool is_first_old = is_part(first, whole, part_index, insert.region);
      update.adds_to_part = is_first_old || (!is_difference && is_part(second, whole, part_index, insert.region));
      update.subtracts_term = update.adds_to_part && is_difference;
      if (update.adds_to_part) update.term = is_first_old ? second : first;
    }
    return update;
  }

  /// Counts the use of an operand of a node that contributes nothing to the adjoint of the operand. If all its uses are
  /// such uses, so are the uses of what it is computed from, except that of the term of the update.
  void pass_over(const ComputeNode& node, std::size_t position, const Operand& term, ValueSet& values_without_adjoint) {
    const Operand& operand = node.args[position];
    if (operand.is_constant() || operand.value == term.value || !passed_uses_.emplace(&node, position).second) return;
    if (--remaining_uses_[index(operand)] > 0) return;
    values_without_adjoint.add(index(operand));
    const ComputeNode* const definition = definitions_[index(operand)].node;
    for (std::size_t k = 0; definition != nullptr && k < definition->args.size(); ++k)
      pass_over(*definition, k, term, values_without_adjoint);
  }

  std::vector<Definition> definitions_;      ///< for each value: the operation that computes it, if any
  std::vector<std::size_t> remaining_uses_;  ///< for each value: number of uses that pass_over() has not counted
  std::set<std::pair<const ComputeNode*, std::size_t>> passed_uses_;  ///< uses that it has counted: node and operand
};

}  // namespace

PartUpdates find_part_updates(const SsaKernel& kernel) { return UpdateFinder(kernel).run(); }

}  // namespace assay::transforms
