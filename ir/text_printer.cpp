#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "ir/analysis.hpp"
#include "ir/text.hpp"
#include "ir/text_names.hpp"
#include "ir/visit.hpp"
#include "support/concat.hpp"
#include "support/hash.hpp"

namespace assay::ir {
namespace {

constexpr std::string_view kUnknown = "?";

std::string type_text(Type type, std::string_view struct_name) {
  const std::string_view scalar = row(type.scalar).name;
  std::string element(kUnknown);
  switch (type.shape) {
    case Shape::kVoid: break;
    case Shape::kScalar: element = scalar; break;
    case Shape::kVector: element = concat("vec<", scalar, ",", std::to_string(type.rows), ">"); break;
    case Shape::kMatrix:
      element = concat("mat<", scalar, ",", std::to_string(type.rows), ",", std::to_string(type.cols), ">");
      break;
    case Shape::kQuaternion: element = concat("quat<", scalar, ">"); break;
    case Shape::kTransform: element = concat("transform<", scalar, ">"); break;
    case Shape::kStruct: element = struct_name; break;
  }
  if (type.tile_rank() == 1) element = fmt::format("tile<{},{}>", element, type.tile[0]);
  if (type.tile_rank() == 2) element = fmt::format("tile<{},{},{}>", element, type.tile[0], type.tile[1]);
  if (type.is_array()) return concat("array<", element, ",", std::to_string(type.rank), ">");
  if (type.is_local_array()) return fmt::format("local<{},{}>", element, type.extent);
  return element;
}

std::string type_text(const text::ModuleNames& names, Type type) {
  const bool named = type.shape == Shape::kStruct && type.struct_id < names.structs.size();
  return type_text(type, named ? std::string_view(names.structs[type.struct_id]) : kUnknown);
}

/// Shortest decimal that parses to the same number of the type; always has a point, an exponent or a word, which
/// distinguishes it from an integer.
std::string float_text(Scalar scalar, std::uint64_t bits) {
  const auto value = std::bit_cast<double>(bits);
  if (std::isnan(value)) return bits == 0x7ff8000000000000 ? "nan" : fmt::format("nan(0x{:016x})", bits);
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = scalar == Scalar::kF32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

/// i32 and f32, the default types of literals in Warp, need no suffix.
std::string literal_text(Type type, std::uint64_t bits) {
  if (!type.is_scalar()) return std::string(kUnknown);
  const Scalar scalar = type.scalar;
  if (scalar == Scalar::kBool) return bits != 0 ? "true" : "false";
  std::string text = is_float(scalar)        ? float_text(scalar, bits)
                     : row(scalar).is_signed ? std::to_string(static_cast<std::int64_t>(bits))
                                             : std::to_string(bits);
  if (scalar != Scalar::kI32 && scalar != Scalar::kF32) append(text, ":", row(scalar).name);
  return text;
}

/// Prints one function or kernel.
class FunctionPrinter {
 public:
  FunctionPrinter(const Module& module, const text::ModuleNames& names, const Function& function, NamingScheme naming,
                  std::string& out)
      : module_(module),
        names_(names),
        function_(function),
        variables_(text::name_variables(function, naming)),
        out_(out) {}

  void print(std::string_view name) {
    append(out_, function_.is_kernel ? "kernel" : "func", " ", name, "(");
    parameters();
    for (VarId i = 0; i < function_.launch_rank; ++i)
      append(out_, i == 0 ? "; " : ", ", variable(function_.parameter_count + i));
    out_ += ')';
    for (std::size_t i = 0; i < function_.results.size(); ++i)
      append(out_, i == 0 ? " -> " : ", ", type_text(names_, function_.results[i]));
    out_ += ' ';
    print(function_.body);
    out_ += '\n';
  }

 private:
  template <class T>
  static bool has(const std::vector<T>& items, std::int32_t index) {
    return index >= 0 && static_cast<std::size_t>(index) < items.size();
  }

  std::string_view variable(VarId id) const {
    return has(variables_, id) ? std::string_view(variables_[static_cast<std::size_t>(id)]) : kUnknown;
  }
  std::string_view function_name(std::int32_t index) const {
    return has(names_.functions, index) ? std::string_view(names_.functions[static_cast<std::size_t>(index)])
                                        : kUnknown;
  }
  void declaration(VarId id) {
    const Type type = has(function_.variables, id) ? function_.var(id).type : kVoid;
    append(out_, variable(id), ": ", type_text(names_, type));
  }
  void parameters() {
    for (VarId id = 0; id < function_.parameter_count; ++id) {
      if (id > 0) out_ += ", ";
      if (has(function_.variables, id) && function_.var(id).is_nullable) out_ += "nullable ";
      declaration(id);
    }
  }

  // ---- expressions

  /// `parent` is the node that has this operand: an operand that does not precede it is invalid and not followed.
  void expression(ExprId id, ExprId parent) {
    if (!has(function_.expressions, id) || id >= parent) {
      out_ += kUnknown;
      return;
    }
    const Expr& expr = function_.expr(id);
    switch (expr.kind) {
      case ExprKind::kLiteral: out_ += literal_text(expr.type, expr.bits); break;
      case ExprKind::kVariable: out_ += variable(expr.variable); break;
      case ExprKind::kOperation: operation(id, expr); break;
      case ExprKind::kLoad: load(id, expr); break;
      case ExprKind::kShapeOf:
        out_ += "shape(";
        operand(id, 0);
        append(out_, ", ", std::to_string(expr.index), ")");
        break;
      case ExprKind::kField:
        operand(id, 0);
        append(out_, ".", field(id));
        break;
      case ExprKind::kCall:
        append(out_, function_name(expr.index), "(");
        list(expr.args, 0, id);
        out_ += ')';
        break;
    }
  }
  void expression(ExprId id) { expression(id, past_all()); }
  ExprId past_all() const { return static_cast<ExprId>(function_.expressions.size()); }

  void operand(ExprId id, std::size_t number) {
    const std::vector<ExprId>& args = function_.expr(id).args;
    if (number < args.size()) expression(args[number], id);
    else out_ += kUnknown;
  }

  void operation(ExprId id, const Expr& expr) {
    const OperationEntry& table = row(expr.op);
    out_ += table.mnemonic;
    if (table.rule == TypeRule::kWithField) {
      out_ += '(';
      operand(id, 0);
      append(out_, ", ", field(id), ", ");
      operand(id, 1);
    } else {
      if (takes_requested_type(table.rule)) append(out_, "<", type_text(names_, expr.type), ">");
      out_ += '(';
      list(expr.args, 0, id);
    }
    out_ += ')';
  }

  /// Name of field `index` of the struct operand.
  std::string_view field(ExprId id) const {
    const Expr& expr = function_.expr(id);
    if (expr.args.empty() || expr.args[0] < 0 || expr.args[0] >= id) return kUnknown;
    return field(function_.expr(expr.args[0]).type, expr.index);
  }
  std::string_view field(Type type, std::int32_t index) const {
    if (!type.is_struct() || type.struct_id >= module_.structs.size()) return kUnknown;
    const std::vector<std::string>& fields = names_.fields[type.struct_id];
    return has(fields, index) ? std::string_view(fields[static_cast<std::size_t>(index)]) : kUnknown;
  }

  void list(const std::vector<ExprId>& ids, std::size_t first, ExprId parent) {
    for (std::size_t i = first; i < ids.size(); ++i) {
      if (i > first) out_ += ", ";
      expression(ids[i], parent);
    }
  }
  void list(const std::vector<ExprId>& ids) { list(ids, 0, past_all()); }

  /// A tile load has its type as a prefix, an element load does not need it.
  void load(ExprId id, const Expr& expr) {
    const bool tile = loads_tile(function_, expr);
    if (tile) append(out_, text::kTileLoadKeyword, "<", type_text(names_, expr.type), ">(");
    operand(id, 0);
    out_ += '[';
    list(expr.args, 1, id);
    out_ += tile ? "])" : "]";
  }

  void element(ExprId array, const std::vector<ExprId>& indices) {
    expression(array);
    out_ += '[';
    list(indices);
    out_ += ']';
  }

  // ---- statements

  void begin_line() { out_.append(indent_, ' '); }

  /// Prints '{' to '}' without the newline at the end.
  void print(const Block& block) {
    out_ += "{\n";
    indent_ += 2;
    for (const Stmt& statement : block.statements) {
      begin_line();
      std::visit([&](const auto& node) { print(node); }, statement.node);
      out_ += '\n';
    }
    indent_ -= 2;
    begin_line();
    out_ += '}';
  }

  void print(const Let& let) {
    out_ += "let ";
    declaration(let.variable);
    if (let.value == kNone) return;
    out_ += " = ";
    expression(let.value);
  }
  void print(const Assign& assign) {
    if (assign.is_augmented) out_ += "augment ";
    append(out_, variable(assign.variable), " = ");
    expression(assign.value);
  }
  void print(const Store& store) {
    if (store.is_augmented) out_ += "augment ";
    element(store.array, store.indices);
    out_ += " = ";
    expression(store.value);
  }
  void print(const Atomic& atomic) {
    if (atomic.result != kNone) {
      out_ += "let ";
      declaration(atomic.result);
      out_ += " = ";
    }
    append(out_, row(atomic.op).mnemonic, "(");
    element(atomic.array, atomic.indices);
    Type whole = has(function_.expressions, atomic.array) ? function_.expr(atomic.array).type.element() : kVoid;
    for (const std::int32_t index : atomic.fields) {
      append(out_, ".", field(whole, index));
      const bool exists = whole.is_struct() && whole.struct_id < module_.structs.size() &&
                          has(module_.structs[whole.struct_id].fields, index);
      whole = exists ? module_.structs[whole.struct_id].fields[static_cast<std::size_t>(index)].type : kVoid;
    }
    out_ += ", ";
    if (atomic.compare_operand != kNone) {
      expression(atomic.compare_operand);
      out_ += ", ";
    }
    expression(atomic.value);
    out_ += ')';
  }
  void print(const Call& call) {
    for (std::size_t i = 0; i < call.results.size(); ++i) {
      out_ += i == 0 ? "let " : ", ";
      declaration(call.results[i]);
    }
    append(out_, call.results.empty() ? "" : " = ", "call ", function_name(call.function), "(");
    list(call.args);
    out_ += ')';
  }
  /// An else block that contains only an if is printed as `else if`.
  void print(const If& branch) {
    out_ += "if ";
    expression(branch.condition);
    out_ += ' ';
    print(branch.then_block);
    const std::vector<Stmt>& otherwise = branch.else_block.statements;
    if (otherwise.empty()) return;
    out_ += " else ";
    if (otherwise.size() == 1 && std::holds_alternative<If>(otherwise[0].node)) {
      print(std::get<If>(otherwise[0].node));
    } else {
      print(branch.else_block);
    }
  }
  void print(const For& loop) {
    out_ += "for ";
    declaration(loop.variable);
    out_ += " in range(";
    expression(loop.start);
    out_ += ", ";
    expression(loop.stop);
    out_ += ", ";
    expression(loop.step);
    out_ += ") ";
    print(loop.body);
  }
  void print(const While& loop) {
    out_ += "while ";
    expression(loop.condition);
    out_ += ' ';
    print(loop.body);
  }
  void print(const Break&) { out_ += "break"; }
  void print(const Continue&) { out_ += "continue"; }
  void print(const Return& leave) {
    out_ += leave.values.empty() ? "return" : "return ";
    list(leave.values);
  }

  const Module& module_;
  const text::ModuleNames& names_;
  const Function& function_;
  std::vector<std::string> variables_;
  std::string& out_;
  std::size_t indent_ = 0;
};

void print_annotations(const Function& function, std::string& out) {
  for (std::string annotation : function.annotations) {
    for (char& c : annotation) {
      if (c == '\n' || c == '\r') c = ' ';
    }
    out += fmt::format("# {}\n", annotation);
  }
}

}  // namespace

std::string to_text(const Module& module, NamingScheme naming) {
  const text::ModuleNames names = text::name_module(module, naming);
  std::string out;
  const auto separate = [&] {
    if (!out.empty()) out += '\n';
  };
  for (std::size_t i = 0; i < module.structs.size(); ++i) {
    separate();
    out += fmt::format("struct {} {{\n", names.structs[i]);
    for (std::size_t j = 0; j < module.structs[i].fields.size(); ++j) {
      out += fmt::format("  {}: {}\n", names.fields[i][j], type_text(names, module.structs[i].fields[j].type));
    }
    out += "}\n";
  }
  const auto print = [&](const Function& function, const std::string& name) {
    separate();
    if (naming == NamingScheme::kSource) print_annotations(function, out);
    FunctionPrinter(module, names, function, naming, out).print(name);
  };
  const std::vector<std::size_t> order = text::function_order(module, naming);
  for (const std::size_t i : order)
    print(module.functions[i], names.functions[i]);
  for (const std::size_t i : order) {
    const auto custom = [&](std::string_view word, std::int32_t index) {
      if (index == kNone) return;
      const bool known = index >= 0 && static_cast<std::size_t>(index) < names.functions.size();
      separate();
      out += fmt::format("{} {} = {}\n", word, names.functions[i],
                         known ? std::string_view(names.functions[static_cast<std::size_t>(index)]) : kUnknown);
    };
    custom("gradient", module.functions[i].gradient_function_index);
    custom("replay", module.functions[i].replay_function_index);
  }
  for (std::size_t i = 0; i < module.kernels.size(); ++i)
    print(module.kernels[i], names.kernels[i]);
  return out;
}

std::string to_text(const Module& module, Type type) {
  if (type.is_void()) return "void";
  const bool named = type.shape == Shape::kStruct && type.struct_id < module.structs.size();
  return type_text(type, named ? std::string_view(module.structs[type.struct_id].name) : kUnknown);
}

std::string hash(const Module& module) { return sha256_hex(to_text(module, NamingScheme::kCanonical)); }

}  // namespace assay::ir
