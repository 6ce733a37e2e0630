#include "ir/transforms/split_structs.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/transforms/operands.hpp"

namespace assay::transforms {
namespace {

using namespace ir;

class Splitter {
 public:
  Splitter(const Module& module, const Function& kernel, SsaKernel& ssa)
      : module_(module),
        parameter_count_(kernel.parameter_count),
        ssa_(ssa),
        fields_(ssa.values.size()),
        replacements_(ssa.values.size()) {}

  void run() {
    rewrite(ssa_.body);
    nodes_ = &ssa_.body.nodes;
    for (Operand& result : ssa_.results)
      result = joined(result);
    std::vector<SsaNode> selections;
    const Loc start = ssa_.body.nodes.empty() ? Loc{} : ssa_.body.nodes.front().loc;
    for (ValueId parameter = 0; parameter < parameter_count_; ++parameter)
      insert_selections(parameter, start, selections);
    insert_selections(ssa_.body, std::move(selections));
    for_each_operand(ssa_, [&](Operand& operand) { operand = resolved(operand); });
  }

 private:
  static std::size_t index(ValueId value) { return static_cast<std::size_t>(value); }

  ValueId add_value(std::string name, Type type) {
    ssa_.values.push_back({.name = std::move(name), .type = type, .loc = loc_});
    fields_.emplace_back();
    replacements_.emplace_back();
    return static_cast<ValueId>(ssa_.values.size()) - 1;
  }
  Operand operand(ValueId value) const { return {.value = value, .type = ssa_.values[index(value)].type}; }
  template <class N>
  void append(N node) {
    nodes_->push_back({.node = std::move(node), .loc = loc_});
  }

  // ---- structs and their fields
  const std::vector<Field>& fields_of(Type type) const { return module_.structs[type.struct_id].fields; }
  bool is_split(ValueId value) const { return !fields_[index(value)].empty(); }
  /// The operand after all replacements.
  Operand resolved(Operand operand) const {
    while (!operand.is_constant() && !replacements_[index(operand.value)].type.is_void())
      operand = replacements_[index(operand.value)];
    return operand;
  }
  bool is_same(const Operand& a, const Operand& b) const {
    const Operand x = resolved(a);
    const Operand y = resolved(b);
    return x.value == y.value && x.type == y.type && x.bits == y.bits;
  }

  /// A field of a struct.
  Operand field(const Operand& object, std::size_t f) {
    const Operand whole = resolved(object);
    if (whole.is_constant()) return {.type = fields_of(whole.type)[f].type};
    if (!is_split(whole.value) && !selections_.contains(whole.value)) select_fields(whole);
    return is_split(whole.value) ? fields_[index(whole.value)][f] : selections_.at(whole.value).fields[f];
  }
  std::vector<Operand> all_fields(const Operand& object) {
    std::vector<Operand> fields;
    for (std::size_t f = 0; f < fields_of(object.type).size(); ++f)
      fields.push_back(field(object, f));
    return fields;
  }

  void select_fields(const Operand& whole) {
    Selections selections;
    for (std::size_t f = 0; f < fields_of(whole.type).size(); ++f) {
      const Field& definition = fields_of(whole.type)[f];
      selections.fields.push_back({.type = definition.type});
      if (!definition.type.is_value()) continue;
      const std::string name = ssa_.values[index(whole.value)].name + "_" + definition.name;
      const ValueId result = add_value(name, definition.type);
      selections.fields.back() = operand(result);
      selections.nodes.push_back(
          {.result = result, .kind = ExprKind::kField, .index = static_cast<std::int32_t>(f), .args = {whole}});
    }
    selections_.emplace(whole.value, std::move(selections));
  }
  /// Appends the nodes that select the fields of a value which is not split.
  void insert_selections(ValueId value, Loc loc, std::vector<SsaNode>& nodes) {
    const auto found = selections_.find(value);
    if (found == selections_.end()) return;
    for (ComputeNode& node : found->second.nodes) {
      const ValueId part = node.result;
      nodes.push_back({.node = std::move(node), .loc = loc});
      insert_selections(part, loc, nodes);
    }
  }
  void insert_selections(Region& region, std::vector<SsaNode> nodes = {}) {
    for (SsaNode& node : region.nodes) {
      std::vector<ValueId> defined;
      if (const auto* compute = std::get_if<ComputeNode>(&node.node)) defined = {compute->result};
      if (const auto* atomic = std::get_if<AtomicNode>(&node.node)) defined = {atomic->result};
      if (const auto* custom = std::get_if<CustomDerivativeNode>(&node.node)) defined = custom->results;
      if (auto* branch = std::get_if<Branch>(&node.node)) {
        insert_selections(branch->then_region);
        insert_selections(branch->else_region);
      }
      if (auto* loop = std::get_if<Loop>(&node.node)) insert_selections(loop->body);
      const Loc loc = node.loc;
      nodes.push_back(std::move(node));
      for (const ValueId value : defined)
        insert_selections(value, loc, nodes);
    }
    region.nodes = std::move(nodes);
  }

  /// The operand as one value: appends the nodes that make it of its fields.
  Operand joined(const Operand& operand) {
    const Operand object = resolved(operand);
    if (object.is_constant() || !is_split(object.value)) return object;
    Operand made{.type = object.type};
    for (std::size_t f = 0; f < fields_of(object.type).size(); ++f) {
      if (!fields_of(object.type)[f].type.is_value()) continue;
      const Operand part = joined(fields_[index(object.value)][f]);
      const ValueId result = add_value(ssa_.values[index(object.value)].name, object.type);
      append(ComputeNode{
          .result = result, .op = Op::kWithField, .index = static_cast<std::int32_t>(f), .args = {made, part}});
      made = this->operand(result);
    }
    return made;
  }

  /// Splits a struct into new values, which `define` must define. It gets the new value and the steps from the struct
  /// to it.
  template <class Define>
  void split(ValueId value, const Define& define) {
    Path path;
    split_below(value, path, define);
  }
  template <class Define>
  void split_below(ValueId value, Path& path, const Define& define) {
    const Type type = ssa_.values[index(value)].type;
    std::vector<Operand> fields;
    for (std::size_t f = 0; f < fields_of(type).size(); ++f) {
      const Field& definition = fields_of(type)[f];
      fields.push_back({.type = definition.type});
      if (!definition.type.is_value()) continue;
      const ValueId part = add_value(ssa_.values[index(value)].name + "_" + definition.name, definition.type);
      fields.back() = operand(part);
      path.push_back({.whole_type = type, .field_index = static_cast<std::int32_t>(f)});
      if (can_split(definition.type)) split_below(part, path, define);
      else define(part, std::as_const(path));
      path.pop_back();
    }
    fields_[index(value)] = std::move(fields);
  }
  /// The part of a struct at the end of a path of fields.
  Operand part_of(Operand object, const Path& path) {
    for (const ElementPathStep& step : path)
      object = field(object, static_cast<std::size_t>(step.field_index));
    return object;
  }
  bool can_split(Type type) const { return type.is_struct() && !fields_of(type).empty(); }

  // ---- nodes
  void rewrite(Region& region) {
    std::vector<SsaNode> nodes = std::exchange(region.nodes, {});
    std::vector<SsaNode>* const outer = std::exchange(nodes_, &region.nodes);
    const Loc loc = loc_;
    for (SsaNode& node : nodes) {
      loc_ = node.loc;
      std::visit([&](auto& concrete) { rewrite_node(concrete); }, node.node);
    }
    loc_ = loc;
    nodes_ = outer;
  }

  void rewrite_node(ComputeNode& compute) {
    if (compute.kind == ExprKind::kField) {
      const Operand object = resolved(compute.args[0]);
      if (object.is_constant() || is_split(object.value)) {
        replacements_[index(compute.result)] = field(object, static_cast<std::size_t>(compute.index));
        return;
      }
    }
    const bool is_operation = compute.kind == ExprKind::kOperation;
    if (is_operation && compute.op == Op::kWithField) {
      std::vector<Operand> fields = all_fields(compute.args[0]);
      fields[static_cast<std::size_t>(compute.index)] = compute.args[1];
      fields_[index(compute.result)] = std::move(fields);
      return;
    }
    if (is_operation && compute.op == Op::kWhere && can_split(compute.args[1].type)) return split_where(compute);
    for (Operand& arg : compute.args)
      if (arg.type.is_struct()) arg = joined(arg);
    append(std::move(compute));
  }

  void split_where(const ComputeNode& compute) {
    split(compute.result, [&](ValueId part, const Path& path) {
      append(ComputeNode{.result = part,
                         .op = Op::kWhere,
                         .args = {compute.args[0], part_of(compute.args[1], path), part_of(compute.args[2], path)}});
    });
  }

  void rewrite_node(LoadNode& load) {
    if (!can_split(ssa_.values[index(load.result)].type)) return append(std::move(load));
    split(load.result, [&](ValueId result, const Path& path) {
      LoadNode part = load;
      part.result = result;
      part.path.insert(part.path.end(), path.begin(), path.end());
      append(std::move(part));
    });
  }

  void rewrite_node(StoreNode& store) {
    if (!can_split(store.value.type)) return append(std::move(store));
    Path path;
    store_parts(store, store.value.type, path);
  }
  void store_parts(const StoreNode& store, Type type, Path& path) {
    for (std::size_t f = 0; f < fields_of(type).size(); ++f) {
      const Type part_type = fields_of(type)[f].type;
      if (!part_type.is_value()) continue;
      path.push_back({.whole_type = type, .field_index = static_cast<std::int32_t>(f)});
      if (can_split(part_type)) {
        store_parts(store, part_type, path);
      } else {
        StoreNode part = store;
        part.value = part_of(store.value, path);
        part.path.insert(part.path.end(), path.begin(), path.end());
        append(std::move(part));
      }
      path.pop_back();
    }
  }

  void rewrite_node(AtomicNode& atomic) {
    atomic.value = joined(atomic.value);
    append(std::move(atomic));
  }

  void rewrite_node(CustomDerivativeNode& custom) {
    for (std::vector<Operand>* operands : {&custom.args, &custom.primal_values})
      for (Operand& operand : *operands)
        if (operand.type.is_value()) operand = joined(operand);
    append(std::move(custom));
  }

  void rewrite_node(Branch& branch) {
    rewrite(branch.then_region);
    rewrite(branch.else_region);
    std::vector<MergedValue> merges;
    for (const MergedValue& merge : std::exchange(branch.merges, {}))
      split_merge(merge, merges);
    branch.merges = std::move(merges);
    append(std::move(branch));
  }
  void split_merge(const MergedValue& merge, std::vector<MergedValue>& merges) {
    if (is_same(merge.then_value, merge.else_value)) {
      replacements_[index(merge.result)] = merge.then_value;
    } else if (can_split(merge.then_value.type)) {
      split(merge.result, [&](ValueId part, const Path& path) {
        const Operand then_value = part_of(merge.then_value, path);
        split_merge({.result = part, .then_value = then_value, .else_value = part_of(merge.else_value, path)}, merges);
      });
    } else {
      merges.push_back(merge);
    }
  }

  /// A carried value of a loop, or a part of one.
  struct CarriedPart {
    CarriedValue value;
    Operand whole_next_value;  ///< of the carried value
    Path path = {};            ///< steps from the carried value to the part
    bool is_condition = false;
  };

  void rewrite_node(Loop& loop) {
    std::vector<CarriedPart> parts;
    for (std::size_t i = 0; i < loop.carried_values.size(); ++i)
      split_carried(loop.carried_values[i], !loop.is_range_loop && i == loop.condition, parts);
    rewrite(loop.body);
    loop.carried_values.clear();
    for (CarriedPart& part : parts) {
      part.value.next_value = part_of(part.whole_next_value, part.path);
      if (!part.is_condition && is_same(part.value.next_value, operand(part.value.argument))) {
        replacements_[index(part.value.argument)] = part.value.initial_value;
        replacements_[index(part.value.result)] = part.value.initial_value;
        continue;
      }
      if (part.is_condition) loop.condition = loop.carried_values.size();
      loop.carried_values.push_back(part.value);
    }
    append(std::move(loop));
  }
  void split_carried(const CarriedValue& whole, bool is_condition, std::vector<CarriedPart>& parts) {
    if (!can_split(whole.initial_value.type)) {
      parts.push_back({.value = whole, .whole_next_value = whole.next_value, .is_condition = is_condition});
      return;
    }
    const std::size_t first = parts.size();
    split(whole.argument, [&](ValueId argument, const Path& path) {
      parts.push_back({.value = {.argument = argument, .initial_value = part_of(whole.initial_value, path)},
                       .whole_next_value = whole.next_value,
                       .path = path});
    });
    std::size_t next = first;
    split(whole.result, [&](ValueId result, const Path&) { parts[next++].value.result = result; });
  }

  /// How the fields of a value that is not split are selected.
  struct Selections {
    std::vector<Operand> fields;
    std::vector<ComputeNode> nodes;
  };

  const Module& module_;
  const int parameter_count_;
  SsaKernel& ssa_;
  std::vector<std::vector<Operand>> fields_;  ///< for each value: its fields, if it is a struct that was split
  std::vector<Operand> replacements_;         ///< for each value: the operand that replaces it; type void: none
  std::map<ValueId, Selections> selections_;  ///< for values that are not split; inserted where they are defined
  std::vector<SsaNode>* nodes_ = nullptr;     ///< where nodes are appended
  Loc loc_;                                   ///< location of the node that is being rewritten
};

}  // namespace

void split_structs(const Module& module, const Function& kernel, SsaKernel& ssa) {
  if (!module.structs.empty()) Splitter(module, kernel, ssa).run();
}

}  // namespace assay::transforms
