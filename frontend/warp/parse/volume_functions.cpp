#include "frontend/warp/parse/volume_functions.hpp"

#include <array>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/algebra.hpp"

namespace assay::frontend::volumes {
namespace {

using ir::ExprId;
using ir::Op;
using ir::VarId;
using ir::algebra::call;
using ir::algebra::E;
using ir::algebra::make;
using ir::algebra::zero;

constexpr ir::Type kIdType = ir::scalar_type(ir::Scalar::kU64);
constexpr ir::Type kRow = ir::scalar_type(ir::Scalar::kU32);
constexpr ir::Type kPoint = ir::vector_type(ir::Scalar::kF32, 3);
constexpr ir::Type kExtents = ir::vector_type(ir::Scalar::kI32, 3);
constexpr std::array<const char*, 3> kCoordinates{"i", "j", "k"};

/// The suffix of functions for values of this type: "f", "i", "v3".
std::string suffix_of(ir::Type type) {
  if (type.is_vector()) return fmt::format("v{}", type.rows);
  return type == ir::kI32 ? "i" : "f";
}

/// Builds one function.
class VolumeFunction {
  ir::Function function_;

 public:
  ir::Builder b;  ///< appends to the function

  VolumeFunction(const ir::Module& module, const std::string& name) : b(module, function_) {
    function_.name = "wp_volume_" + name;
  }

  E parameter(const char* name, ir::Type type) { return value(b.parameter(name, type)); }
  E value(VarId variable) { return {&b, b.var(variable)}; }
  E let(const char* name, E value) { return this->value(b.let(name, value.id)); }
  E i32(std::int64_t number) { return {&b, b.i32(number)}; }
  E cast(ir::Type type, E value) { return {&b, b.cast(type, value.id)}; }
  E called(std::int32_t function, const std::vector<E>& arguments) {
    std::vector<ExprId> ids;
    for (const E argument : arguments)
      ids.push_back(argument.id);
    return {&b, b.call(function, std::move(ids))};
  }

  /// Declares three integer parameters.
  std::vector<E> coordinates() {
    std::vector<E> all;
    for (const char* const name : kCoordinates)
      all.push_back(parameter(name, ir::kI32));
    return all;
  }
  /// The row of a volume. Volume 0, which does not exist, has a row that no array has.
  E row_of(E volume) { return let("row", {&b, b.op(Op::kSub, {b.cast(kRow, volume.id), b.cast(kRow, b.i32(1))})}); }
  /// Element `row` of an array with one element for each volume.
  E row_in(VarId array, E row) { return {&b, b.load(array, {row.id})}; }
  /// Runs `leave`, which must end the function, unless the coordinates are those of an active voxel.
  void leave_if_outside(const std::vector<E>& at, const std::function<E(int)>& extent,
                        const std::function<void()>& leave) {
    for (int k = 0; k < 3; ++k) {
      const E position = at[static_cast<std::size_t>(k)];
      b.if_(ir::algebra::either(position < i32(0), call(Op::kGe, position, extent(k))).id, leave);
    }
  }
  void return_values(const std::vector<E>& values) {
    std::vector<ExprId> ids;
    std::vector<ir::Type> types;
    for (const E each : values) {
      ids.push_back(each.id);
      types.push_back(each.type());
    }
    b.return_(std::move(ids));
    function_.results = std::move(types);
  }
  ir::Function take() { return std::move(function_); }
};

/// The parameters of a function that finds values, and the arguments that pass them on.
struct ContentParameters {
  VarId first;       ///< the values, or the extents of all volumes
  VarId volume;      ///< identifier of the volume
  VarId data;        ///< for Content::kData: the values
  VarId background;  ///< for Content::kData: the value of voxels that are not active
};

ContentParameters content_parameters(VolumeFunction& f, const Sampling& sampling) {
  ContentParameters made{ir::kNone, ir::kNone, ir::kNone, ir::kNone};
  const bool has_data = sampling.content == Content::kData;
  made.first =
      has_data ? f.b.parameter("extents", kExtents.array_of(1)) : f.b.parameter("values", sampling.type.array_of(4));
  made.volume = f.b.parameter("volume", kIdType);
  if (!has_data) return made;
  made.data = f.b.parameter("data", sampling.type.array_of(1));
  made.background = f.b.parameter("background", sampling.type);
  return made;
}

std::vector<E> passed_on(VolumeFunction& f, const ContentParameters& given) {
  std::vector<E> all{f.value(given.first), f.value(given.volume)};
  if (given.data != ir::kNone) {
    all.push_back(f.value(given.data));
    all.push_back(f.value(given.background));
  }
  return all;
}

/// The integers next to the coordinates of a point, on both sides, and the weights of both.
struct Cell {
  std::array<std::array<E, 2>, 3> positions;
  std::array<std::array<E, 2>, 3> weights;
};

Cell cell_of(VolumeFunction& f, E point) {
  Cell cell{};
  for (int k = 0; k < 3; ++k) {
    const auto axis = static_cast<std::size_t>(k);
    const E floor = f.let("floor", call(Op::kFloor, point[k]));
    const E low = f.let("low", f.cast(ir::kI32, floor));
    const E part = f.let("part", point[k] - floor);
    cell.positions[axis] = {low, low + f.i32(1)};
    cell.weights[axis] = {1.0 - part, part};
  }
  return cell;
}

}  // namespace

std::string name_of(std::string_view what, const Sampling& sampling) {
  const char* const mode = sampling.mode == Mode::kClosest  ? "_closest"
                           : sampling.mode == Mode::kLinear ? "_linear"
                                                            : "";
  return fmt::format("{}{}{}_{}{}", what, sampling.has_gradient ? "_grad" : "",
                     sampling.content == Content::kData ? "_index" : "", suffix_of(sampling.type), mode);
}

ir::Function lookup(const ir::Module& module, const Sampling& sampling) {
  VolumeFunction f(module, name_of("lookup", sampling));
  const ContentParameters content = content_parameters(f, sampling);
  const std::vector<E> at = f.coordinates();
  const E row = f.row_of(f.value(content.volume));
  if (sampling.content == Content::kVoxels) {
    f.leave_if_outside(
        at,
        [&](int k) {
          return E{&f.b, f.b.shape_of(content.first, k + 1)};
        },
        [&] { f.b.return_({f.b.zero(sampling.type)}); });
    f.return_values({{&f.b, f.b.load(content.first, {row.id, f.cast(kRow, at[0]).id, f.cast(kRow, at[1]).id,
                                                     f.cast(kRow, at[2]).id})}});
    return f.take();
  }
  const E extents = f.let("box", f.row_in(content.first, row));
  f.leave_if_outside(
      at, [&](int k) { return extents[k]; }, [&] { f.b.return_({f.b.var(content.background)}); });
  const E number = (at[0] * extents[1] + at[1]) * extents[2] + at[2];
  f.return_values({{&f.b, f.b.load(content.data, {f.cast(kRow, number).id})}});
  return f.take();
}

ir::Function sample(const ir::Module& module, const Sampling& sampling, std::int32_t lookup_index) {
  VolumeFunction f(module, name_of("sample", sampling));
  const ContentParameters content = content_parameters(f, sampling);
  const E point = f.parameter("uvw", kPoint);
  const auto value_at = [&](const std::vector<E>& at) {
    std::vector<E> arguments = passed_on(f, content);
    arguments.insert(arguments.end(), at.begin(), at.end());
    return f.called(lookup_index, arguments);
  };
  const auto closest = [&] {
    std::vector<E> at;
    for (int k = 0; k < 3; ++k)
      at.push_back(f.cast(ir::kI32, call(Op::kRound, point[k])));
    return value_at(at);
  };
  const ir::Type gradient_type =
      sampling.type.is_vector() ? ir::matrix_type(ir::Scalar::kF32, sampling.type.rows, 3) : kPoint;
  const auto flat = [&](E value) {
    return sampling.has_gradient ? std::vector{value, zero(value, gradient_type)} : std::vector{value};
  };
  if (sampling.mode == Mode::kClosest) {
    f.return_values(flat(closest()));
    return f.take();
  }
  if (sampling.mode == Mode::kGiven) {
    const E mode = f.parameter("mode", ir::kI32);
    const auto return_flat = [&](E value) {
      std::vector<ExprId> ids;
      for (const E each : flat(value))
        ids.push_back(each.id);
      f.b.return_(std::move(ids));
    };
    f.b.if_(call(Op::kEq, mode, f.i32(0)).id, [&] { return_flat(closest()); });
    f.b.if_(call(Op::kNe, mode, f.i32(1)).id, [&] { return_flat(zero(point, sampling.type)); });
  }
  const Cell cell = cell_of(f, point);
  const VarId total = f.b.let("total", f.b.zero(sampling.type));
  const VarId slope = sampling.has_gradient ? f.b.let_zero("slope", gradient_type) : ir::kNone;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    const std::array<std::size_t, 3> side{corner >> 2U & 1U, corner >> 1U & 1U, corner & 1U};
    const auto weight = [&](std::size_t axis) { return cell.weights[axis][side[axis]]; };
    const E value =
        f.let("value", value_at({cell.positions[0][side[0]], cell.positions[1][side[1]], cell.positions[2][side[2]]}));
    f.b.assign(total, (f.value(total) + weight(0) * weight(1) * weight(2) * value).id);
    if (!sampling.has_gradient) continue;
    const auto signed_product = [&](std::size_t axis) {
      const E product = weight((axis + 1) % 3) * weight((axis + 2) % 3);
      return side[axis] == 1 ? product : -product;
    };
    const E of_weight = f.let("of_weight", make(kPoint, {signed_product(0), signed_product(1), signed_product(2)}));
    const E term = sampling.type.is_vector() ? call(Op::kOuter, value, of_weight) : value * of_weight;
    f.b.assign(slope, (f.value(slope) + term).id);
  }
  f.return_values(sampling.has_gradient ? std::vector{f.value(total), f.value(slope)} : std::vector{f.value(total)});
  return f.take();
}

ir::Function store(const ir::Module& module, ir::Type type) {
  VolumeFunction f(module, "store_" + suffix_of(type));
  const VarId values = f.b.parameter("values", type.array_of(4));
  const E volume = f.parameter("volume", kIdType);
  const std::vector<E> at = f.coordinates();
  const E value = f.parameter("value", type);
  const E row = f.row_of(volume);
  f.leave_if_outside(
      at,
      [&](int k) {
        return E{&f.b, f.b.shape_of(values, k + 1)};
      },
      [&] { f.b.return_(); });
  f.b.store(values, {row.id, f.cast(kRow, at[0]).id, f.cast(kRow, at[1]).id, f.cast(kRow, at[2]).id}, value.id);
  return f.take();
}

ir::Function voxel_number(const ir::Module& module) {
  VolumeFunction f(module, "lookup_index");
  const VarId all = f.b.parameter("extents", kExtents.array_of(1));
  const E volume = f.parameter("volume", kIdType);
  const std::vector<E> at = f.coordinates();
  const E extents = f.let("box", f.row_in(all, f.row_of(volume)));
  f.leave_if_outside(
      at, [&](int k) { return extents[k]; }, [&] { f.b.return_({f.b.i32(-1)}); });
  f.return_values({(at[0] * extents[1] + at[1]) * extents[2] + at[2]});
  return f.take();
}

ir::Function voxel_count(const ir::Module& module) {
  VolumeFunction f(module, "voxel_count");
  const VarId all = f.b.parameter("extents", kExtents.array_of(1));
  const E volume = f.parameter("volume", kIdType);
  const E extents = f.let("box", f.row_in(all, f.row_of(volume)));
  f.return_values({extents[0] * extents[1] * extents[2]});
  return f.take();
}

ir::Function mapping(const ir::Module& module, ir::Scalar scalar, bool to_world, bool is_direction) {
  const ir::Type type = ir::vector_type(scalar, 3);
  VolumeFunction f(module, fmt::format("{}{}{}", to_world ? "index_to_world" : "world_to_index",
                                       is_direction ? "_dir" : "", scalar == ir::Scalar::kF64 ? "_d" : ""));
  const VarId sizes = f.b.parameter("sizes", kPoint.array_of(1));
  const VarId origins = is_direction ? ir::kNone : f.b.parameter("origins", kPoint.array_of(1));
  const E volume = f.parameter("volume", kIdType);
  const E given = f.parameter("vector", type);
  const E row = f.row_of(volume);
  const E size = f.let("size", f.row_in(sizes, row));
  const E origin = is_direction ? size : f.let("origin", f.row_in(origins, row));
  std::vector<E> parts;
  for (int k = 0; k < 3; ++k) {
    const auto as_scalar = [&](E each) {
      return scalar == ir::Scalar::kF32 ? each : f.cast(ir::scalar_type(scalar), each);
    };
    // As in Warp, the inverse of the size is rounded before it is used.
    const E inverse =
        to_world ? as_scalar(size[k]) : f.let("inverse", ir::algebra::like(given, 1.0) / as_scalar(size[k]));
    const E moved = to_world || is_direction ? given[k] : given[k] - as_scalar(origin[k]);
    const E scaled = moved * inverse;
    parts.push_back(to_world && !is_direction ? scaled + as_scalar(origin[k]) : scaled);
  }
  f.return_values({make(type, parts)});
  return f.take();
}

}  // namespace assay::frontend::volumes
