// The part of WarpExpressionParser that parses volumes: wp.volume_sample, wp.volume_lookup, wp.volume_store and so on.
#include <array>
#include <optional>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/hidden_parameters.hpp"
#include "frontend/warp/parse/volume_functions.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::VarId;
using volumes::Content;
using volumes::Sampling;

namespace {

constexpr ir::Type kIdType = ir::scalar_type(ir::Scalar::kU64);
constexpr ir::Type kPoint = ir::vector_type(ir::Scalar::kF32, 3);
constexpr std::array kValueArrays{HiddenParameter::kVolumeFloats, HiddenParameter::kVolumeVectors,
                                  HiddenParameter::kVolumeInts};

/// The type of the values in each of kValueArrays.
constexpr std::array<ir::Type, 3> kValueTypes{ir::kF32, kPoint, ir::kI32};

std::optional<HiddenParameter> array_of_values(ir::Type type) {
  for (std::size_t k = 0; k < kValueTypes.size(); ++k)
    if (kValueTypes[k] == type) return kValueArrays[k];
  return std::nullopt;
}

/// What a function of Warp does.
enum class Action : std::uint8_t { kSample, kLookup, kStore, kNumber, kCount, kMapping };

/// A function of volumes.
struct VolumeCall {
  std::string_view name;        ///< name after `wp.volume_`
  std::string_view parameters;  ///< names of its parameters
  Action action;                ///< what it does
  Content content = Content::kVoxels;
  bool has_gradient = false;
  std::optional<ir::Type> type = {};  ///< type of a value; nullopt: that of an argument
};

constexpr auto kCalls = std::to_array<VolumeCall>({
    {"sample", "id uvw sampling_mode dtype", Action::kSample},
    {"sample_f", "id uvw sampling_mode", Action::kSample, Content::kVoxels, false, ir::kF32},
    {"sample_v", "id uvw sampling_mode", Action::kSample, Content::kVoxels, false, kPoint},
    {"sample_i", "id uvw", Action::kSample, Content::kVoxels, false, ir::kI32},
    {"sample_index", "id uvw sampling_mode voxel_data background", Action::kSample, Content::kData},
    {"sample_grad", "id uvw sampling_mode grad dtype", Action::kSample, Content::kVoxels, true},
    {"sample_grad_f", "id uvw sampling_mode grad", Action::kSample, Content::kVoxels, true, ir::kF32},
    {"sample_grad_index", "id uvw sampling_mode voxel_data background grad", Action::kSample, Content::kData, true},
    {"lookup", "id i j k dtype", Action::kLookup},
    {"lookup_f", "id i j k", Action::kLookup, Content::kVoxels, false, ir::kF32},
    {"lookup_v", "id i j k", Action::kLookup, Content::kVoxels, false, kPoint},
    {"lookup_i", "id i j k", Action::kLookup, Content::kVoxels, false, ir::kI32},
    {"lookup_index", "id i j k", Action::kNumber},
    {"store", "id i j k value", Action::kStore},
    {"store_f", "id i j k value", Action::kStore, Content::kVoxels, false, ir::kF32},
    {"store_v", "id i j k value", Action::kStore, Content::kVoxels, false, kPoint},
    {"store_i", "id i j k value", Action::kStore, Content::kVoxels, false, ir::kI32},
    {"voxel_count", "id", Action::kCount},
    {"index_to_world", "id uvw", Action::kMapping},
    {"world_to_index", "id xyz", Action::kMapping},
    {"index_to_world_dir", "id uvw", Action::kMapping},
    {"world_to_index_dir", "id xyz", Action::kMapping},
});

const VolumeCall* volume_function(std::string_view name) {
  constexpr std::string_view kPrefix = "volume_";
  if (!name.starts_with(kPrefix)) return nullptr;
  const auto found = std::ranges::find(kCalls, name.substr(kPrefix.size()), &VolumeCall::name);
  return found == kCalls.end() ? nullptr : &*found;
}

/// The arrays of values that a call may need, as far as the text of its last argument tells: a dtype or a value.
HiddenParameters arrays_of_values(SyntaxNode call) {
  const CallArguments arguments = arguments_of(call);
  const auto named = arguments.keyword_arguments.find("dtype");
  const SyntaxNode last = named != arguments.keyword_arguments.end() ? named->second
                          : arguments.positional_arguments.empty()   ? SyntaxNode()
                                                                     : arguments.positional_arguments.back();
  const std::string_view text = last ? last.text() : std::string_view();
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  const auto bit = [](std::size_t k) { return HiddenParameters().set(static_cast<std::size_t>(kValueArrays[k])); };
  if (has("vec3")) return bit(1);
  if (text == "float" || has("float32") || text.starts_with("float(")) return bit(0);
  if (text == "int" || has("int32") || text.starts_with("int(")) return bit(2);
  return bit(0) | bit(1) | bit(2);
}

}  // namespace

HiddenParameters volume_parameters_of(SyntaxNode call, std::string_view warp_function) {
  const VolumeCall* const function = volume_function(warp_function);
  if (function == nullptr) return {};
  const auto bit = [](HiddenParameter parameter) {
    return HiddenParameters().set(static_cast<std::size_t>(parameter));
  };
  if (function->action == Action::kMapping) {
    return bit(HiddenParameter::kVolumeSizes) |
           (function->name.ends_with("_dir") ? HiddenParameters() : bit(HiddenParameter::kVolumeOrigins));
  }
  const bool has_extents =
      function->content == Content::kData || function->action == Action::kNumber || function->action == Action::kCount;
  if (has_extents) return bit(HiddenParameter::kVolumeExtents);
  return function->type ? bit(*array_of_values(*function->type)) : arrays_of_values(call);
}

bool WarpExpressionParser::is_volume_function(std::string_view name) { return volume_function(name) != nullptr; }

/// Passes the arrays of all volumes and the identifier of one; empty after a reported error.
std::vector<ExprId> WarpExpressionParser::volume_arguments(SyntaxNode call, const std::vector<HiddenParameter>& arrays,
                                                           SyntaxNode id) {
  std::vector<ExprId> arguments;
  if (!pass_spatial_arrays(call, arrays, arguments)) return {};
  const ExprId volume = value(id);
  if (volume == kNone) return {};
  if (context_.type_of(volume) != kIdType) {
    context_.error(
        id, fmt::format("a volume identifier must be a uint64, got {}", context_.type_name(context_.type_of(volume))));
    return {};
  }
  note_id_range(volume, arrays[0]);
  arguments.push_back(volume);
  return arguments;
}

/// Appends the values of the arguments, which must have these types.
bool WarpExpressionParser::append_values(std::span<const SyntaxNode> given, std::span<const ir::Type> types,
                                         std::vector<ExprId>& arguments) {
  for (std::size_t k = 0; k < given.size(); ++k) {
    const ExprId next = value(given[k]);
    if (next == kNone) return false;
    if (context_.type_of(next) != types[k]) {
      context_.error(given[k], fmt::format("expected {}, got {}", context_.type_name(types[k]),
                                           context_.type_name(context_.type_of(next))));
      return false;
    }
    arguments.push_back(next);
  }
  return true;
}

ExprId WarpExpressionParser::volume_call(SyntaxNode node, std::string_view name) {
  const VolumeCall& function = *volume_function(name);
  std::vector<SyntaxNode> given;
  const auto count = static_cast<std::size_t>(std::ranges::count(function.parameters, ' ') + 1);
  if (!match_named_arguments(node, {function.parameters}, given) || given.size() != count)
    return context_.error(node, fmt::format("expected the arguments {}", function.parameters));
  WarpFileParser& file = context_.file;
  constexpr std::array kPosition{ir::kI32, ir::kI32, ir::kI32};
  if (function.action == Action::kMapping) return volume_mapping(node, function.name, given);
  if (function.action == Action::kNumber || function.action == Action::kCount) {
    std::vector<ExprId> arguments = volume_arguments(node, {HiddenParameter::kVolumeExtents}, given[0]);
    if (arguments.empty() || !append_values(std::span(given).subspan(1), kPosition, arguments)) return kNone;
    context_.builder.at(node.loc());
    const bool is_count = function.action == Action::kCount;
    return context_.builder.call(file.library_function(fmt::format("wp_volume_{}", function.name),
                                                       is_count ? volumes::voxel_count : volumes::voxel_number),
                                 arguments);
  }
  if (function.action == Action::kStore) return volume_store(node, given, function.type);
  Sampling sampling{.content = function.content, .type = ir::kVoid, .has_gradient = function.has_gradient};
  std::vector<ExprId> data;
  if (function.content == Content::kData) {
    if (!volume_data(given[3], given[4], data)) return kNone;
    sampling.type = context_.type_of(data[1]);
  } else if (function.type) {
    sampling.type = *function.type;
  } else {
    const auto type = context_.scope().type(given.back());
    if (!type.ok()) return context_.error(given.back(), type.error().message);
    sampling.type = *type;
  }
  const std::optional<HiddenParameter> values = array_of_values(sampling.type);
  if (!values && function.content == Content::kVoxels)
    return context_.error(node, fmt::format("volumes of {} are not supported, only those of float32, int32 and vec3f",
                                            context_.type_name(sampling.type)));
  const std::size_t loads_before = context_.loaded_arrays.size();
  std::vector<ExprId> arguments = volume_arguments(
      node, {function.content == Content::kData ? HiddenParameter::kVolumeExtents : *values}, given[0]);
  if (arguments.empty()) return kNone;
  arguments.insert(arguments.end(), data.begin(), data.end());
  const std::int32_t lookup = file.library_function(
      "wp_volume_" + volumes::name_of("lookup", {.content = sampling.content, .type = sampling.type}),
      [&](const ir::Module& module) {
        return volumes::lookup(module, {.content = sampling.content, .type = sampling.type});
      });
  context_.builder.at(node.loc());
  if (function.action == Action::kLookup) {
    if (!append_values(std::span(given).subspan(1, 3), kPosition, arguments)) return kNone;
    return context_.builder.call(lookup, arguments);
  }
  if (!choose_mode(function.name == "sample_i" ? SyntaxNode() : given[2], sampling)) return kNone;
  constexpr std::array kPlace{kPoint, ir::kI32};
  const std::size_t values_count = sampling.mode == volumes::Mode::kGiven ? 2 : 1;
  if (!append_values(std::span(given).subspan(1, values_count), kPlace, arguments)) return kNone;
  const std::int32_t sampler =
      file.library_function("wp_volume_" + volumes::name_of("sample", sampling),
                            [&](const ir::Module& module) { return volumes::sample(module, sampling, lookup); });
  context_.builder.at(node.loc());
  if (!function.has_gradient) return context_.builder.call(sampler, arguments);
  const SyntaxNode gradient = function.content == Content::kData ? given.back() : given[3];
  const std::vector<ir::Type> results = file.module().functions[static_cast<std::size_t>(sampler)].results;
  const VarId variable = changed_variable(gradient, results[1]);
  if (variable == kNone || !can_change_variables(node, loads_before, variable)) return kNone;
  context_.builder.at(node.loc());
  const std::vector<VarId> made = context_.builder.call_statement(sampler, arguments, {"sampled", "slope"});
  context_.builder.assign(variable, context_.builder.var(made[1]));
  return context_.builder.var(made[0]);
}

/// Sets the mode of the function if the argument is a constant, or missing: then it is that of the closest voxel.
bool WarpExpressionParser::choose_mode(SyntaxNode argument, volumes::Sampling& sampling) {
  const auto mode = argument ? context_.constant(argument) : std::optional(Constant::integer(0));
  if (mode && mode->type.is_integer_scalar() && mode->number().integer == 0) {
    sampling.mode = volumes::Mode::kClosest;
  } else if (sampling.type == ir::kI32) {
    context_.error(argument, "integers can be sampled with wp.Volume.CLOSEST only");
    return false;
  } else if (mode && mode->type.is_integer_scalar() && mode->number().integer == 1) {
    sampling.mode = volumes::Mode::kLinear;
  }
  return true;
}

/// A vector in voxel coordinates or in the world, mapped to the other.
ExprId WarpExpressionParser::volume_mapping(SyntaxNode node, std::string_view name, std::span<const SyntaxNode> given) {
  const bool is_direction = name.ends_with("_dir");
  std::vector<HiddenParameter> arrays{HiddenParameter::kVolumeSizes};
  if (!is_direction) arrays.push_back(HiddenParameter::kVolumeOrigins);
  std::vector<ExprId> arguments = volume_arguments(node, arrays, given[0]);
  const ExprId vector = arguments.empty() ? kNone : value(given[1]);
  if (vector == kNone) return kNone;
  const ir::Type type = context_.type_of(vector);
  if (type != kPoint && type != ir::vector_type(ir::Scalar::kF64, 3))
    return context_.error(given[1], fmt::format("expected vec3f or vec3d, got {}", context_.type_name(type)));
  arguments.push_back(vector);
  const auto make = [&](const ir::Module& module) {
    return volumes::mapping(module, type.scalar, name.starts_with("index_to_world"), is_direction);
  };
  const std::string made_name = fmt::format("wp_volume_{}_{}", name, type == kPoint ? "f" : "d");
  const std::int32_t function = context_.file.library_function(made_name, make);
  context_.builder.at(node.loc());
  return context_.builder.call(function, arguments);
}

/// The array with the values of the voxels of a volume, and the background.
bool WarpExpressionParser::volume_data(SyntaxNode data, SyntaxNode background, std::vector<ExprId>& arguments) {
  const AssignmentTarget array = is_array_expression(data) ? place(data) : AssignmentTarget();
  if (array.failed() || !array.is_whole_array() || array.type.rank != 1) {
    context_.error(data, "voxel_data must be an array parameter with one dimension");
    return false;
  }
  const ir::Type element = array.type.element();
  const bool is_supported =
      element == ir::kF32 || element == ir::kI32 || (element.is_vector() && element.scalar == ir::Scalar::kF32);
  if (!is_supported) {
    context_.error(data, fmt::format("elements of voxel_data must be float32, int32 or vectors of float32, got {}",
                                     context_.type_name(element)));
    return false;
  }
  context_.builder.at(data.loc());
  arguments.push_back(context_.builder.var(array.variable));
  context_.loaded_arrays.push_back(array.variable);
  return append_values({&background, 1}, {&element, 1}, arguments);
}

ExprId WarpExpressionParser::volume_store(SyntaxNode node, std::span<const SyntaxNode> given,
                                          std::optional<ir::Type> type) {
  if (context_.whole_value != node.id()) return context_.error(node, "wp.volume_store returns no value");
  constexpr std::array kPosition{ir::kI32, ir::kI32, ir::kI32};
  std::vector<ExprId> position;
  if (!append_values(given.subspan(1, 3), kPosition, position)) return kNone;
  const ExprId stored = value(given[4]);
  if (stored == kNone) return kNone;
  const ir::Type found = context_.type_of(stored);
  const std::optional<HiddenParameter> values = array_of_values(found);
  if (!values || (type && *type != found)) {
    return context_.error(
        given[4], fmt::format("expected {}, got {}", type ? context_.type_name(*type) : "float32, int32 or vec3f",
                              context_.type_name(found)));
  }
  std::vector<ExprId> arguments = volume_arguments(node, {*values}, given[0]);
  if (arguments.empty()) return kNone;
  arguments.insert(arguments.end(), position.begin(), position.end());
  arguments.push_back(stored);
  context_.entry.has_side_effects = true;
  const std::string name = fmt::format("wp_volume_store_{}", found == ir::kF32 ? "f" : found == ir::kI32 ? "i" : "v3");
  const std::int32_t function =
      context_.file.library_function(name, [&](const ir::Module& module) { return volumes::store(module, found); });
  context_.builder.at(node.loc());
  context_.builder.call_statement(function, arguments, {});
  return kNone;
}

}  // namespace assay::frontend
