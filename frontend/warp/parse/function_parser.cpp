// Parses one function or kernel: its signature, thread indices and body.
#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/changed_constants.hpp"
#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/file_parser.hpp"
#include "frontend/warp/parse/function_context.hpp"
#include "frontend/warp/parse/native_code.hpp"
#include "frontend/warp/parse/shared_storage.hpp"
#include "frontend/warp/parse/statement_parser.hpp"
#include "ir/analysis.hpp"
#include "ir/custom.hpp"

namespace assay::frontend {
namespace {

constexpr int kLargestBlock = 1024;  // limit of every CUDA device

struct Parameter {
  SyntaxNode name;
  ir::Type type;
  ArgumentSpec spec;
  bool is_reference = false;  ///< whether it is passed by reference
};

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// The first identifier with a non-ASCII letter, which the kernel language does not support.
SyntaxNode foreign_name(SyntaxNode node) {
  if (is_ascii(node.text())) return {};
  if (node.is(SyntaxKind::kIdentifier)) return node;
  for (const SyntaxNode child : node.children()) {
    if (const SyntaxNode found = foreign_name(child)) return found;
  }
  return {};
}

class WarpFunctionParser {
 public:
  WarpFunctionParser(WarpFileParser& file, SourceFunction& entry) : file_(file), entry_(entry) {}

  /// The function; empty after a reported error.
  std::optional<ir::Function> read() {
    read_parameters();
    if (entry_.is_kernel) find_thread_indices(entry_.definition.part(SyntaxField::kBody));
    entry_.uses_thread_index = !thread_indices_.empty();
    if (const SyntaxNode name = foreign_name(entry_.definition))
      fail(name, "names must consist of ASCII letters, digits and _");
    if (failed_) return std::nullopt;
    const SyntaxNode body = entry_.definition.part(SyntaxField::kBody);
    std::vector<std::string_view> names;
    for (const Parameter& parameter : parameters_)
      names.push_back(parameter.name.text());
    ir::Function function{.name = entry_.name, .is_kernel = entry_.is_kernel, .loc = entry_.definition.loc()};
    FunctionContext context(file_, entry_, function, Dataflow(body, names));
    declare_signature(context);
    if (!declare_adjoints(context)) return std::nullopt;
    if (entry_.native_code) return native(context) ? std::optional(std::move(function)) : std::nullopt;
    WarpStatementParser(context).body(body);
    report_unassigned(context);
    reject_names_of_two_types(context);
    reject_overwritten_storage(context);
    reject_changed_constants(context);
    if (entry_.differentiated_function != nullptr && context.data_flow.falls_through()) return_adjoints(context);
    if (!context.references.empty() && context.data_flow.falls_through()) return_references(context);
    if (returns_zero_at_end(context)) return_zero(context);
    check_results(context);
    if (entry_.is_kernel && context.has_thread_values) {
      context.note(entry_.definition.part(SyntaxField::kName),
                   "the threads of a block have different values; the kernel is judged with one thread per block, as "
                   "Warp runs it on the CPU");
    }
    reject_scalar_updates(context, entry_.definition.part(SyntaxField::kName));
    reject_changes_of_viewed_tiles(context);
    if (context.has_failed) return std::nullopt;
    return function;
  }

 private:
  void fail(SyntaxNode node, std::string reason) {
    failed_ = true;
    file_.report(
        {.loc = node.loc(), .function = entry_.name, .construct_excerpt = describe(node), .reason = std::move(reason)});
  }

  const ModuleScope& scope() const { return entry_.environment->scope; }

  /// Parses the code of a native function. False after a reported error.
  bool native(FunctionContext& context) const {
    const SyntaxNode annotation = entry_.definition.part(SyntaxField::kReturnType);
    const bool returns = annotation && annotation.text() != "None";
    const auto type = returns ? scope().type(annotation) : Result<ir::Type>(ir::kVoid);
    const SyntaxNode name = entry_.definition.part(SyntaxField::kName);
    if (!type.ok()) {
      context.error(annotation, type.error().message);
    } else if (returns && !type->is_scalar()) {
      context.error(annotation, "native functions must return a number");
    } else {
      context.builder.at(entry_.definition.loc());
      const auto parsed = parse_native_code(context, *entry_.native_code, *type);
      if (!parsed.ok()) context.error(name, parsed.error().message);
    }
    return !context.has_failed;
  }

  void read_parameters() {
    std::size_t number = 0;
    for (const SyntaxNode node : entry_.definition.part(SyntaxField::kParameters).children()) {
      const bool has_default = node.is(SyntaxKind::kTypedDefaultParameter);
      const bool is_typed = has_default || node.is(SyntaxKind::kTypedParameter);
      const SyntaxNode name = has_default ? node.part(SyntaxField::kName) : is_typed ? node.children()[0] : node;
      if (!name.is(SyntaxKind::kIdentifier)) {
        fail(node, "parameters must be plain names with a type annotation");
        continue;
      }
      if (!is_typed) {
        fail(node, "parameter has no type annotation");
        continue;
      }
      if (has_default) {
        if (auto value = scope().constant(node.part(SyntaxField::kValue)))
          entry_.default_arguments.emplace(name.text(), *value);
      }
      const SyntaxNode stated = node.part(SyntaxField::kType);
      const SyntaxNode referenced = scope().referenced_type(stated);
      if (number < entry_.argument_specs.size()) {
        const ArgumentSpec& given = entry_.argument_specs[number++];
        parameters_.push_back({name, given.type, given, bool(referenced)});
        continue;
      }
      const SyntaxNode annotation = referenced ? referenced : stated;
      const bool is_indexed = scope().is_indexed_array(annotation);
      const auto type = is_indexed ? scope().indexed_array_type(annotation) : scope().type(annotation);
      if (!type.ok()) {
        fail(node, type.error().message);
        continue;
      }
      if (!has_few_dimensions(file_.module(), *type)) {
        fail(node,
             fmt::format("the dimensions of an array of structs and of an array field must be at most {} together",
                         ir::kMaxRank));
        continue;
      }
      parameters_.push_back({name, *type, is_indexed ? indexed_argument(*type) : whole_argument(file_.module(), *type),
                             bool(referenced)});
    }
    entry_.parameter_types.clear();
    entry_.reference_parameters.clear();
    for (const Parameter& parameter : parameters_) {
      if (parameter.is_reference) {
        entry_.reference_parameters.push_back(entry_.parameter_types.size());
        check_reference(parameter);
      }
      entry_.parameter_types.push_back(parameter.type);
    }
  }

  void check_reference(const Parameter& parameter) {
    if (entry_.is_kernel) {
      fail(parameter.name, "kernels cannot have parameters of type wp.ref");
    } else if (entry_.native_code) {
      fail(parameter.name, "native functions cannot have parameters of type wp.ref");
    } else if (entry_.differentiated_function != nullptr || entry_.replayed_function != nullptr) {
      fail(parameter.name, "gradients and replays with parameters of type wp.ref are not supported");
    } else if (parameter.spec.kind != ArgumentSpec::Kind::kValue) {
      fail(parameter.name, "only values can be passed by reference, not arrays or structs with arrays");
    }
  }

  /// The first wp.tid() determines the number of launch dimensions and the names of the indices.
  void find_thread_indices(SyntaxNode node) {
    if (!thread_indices_.empty()) return;
    if (node.is(SyntaxKind::kAssignment)) {
      const SyntaxNode right = node.part(SyntaxField::kRight);
      const SyntaxNode left = node.part(SyntaxField::kLeft);
      if (right && is_tid(right)) {
        for (const SyntaxNode target : left.elements({SyntaxKind::kPatternList, SyntaxKind::kTuplePattern})) {
          thread_indices_.emplace_back(target.is(SyntaxKind::kIdentifier) ? target.text() : "tid");
        }
        if (thread_indices_.size() > 4) fail(node, "launch must have 1 to 4 dimensions");
        return;
      }
    }
    if (is_tid(node)) {
      thread_indices_.emplace_back("tid");
      return;
    }
    for (const SyntaxNode child : node.children())
      find_thread_indices(child);
  }

  bool is_tid(SyntaxNode node) const {
    return node.is(SyntaxKind::kCall) && scope().warp_name(node.part(SyntaxField::kFunction)) == "tid";
  }

  void report_unassigned(FunctionContext& context) const {
    std::set<std::string_view> reported;
    for (const UnassignedRead& read : context.data_flow.unassigned_reads()) {
      if (context.guarded_reads.contains(read.name.id()) || !reported.insert(read.name.text()).second) continue;
      context.error(read.name, read.is_after_loop
                                   ? "loop variable is undefined after a loop that may have no iterations; copy it to "
                                     "another variable"
                                   : "variable may be used before assignment; assign it on every path");
    }
  }

  /// Declares the variables for an argument and binds its name. `path` is its path inside the source argument.
  ir::VarId declare(FunctionContext& context, const std::string& name, const ArgumentSpec& given,
                    const std::string& path) {
    const auto parameter = [&](const std::string& variable, ir::Type type) {
      const ir::VarId made = context.builder.parameter(variable, type);
      if (entry_.is_kernel && path.find('.') != std::string::npos) context.function.variables.back().path = path;
      return made;
    };
    if (given.kind == ArgumentSpec::Kind::kArrayStruct) {
      ArrayStruct array_struct{.type = given.type, .fields = {}};
      for (std::size_t f = 0; f < given.fields.size(); ++f) {
        const std::string field = file_.module().structs[given.type.struct_id].fields[f].name;
        array_struct.fields.push_back(declare(context, name + "_" + field, given.fields[f], path + "." + field));
      }
      return context.add(std::move(array_struct));
    }
    if (given.kind == ArgumentSpec::Kind::kMissingArray)
      return context.add(ArrayView{.array = ir::kNone, .type = given.type, .dimensions = {}});
    if (given.is_plain()) return parameter(name, given.type);
    const auto part_of_source = [&](ir::VarId made, const std::string& part) {
      if (entry_.is_kernel && given.is_indexed()) context.function.variables.back().path = path + "." + part;
      return made;
    };
    ArrayView view{
        .array = part_of_source(parameter(name, given.whole_array_type), "data"), .type = given.type, .dimensions = {}};
    for (std::size_t d = 0; d < given.dimensions.size(); ++d) {
      ArrayViewDimension& dimension = view.dimensions.emplace_back();
      dimension.kind = given.dimensions[d].kind;
      dimension.step = given.dimensions[d].step;
      const auto number = [&](const char* what) { return parameter(fmt::format("{}_{}{}", name, what, d), ir::kI32); };
      if (dimension.kind == DimensionSelection::kSingleIndex) dimension.index = number("at");
      if (dimension.kind == DimensionSelection::kIndexed) {
        const ir::VarId indices = parameter(fmt::format("{}_indices{}", name, d), ir::kI32.array_of(1));
        dimension.indices = part_of_source(indices, fmt::format("indices{}", d));
      }
      if (dimension.kind != DimensionSelection::kRange) continue;
      dimension.start = number("from");
      dimension.extent = number("extent");
    }
    return context.add(std::move(view));
  }

  void declare_signature(FunctionContext& context) {
    context.bindings.enter({});
    for (const Parameter& parameter : parameters_) {
      context.builder.at(parameter.name.loc());
      const std::string name(parameter.name.text());
      if (parameter.spec.kind == ArgumentSpec::Kind::kFunction) continue;
      context.bindings.bind(parameter.name.text(), declare(context, name, parameter.spec, name));
    }
    context.builder.at(entry_.definition.loc());
    declare_hidden_parameters(context);
    if (uses_adjoint_array(entry_.definition.part(SyntaxField::kBody))) declare_adjoint_arrays(context);
    if (entry_.is_kernel && thread_indices_.empty()) thread_indices_.emplace_back("thread");
    for (const std::string& name : thread_indices_)
      context.builder.thread_index(name);
    // Parameters are immutable: assignments in the source change a copy.
    for (const Parameter& parameter : parameters_) {
      const std::string_view name = parameter.name.text();
      const bool is_value = parameter.spec.kind == ArgumentSpec::Kind::kValue;
      if (!is_value || (context.data_flow.assignments(name) == 0 && !parameter.is_reference)) continue;
      context.builder.at(parameter.name.loc());
      const ir::ExprId value = context.builder.var(context.bindings.find(name));
      const ir::VarId copy = context.builder.let(std::string(name), value);
      context.bindings.bind(name, copy);
      if (parameter.is_reference) context.references.push_back(copy);
    }
  }

  void declare_hidden_parameters(FunctionContext& context) const {
    const HiddenParameters wanted = WarpFileParser::hidden_parameters(entry_);
    for (const HiddenParameterEntry& row : kHiddenParameters) {
      const auto number = static_cast<std::size_t>(row.parameter);
      if (!wanted[number]) continue;
      const bool is_taken = std::ranges::find(entry_.parameter_names, row.name) != entry_.parameter_names.end();
      const std::string name = is_taken ? fmt::format("launch_{}", row.name) : std::string(row.name);
      context.hidden[number] = context.builder.parameter(name, row.type);
      if (entry_.is_kernel) context.function.variables.back().path = row.path;
    }
    // The threads of a block that share work by its size have different values, too.
    context.has_thread_values = wanted[kHasThreadValues] ||
                                (wanted[kUsesTiles] && wanted[static_cast<std::size_t>(HiddenParameter::kBlockSize)]);
    if (entry_.is_kernel) state_domains(context);
  }

  /// The comments for the hidden parameters: the block size is the last extent, as in a launch by wp.launch_tiled, and
  /// the indices of meshes are those of points. If the threads of a block have different values, the block size is 1.
  void state_domains(FunctionContext& context) const {
    const auto name = [&](HiddenParameter parameter) -> std::string {
      const ir::VarId variable = context.hidden[static_cast<std::size_t>(parameter)];
      return variable == ir::kNone ? "" : context.function.var(variable).name;
    };
    std::vector<std::string>& annotations = context.function.annotations;
    const std::string indices = name(HiddenParameter::kMeshIndices);
    for (const HiddenParameter vectors : {HiddenParameter::kMeshPoints, HiddenParameter::kMeshVelocities}) {
      if (!name(vectors).empty())
        annotations.push_back(fmt::format("domain: 0 <= {} < {}.shape[1]", indices, name(vectors)));
    }
    // A point on an edge that triangles share is equally close to all of them, so that a query may return any of them.
    const bool has_queries = WarpFileParser::hidden_parameters(entry_)[kQueriesMeshes];
    if (!indices.empty())
      annotations.push_back(fmt::format("domain: {} are {}triangles", indices, has_queries ? "separate " : ""));
    for (const HiddenParameterEntry& row : kHiddenParameters) {
      if (!row.domain.empty() && !name(row.parameter).empty())
        annotations.push_back("domain: " + fmt::format(fmt::runtime(row.domain), name(row.parameter)));
    }
    if (const std::string uppers = name(HiddenParameter::kBvhUppers); !uppers.empty())
      annotations.push_back(fmt::format("domain: {} <= {}", name(HiddenParameter::kBvhLowers), uppers));
    const std::string block_size = name(HiddenParameter::kBlockSize);
    if (block_size.empty() && !context.has_thread_values) return;
    const int largest = context.has_thread_values ? 1 : kLargestBlock;
    const bool has_one_index = thread_indices_.size() < 2;
    if (!block_size.empty() && (has_one_index || context.has_thread_values))
      annotations.push_back(fmt::format("domain: 1 <= {} <= {}", block_size, largest));
    if (has_one_index) return;
    std::string extents;
    for (std::size_t d = 0; d + 1 < thread_indices_.size(); ++d)
      extents += "_, ";
    annotations.push_back(fmt::format("launch: ({}{})", extents, block_size.empty() ? "1" : block_size));
  }

  /// Whether the code contains wp.adjoint[x] for an x that is not a parameter that is a value.
  bool uses_adjoint_array(SyntaxNode node) const {
    const auto parts = node.children();
    if (node.is(SyntaxKind::kSubscript) && parts.size() == 2 && scope().warp_name(parts[0]) == "adjoint") {
      return std::ranges::none_of(parameters_, [&](const Parameter& parameter) {
        return parameter.spec.kind == ArgumentSpec::Kind::kValue && parameter.name.text() == parts[1].text();
      });
    }
    return std::ranges::any_of(parts, [&](SyntaxNode child) { return uses_adjoint_array(child); });
  }

  void declare_adjoint_arrays(FunctionContext& context) const {
    if (entry_.differentiated_function == nullptr) return;
    const auto index = static_cast<std::size_t>(entry_.differentiated_function->function_index);
    for (const ir::VarId target : ir::adjoint_array_targets(file_.module().functions[index])) {
      if (target >= context.function.parameter_count) return;  // an error is reported for the parameters
      const ir::Variable& array = context.function.var(target);
      const ir::VarId adjoint = context.builder.parameter(fmt::format("adj_{}", array.name), array.type);
      context.function.variables.back().is_nullable = true;
      context.adjoint_arrays_by_parameter.emplace(target, adjoint);
    }
  }

  /// A gradient or replay has the parameters of its function; the sums that a gradient returns start at zero.
  bool declare_adjoints(FunctionContext& context) {
    const SourceFunction* of =
        entry_.differentiated_function != nullptr ? entry_.differentiated_function : entry_.replayed_function;
    if (of == nullptr) return true;
    const ir::Function& function = file_.module().functions[static_cast<std::size_t>(of->function_index)];
    std::vector<ir::Type> wanted = of->parameter_types;
    if (entry_.differentiated_function != nullptr)
      wanted.insert(wanted.end(), function.results.begin(), function.results.end());
    std::vector<ir::Type> taken;
    for (const Parameter& parameter : parameters_)
      taken.push_back(parameter.type);
    if (taken != wanted) {
      fail(entry_.definition.part(SyntaxField::kName),
           fmt::format("parameter types must be the same as those of {}{}", of->name,
                       entry_.differentiated_function != nullptr ? ", followed by one adjoint for each result" : ""));
      return false;
    }
    if (entry_.differentiated_function == nullptr) return true;
    context.builder.at(entry_.definition.loc());
    for (const ir::VarId target : ir::gradient_targets(file_.module(), function)) {
      const std::string_view name = parameters_[static_cast<std::size_t>(target)].name.text();
      const ir::Type type = function.var(target).type;
      context.adjoint_variables_by_parameter.emplace(name, context.builder.let_zero(fmt::format("adj_{}", name), type));
      context.function.results.push_back(type);
    }
    return true;
  }

  void return_adjoints(FunctionContext& context) const {
    if (!context.adjoint_variables_by_parameter.empty()) context.builder.return_(context.adjoint_values());
  }

  static void return_references(FunctionContext& context) {
    const std::vector<ir::ExprId> values = context.reference_values();
    if (!context.has_results) {
      for (const ir::ExprId value : values)
        context.function.results.push_back(context.type_of(value));
    }
    context.builder.return_(values);
  }

  /// Whether the function may end without a return statement although it returns a value. Warp then returns zero.
  bool returns_zero_at_end(const FunctionContext& context) const {
    return !entry_.is_kernel && entry_.differentiated_function == nullptr && context.references.empty() &&
           context.function.results.size() == 1 && context.data_flow.falls_through();
  }

  static void return_zero(FunctionContext& context) {
    const ir::Type type = context.function.results[0];
    const bool is_struct = type.is_struct();
    context.builder.return_(
        {is_struct ? context.builder.var(context.builder.let_zero("nothing", type)) : context.builder.zero(type)});
  }

  void check_results(FunctionContext& context) const {
    if (entry_.is_kernel || entry_.differentiated_function != nullptr || context.has_failed) return;
    const ir::Function& function = context.function;
    const std::size_t returned = function.results.size() - context.references.size();
    if (returned > 0 && context.data_flow.falls_through() && !returns_zero_at_end(context)) {
      context.error(entry_.definition.part(SyntaxField::kName), "function does not return a value on every path");
    }
    const SyntaxNode annotation = entry_.definition.part(SyntaxField::kReturnType);
    if (!annotation || returned != 1) return;
    const auto promised = scope().type(annotation);
    if (promised.ok() && *promised != function.results[0]) {
      context.error(annotation, fmt::format("return annotation differs from the returned type, {}",
                                            context.type_name(function.results[0])));
    }
  }

  WarpFileParser& file_;
  SourceFunction& entry_;
  std::vector<Parameter> parameters_;
  std::vector<std::string> thread_indices_;
  bool failed_ = false;
};

/// Adds the gradient that Warp gives a native function: zero.
void add_zero_gradient(ir::Module& module, std::size_t index) {
  const ir::Function function = module.functions[index];
  const std::vector<ir::VarId> targets = ir::gradient_targets(module, function);
  if (targets.empty() || function.results.empty()) return;
  ir::Function gradient{.name = "adj_" + function.name, .loc = function.loc};
  ir::Builder b(module, gradient);
  b.at(function.loc);
  for (ir::VarId p = 0; p < function.parameter_count; ++p)
    b.parameter(function.var(p).name, function.var(p).type);
  for (const ir::Type result : function.results)
    b.parameter("adj_result", result);
  std::vector<ir::ExprId> zeros;
  for (const ir::VarId target : targets) {
    const ir::Variable& parameter = function.var(target);
    gradient.results.push_back(parameter.type);
    zeros.push_back(b.var(b.let_zero("adj_" + parameter.name, parameter.type)));
  }
  b.return_(zeros);
  module.functions[index].gradient_function_index = static_cast<int>(module.functions.size());
  module.functions.push_back(std::move(gradient));
}

}  // namespace

void read_function(WarpFileParser& file, SourceFunction& entry) {
  auto function = WarpFunctionParser(file, entry).read();
  entry.parse_state = function ? SourceFunction::State::kParsed : SourceFunction::State::kFailed;
  if (!function) return;
  auto& home = entry.is_kernel ? file.module().kernels : file.module().functions;
  entry.function_index = static_cast<int>(home.size());
  home.push_back(std::move(*function));
  if (entry.native_code) add_zero_gradient(file.module(), static_cast<std::size_t>(entry.function_index));
}

}  // namespace assay::frontend
