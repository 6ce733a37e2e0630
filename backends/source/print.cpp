#include "backends/source/print.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/source/dialect.hpp"
#include "backends/source/function_printer.hpp"
#include "backends/source/lines.hpp"
#include "backends/source/print_parts.hpp"
#include "backends/source/unit.hpp"
#include "backends/source/warp/emit.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"
#include "support/concat.hpp"

namespace assay::source {
namespace {

using backends::EmittedKernel;
using backends::EmittedKernelPair;
using backends::EntryPoint;
using backends::Pass;
using backends::SourceTarget;

constexpr std::string_view kAlias = R"(#ifndef ASSAY_REAL
#define ASSAY_REAL float
#endif
using real = ASSAY_REAL;
)";

/// Half precision depends on the alias `real`, so that f64 promotion replaces it by double.
constexpr std::string_view kHalfAlias = "using half = Lifted<sizeof(real), Float16<10, -14>>::type;\n";
constexpr std::string_view kBFloatAlias = "using bfloat = Lifted<sizeof(real), Float16<7, -126>>::type;\n";

/// The functions that a function calls, directly or indirectly.
void collect_called(const ir::Module& module, const ir::Function& function, std::set<int>& called) {
  const auto visit = [&](int index) {
    if (called.insert(index).second) collect_called(module, module.functions[static_cast<std::size_t>(index)], called);
  };
  ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
    if (const auto* call = std::get_if<ir::Call>(&statement.node)) visit(call->function);
    ir::for_each_root_expression(statement, [&](const ir::ExprId& root) {
      ir::for_each_expression(function, root, [&](ir::ExprId, const ir::Expr& expr) {
        if (expr.kind == ir::ExprKind::kCall) visit(expr.index);
      });
    });
  });
}

/// The structs that a type contains, directly or indirectly.
void collect_structs(const ir::Module& module, ir::Type type, std::set<int>& structs) {
  if (type.shape != ir::Shape::kStruct || !structs.insert(type.struct_id).second) return;
  for (const ir::Field& field : module.structs[type.struct_id].fields)
    collect_structs(module, field.type, structs);
}

/// The text of a function that is common to all targets.
struct PrintedFunction {
  std::string results;  ///< the struct for several returned values
  std::string head;     ///< "real f"
  std::vector<std::string> parameters;
  std::string body;
};

/// The text of an entry point that is common to all targets.
struct PrintedEntry {
  EntryPoint point;
  ThreadLoopNames names;
  std::string thread;                   ///< the variable that counts threads or, in a kernel with tiles, blocks
  std::vector<std::string> parameters;  ///< after the range
  std::string body;                     ///< body of the loop over threads
};

/// Prints the common text on construction, and then the text for each target.
class KernelPrinter {
 public:
  KernelPrinter(const ir::Module& module, const ir::Function& forward, const ir::Function* backward,
                const PrintOptions& options)
      : unit_(module, {entry_symbol(forward, Pass::kForward), entry_symbol(forward, Pass::kBackward)}),
        forward_(forward),
        backward_(backward),
        options_(options),
        extremum_operands_(ir::extremum_operands(module, forward, backward)),
        called_(called()),
        scalars_(scalars()) {
    // Print functions first, because they determine which setters of structs are needed.
    for (const int index : called_)
      functions_.push_back(function(index));
    entries_.push_back(entry(forward_, Pass::kForward));
    if (backward_ != nullptr) entries_.push_back(entry(*backward_, Pass::kBackward));
    structs_text_ = structs();
  }

  Result<EmittedKernel> print(SourceTarget target) {
    const Dialect& dialect = dialect_of(target);
    const std::array<std::string, 4> parts = {structs_text_, setters(dialect), functions(dialect), entries(dialect)};
    const auto mention = [&](std::string_view word) {
      return std::ranges::any_of(parts, [&](const std::string& part) { return part.find(word) != std::string::npos; });
    };
    std::string aliases;
    if ((scalars_ & bit(ir::Scalar::kF16)) != 0 && mention("half")) aliases += kHalfAlias;
    if ((scalars_ & bit(ir::Scalar::kBF16)) != 0 && mention("bfloat")) aliases += kBFloatAlias;
    if (!aliases.empty()) unit_.helpers().use("Float16");
    const bool uses_real = !aliases.empty() || mention("real");
    EmittedKernel kernel{.name = legal_identifier(forward_.name), .helpers = {}, .body = {}, .entry_points = {}};
    kernel.most_constant_trips = ir::most_constant_trips(forward_);
    kernel.has_arrays_of_structs = unit_.has_arrays_of_structs();
    kernel.entry_points.reserve(entries_.size());
    for (const PrintedEntry& entry : entries_)
      kernel.entry_points.push_back(entry.point);
    kernel.body =
        concat(heading(kernel.name), uses_real ? kAlias : "", aliases, parts[0], parts[1], parts[2], parts[3]);
    if (options_.prints_host_program)
      kernel.body += print_cuda_host_program(unit_, structs_, forward_, backward_, kernel.entry_points);
    kernel.helpers = unit_.helpers().list(target);
    if (options_.prints_host_program && !aliases.empty())
      return Error{"--with-host does not support kernels with half-precision values"};
    return kernel;
  }

 private:
  std::set<int> called() const {
    std::set<int> called;
    if (unit_.module().functions.empty()) return called;
    collect_called(unit_.module(), forward_, called);
    if (backward_ != nullptr) collect_called(unit_.module(), *backward_, called);
    return called;
  }

  static constexpr std::uint32_t bit(ir::Scalar scalar) { return std::uint32_t{1} << static_cast<unsigned>(scalar); }

  /// A bit set of the scalar types of all values in functions, kernels and structs.
  std::uint32_t scalars() const {
    std::uint32_t scalars = 0;
    const auto add = [&](ir::Type type) {
      if (type.shape != ir::Shape::kVoid && type.shape != ir::Shape::kStruct) scalars |= bit(type.scalar);
    };
    const auto add_all = [&](const ir::Function& function) {
      for (const ir::Variable& variable : function.variables)
        add(variable.type);
      for (const ir::Expr& expr : function.expressions)
        add(expr.type);
    };
    add_all(forward_);
    if (backward_ != nullptr) add_all(*backward_);
    std::ranges::for_each(unit_.module().functions, add_all);
    for (const ir::StructDef& definition : unit_.module().structs) {
      for (const ir::Field& field : definition.fields)
        add(field.type);
    }
    return scalars;
  }

  std::string heading(std::string_view name) const {
    const std::string& file = unit_.module().source_name;
    const std::string place =
        file.empty() || forward_.loc.line <= 0 ? "" : fmt::format(" ({}:{})", legal_path(file), forward_.loc.line);
    return concat("// Kernel ", name, place, ".\n");
  }

  /// A file name for use in a comment.
  static std::string legal_path(std::string path) {
    for (char& c : path) {
      if (static_cast<unsigned char>(c) < ' ' || c == '\\') c = '/';
    }
    return path;
  }

  std::string structs() {
    if (unit_.module().structs.empty()) return "";
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
    IndentedLines lines;
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

  std::string setters(const Dialect& dialect) {
    IndentedLines lines;
    for (const auto& [id, field] : unit_.setters()) {
      const ir::StructDef& definition = unit_.module().structs[static_cast<std::size_t>(id)];
      const std::string type = unit_.type(definition.fields[static_cast<std::size_t>(field)].type);
      lines.blank();
      lines.open(fmt::format("{0}{1} {2}({1} object, {3} value) {{", dialect.function_qualifier(),
                             unit_.struct_name(id), unit_.setter_name(id, field), type));
      lines.add(fmt::format("object.{} = value;", unit_.field_name(id, field)));
      lines.add("return object;");
      lines.close();
    }
    return lines.take();
  }

  /// "head(parameters) {", wrapped to several lines if necessary.
  static void open_function(IndentedLines& lines, std::string_view head, std::span<const std::string_view> parameters) {
    constexpr std::size_t kWidth = 120;
    lines.blank();
    std::string line;
    line.reserve(kWidth);
    append(line, head, "(");
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const std::string_view end = i + 1 < parameters.size() ? "," : ") {";
      const bool fits = line.size() + 1 + parameters[i].size() + end.size() <= kWidth;
      if (!fits) {
        lines.add(line);
        line = "   ";
      }
      append(line, line.ends_with('(') ? "" : " ", parameters[i], end);
    }
    if (parameters.empty()) line += ") {";
    lines.open(line);
  }

  PrintedFunction function(int index) {
    const ir::Function& function = unit_.module().functions[static_cast<std::size_t>(index)];
    static const ir::ExtremumOperands kNone;
    const std::vector<ir::ExtremumOperands>& operands = extremum_operands_.functions;
    FunctionPrinter printer(unit_, function, operands.empty() ? kNone : operands[static_cast<std::size_t>(index)],
                            options_.prints_source_comments);
    PrintedFunction printed;
    std::string result = "void";
    if (function.results.size() == 1) result = unit_.type(function.results[0]);
    if (function.results.size() > 1) {
      result = unit_.globals().declare(unit_.function_name(index) + "_results");
      IndentedLines lines;
      lines.blank();
      lines.open("struct ", result, " {");
      for (std::size_t i = 0; i < function.results.size(); ++i)
        lines.add(unit_.type(function.results[i]), " result_", std::to_string(i), ";");
      lines.close("};");
      printed.results = lines.take();
    }
    printed.head = concat(result, " ", unit_.function_name(index));
    printed.parameters = printer.parameters();
    printed.body = printer.body(EarlyReturnForm::kReturn, 1);
    return printed;
  }

  std::string functions(const Dialect& dialect) const {
    IndentedLines lines;
    for (const PrintedFunction& function : functions_) {
      lines.append(function.results);
      const std::vector<std::string_view> parameters(function.parameters.begin(), function.parameters.end());
      open_function(lines, concat(dialect.function_qualifier(), function.head), parameters);
      lines.append(function.body);
      lines.close();
    }
    return lines.take();
  }

  PrintedEntry entry(const ir::Function& function, Pass pass) {
    FunctionPrinter printer(unit_, function,
                            pass == Pass::kForward ? extremum_operands_.forward : extremum_operands_.backward,
                            options_.prints_source_comments);
    const bool tiled = ir::uses_tiles(function);
    std::vector<std::string> own = printer.parameters();
    PrintedEntry entry{.point = {.pass = pass,
                                 .symbol = entry_symbol(forward_, pass),
                                 .parameter_types = {},
                                 .required_block_threads = tiled ? backends::kThreadsPerTileBlock : 0},
                       .names = ThreadLoopNames(printer),
                       .thread = {},
                       .parameters = {},
                       .body = {}};
    const std::vector<std::string> extents = declare_extents(printer, function);
    for (const std::string& name : extents) {
      entry.parameters.push_back("int " + name);
      entry.point.parameter_types.push_back("int");
    }
    std::ranges::move(own, std::back_inserter(entry.parameters));
    for (int i = 0; i < function.parameter_count; ++i)
      entry.point.parameter_types.push_back(unit_.type(function.var(i).type));
    entry.thread = printer.internal_name(tiled ? "block" : "thread");
    entry.body = thread_body(printer, function, entry.thread, extents);
    return entry;
  }

  std::string entries(const Dialect& dialect) const {
    constexpr std::size_t kHead = 512;  // more than the lines around most bodies
    std::size_t size = 0;
    for (const PrintedEntry& entry : entries_)
      size += kHead + entry.body.size();
    IndentedLines lines(0, size);
    for (const PrintedEntry& entry : entries_) {
      const std::vector<std::string> range = dialect.range_parameters(entry.names);
      std::vector<std::string_view> parameters(range.begin(), range.end());
      parameters.insert(parameters.end(), entry.parameters.begin(), entry.parameters.end());
      open_function(lines, concat(dialect.entry_qualifier(), entry.point.symbol), parameters);
      if (entry.point.required_block_threads > 0) dialect.open_blocks(lines, entry.names, entry.thread);
      else dialect.open_threads(lines, entry.names, entry.thread);
      lines.append(entry.body);
      lines.close();
      lines.close();
    }
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

  static std::string thread_body(FunctionPrinter& printer, const ir::Function& function, const std::string& thread,
                                 const std::vector<std::string>& extents) {
    IndentedLines lines(2);
    declare_indices(lines, printer, function, thread, extents);
    if (returns_from_loop(function)) {
      // In a block, so that the goto leaves the scope of its variables.
      lines.open("{");
      lines.append(printer.body(EarlyReturnForm::kJumpToNextThread, 3));
      lines.close();
      lines.add(kNextThreadLabel, ":;");
    } else {
      lines.append(printer.body(EarlyReturnForm::kJumpToNextThread, 2));
    }
    return lines.take();
  }

  /// The last dimension varies fastest: for (i, j, k), k is thread % extent_k.
  static void declare_indices(IndentedLines& lines, FunctionPrinter& printer, const ir::Function& function,
                              const std::string& thread, const std::vector<std::string>& extents) {
    for (std::size_t dimension = 0; dimension <= extents.size(); ++dimension) {
      std::string number = thread;
      for (std::size_t faster = extents.size(); faster > dimension; --faster)
        number += " / " + extents[faster - 1];
      if (dimension > 0) number += " % " + extents[dimension - 1];
      const std::string& name = printer.declare(function.parameter_count + static_cast<int>(dimension));
      lines.add("const int ", name, " = int(", number, ");");
    }
  }

  SourceUnit unit_;
  const ir::Function& forward_;
  const ir::Function* backward_;
  const PrintOptions& options_;
  const ir::ExtremumOperandsOfKernel extremum_operands_;
  const std::set<int> called_;   ///< functions of the module
  const std::uint32_t scalars_;  ///< bit set of the scalar types in use
  std::vector<int> structs_;
  std::string structs_text_;
  std::vector<PrintedFunction> functions_;
  std::vector<PrintedEntry> entries_;
};

}  // namespace

std::string entry_symbol(const ir::Function& forward, Pass pass) {
  return legal_identifier(fmt::format("{}_{}", forward.name, backends::to_text(pass)));
}

namespace {

Result<void> check_kernel(const ir::Module& module, const ir::Function& forward, const ir::Function* backward,
                          SourceTarget target) {
  if (auto supported = check_supported(module, forward, target); !supported.ok()) return supported;
  return backward == nullptr ? Result<void>() : check_supported(module, *backward, target);
}

}  // namespace

Result<EmittedKernel> print(const ir::Module& module, const ir::Function& forward, const ir::Function* backward,
                            SourceTarget target, const PrintOptions& options) {
  if (target == SourceTarget::kWarpPython) return warp::emit(module, forward, backward != nullptr);
  if (options.prints_host_program && target != SourceTarget::kCuda)
    return Error{"--with-host is supported for CUDA only"};
  if (auto supported = check_kernel(module, forward, backward, target); !supported.ok()) return supported.error();
  return KernelPrinter(module, forward, backward, options).print(target);
}

Result<EmittedKernelPair> print_cpp_and_cuda(const ir::Module& module, const ir::Function& forward,
                                             const ir::Function* backward) {
  // C++ supports everything that CUDA supports. If CUDA fails, report the first reason.
  if (auto for_cuda = check_kernel(module, forward, backward, SourceTarget::kCuda); !for_cuda.ok()) {
    auto for_cpp = check_kernel(module, forward, backward, SourceTarget::kCpp);
    return for_cpp.ok() ? for_cuda.error() : for_cpp.error();
  }
  const PrintOptions options;
  KernelPrinter printer(module, forward, backward, options);
  Result<EmittedKernel> cpp = printer.print(SourceTarget::kCpp);
  if (!cpp.ok()) return cpp.error();
  Result<EmittedKernel> cuda = printer.print(SourceTarget::kCuda);
  if (!cuda.ok()) return cuda.error();
  return EmittedKernelPair{.cpp = cpp.take(), .cuda = cuda.take()};
}

}  // namespace assay::source
