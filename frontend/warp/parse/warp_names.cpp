#include "frontend/warp/parse/warp_names.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "ir/spelling/spelling.hpp"

namespace assay::frontend {
namespace {

using ir::Op;
using ir::Scalar;

struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <class T>
using Names = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

template <class T>
std::optional<T> find(const Names<T>& names, std::string_view name) {
  const auto found = names.find(name);
  if (found == names.end()) return std::nullopt;
  return found->second;
}

/// The types that Warp has names for, and those of handles.
Names<ir::Type> make_types() {
  const auto& named = ir::spelling::types_by_name();
  Names<ir::Type> types(named.begin(), named.end());
  // A texture is known by its number. `handle` is Warp's name for the type of identifiers of meshes and so on.
  for (const char* const name : {"Texture1D", "Texture2D", "Texture3D", "handle"})
    types.emplace(name, ir::scalar_type(ir::Scalar::kU64));
  return types;
}

/// The patterns of the operation table, parsed.
struct Operations {
  Names<Op> functions;
  Names<Op> binary;
  Names<Op> unary;

  Operations() {
    for (const ir::OperationEntry& row : ir::kOperations) {
      const std::string_view pattern = row.warp_pattern;
      if (pattern.starts_with("wp.")) {
        functions.emplace(pattern.substr(3, pattern.find('(') - 3), row.op);
      } else if (row.arity == 2 && pattern.starts_with("$0 ") && pattern.ends_with(" $1")) {
        binary.emplace(pattern.substr(3, pattern.size() - 6), row.op);
      } else if (row.arity == 1 && pattern.ends_with("$0")) {
        const std::string_view symbol = pattern.substr(0, pattern.size() - 2);
        unary.emplace(symbol.substr(0, symbol.find(' ')), row.op);
      }
    }
    binary.emplace("**", Op::kPow);
    binary.emplace("@", Op::kMul);
    // Operators that Warp also supports as functions, named as in the table.
    for (const Op op : {Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kMod, Op::kFloorDiv, Op::kNeg, Op::kBitAnd,
                        Op::kBitOr, Op::kBitXor}) {
      functions.emplace(row(op).mnemonic, op);
    }
    for (const Op op : {Op::kBitNot, Op::kShiftLeft, Op::kShiftRight})
      functions.emplace(warp_name(op), op);
  }
};

const Operations& operations() {
  static const Operations instance;
  return instance;
}

}  // namespace

ir::Type warp_type(std::string_view name) {
  static const Names<ir::Type> types = make_types();
  return find(types, name).value_or(ir::kVoid);
}

std::optional<double> warp_constant(std::string_view name) {
  static const Names<double> numbers = [] {
    Names<double> made;
    const auto add = [&](const char* lower, const char* upper, double value) {
      made.emplace(lower, value);
      made.emplace(upper, value);
    };
    add("pi", "PI", std::numbers::pi);
    add("tau", "TAU", 2 * std::numbers::pi);
    add("half_pi", "HALF_PI", std::numbers::pi / 2);
    add("e", "E", std::numbers::e);
    add("log2e", "LOG2E", std::numbers::log2e);
    add("log10e", "LOG10E", std::numbers::log10e);
    add("ln2", "LN2", std::numbers::ln2);
    add("ln10", "LN10", std::numbers::ln10);
    add("phi", "PHI", std::numbers::phi);
    add("inf", "INF", std::numeric_limits<double>::infinity());
    add("nan", "NAN", std::numeric_limits<double>::quiet_NaN());
    return made;
  }();
  return find(numbers, name);
}

std::optional<Op> warp_function(std::string_view name) { return find(operations().functions, name); }
std::optional<Op> binary_operator(std::string_view symbol) { return find(operations().binary, symbol); }
std::optional<Op> unary_operator(std::string_view symbol) { return find(operations().unary, symbol); }

std::string_view warp_name(Op op) {
  switch (op) {
    case Op::kBitNot: return "invert";
    case Op::kShiftLeft: return "lshift";
    case Op::kShiftRight: return "rshift";
    default: return row(op).mnemonic;
  }
}

std::string_view operator_function_name(std::string_view symbol) {
  static constexpr std::pair<std::string_view, std::string_view> kFunctions[] = {
      {"+", "add"},       {"-", "sub"},     {"*", "mul"},    {"@", "mul"},     {"/", "div"},
      {"//", "floordiv"}, {"%", "mod"},     {"**", "pow"},   {"&", "bit_and"}, {"|", "bit_or"},
      {"^", "bit_xor"},   {"<<", "lshift"}, {">>", "rshift"}};
  const auto* const found =
      std::ranges::find(kFunctions, symbol, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(kFunctions) ? std::string_view() : found->second;
}

bool is_float32_only(std::string_view function) {
  static constexpr std::string_view kFunctions[] = {
      "closest_point_edge_edge", "norm_huber",      "norm_l1",          "norm_pseudo_huber", "quat_from_euler",
      "quat_to_euler",           "quat_to_rpy",     "quat_twist",       "quat_twist_angle",  "quat_twist_angle_signed",
      "smooth_normalize",        "transform_twist", "transform_wrench", "velocity_at_point"};
  return std::ranges::find(kFunctions, function) != std::end(kFunctions);
}

std::vector<std::string_view> warp_parameters(std::string_view function) {
  struct Row {
    std::string_view parameters;
    std::string_view functions;
  };
  // Functions composed of operations, and further signatures of operations.
  static constexpr Row kRows[] = {
      {"a", " argmax argmin determinant max min trace "},
      {"a b", " spatial_cross spatial_cross_dual spatial_dot transform_multiply "},
      {"a b t", " quat_slerp "},
      {"vec", " diag skew "},
      {"v", " norm_l1 norm_l2 norm_huber norm_pseudo_huber smooth_normalize "},
      {"v delta", " norm_huber norm_pseudo_huber smooth_normalize "},
      {"mat", " get_diag quat_from_matrix transform_from_matrix "},
      {"quat", " quat_to_axis_angle quat_to_matrix "},
      {"quat vec", " quat_rotate quat_rotate_inv "},
      {"axis angle", " quat_from_axis_angle "},
      {"axis q", " quat_twist quat_twist_angle quat_twist_angle_signed "},
      {"roll pitch yaw", " quat_rpy "},
      {"q", " quat_to_rpy "},
      {"e i j k", " quat_from_euler "},
      {"q i j k", " quat_to_euler "},
      {"position rotation scale", " transform_compose "},
      {"m", " transform_decompose "},
      {"x", " bit_count "},
      {"A", " qr3 svd2 "},
      {"p1 q1 p2 q2 epsilon", " closest_point_edge_edge "},
      {"v0 v1 v2 u0 u1 u2", " intersect_tri_tri "},
      {"state x", " noise "},
      {"state xy", " noise "},
      {"state xyz", " noise "},
      {"state xyzt", " noise "},
      {"state x px", " pnoise "},
      {"state xy px py", " pnoise "},
      {"state xyz px py pz", " pnoise "},
      {"state xyzt px py pz pt", " pnoise "},
      {"state xy octaves lacunarity gain", " curlnoise "},
      {"state xyz octaves lacunarity gain", " curlnoise "},
      {"state xyzt octaves lacunarity gain", " curlnoise "},
      {"r s", " spatial_adjoint "},
      {"xform", " transform_inverse transform_to_matrix "},
      {"xform point", " transform_point "},
      {"mat point", " transform_point "},
      {"xform vec", " transform_vector "},
      {"mat vec", " transform_vector "},
      {"t x", " transform_twist transform_wrench "},
      {"qd r", " velocity_at_point "},
  };
  const std::string wanted = fmt::format(" {} ", function);
  std::vector<std::string_view> found;
  if (const auto op = warp_function(function); op && !ir::row(*op).parameter_names.empty()) {
    found.push_back(ir::row(*op).parameter_names);
  }
  for (const Row& row : kRows)
    if (row.functions.find(wanted) != std::string_view::npos) found.push_back(row.parameters);
  return found;
}

std::optional<Constant> warp_default(std::string_view function, std::string_view parameter) {
  if (function != "curlnoise") return std::nullopt;
  if (parameter == "octaves") return Constant::integer(1).as(scalar_type(Scalar::kU32));
  if (parameter == "lacunarity") return Constant::real(2);
  if (parameter == "gain") return Constant::real(0.5);
  return std::nullopt;
}

std::optional<ir::AtomicOp> warp_atomic(std::string_view name) {
  for (const ir::AtomicOperationEntry& row : ir::kAtomics) {
    if (row.warp_name == name) return row.op;
  }
  return std::nullopt;
}

std::string_view reason_unsupported(std::string_view function) {
  struct Reason {
    std::string_view prefix;  ///< the beginning of the names of the functions
    std::string_view text;
  };
  constexpr auto kReasons = std::to_array<Reason>({
      {"eig3", "Warp stops the iteration before convergence, so the error of the result has no bound"},
      {"svd3", "Warp stops the iteration before convergence, so the error of the result has no bound"},
      {"mesh_get_bvh", "the hierarchy of a mesh depends on how Warp makes it"},
      {"tile_rand", "the numbers depend on the size of the block"},
      {"tile_sort", "the order of equal keys is unspecified"},
      {"tile_slice_indexed", "Assay cannot select rows of a tile by another tile"},
      {"breakpoint", "a judged kernel cannot stop in a debugger"},
      {"array", "Assay does not model arrays that a kernel makes from a pointer"},
  });
  const auto found =
      std::ranges::find_if(kReasons, [&](const Reason& reason) { return function.starts_with(reason.prefix); });
  return found == kReasons.end() ? std::string_view() : found->text;
}

std::string untiled_query(std::string_view function) {
  const bool is_query = function.starts_with("bvh_query") || function.starts_with("mesh_query");
  if (is_query && function.ends_with("_tiled")) return std::string(function.substr(0, function.size() - 6));
  const bool is_tiled = function.starts_with("tile_bvh_query") || function.starts_with("tile_mesh_query");
  return is_tiled ? std::string(function.substr(5)) : std::string();
}

bool is_thread_value_function(std::string_view function) {
  return function == "tile" || function == "untile" || function == "tile_query_valid" ||
         function.starts_with("tile_scatter_") || function.starts_with("tile_stack") ||
         !untiled_query(function).empty();
}

}  // namespace assay::frontend
