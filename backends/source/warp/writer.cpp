#include "backends/source/warp/writer.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "backends/source/warp/statement_writer.hpp"
#include "ir/library.hpp"
#include "ir/source_location.hpp"

namespace assay::source::warp {
namespace {

/// The parts of a module to write, by index, in the module's order.
struct Selection {
  std::set<std::size_t> structs;
  std::set<std::size_t> functions;
  std::set<std::size_t> kernels;
};

std::set<std::size_t> all_of(std::size_t count) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return {indices.begin(), indices.end()};
}

void select_struct(const ir::Module& module, ir::Type type, Selection& selection) {
  if (type.shape != ir::Shape::kStruct || !selection.structs.insert(type.struct_id).second) return;
  for (const ir::Field& field : module.structs[type.struct_id].fields)
    select_struct(module, field.type, selection);
}

void select_called(const ir::Block& block, std::set<std::size_t>& called) {
  for (const ir::Stmt& statement : block.statements) {
    if (const auto* call = std::get_if<ir::Call>(&statement.node)) {
      called.insert(static_cast<std::size_t>(call->function));
    } else if (const auto* branch = std::get_if<ir::If>(&statement.node)) {
      select_called(branch->then_block, called);
      select_called(branch->else_block, called);
    } else if (const auto* for_loop = std::get_if<ir::For>(&statement.node)) {
      select_called(for_loop->body, called);
    } else if (const auto* while_loop = std::get_if<ir::While>(&statement.node)) {
      select_called(while_loop->body, called);
    }
  }
}

void select_used(const ir::Module& module, const ir::Function& function, Selection& selection) {
  for (const ir::Variable& variable : function.variables)
    select_struct(module, variable.type, selection);
  std::set<std::size_t> called;
  for (const ir::Expr& expr : function.expressions) {
    select_struct(module, expr.type, selection);
    if (expr.kind == ir::ExprKind::kCall) called.insert(static_cast<std::size_t>(expr.index));
  }
  select_called(function.body, called);
  for (const std::int32_t custom : {function.gradient_function_index, function.replay_function_index})
    if (custom != ir::kNone) called.insert(static_cast<std::size_t>(custom));
  for (const std::size_t index : called) {
    if (selection.functions.insert(index).second) select_used(module, module.functions[index], selection);
  }
}

/// Creates the aliases of all types in the selection before variables use the names.
void spell_types(const ir::Module& module, const Selection& selection, TypeAliases& aliases) {
  const auto spell = [&](ir::Type type) {
    if (!type.is_void() && type.shape != ir::Shape::kStruct) aliases.spell(type);
  };
  const auto spell_function = [&](const ir::Function& function) {
    for (const ir::Variable& variable : function.variables)
      spell(variable.type);
    for (const ir::Expr& expr : function.expressions)
      spell(expr.type);
  };
  for (const std::size_t index : selection.structs) {
    for (const ir::Field& field : module.structs[index].fields)
      spell(field.type);
  }
  for (const std::size_t index : selection.functions) {
    if (!ir::library_name(module.functions[index])) spell_function(module.functions[index]);
  }
  for (const std::size_t index : selection.kernels)
    spell_function(module.kernels[index]);
}

std::string write_struct(const ir::Module& module, std::size_t index, ModuleLevelNames& file) {
  const ir::Function no_function;
  const std::vector<std::string> no_variables;
  ExpressionWriter types(module, no_function, file, no_variables);
  std::string text = fmt::format("@wp.struct\nclass {}:\n", file.struct_names[index]);
  for (const ir::Field& field : module.structs[index].fields)
    text += fmt::format("    {}: {}\n", field.name, types.annotation(field.type));
  return text;
}

const ir::Function* gradient_of(const ir::Module& module, std::size_t function) {
  const std::int32_t gradient = module.functions[function].gradient_function_index;
  return gradient == ir::kNone ? nullptr : &module.functions[static_cast<std::size_t>(gradient)];
}

/// `placed`, if any, is a copy of the module, which is changed to the module that parsing the file would give.
Result<std::string> write_selection(const ir::Module& module, const Selection& selection,
                                    ir::Module* placed = nullptr) {
  NamePool names;
  ModuleLevelNames file{.struct_names = {}, .function_names = {}, .type_aliases = TypeAliases(names)};
  for (const ir::StructDef& definition : module.structs)
    file.struct_names.push_back(names.take(definition.name));
  // Kernels keep their names, because users select them by name, even if a function of another file has the same name.
  std::vector<std::string> kernel_names;
  for (const ir::Function& kernel : module.kernels)
    kernel_names.push_back(names.take(kernel.name));
  // Warp provides its library functions itself.
  for (const ir::Function& function : module.functions)
    if (const auto name = ir::library_name(function)) file.function_names.push_back(fmt::format("wp.{}", *name));
    else file.function_names.push_back(names.take(function.name));
  spell_types(module, selection, file.type_aliases);

  // The function that a custom derivative belongs to.
  std::map<const ir::Function*, std::size_t> customs;
  for (const std::size_t index : selection.functions) {
    for (const std::int32_t custom :
         {module.functions[index].gradient_function_index, module.functions[index].replay_function_index})
      if (custom != ir::kNone) customs.emplace(&module.functions[static_cast<std::size_t>(custom)], index);
  }
  std::string text = "import warp as wp\n";
  if (const std::string& aliases = file.type_aliases.definitions(); !aliases.empty()) text += "\n" + aliases;
  for (const std::size_t index : selection.structs)
    text += "\n\n" + write_struct(module, index, file);
  for (std::size_t i = 0; placed != nullptr && i < file.struct_names.size(); ++i)
    placed->structs[i].name = file.struct_names[i];
  const auto add = [&](const ir::Function& function, const std::string& name, ir::Function* copy) {
    StatementWriter writer(module, function, file, names);
    if (const auto custom = customs.find(&function); custom != customs.end()) {
      const std::size_t of = custom->second;
      writer.customize(module.functions[of], file.function_names[of], &function == gradient_of(module, of));
    }
    text += "\n\n";
    const auto first = static_cast<int>(std::ranges::count(text, '\n')) + 1;
    text += writer.definition(name);
    if (copy != nullptr && !writer.error()) writer.place(*copy, name, first);
    return writer.error();
  };
  for (const std::size_t index : selection.functions) {
    if (ir::library_name(module.functions[index])) continue;
    ir::Function* const copy = placed == nullptr ? nullptr : &placed->functions[index];
    if (auto error = add(module.functions[index], file.function_names[index], copy)) return *error;
  }
  for (const std::size_t index : selection.kernels) {
    ir::Function* const copy = placed == nullptr ? nullptr : &placed->kernels[index];
    if (auto error = add(module.kernels[index], kernel_names[index], copy)) return *error;
  }
  return text;
}

}  // namespace

Result<std::string> write_python(const ir::Module& module) {
  return write_selection(module, {.structs = all_of(module.structs.size()),
                                  .functions = all_of(module.functions.size()),
                                  .kernels = all_of(module.kernels.size())});
}

Result<std::string> write_kernel(const ir::Module& module, std::size_t kernel) {
  Selection selection{.structs = {}, .functions = {}, .kernels = {kernel}};
  select_used(module, module.kernels[kernel], selection);
  return write_selection(module, selection);
}

Result<std::optional<WrittenModule>> write_module(const ir::Module& module, std::string file_name) {
  if (module.kernels.size() != 1) return std::optional<WrittenModule>();
  Selection selection{.structs = {}, .functions = {}, .kernels = {0}};
  select_used(module, module.kernels[0], selection);
  const bool whole =
      selection.structs.size() == module.structs.size() && selection.functions.size() == module.functions.size();
  const bool custom = std::ranges::any_of(module.functions, [](const ir::Function& function) {
    return function.gradient_function_index != ir::kNone || function.replay_function_index != ir::kNone;
  });
  if (!whole || custom) return std::optional<WrittenModule>();
  ir::Module placed = module;
  Result<std::string> python = write_selection(module, selection, &placed);
  if (!python.ok()) return python.error();
  placed.source_name = std::move(file_name);
  placed.source_lines = ir::split_lines(*python);
  return std::optional(WrittenModule{.python_source = python.take(), .module = std::move(placed)});
}

}  // namespace assay::source::warp
