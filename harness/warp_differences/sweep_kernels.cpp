#include "harness/warp_differences/sweep_kernels.hpp"

#include <algorithm>
#include <functional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/library.hpp"
#include "ir/spelling/spelling.hpp"

namespace assay::warp {
namespace {

using ir::Scalar;
using ir::Type;

/// Constructors with more operands than this are covered by those with fewer.
constexpr int kMaxOperands = 4;

/// The name in kernel names: "f32", "mat33_f64".
std::string short_name(Type type) {
  const std::string_view scalar = ir::row(type.scalar).name;
  if (type.is_vector()) return fmt::format("vec{}_{}", type.rows, scalar);
  if (type.is_matrix()) return fmt::format("mat{}{}_{}", type.rows, type.cols, scalar);
  if (type.is_quaternion()) return fmt::format("quat_{}", scalar);
  if (type.is_transform()) return fmt::format("transform_{}", scalar);
  return std::string(scalar);
}

/// Whether arrays of the type can be declared: Warp has no name for a quaternion of bfloat16, and no way to define one.
bool has_name(Type type) {
  return type.is_scalar() || type.is_vector() || type.is_matrix() || !ir::spelling::short_name(type).empty();
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string operand_list(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < count; ++k)
    names.push_back(fmt::format("${}", k));
  return fmt::format("{}", fmt::join(names, ", "));
}

SweptCall named(SweptCall call, bool with_result) {
  call.name = call.operation_name;
  for (const Type operand : call.operand_types)
    call.name += "_" + short_name(operand);
  if (with_result) call.name += "_to_" + short_name(call.result_types[0]);
  return call;
}

using Visit = std::function<void(std::span<const Type>)>;

/// Visits every sequence of `count` types that has an accepted type at each position.
template <class Accept>
void for_each_sequence(const std::vector<Type>& types, std::size_t count, const Accept& accepts,
                       std::vector<Type>& chosen, const Visit& visit) {
  if (chosen.size() == count) return visit(chosen);
  for (const Type type : types) {
    if (!accepts(chosen.size(), type)) continue;
    chosen.push_back(type);
    for_each_sequence(types, count, accepts, chosen, visit);
    chosen.pop_back();
  }
}

/// Whether the sweep includes the operation: Warp can spell it, and it acts on values, not on tiles or structs.
bool is_swept(const ir::OperationEntry& row) {
  return !row.warp_pattern.empty() && row.rule < ir::TypeRule::kTileProduct && row.rule != ir::TypeRule::kWithField &&
         row.op != ir::Op::kWrapIndex;  // the frontend's own operation: no call in Warp has this meaning
}

/// Whether all operands are numbers: axis numbers, random states and periods have no edge values.
bool is_swept(const ir::LibraryFunctionInfo& row) {
  return row.operand_kind_letters.find_first_of("npu") == std::string_view::npos;
}

void add_operation(const ir::OperationEntry& row, std::span<const Type> operands, Type requested,
                   std::vector<SweptCall>& calls) {
  const Result<Type> result = ir::result_type(row.op, operands, requested);
  const bool is_constructible =
      row.rule != ir::TypeRule::kSplat || !requested.is_quaternion();  // wp.quat(x) is an error
  // Floats of another width occur only in the f64 promotion.
  const bool keeps_width =
      row.op != ir::Op::kReinterpret || ir::row(operands[0].scalar).bytes == ir::row(requested.scalar).bytes;
  if (!result.ok() || !is_constructible || !keeps_width) return;
  std::string expression = replace_all(std::string(row.warp_pattern), "$*", operand_list(operands.size()));
  calls.push_back(named({.operation_name = std::string(row.mnemonic),
                         .operand_types = {operands.begin(), operands.end()},
                         .result_types = {*result},
                         .expression_template = std::move(expression),
                         .name = ""},
                        !requested.is_void()));
}

/// Constructors from scalars: as many operands as the type has components.
void add_constructors(const ir::OperationEntry& row, std::vector<SweptCall>& calls) {
  for (const Type type : swept_types()) {
    if (!type.is_aggregate() || type.components() > kMaxOperands) continue;
    const std::vector<Type> operands(static_cast<std::size_t>(type.components()), type.component());
    add_operation(row, operands, type, calls);
  }
}

void add_operations(const ir::OperationEntry& row, std::vector<SweptCall>& calls) {
  if (row.arity < 0) return add_constructors(row, calls);
  const std::vector<Type> types = swept_types();
  std::vector<Type> chosen;
  const auto any = [](std::size_t, Type) { return true; };
  for_each_sequence(types, static_cast<std::size_t>(row.arity), any, chosen, [&](std::span<const Type> operands) {
    if (!ir::takes_requested_type(row.rule)) return add_operation(row, operands, ir::kVoid, calls);
    for (const Type requested : types)
      add_operation(row, operands, requested, calls);
  });
}

void add_library_function(const ir::LibraryFunctionInfo& row, std::vector<SweptCall>& calls) {
  std::vector<Type> chosen;
  const auto is_kind = [&](std::size_t k, Type type) { return ir::is_operand_kind(row.operand_kind_letters[k], type); };
  for_each_sequence(
      swept_types(), row.operand_kind_letters.size(), is_kind, chosen, [&](std::span<const Type> operands) {
        ir::Module module;
        const Result<int> index = ir::library_function(module, row.name, operands);
        if (!index.ok()) return;
        const std::vector<Type>& results = module.functions[static_cast<std::size_t>(*index)].results;
        if (!std::ranges::all_of(results, has_name)) return;
        SweptCall call =
            named({.operation_name = std::string(row.name),
                   .operand_types = {operands.begin(), operands.end()},
                   .result_types = results,
                   .expression_template = fmt::format("wp.{}({})", row.name, operand_list(operands.size())),
                   .name = ""},
                  false);
        // Rows of one name whose operand kinds overlap give the same call.
        for (const SweptCall& other : calls)
          if (other.name == call.name) return;
        calls.push_back(std::move(call));
      });
}

std::string signature(const SweptCall& call, const std::vector<std::string>& parameters) {
  return fmt::format("\n\n@wp.kernel\ndef {}({}):\n    i = wp.tid()\n", call.name, fmt::join(parameters, ", "));
}

std::string kernel_text(const SweptCall& call, ir::spelling::TypeAliases& types, bool has_body) {
  const bool has_one = call.result_types.size() == 1;
  std::vector<std::string> parameters, targets;
  std::string expression = replace_all(call.expression_template, "$T", types.spell(call.result_types[0]));
  for (std::size_t k = 0; k < call.operand_types.size(); ++k) {
    parameters.push_back(fmt::format("x{}: wp.array(dtype={})", k, types.spell(call.operand_types[k])));
    expression = replace_all(std::move(expression), fmt::format("${}", k), fmt::format("x{}[i]", k));
  }
  for (std::size_t k = 0; k < call.result_types.size(); ++k) {
    parameters.push_back(fmt::format("r{}: wp.array(dtype={})", k, types.spell(call.result_types[k])));
    targets.push_back(has_one ? "r0[i]" : fmt::format("y{}", k));
  }
  std::string text = signature(call, parameters);
  if (!has_body) return text;
  text += fmt::format("    {} = {}\n", fmt::join(targets, ", "), expression);
  for (std::size_t k = 0; k < call.result_types.size() && !has_one; ++k)
    text += fmt::format("    r{0}[i] = y{0}\n", k);
  return text;
}

std::string file_text(const std::vector<SweptCall>& calls, bool has_bodies) {
  ir::spelling::NamePool names;
  for (const std::string_view taken : {"wp", "i"})
    names.take(taken);
  for (const SweptCall& call : calls)
    names.take(call.name);
  ir::spelling::TypeAliases types(names);
  std::string kernels;
  for (const SweptCall& call : calls)
    kernels += kernel_text(call, types, has_bodies);
  return fmt::format("import warp as wp\n\nwp.set_module_options({{\"enable_backward\": False}})\n{}{}",
                     types.definitions(), kernels);
}

}  // namespace

std::vector<Type> swept_types() {
  std::vector<Type> types;
  for (const ir::ScalarTypeProperties& row : ir::kScalars)
    types.push_back(ir::scalar_type(row.scalar));
  for (const Scalar scalar : {Scalar::kF32, Scalar::kF64}) {
    for (const int length : {2, 3, 4, 6})
      types.push_back(ir::vector_type(scalar, length));
    for (const int rows : {2, 3, 4})
      types.push_back(ir::matrix_type(scalar, rows, rows));
    types.push_back(ir::quaternion_type(scalar));
    types.push_back(ir::transform_type(scalar));
  }
  return types;
}

std::vector<SweptCall> swept_calls() {
  std::vector<SweptCall> calls;
  for (const ir::OperationEntry& row : ir::kOperations)
    if (is_swept(row)) add_operations(row, calls);
  for (const ir::LibraryFunctionInfo& row : ir::library())
    if (is_swept(row)) add_library_function(row, calls);
  return calls;
}

std::string swept_file(const std::vector<SweptCall>& calls) { return file_text(calls, true); }

std::string swept_signature(const SweptCall& call) { return file_text({call}, false); }

}  // namespace assay::warp
