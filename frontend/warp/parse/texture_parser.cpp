// The part of WarpExpressionParser that parses textures: wp.texture_sample.
//
// The textures of a launch are rows of an array of vectors of four channels, one array for each number of dimensions;
// texture 7 of two textures is row 1. A texture has the properties that Warp gives it by default: float32, linear
// interpolation, coordinates from 0 to 1 and clamped positions; it has one level.
#include <array>
#include <optional>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/hidden_parameters.hpp"
#include "ir/algebra.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;
using ir::VarId;
using ir::algebra::call;
using ir::algebra::E;

namespace {

constexpr ir::Type kTextureType = ir::scalar_type(ir::Scalar::kU64);
constexpr ir::Type kChannels = ir::vector_type(ir::Scalar::kF32, 4);
constexpr std::array<HiddenParameter, 3> kValues{HiddenParameter::kTextures1D, HiddenParameter::kTextures2D,
                                                 HiddenParameter::kTextures3D};

/// Builds the function that samples a texture of `rank` dimensions. The last dimension of the array is the first
/// coordinate.
class TextureSampler {
 public:
  TextureSampler(const ir::Module& module, int rank) : b_(module, function_), rank_(rank) {
    function_.name = fmt::format("wp_texture_{}d", rank);
    function_.results = {kChannels};
    values_ = b_.parameter("values", kChannels.array_of(rank + 1));
    texture_ = b_.parameter("texture", kTextureType);
    std::vector<VarId> coordinates;
    for (int d = 0; d < rank; ++d)
      coordinates.push_back(b_.parameter(fmt::format("{}", "uvw"[d]), ir::kF32));
    const ExprId count = b_.cast(kTextureType, b_.shape_of(values_, 0));
    row_ = b_.let("row", b_.cast(ir::scalar_type(ir::Scalar::kU32), b_.op(Op::kMod, {b_.var(texture_), count})));
    for (int d = 0; d < rank; ++d)
      find_neighbors(d, coordinates[static_cast<std::size_t>(d)]);
    std::vector<bool> picks(static_cast<std::size_t>(rank));
    b_.return_({interpolated(rank - 1, picks).id});
  }
  ir::Function take() { return std::move(function_); }

 private:
  E value(VarId variable) { return {&b_, b_.var(variable)}; }
  E number(double value) { return {&b_, b_.f32(value)}; }

  /// The two positions along one dimension between which the coordinate lies, and the weight of the second.
  void find_neighbors(int dimension, VarId coordinate) {
    const int of_array = rank_ - dimension;
    const auto last = [&] { return E{&b_, b_.op(Op::kSub, {b_.shape_of(values_, of_array), b_.i32(1)})}; };
    const E extent{&b_, b_.cast(ir::kF32, b_.shape_of(values_, of_array))};
    const E position = value(coordinate) * extent - number(0.5);
    const E end{&b_, b_.cast(ir::kF32, last().id)};
    const VarId at = b_.let("at", call(Op::kMax, number(0), call(Op::kMin, position, end)).id);
    const VarId low = b_.let("low", b_.cast(ir::kI32, call(Op::kFloor, value(at)).id));
    const ExprId next = b_.op(Op::kAdd, {b_.var(low), b_.i32(1)});
    const VarId high = b_.let("high", b_.op(Op::kMin, {next, last().id}));
    const E whole{&b_, b_.cast(ir::kF32, b_.var(low))};
    const VarId weight = b_.let("weight", (value(at) - whole).id);
    places_.push_back({low, high, weight});
  }

  /// The value at the chosen neighbors in the dimensions above `dimension`, interpolated along the others.
  E interpolated(int dimension, std::vector<bool>& picks) {
    if (dimension < 0) {
      std::vector<ExprId> indices{b_.var(row_)};
      for (int d = rank_ - 1; d >= 0; --d) {
        const Place& place = places_[static_cast<std::size_t>(d)];
        const VarId chosen = picks[static_cast<std::size_t>(d)] ? place.high : place.low;
        indices.push_back(b_.cast(ir::scalar_type(ir::Scalar::kU32), b_.var(chosen)));
      }
      return {&b_, b_.load(values_, std::move(indices))};
    }
    const auto d = static_cast<std::size_t>(dimension);
    picks[d] = false;
    const E first = interpolated(dimension - 1, picks);
    picks[d] = true;
    const E second = interpolated(dimension - 1, picks);
    return first * (1.0 - value(places_[d].weight)) + second * value(places_[d].weight);
  }

  struct Place {
    VarId low = kNone, high = kNone, weight = kNone;
  };

  ir::Function function_;
  ir::Builder b_;
  int rank_;
  VarId values_ = kNone, texture_ = kNone, row_ = kNone;
  std::vector<Place> places_;
};

}  // namespace

HiddenParameters texture_kinds_in(std::string_view text) {
  HiddenParameters found;
  for (std::size_t k = 0; k < kValues.size(); ++k) {
    if (text.find(fmt::format("Texture{}D", k + 1)) != std::string_view::npos)
      found.set(static_cast<std::size_t>(kValues[k]));
  }
  return found;
}

HiddenParameters texture_parameters_of(SyntaxNode call, const HiddenParameters& kinds) {
  const std::size_t coordinates = arguments_of(call).positional_arguments.size();
  if (coordinates < 3 || coordinates > 4) return kinds;  // one coordinate, which may be a vector
  return HiddenParameters().set(static_cast<std::size_t>(kValues[coordinates - 2]));
}

bool is_texture_extent(std::string_view attribute) {
  return attribute == "width" || attribute == "height" || attribute == "depth";
}

/// The extent of a texture. All textures of one number of dimensions have the same extents.
ExprId WarpExpressionParser::texture_extent(SyntaxNode node, std::string_view attribute) {
  const std::size_t least = attribute == "width" ? 1 : attribute == "height" ? 2 : 3;
  std::vector<std::size_t> ranks;
  for (std::size_t rank = least; rank <= kValues.size(); ++rank) {
    if (context_.hidden[static_cast<std::size_t>(kValues[rank - 1])] != kNone) ranks.push_back(rank);
  }
  if (ranks.size() != 1)
    return context_.error(node,
                          "extents of textures are supported only if all textures of the function have the same "
                          "number of dimensions");
  const ExprId array = hidden_parameter(node, kValues[ranks[0] - 1]);
  if (array == kNone) return kNone;
  context_.builder.at(node.loc());
  return context_.builder.shape_of(context_.function.expr(array).variable, static_cast<int>(ranks[0] + 1 - least));
}

ExprId WarpExpressionParser::texture_sample(SyntaxNode node) {
  const CallArguments given = arguments_of(node);
  const auto keyword = [&](std::string_view name) {
    const auto found = given.keyword_arguments.find(name);
    return found == given.keyword_arguments.end() ? SyntaxNode() : found->second;
  };
  std::vector<SyntaxNode> places = given.positional_arguments;
  for (const char* const name : {"tex", "uvw", "uv", "u", "v", "w"})
    if (const SyntaxNode place = keyword(name)) places.push_back(place);
  if (given.has_star_argument || places.size() < 2 || places.size() > 4)
    return context_.error(node, "expected a texture and one to three coordinates");
  const SyntaxNode dtype = keyword("dtype");
  const auto type = dtype ? context_.scope().type(dtype) : Result<ir::Type>(Error{"argument 'dtype' is missing"});
  if (!type.ok()) return context_.error(dtype ? dtype : node, type.error().message);
  const bool is_vector = type->is_vector() && type->scalar == ir::Scalar::kF32 && (type->rows == 2 || type->rows == 4);
  if (*type != ir::kF32 && !is_vector) return context_.error(dtype, "dtype must be float, vec2f or vec4f");
  std::vector<ExprId> values;
  for (const SyntaxNode place : places) {
    values.push_back(value(place));
    if (values.back() == kNone) return kNone;
  }
  if (context_.type_of(values[0]) != kTextureType)
    return context_.error(places[0],
                          fmt::format("expected a texture, got {}", context_.type_name(context_.type_of(values[0]))));
  const ir::Type first = context_.type_of(values[1]);
  std::vector<ExprId> coordinates(values.begin() + 1, values.end());
  if (coordinates.size() == 1 &&
      (first == ir::vector_type(ir::Scalar::kF32, 2) || first == ir::vector_type(ir::Scalar::kF32, 3))) {
    if (!context_.may_hoist)
      return context_.error(node,
                            "wp.texture_sample is not supported in expressions evaluated conditionally with a "
                            "vector of coordinates; use a separate statement");
    context_.builder.at(node.loc());
    const VarId saved = context_.builder.let("coordinates", coordinates[0]);
    coordinates.clear();
    for (int k = 0; k < first.rows; ++k)
      coordinates.push_back(context_.builder.op(Op::kExtract, {context_.builder.var(saved), context_.builder.i32(k)}));
  }
  for (const ExprId coordinate : coordinates) {
    if (context_.type_of(coordinate) != ir::kF32)
      return context_.error(node, "coordinates must be float32, vec2f or vec3f");
  }
  const int rank = static_cast<int>(coordinates.size());
  const ExprId array = hidden_parameter(node, kValues[static_cast<std::size_t>(rank - 1)]);
  if (array == kNone) return kNone;
  context_.loaded_arrays.push_back(context_.function.expr(array).variable);
  const auto make = [&](const ir::Module& module) { return TextureSampler(module, rank).take(); };
  const std::int32_t sampler = context_.file.library_function(fmt::format("wp_texture_{}d", rank), make);
  std::vector<ExprId> arguments{array, values[0]};
  arguments.insert(arguments.end(), coordinates.begin(), coordinates.end());
  context_.builder.at(node.loc());
  const ExprId channels = context_.builder.call(sampler, std::move(arguments));
  if (type->rows == 4) return channels;
  if (*type == ir::kF32) return context_.builder.op(Op::kExtract, {channels, context_.builder.i32(0)});
  return context_.builder.make(*type,
                               {context_.builder.op(Op::kExtract, {channels, context_.builder.i32(0)}),
                                context_.builder.op(Op::kExtract, {context_.copy(channels), context_.builder.i32(1)})});
}

}  // namespace assay::frontend
