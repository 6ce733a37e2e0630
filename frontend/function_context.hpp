// What the readers of statements and expressions share while they read one function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/bindings.hpp"
#include "frontend/dataflow.hpp"
#include "frontend/file_reader.hpp"
#include "ir/builder.hpp"

namespace assay::frontend {

struct FunctionContext {
  FileReader& file;
  FunctionEntry& entry;
  ir::Function& function;
  ir::Builder builder;
  Dataflow flow;
  Bindings bindings;
  bool failed = false;
  bool has_results = false;  ///< a return has been read

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

  const ModuleScope& scope() const { return file.scope(); }
  ir::Type type_of(ir::ExprId expr) const { return builder.type_of(expr); }

  /// Reports and gives kNone, so that `return context.error(...)` reads well.
  ir::ExprId error(Node node, std::string reason);
  void note(Node node, std::string reason);

  /// Appends an expression that the builder has no maker for.
  ir::ExprId add(Node node, ir::Expr expr);
  /// The operation if its operands fit, or the library's function of its name if those fit, else an error that names
  /// the types found.
  ir::ExprId operation(Node node, ir::Op op, const std::vector<ir::ExprId>& args, ir::Type requested = ir::kVoid);
  /// The call of Warp's function of the library if it takes the operands, else such an error.
  ir::ExprId library_call(Node node, std::string_view name, const std::vector<ir::ExprId>& args);
  /// A second expression like the first: trees do not share nodes.
  ir::ExprId copy(ir::ExprId expr);
  /// A type as Warp's user writes it: "float32", "vec3", "array(dtype=float32, ndim=2)".
  std::string type_name(ir::Type type) const;

 private:
  ir::ExprId call(Node node, int function_index, const std::vector<ir::ExprId>& args);
};

}  // namespace assay::frontend
