// What the readers of statements and expressions share while they read one function.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/warp/parse/bindings.hpp"
#include "frontend/warp/parse/dataflow.hpp"
#include "frontend/warp/parse/file_parser.hpp"
#include "ir/builder.hpp"

namespace assay::frontend {

/// A name of a part of an array: a Place whose indices were evaluated.
struct ViewDimension {
  DimensionKind kind = DimensionKind::kWhole;
  ir::VarId index = ir::kNone;
  ir::VarId start = ir::kNone;
  ir::VarId extent = ir::kNone;
  std::int64_t step = 1;
};
struct View {
  ir::VarId array = ir::kNone;
  ir::Type type;  ///< an array of the rank that is left
  std::vector<ViewDimension> dimensions;
};
/// A name of a struct with arrays: what each of its fields is, a variable or an alias.
struct Pack {
  ir::Type type;
  std::vector<ir::VarId> fields;
};

struct FunctionContext {
  FileReader& file;
  FunctionEntry& entry;
  ir::Function& function;
  ir::Builder builder;
  Dataflow flow;
  Bindings bindings;
  bool failed = false;
  bool has_results = false;  ///< a return has been read

  /// Of a gradient: the variables that sum the adjoints of the function's parameters, by name.
  std::map<std::string_view, ir::VarId> adjoints;

  /// False while reading what may stay unevaluated: nothing may be moved before the statement then.
  bool may_hoist = true;
  /// The variables whose arrays the statement has read so far; an effect on one of them would come too early.
  std::vector<ir::VarId> loads;

  FunctionContext(FileReader& file_reader, FunctionEntry& function_entry, ir::Function& into, Dataflow dataflow)
      : file(file_reader),
        entry(function_entry),
        function(into),
        builder(file_reader.module(), into),
        flow(std::move(dataflow)) {}

  /// Names may also stand for parts of arrays and for structs with arrays. Such an alias is a number below kNone.
  ir::VarId add(View view) {
    views_.push_back(std::move(view));
    return -2 * static_cast<ir::VarId>(views_.size());
  }
  ir::VarId add(Pack pack) {
    packs_.push_back(std::move(pack));
    return -2 * static_cast<ir::VarId>(packs_.size()) - 1;
  }
  const View* view(ir::VarId name) const {
    return name < ir::kNone && name % 2 == 0 ? &views_[static_cast<std::size_t>(-name / 2 - 1)] : nullptr;
  }
  const Pack* pack(ir::VarId name) const {
    return name < ir::kNone && name % 2 != 0 ? &packs_[static_cast<std::size_t>((-name - 1) / 2 - 1)] : nullptr;
  }
  static bool is_alias(ir::VarId name) { return name < ir::kNone; }

  const ModuleScope& scope() const { return entry.home->scope; }
  bool defines(std::string_view name) const { return FileReader::find(*entry.home, name) != nullptr; }
  /// The name that a function may be known by: of an identifier, or of a member of another file's module, "physics.f".
  /// Empty for what is a variable here, and for any other node.
  std::string_view global_name(Node node) const;
  /// The functions of this name that the function being read sees, read as far as possible.
  std::vector<FunctionEntry*> functions(std::string_view name) { return file.functions(*entry.home, name); }
  ir::Type type_of(ir::ExprId expr) const { return builder.type_of(expr); }

  /// Of a gradient: what it returns, in the order of the parameters.
  std::vector<ir::ExprId> adjoint_values();

  /// Reports and gives kNone, so that `return context.error(...)` reads well.
  ir::ExprId error(Node node, std::string reason);
  void note(Node node, std::string reason);

  /// Appends an expression that the builder has no maker for.
  ir::ExprId add(Node node, ir::Expr expr);
  /// The operation if its operands fit, or the library's function of its name if those fit, else an error that names
  /// the types found.
  ir::ExprId operation(Node node, ir::Op op, const std::vector<ir::ExprId>& args, ir::Type requested = ir::kVoid);
  /// An operation on scalars applied to each element of tiles, whatever it is; `operation` takes for tiles only what
  /// Warp has operators for.
  ir::ExprId apply_by_element(Node node, ir::Op op, const std::vector<ir::ExprId>& args);
  /// The call of Warp's function of the library if it takes the operands, else such an error.
  ir::ExprId library_call(Node node, std::string_view name, const std::vector<ir::ExprId>& args);
  /// A second expression like the first: trees do not share nodes.
  ir::ExprId copy(ir::ExprId expr);
  /// A type as Warp's user writes it: "float32", "vec3", "array(dtype=float32, ndim=2)".
  std::string type_name(ir::Type type) const;

 private:
  std::deque<View> views_;
  std::deque<Pack> packs_;

  ir::ExprId call(Node node, int function_index, const std::vector<ir::ExprId>& args);
};

}  // namespace assay::frontend
