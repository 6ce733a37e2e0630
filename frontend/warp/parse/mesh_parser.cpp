// The part of WarpExpressionParser that parses functions of meshes.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/hidden_parameters.hpp"
#include "frontend/warp/parse/mesh_queries.hpp"
#include "frontend/warp/parse/spatial_queries.hpp"
#include "frontend/warp/parse/warp_names.hpp"
#include "ir/algebra.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;
using ir::VarId;

namespace {

constexpr ir::Type kMeshId = ir::scalar_type(ir::Scalar::kU64);
constexpr ir::Type kRowType = ir::scalar_type(ir::Scalar::kU32);
constexpr ir::Type kPoint = ir::vector_type(ir::Scalar::kF32, 3);

/// A function of meshes: its name, its array of vectors, and its operands after the mesh.
struct MeshFunction {
  std::string_view name;           ///< name of the function after `wp.`
  HiddenParameter vectors;         ///< the points or the velocities; kMeshIndices: none
  std::string_view parameters;     ///< names of the parameters in Warp
  std::vector<ir::Type> operands;  ///< types of the parameters after the mesh
};
const MeshFunction* mesh_function(std::string_view name) {
  static const MeshFunction kFunctions[] = {
      {"mesh_get_point", HiddenParameter::kMeshPoints, "id index", {ir::kI32}},
      {"mesh_get_velocity", HiddenParameter::kMeshVelocities, "id index", {ir::kI32}},
      {"mesh_get_index", HiddenParameter::kMeshIndices, "id index", {ir::kI32}},
      {"mesh_eval_position", HiddenParameter::kMeshPoints, "id face bary_u bary_v", {ir::kI32, ir::kF32, ir::kF32}},
      {"mesh_eval_velocity", HiddenParameter::kMeshVelocities, "id face bary_u bary_v", {ir::kI32, ir::kF32, ir::kF32}},
      {"mesh_eval_face_normal", HiddenParameter::kMeshPoints, "id face", {ir::kI32}},
  };
  for (const MeshFunction& each : kFunctions)
    if (each.name == name) return &each;
  return nullptr;
}

/// The row of a mesh. Mesh 0, which does not exist, has a row that no array has.
ExprId row_of(ir::Builder& b, ExprId id) { return b.op(Op::kSub, {b.cast(kRowType, id), b.cast(kRowType, b.i32(1))}); }

/// Builds the functions of the language that compute the functions of Warp.
class MeshFunctionBuilder {
 public:
  MeshFunctionBuilder(const ir::Module& module, const MeshFunction& of) : builder_(module, function_) {
    function_.name = of.name;
    if (of.vectors != HiddenParameter::kMeshIndices) vectors_ = builder_.parameter("vectors", kPoint.array_of(2));
    indices_ = builder_.parameter("indices", ir::kI32.array_of(2));
    const VarId mesh = builder_.parameter("mesh", kMeshId);
    for (std::size_t k = 0; k < of.operands.size(); ++k)
      operands_.push_back(builder_.parameter(fmt::format("{}", "xuv"[k]), of.operands[k]));
    row_ = builder_.let("row", row_of(builder_, builder_.var(mesh)));
    ir::algebra::E result = compute(of.name);
    function_.results = {result.type()};
    builder_.return_({result.id});
  }
  ir::Function take() { return std::move(function_); }

 private:
  ir::algebra::E operand(std::size_t k) { return {&builder_, builder_.var(operands_[k])}; }
  /// The vertex index at a position in the array of indices. Neither counts from the end.
  ir::algebra::E index_at(ExprId position) {
    return {&builder_, builder_.load(indices_, {builder_.var(row_), builder_.cast(kRowType, position)})};
  }
  ir::algebra::E vector_at(ExprId position) {
    return {&builder_, builder_.load(vectors_, {builder_.var(row_), builder_.cast(kRowType, index_at(position).id)})};
  }
  /// Vertex 0, 1 or 2 of the face that is the first operand.
  ir::algebra::E corner(int number) {
    const ExprId first = builder_.op(Op::kMul, {builder_.var(operands_[0]), builder_.i32(3)});
    const ExprId position = builder_.op(Op::kAdd, {first, builder_.i32(number)});
    const char* const names[] = {"p", "q", "r"};
    return {&builder_, builder_.var(builder_.let(names[number], vector_at(position).id))};
  }
  ir::algebra::E compute(std::string_view name) {
    if (name == "mesh_get_index") return index_at(operand(0).id);
    if (name == "mesh_get_point" || name == "mesh_get_velocity") return vector_at(operand(0).id);
    const ir::algebra::E p = corner(0);
    const ir::algebra::E q = corner(1);
    const ir::algebra::E r = corner(2);
    if (name == "mesh_eval_face_normal")
      return ir::algebra::call(Op::kNormalize, ir::algebra::call(Op::kCross, q - p, r - p));
    const ir::algebra::E u = operand(1);
    const ir::algebra::E v = operand(2);
    return p * u + q * v + r * (ir::algebra::like(u, 1) - u - v);
  }

  ir::Function function_;
  ir::Builder builder_;
  VarId vectors_ = kNone;
  VarId indices_ = kNone;
  VarId row_ = kNone;
  std::vector<VarId> operands_;
};

}  // namespace

HiddenParameters hidden_parameters_of(SyntaxNode call, std::string_view warp_function) {
  if (const std::string query = untiled_query(warp_function); !query.empty()) return hidden_parameters_of(call, query);
  const auto bit = [](HiddenParameter parameter) {
    return HiddenParameters().set(static_cast<std::size_t>(parameter));
  };
  if (warp_function == "block_dim") return bit(HiddenParameter::kBlockSize);
  const HiddenParameters indices = bit(HiddenParameter::kMeshIndices);
  if (warp_function == "mesh_get")
    return indices | bit(HiddenParameter::kMeshPoints) | bit(HiddenParameter::kMeshVelocities);
  const MeshQuery* const query = find_mesh_query(warp_function);
  const bool visits_faces = continues_mesh_query(warp_function) || (query != nullptr && query->visits_faces);
  if (query != nullptr || visits_faces) {
    const HiddenParameters order = visits_faces ? bit(HiddenParameter::kMeshOrder) : HiddenParameters();
    const bool of_group = query != nullptr && selects_group(call, *query);
    const HiddenParameters groups = of_group ? bit(HiddenParameter::kMeshGroups) : HiddenParameters();
    return indices | bit(HiddenParameter::kMeshPoints) | order | groups | HiddenParameters().set(kQueriesMeshes);
  }
  if (const HiddenParameters volumes = volume_parameters_of(call, warp_function); volumes.any()) return volumes;
  const MeshFunction* const found = mesh_function(warp_function);
  return found == nullptr ? spatial_parameters_of(call, warp_function) : indices | bit(found->vectors);
}

bool WarpExpressionParser::is_mesh_function(std::string_view name) {
  return mesh_function(name) != nullptr || find_mesh_query(name) != nullptr || continues_mesh_query(name);
}

ExprId WarpExpressionParser::mesh_call(SyntaxNode node, std::string_view name) {
  if (const MeshQuery* query = find_mesh_query(name)) return mesh_query(node, *query);
  if (continues_mesh_query(name)) return continue_query(node, SpatialKind::kMesh);
  const MeshFunction& function = *mesh_function(name);
  std::vector<SyntaxNode> given;
  if (!match_named_arguments(node, {function.parameters}, given) || given.size() != function.operands.size() + 1)
    return context_.error(node, fmt::format("expected the arguments {}", function.parameters));
  std::vector<HiddenParameter> arrays{HiddenParameter::kMeshIndices};
  if (function.vectors != HiddenParameter::kMeshIndices) arrays.insert(arrays.begin(), function.vectors);
  const std::vector<ExprId> arguments = spatial_arguments(node, SpatialKind::kMesh, arrays, given);
  if (arguments.empty() || !have_types(given, arguments, function.operands)) return kNone;
  const auto make = [&](const ir::Module& module) { return MeshFunctionBuilder(module, function).take(); };
  context_.builder.at(node.loc());
  return context_.builder.call(context_.file.library_function(name, make), arguments);
}

VarId WarpExpressionParser::mesh_alias(SyntaxNode call) {
  const auto made = context_.mesh_aliases_by_call.find(call.id());
  if (made != context_.mesh_aliases_by_call.end()) return made->second;
  VarId& alias = context_.mesh_aliases_by_call[call.id()];
  alias = kNone;
  const CallArguments arguments = arguments_of(call);
  if (arguments.positional_arguments.size() != 1 || !arguments.keyword_arguments.empty()) {
    context_.error(call, "expected one argument, the mesh identifier");
    return kNone;
  }
  if (!context_.may_hoist) {
    context_.error(call,
                   "wp.mesh_get is not supported in expressions evaluated conditionally; use a separate statement");
    return kNone;
  }
  const ExprId id = spatial_id(arguments.positional_arguments[0], SpatialKind::kMesh);
  if (id == kNone) return kNone;
  context_.builder.at(call.loc());
  const VarId row = context_.builder.let("mesh_row", row_of(context_.builder, id));
  ir::Module& module = context_.file.module();
  ArrayStruct mesh;
  const auto found = std::ranges::find(module.structs, "wp_Mesh", &ir::StructDef::name);
  mesh.type = ir::struct_type(static_cast<int>(found - module.structs.begin()));
  if (found == module.structs.end()) {
    module.structs.push_back(
        {.name = "wp_Mesh",
         .fields = {
             {"points", kPoint.array_of(1)}, {"velocities", kPoint.array_of(1)}, {"indices", ir::kI32.array_of(1)}}});
  }
  for (const HiddenParameter array :
       {HiddenParameter::kMeshPoints, HiddenParameter::kMeshVelocities, HiddenParameter::kMeshIndices}) {
    const ExprId whole = hidden_parameter(call, array);
    if (whole == kNone) return kNone;
    const ir::Expr& expr = context_.function.expr(whole);
    ArrayView view{.array = expr.variable, .type = expr.type.element().array_of(1), .dimensions = {}};
    view.dimensions.push_back({.kind = DimensionSelection::kSingleIndex, .index = row});
    view.dimensions.push_back({});
    mesh.fields.push_back(context_.add(std::move(view)));
  }
  alias = context_.add(std::move(mesh));
  return alias;
}

}  // namespace assay::frontend
