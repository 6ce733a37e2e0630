// Reads one function or kernel: its signature, its thread indices, its body.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/file_parser.hpp"
#include "frontend/warp/parse/function_context.hpp"
#include "frontend/warp/parse/statement_parser.hpp"
#include "ir/custom.hpp"

namespace assay::frontend {
namespace {

struct Parameter {
  Node name;
  ir::Type type;
  Given given;
};

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// The first identifier with a letter outside ASCII, which the kernel language's names do not have.
Node foreign_name(Node node) {
  if (is_ascii(node.text())) return {};
  if (node.is(Syntax::kIdentifier)) return node;
  for (const Node child : node.children()) {
    if (const Node found = foreign_name(child)) return found;
  }
  return {};
}

class FunctionReader {
 public:
  FunctionReader(FileReader& file, FunctionEntry& entry) : file_(file), entry_(entry) {}

  /// The function, or nothing after a report.
  std::optional<ir::Function> read() {
    read_parameters();
    if (entry_.is_kernel) find_thread_indices(entry_.definition.part(Part::kBody));
    entry_.asks_for_thread = !thread_indices_.empty();
    if (const Node name = foreign_name(entry_.definition)) fail(name, "names are of ASCII letters, digits and _");
    if (failed_) return std::nullopt;
    const Node body = entry_.definition.part(Part::kBody);
    std::vector<std::string_view> names;
    for (const Parameter& parameter : parameters_)
      names.push_back(parameter.name.text());
    ir::Function function{.name = entry_.name, .is_kernel = entry_.is_kernel, .loc = entry_.definition.loc()};
    FunctionContext context(file_, entry_, function, Dataflow(body, names));
    report_unassigned(context);
    declare_signature(context);
    if (!declare_adjoints(context)) return std::nullopt;
    StatementReader(context).body(body);
    if (entry_.gradient_of != nullptr && context.flow.falls_through()) return_adjoints(context);
    check_results(context);
    reject_scalar_updates(context, entry_.definition.part(Part::kName));
    if (context.failed) return std::nullopt;
    return function;
  }

 private:
  void fail(Node node, std::string reason) {
    failed_ = true;
    file_.report(
        {.loc = node.loc(), .function = entry_.name, .construct = describe(node), .reason = std::move(reason)});
  }

  const ModuleScope& scope() const { return entry_.home->scope; }

  void read_parameters() {
    std::size_t number = 0;
    for (const Node node : entry_.definition.part(Part::kParameters).children()) {
      const bool has_default = node.is(Syntax::kTypedDefaultParameter);
      const bool is_typed = has_default || node.is(Syntax::kTypedParameter);
      const Node name = has_default ? node.part(Part::kName) : is_typed ? node.children()[0] : node;
      if (!name.is(Syntax::kIdentifier)) {
        fail(node, "parameters are plain names with a type");
        continue;
      }
      if (!is_typed) {
        fail(node, "the parameter has no type annotation");
        continue;
      }
      if (has_default) {
        if (auto value = scope().constant(node.part(Part::kValue))) entry_.defaults.emplace(name.text(), *value);
      }
      if (number < entry_.given.size()) {
        const Given& given = entry_.given[number++];
        parameters_.push_back({name, given.type, given});
        continue;
      }
      const auto type = scope().type(node.part(Part::kType));
      if (!type.ok()) {
        fail(node, type.error().message);
        continue;
      }
      parameters_.push_back({name, *type, given_whole(file_.module(), *type)});
    }
    entry_.types.clear();
    for (const Parameter& parameter : parameters_)
      entry_.types.push_back(parameter.type);
  }

  /// The first wp.tid() says how many dimensions the launch has, and how their indices are called.
  void find_thread_indices(Node node) {
    if (!thread_indices_.empty()) return;
    if (node.is(Syntax::kAssignment)) {
      const Node right = node.part(Part::kRight);
      const Node left = node.part(Part::kLeft);
      if (right && is_tid(right)) {
        for (const Node target : left.elements({Syntax::kPatternList, Syntax::kTuplePattern})) {
          thread_indices_.emplace_back(target.is(Syntax::kIdentifier) ? target.text() : "tid");
        }
        if (thread_indices_.size() > 4) fail(node, "a launch has 1 to 4 dimensions");
        return;
      }
    }
    if (is_tid(node)) {
      thread_indices_.emplace_back("tid");
      return;
    }
    for (const Node child : node.children())
      find_thread_indices(child);
  }

  bool is_tid(Node node) const {
    return node.is(Syntax::kCall) && scope().warp_name(node.part(Part::kFunction)) == "tid";
  }

  void report_unassigned(FunctionContext& context) const {
    for (const UnassignedRead& read : context.flow.unassigned_reads()) {
      context.error(read.name, read.after_loop ? "a loop's variable has no value after its loop: keep it in another"
                                               : "may be used before it is assigned: assign it on every path before");
    }
  }

  /// The variables that stand for what is given, and the name that means it. `path` is its place in the source's
  /// argument.
  ir::VarId declare(FunctionContext& context, const std::string& name, const Given& given, const std::string& path) {
    const auto parameter = [&](const std::string& variable, ir::Type type) {
      const ir::VarId made = context.builder.parameter(variable, type);
      if (entry_.is_kernel && path.find('.') != std::string::npos) context.function.variables.back().path = path;
      return made;
    };
    if (given.kind == Given::Kind::kPack) {
      Pack pack{.type = given.type, .fields = {}};
      for (std::size_t f = 0; f < given.fields.size(); ++f) {
        const std::string field = file_.module().structs[given.type.struct_id].fields[f].name;
        pack.fields.push_back(declare(context, name + "_" + field, given.fields[f], path + "." + field));
      }
      return context.add(std::move(pack));
    }
    if (given.is_plain()) return parameter(name, given.type);
    View view{.array = parameter(name, given.whole), .type = given.type, .dimensions = {}};
    for (std::size_t d = 0; d < given.parts.size(); ++d) {
      ViewDimension& dimension = view.dimensions.emplace_back();
      dimension.kind = given.parts[d].kind;
      dimension.step = given.parts[d].step;
      const auto number = [&](const char* what) { return parameter(fmt::format("{}_{}{}", name, what, d), ir::kI32); };
      if (dimension.kind == DimensionKind::kFixed) dimension.index = number("at");
      if (dimension.kind != DimensionKind::kRange) continue;
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
      if (parameter.given.kind == Given::Kind::kFunction) continue;
      context.bindings.bind(parameter.name.text(), declare(context, name, parameter.given, name));
    }
    context.builder.at(entry_.definition.loc());
    if (entry_.is_kernel && thread_indices_.empty()) thread_indices_.emplace_back("thread");
    for (const std::string& name : thread_indices_)
      context.builder.thread_index(name);
    // Parameters keep their values: what the source assigns is a copy.
    for (const Parameter& parameter : parameters_) {
      const std::string_view name = parameter.name.text();
      const bool is_value = parameter.given.kind == Given::Kind::kValue;
      if (!is_value || context.flow.assignments(name) == 0) continue;
      context.builder.at(parameter.name.loc());
      const ir::ExprId value = context.builder.var(context.bindings.find(name));
      context.bindings.bind(name, context.builder.let(std::string(name), value));
    }
  }

  /// The parameters of a gradient or replay are those of its function; the sums that a gradient returns begin as zero.
  bool declare_adjoints(FunctionContext& context) {
    const FunctionEntry* of = entry_.gradient_of != nullptr ? entry_.gradient_of : entry_.replay_of;
    if (of == nullptr) return true;
    const ir::Function& function = file_.module().functions[static_cast<std::size_t>(of->index)];
    std::vector<ir::Type> wanted = of->types;
    if (entry_.gradient_of != nullptr) wanted.insert(wanted.end(), function.results.begin(), function.results.end());
    std::vector<ir::Type> taken;
    for (const Parameter& parameter : parameters_)
      taken.push_back(parameter.type);
    if (taken != wanted) {
      fail(entry_.definition.part(Part::kName),
           fmt::format("takes the parameters of {}{}, of the same types", of->name,
                       entry_.gradient_of != nullptr ? " and one adjoint for each of its results" : ""));
      return false;
    }
    if (entry_.gradient_of == nullptr) return true;
    context.builder.at(entry_.definition.loc());
    for (const ir::VarId target : ir::gradient_targets(file_.module(), function)) {
      const std::string_view name = parameters_[static_cast<std::size_t>(target)].name.text();
      const ir::Type type = function.var(target).type;
      context.adjoints.emplace(name, context.builder.let_zero(fmt::format("adj_{}", name), type));
      context.function.results.push_back(type);
    }
    return true;
  }

  void return_adjoints(FunctionContext& context) const {
    if (!context.adjoints.empty()) context.builder.return_(context.adjoint_values());
  }

  void check_results(FunctionContext& context) const {
    if (entry_.is_kernel || entry_.gradient_of != nullptr || context.failed) return;
    const ir::Function& function = context.function;
    if (!function.results.empty() && context.flow.falls_through()) {
      context.error(entry_.definition.part(Part::kName), "does not return a value on every path");
    }
    const Node annotation = entry_.definition.part(Part::kReturnType);
    if (!annotation || function.results.size() != 1) return;
    const auto promised = scope().type(annotation);
    if (promised.ok() && *promised != function.results[0]) {
      context.error(annotation, fmt::format("the function returns {}", context.type_name(function.results[0])));
    }
  }

  FileReader& file_;
  FunctionEntry& entry_;
  std::vector<Parameter> parameters_;
  std::vector<std::string> thread_indices_;
  bool failed_ = false;
};

}  // namespace

void read_function(FileReader& file, FunctionEntry& entry) {
  auto function = FunctionReader(file, entry).read();
  entry.state = function ? FunctionEntry::State::kRead : FunctionEntry::State::kFailed;
  if (!function) return;
  auto& home = entry.is_kernel ? file.module().kernels : file.module().functions;
  entry.index = static_cast<int>(home.size());
  home.push_back(std::move(*function));
}

}  // namespace assay::frontend
