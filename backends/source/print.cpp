#include "backends/source/print.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/source/cuda_host.hpp"
#include "backends/source/dialect.hpp"
#include "backends/source/function_printer.hpp"
#include "backends/source/lines.hpp"
#include "backends/source/support.hpp"
#include "backends/source/unit.hpp"
#include "ir/analysis.hpp"
#include "ir/support/concat.hpp"
#include "ir/visit.hpp"

namespace assay::source {
namespace {

using backends::EmittedKernel;
using backends::EntryPoint;
using backends::Pass;
using backends::SourceTarget;

constexpr std::string_view kAlias = R"(#ifndef ASSAY_REAL
#define ASSAY_REAL float
#endif
using real = ASSAY_REAL;
)";

/// Half precision follows the alias, so that the double lift has doubles in its place.
constexpr std::string_view kHalfAlias = "using half = Lifted<sizeof(real), Float16<10, -14>>::type;\n";
constexpr std::string_view kBFloatAlias = "using bfloat = Lifted<sizeof(real), Float16<7, -126>>::type;\n";

/// The functions that a function calls, directly or not.
void collect_called(const ir::Module& module, const ir::Function& function, std::set<int>& called) {
  const auto visit = [&](int index) {
    if (called.insert(index).second) collect_called(module, module.functions[static_cast<std::size_t>(index)], called);
  };
  ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
    if (const auto* call = std::get_if<ir::Call>(&statement.node)) visit(call->function);
    ir::for_each_root(statement, [&](const ir::ExprId& root) {
      ir::for_each_expression(function, root, [&](ir::ExprId, const ir::Expr& expr) {
        if (expr.kind == ir::ExprKind::kCall) visit(expr.index);
      });
    });
  });
}

/// The structs that a function's variables hold, directly or not.
void collect_structs(const ir::Module& module, ir::Type type, std::set<int>& structs) {
  if (type.shape != ir::Shape::kStruct || !structs.insert(type.struct_id).second) return;
  for (const ir::Field& field : module.structs[type.struct_id].fields)
    collect_structs(module, field.type, structs);
}

class KernelPrinter {
 public:
  KernelPrinter(const ir::Module& module, const ir::Function& forward, const ir::Function* backward,
                SourceTarget target, const Options& options)
      : unit_(module, target, {entry_symbol(forward, Pass::kForward), entry_symbol(forward, Pass::kBackward)}),
        forward_(forward),
        backward_(backward),
        options_(options),
        dialect_(make_dialect(target)),
        called_(called()) {}

  Result<EmittedKernel> print() {
    // Functions first, in text of their own, because only they tell which structs' setters are needed.
    const std::string functions = this->functions();
    const std::string entries = this->entries();
    const std::string structs = this->structs();
    const std::string setters = this->setters();
    const std::string rest = concat(structs, setters, functions, entries);
    std::string aliases;
    if (rest.find("half") != std::string::npos && uses(ir::Scalar::kF16)) aliases += kHalfAlias;
    if (rest.find("bfloat") != std::string::npos && uses(ir::Scalar::kBF16)) aliases += kBFloatAlias;
    if (!aliases.empty()) unit_.helpers().use("Float16");
    const bool uses_real = !aliases.empty() || rest.find("real") != std::string::npos;
    kernel_.name = legal_identifier(forward_.name);
    kernel_.body = concat(heading(), uses_real ? kAlias : "", aliases, rest);
    if (options_.with_host) kernel_.body += cuda_host(unit_, structs_, forward_, backward_, kernel_.entries);
    kernel_.helpers = unit_.helpers().list();
    if (options_.with_host && !aliases.empty()) return Error{"no host program is printed for half precision"};
    return std::move(kernel_);
  }

 private:
  std::set<int> called() const {
    std::set<int> called;
    if (unit_.module().functions.empty()) return called;
    collect_called(unit_.module(), forward_, called);
    if (backward_ != nullptr) collect_called(unit_.module(), *backward_, called);
    return called;
  }

  /// Whether a function, a kernel or a struct has a value of the scalar type.
  bool uses(ir::Scalar scalar) const {
    const ir::Module& module = unit_.module();
    const auto is = [&](ir::Type type) {
      return type.shape != ir::Shape::kVoid && type.shape != ir::Shape::kStruct && type.scalar == scalar;
    };
    const auto in = [&](const ir::Function& function) {
      return std::ranges::any_of(function.variables, [&](const ir::Variable& v) { return is(v.type); }) ||
             std::ranges::any_of(function.expressions, [&](const ir::Expr& e) { return is(e.type); });
    };
    const auto within = [&](const ir::StructDef& definition) {
      return std::ranges::any_of(definition.fields, [&](const ir::Field& field) { return is(field.type); });
    };
    return in(forward_) || (backward_ != nullptr && in(*backward_)) || std::ranges::any_of(module.functions, in) ||
           std::ranges::any_of(module.structs, within);
  }

  std::string heading() const {
    const std::string& file = unit_.module().source_name;
    const std::string place =
        file.empty() || forward_.loc.line <= 0 ? "" : fmt::format(" ({}:{})", legal_path(file), forward_.loc.line);
    return fmt::format("// Kernel {}{}.\n", kernel_.name, place);
  }

  /// A file's name inside a comment.
  static std::string legal_path(std::string path) {
    for (char& c : path) {
      if (static_cast<unsigned char>(c) < ' ' || c == '\\') c = '/';
    }
    return path;
  }

  std::string structs() {
    std::set<int> used;
    const auto collect = [&](const ir::Function& function) {
      for (const ir::Variable& variable : function.variables)
        collect_structs(unit_.module(), variable.type, used);
      for (const ir::Expr& expr : function.expressions)
        collect_structs(unit_.module(), expr.type, used);
      for (const ir::Type type : function.results)
        collect_structs(unit_.module(), type, used);
    };
    collect(forward_);
    if (backward_ != nullptr) collect(*backward_);
    for (const int index : called_)
      collect(unit_.module().functions[static_cast<std::size_t>(index)]);
    structs_.assign(used.begin(), used.end());  // ascending: a nested struct comes earlier
    Lines lines;
    for (const int id : structs_) {
      const ir::StructDef& definition = unit_.module().structs[static_cast<std::size_t>(id)];
      lines.blank();
      lines.open(fmt::format("struct {} {{", unit_.struct_name(id)));
      for (std::size_t i = 0; i < definition.fields.size(); ++i) {
        lines.add(
            fmt::format("{} {};", unit_.type(definition.fields[i].type), unit_.field_name(id, static_cast<int>(i))));
      }
      lines.close("};");
    }
    return lines.take();
  }

  std::string setters() {
    Lines lines;
    for (const auto& [id, field] : unit_.setters()) {
      const ir::StructDef& definition = unit_.module().structs[static_cast<std::size_t>(id)];
      const std::string type = unit_.type(definition.fields[static_cast<std::size_t>(field)].type);
      lines.blank();
      lines.open(fmt::format("{0}{1} {2}({1} object, {3} value) {{", dialect_->function_qualifier(),
                             unit_.struct_name(id), unit_.setter_name(id, field), type));
      lines.add(fmt::format("object.{} = value;", unit_.field_name(id, field)));
      lines.add("return object;");
      lines.close();
    }
    return lines.take();
  }

  /// "head(parameters) {", on as many lines as it takes.
  static void open_function(Lines& lines, std::string head, const std::vector<std::string>& parameters) {
    constexpr std::size_t kWidth = 120;
    lines.blank();
    head += '(';
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const std::string next = parameters[i] + (i + 1 < parameters.size() ? "," : ") {");
      const bool fits = head.size() + 1 + next.size() <= kWidth;
      if (!fits) lines.add(std::exchange(head, "   "));
      head += (head.ends_with('(') ? "" : " ") + next;
    }
    lines.open(parameters.empty() ? head + ") {" : head);
  }

  std::string functions() {
    std::string text;
    for (const int index : called_)
      text += function(index);
    return text;
  }

  std::string function(int index) {
    const ir::Function& function = unit_.module().functions[static_cast<std::size_t>(index)];
    FunctionPrinter printer(unit_, function, options_.source_comments);
    Lines lines;
    std::string result = "void";
    if (function.results.size() == 1) result = unit_.type(function.results[0]);
    if (function.results.size() > 1) {
      result = unit_.globals().declare(unit_.function_name(index) + "_results");
      lines.blank();
      lines.open(fmt::format("struct {} {{", result));
      for (std::size_t i = 0; i < function.results.size(); ++i) {
        lines.add(fmt::format("{} result_{};", unit_.type(function.results[i]), i));
      }
      lines.close("};");
    }
    open_function(lines, fmt::format("{}{} {}", dialect_->function_qualifier(), result, unit_.function_name(index)),
                  printer.parameters());
    lines.append(printer.body(Leaving::kReturn, 1));
    lines.close();
    return lines.take();
  }

  std::string entries() {
    std::string text = entry(forward_, Pass::kForward);
    if (backward_ != nullptr) text += entry(*backward_, Pass::kBackward);
    return text;
  }

  std::string entry(const ir::Function& function, Pass pass) {
    FunctionPrinter printer(unit_, function, options_.source_comments);
    EntryPoint entry{.pass = pass,
                     .symbol = entry_symbol(forward_, pass),
                     .parameter_types = {},
                     .block_threads = ir::uses_tiles(function) ? backends::kTileBlockThreads : 0};
    const std::vector<std::string> own = printer.parameters();
    std::vector<std::string> parameters = dialect_->range_parameters(printer);
    const std::vector<std::string> names = declare_extents(printer, function);
    for (const std::string& name : names) {
      parameters.push_back("int " + name);
      entry.parameter_types.push_back("int");
    }
    parameters.insert(parameters.end(), own.begin(), own.end());
    for (int i = 0; i < function.parameter_count; ++i)
      entry.parameter_types.push_back(unit_.type(function.var(i).type));
    Lines lines;
    open_function(lines, fmt::format("{}{}", dialect_->entry_qualifier(), entry.symbol), parameters);
    threads(lines, printer, function, names);
    lines.close();
    kernel_.entries.push_back(std::move(entry));
    return lines.take();
  }

  static std::vector<std::string> declare_extents(FunctionPrinter& printer, const ir::Function& function) {
    std::vector<std::string> names;
    for (int dimension = 1; dimension < function.launch_rank; ++dimension) {
      const ir::Variable& index = function.var(function.parameter_count + dimension);
      names.push_back(printer.internal_name("extent_" + legal_identifier(index.name)));
    }
    return names;
  }

  void threads(Lines& lines, FunctionPrinter& printer, const ir::Function& function,
               const std::vector<std::string>& extents) {
    const bool tiled = ir::uses_tiles(function);
    const std::string thread = printer.internal_name(tiled ? "block" : "thread");
    if (tiled) dialect_->open_blocks(lines, thread);
    else dialect_->open_threads(lines, printer, thread);
    declare_indices(lines, printer, function, thread, extents);
    if (returns_from_loop(function)) {
      // In a block, so that the jump leaves the scope of its variables.
      lines.open("{");
      lines.append(printer.body(Leaving::kNextThread, 3));
      lines.close();
      lines.add(fmt::format("{}:;", kNextThreadLabel));
    } else {
      lines.append(printer.body(Leaving::kNextThread, 2));
    }
    lines.close();
  }

  /// The last dimension is the fastest: of (i, j, k), k is thread % extent_k.
  static void declare_indices(Lines& lines, FunctionPrinter& printer, const ir::Function& function,
                              const std::string& thread, const std::vector<std::string>& extents) {
    for (std::size_t dimension = 0; dimension <= extents.size(); ++dimension) {
      std::string number = thread;
      for (std::size_t faster = extents.size(); faster > dimension; --faster)
        number += " / " + extents[faster - 1];
      if (dimension > 0) number += " % " + extents[dimension - 1];
      const std::string& name = printer.declare(function.parameter_count + static_cast<int>(dimension));
      lines.add(fmt::format("const int {} = int({});", name, number));
    }
  }

  Unit unit_;
  const ir::Function& forward_;
  const ir::Function* backward_;
  const Options& options_;
  std::unique_ptr<Dialect> dialect_;
  const std::set<int> called_;  ///< functions of the module
  std::vector<int> structs_;
  EmittedKernel kernel_;
};

}  // namespace

std::string entry_symbol(const ir::Function& forward, Pass pass) {
  return legal_identifier(fmt::format("{}_{}", forward.name, backends::to_text(pass)));
}

Result<EmittedKernel> print(const ir::Module& module, const ir::Function& forward, const ir::Function* backward,
                            SourceTarget target, const Options& options) {
  if (options.with_host && target != SourceTarget::kCuda) return Error{"a host program is printed for CUDA only"};
  if (auto supported = check_supported(module, forward, target); !supported.ok()) return supported.error();
  if (backward != nullptr) {
    if (auto supported = check_supported(module, *backward, target); !supported.ok()) return supported.error();
  }
  return KernelPrinter(module, forward, backward, target, options).print();
}

}  // namespace assay::source
