// Queries of meshes, hash grids, hierarchies of boxes, textures and volumes, as Python text: they are functions of
// Warp, which the frontend turns into programs of the language.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generators/families.hpp"

namespace assay::generators {
namespace {

/// A literal of a multiple of 1/16, which has an exact decimal.
std::string number(Rng& rng, double low, double high) {
  const std::string text = fmt::format("{}", std::max(low, std::floor(rng.uniform_real(low, high) * 16) / 16));
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

/// The Python text of a kernel under construction: one thread for each point, which adds numbers to a sum.
class SpatialText {
 public:
  SpatialText(Rng& rng, std::string_view name) : rng_(rng), name_(name) {
    point_ = rng_.choose({"x", "points", "p", "positions"});
    parameters_.push_back(fmt::format("{}: wp.array(dtype=wp.vec3)", point_));
    at_ = fmt::format("{}[i]", point_);
  }

  Rng& rng() { return rng_; }
  const std::string& at() const { return at_; }
  std::string factor() { return number(rng_, 0.25, 1.75); }
  std::string axis() { return std::to_string(rng_.uniform_int(0, 2)); }
  std::string constant_vector(double low, double high) {
    return fmt::format("wp.vec3({}, {}, {})", number(rng_, low, high), number(rng_, low, high),
                       number(rng_, low, high));
  }

  /// A structure: `mesh` or `meshes[i]`.
  std::string structure(const std::string& one, const std::string& several) {
    if (rng_.bernoulli(0.7)) {
      parameters_.insert(parameters_.begin(), one + ": wp.uint64");
      return one;
    }
    parameters_.insert(parameters_.begin(), several + ": wp.array(dtype=wp.uint64)");
    return several + "[i]";
  }
  void parameter(std::string_view name, std::string_view annotation) {
    const std::string text = fmt::format("{}: {}", name, annotation);
    if (std::ranges::find(parameters_, text) == parameters_.end()) parameters_.push_back(text);
  }
  /// The array of the numbers of groups, some of which no structure has.
  void groups() {
    const std::string domain = "domain: 0 <= groups <= 3";
    if (std::ranges::find(comments_, domain) == comments_.end()) comments_.push_back(domain);
    parameter("groups", "wp.array(dtype=int)");
  }
  /// A direction: an axis, or an element of an array.
  std::string direction() {
    if (rng_.bernoulli(0.25)) {
      const int axis = rng_.uniform_int(0, 2);
      return fmt::format("wp.vec3({}, {}, {})", axis == 0 ? "1.0" : "0.0", axis == 1 ? "-1.0" : "0.0",
                         axis == 2 ? "0.5" : "0.0");
    }
    parameter("dir", "wp.array(dtype=wp.vec3)");
    return "dir[i]";
  }
  /// A distance: a number, or a parameter.
  std::string reach(double low, double high) {
    if (rng_.bernoulli(0.5)) return number(rng_, low, high);
    if (!has_reach_) comments_.push_back("domain: 0.5 <= reach <= 2");
    has_reach_ = true;
    parameter("reach", "float");
    return "reach";
  }
  std::string unique(const std::string& name) {
    const int count = ++uses_by_name_[name];
    return count == 1 ? name : fmt::format("{}_{}", name, count);
  }

  void line(std::string text) { body_.push_back(std::string(4 * depth_, ' ') + std::move(text)); }
  template <class Body>
  void block(std::string head, Body body) {
    line(std::move(head));
    ++depth_;
    body();
    --depth_;
  }
  void add(const std::string& value) { line(fmt::format("sum += {}", value)); }
  void count(const std::string& value) {
    counts_ = true;
    line(fmt::format("count += {}", value));
  }
  std::string take() {
    std::string text = "import warp as wp\n\n\n";
    for (const std::string& comment : comments_)
      text += fmt::format("# {}\n", comment);
    parameters_.push_back("out: wp.array(dtype=float)");
    if (counts_) parameters_.push_back("counts: wp.array(dtype=int)");
    text +=
        fmt::format("@wp.kernel\ndef {}(\n    {},\n):\n    i = wp.tid()\n", name_, fmt::join(parameters_, ",\n    "));
    text += fmt::format("    sum = float({})\n", number(rng_, 0.0, 1.0));
    if (counts_) text += "    count = int(0)\n";
    for (const std::string& line : body_)
      text += fmt::format("    {}\n", line);
    text += "    out[i] = sum\n";
    if (counts_) text += "    counts[i] = count\n";
    return text;
  }

 private:
  Rng& rng_;
  std::string name_;
  std::string point_;
  std::string at_;
  std::vector<std::string> parameters_;
  std::vector<std::string> comments_;
  std::vector<std::string> body_;
  std::map<std::string, int> uses_by_name_;
  std::size_t depth_ = 0;
  bool has_reach_ = false;
  bool counts_ = false;
};

// ---- meshes

/// What a kernel computes with a point on a mesh.
void use_mesh_point(SpatialText& text, const std::string& mesh, const std::string& query, bool has_sign) {
  const std::string closest = text.unique("closest");
  text.line(fmt::format("{} = wp.mesh_eval_position({}, {}.face, {}.u, {}.v)", closest, mesh, query, query, query));
  const std::string sign = has_sign ? query + ".sign * " : "";
  switch (text.rng().uniform_int(0, 4)) {
    case 0: text.add(fmt::format("{}{} * wp.length({} - {})", sign, text.factor(), text.at(), closest)); break;
    case 1:
      text.add(fmt::format("{}wp.dot({}, {}) * {}", sign, closest, text.constant_vector(-1, 1), text.factor()));
      break;
    case 2: text.add(fmt::format("{}{}[{}] * {}[{}]", sign, closest, text.axis(), text.at(), text.axis())); break;
    case 3: text.add(fmt::format("{}({} * {}.u - {}.v)", sign, text.factor(), query, query)); break;
    default:
      text.add(fmt::format("{}wp.dot(wp.mesh_eval_velocity({}, {}.face, {}.u, {}.v), {})", sign, mesh, query, query,
                           query, text.at()));
  }
  if (text.rng().bernoulli(0.3)) {
    text.add(fmt::format("wp.mesh_eval_face_normal({}, {}.face)[{}] * {}", mesh, query, text.axis(), text.factor()));
  }
}

void query_mesh_point(SpatialText& text, const std::string& mesh) {
  struct Query {
    const char* name;
    bool has_sign;
    const char* rest;
  };
  const Query query = text.rng().choose<Query>({
      {"mesh_query_point_no_sign", false, ""},
      {"mesh_query_point", true, ""},
      {"mesh_query_point_sign_normal", true, ""},
      {"mesh_query_point_sign_normal", true, ", epsilon=0.002"},
      {"mesh_query_point_sign_parity", true, ", 3, 0.2"},
      {"mesh_query_point_sign_winding_number", true, ""},
      {"mesh_query_point_sign_winding_number", true, ", 2.0, 0.0625"},
      {"mesh_query_furthest_point_no_sign", false, ""},
  });
  const bool is_furthest = std::string_view(query.name).find("furthest") != std::string_view::npos;
  const std::string found = text.unique("query");
  text.line(fmt::format("{} = wp.{}({}, {}, {}{})", found, query.name, mesh, text.at(),
                        is_furthest ? number(text.rng(), 0.0, 0.5) : text.reach(0.5, 3.0), query.rest));
  text.block(fmt::format("if {}.result:", found), [&] { use_mesh_point(text, mesh, found, query.has_sign); });
  if (text.rng().bernoulli(0.4)) text.block("else:", [&] { text.add(fmt::format("{}[{}]", text.at(), text.axis())); });
}

void query_mesh_ray(SpatialText& text, const std::string& mesh, const std::string& root) {
  const std::string direction = text.direction();
  const std::string group = root.empty() ? "" : ", root=" + root;
  switch (text.rng().uniform_int(0, 4)) {
    case 0:
      text.count(fmt::format("wp.mesh_query_ray_count_intersections({}, {}, {}{})", mesh, text.at(), direction, group));
      return;
    case 1:
      text.block(fmt::format("if wp.mesh_query_ray_anyhit({}, {}, {}, {}{}):", mesh, text.at(), direction,
                             text.reach(0.5, 3.0), group),
                 [&] { text.add(text.at() + "[" + text.axis() + "]"); });
      return;
    default: break;
  }
  const std::string hit = text.unique("hit");
  text.line(fmt::format("{} = wp.mesh_query_ray({}, {}, {}, {}{})", hit, mesh, text.at(), direction,
                        text.reach(0.5, 3.0), group));
  text.block(fmt::format("if {}.result:", hit), [&] {
    const std::vector<std::string> terms = {
        fmt::format("{}.t * {}", hit, text.factor()),
        fmt::format("wp.dot({} + {}.t * {}, {})", text.at(), hit, direction, text.constant_vector(-1, 1)),
        fmt::format("{}.sign * ({}.u - {} * {}.v)", hit, hit, text.factor(), hit),
        fmt::format("wp.dot({}.normal, {})", hit, text.constant_vector(-1, 1)),
    };
    // Several terms, so that few kernels leave a part of the hit unused.
    const int first = text.rng().uniform_int(0, 3);
    const int count = text.rng().uniform_int(1, 3);
    for (int k = 0; k < count; ++k)
      text.add(terms[static_cast<std::size_t>((first + k) % 4)]);
  });
}

void visit_faces(SpatialText& text, const std::string& mesh) {
  const std::string near = text.unique("near");
  if (text.rng().bernoulli(0.5)) {
    text.line(fmt::format("{} = wp.mesh_query_aabb({}, {} - {}, {} + {})", near, mesh, text.at(),
                          text.constant_vector(0.25, 1.0), text.at(), text.constant_vector(0.25, 1.0)));
  } else {
    text.line(fmt::format("{} = wp.mesh_query_sphere({}, {}, {})", near, mesh, text.at(), text.reach(0.25, 1.0)));
  }
  const auto use = [&](const std::string& face) {
    switch (text.rng().uniform_int(0, 3)) {
      case 0: text.count("1"); break;
      case 1: text.count(fmt::format("1 << ({} % 8)", face)); break;
      case 2:
        text.add(
            fmt::format("wp.mesh_eval_position({}, {}, 0.25, 0.5)[{}] * {}", mesh, face, text.axis(), text.factor()));
        break;
      default:
        text.add(
            fmt::format("wp.mesh_get_point({}, 3 * {})[{}] * {}[{}]", mesh, face, text.axis(), text.at(), text.axis()));
    }
  };
  if (text.rng().bernoulli(0.5)) {
    const std::string face = text.unique("face");
    text.block(fmt::format("for {} in {}:", face, near), [&] { use(face); });
  } else {
    const std::string face = text.unique("face");
    text.line(face + " = int(0)");
    text.block(fmt::format("while wp.mesh_query_next({}, {}):", near, face), [&] { use(face); });
  }
}

void use_mesh(SpatialText& text) {
  const std::string mesh = text.structure("mesh", "meshes");
  std::string root;
  if (text.rng().bernoulli(0.25)) {
    text.groups();
    root = "root";
    text.line(fmt::format("root = wp.mesh_get_group_root({}, groups[i])", mesh));
  }
  const int count = text.rng().uniform_int(1, 3);
  for (int k = 0; k < count; ++k) {
    switch (text.rng().uniform_int(0, root.empty() ? 4 : 2)) {
      case 0:
      case 1: query_mesh_ray(text, mesh, root); break;
      case 2:
      case 3: query_mesh_point(text, mesh); break;
      default: visit_faces(text, mesh); break;
    }
  }
}

// ---- hierarchies of boxes and hash grids

void use_boxes(SpatialText& text) {
  const std::string bvh = text.structure("bvh", "hierarchies");
  const int count = text.rng().uniform_int(1, 2);
  for (int k = 0; k < count; ++k) {
    const std::string query = text.unique("query");
    const std::string box = text.unique("box");
    std::string limit;
    std::string start;
    switch (text.rng().uniform_int(0, 3)) {
      case 0:
        start = fmt::format("bvh_query_aabb({}, {} - {}, {} + {}", bvh, text.at(), text.constant_vector(0.25, 1),
                            text.at(), text.constant_vector(0.25, 1));
        break;
      case 1: start = fmt::format("bvh_query_sphere({}, {}, {}", bvh, text.at(), text.reach(0.25, 1)); break;
      case 2: start = fmt::format("bvh_query_ray({}, {}, {}", bvh, text.at(), text.direction()); break;
      default:
        start = fmt::format("bvh_query_capsule({}, {}, {}, {}", bvh, text.at(), text.direction(),
                            number(text.rng(), 0.0625, 0.5));
    }
    const bool is_line = start.find("ray") != std::string::npos || start.find("capsule") != std::string::npos;
    if (is_line && text.rng().bernoulli(0.5)) limit = ", " + text.reach(0.5, 2);
    if (text.rng().bernoulli(0.25)) {
      text.groups();
      start += fmt::format(", wp.bvh_get_group_root({}, groups[i])", bvh);
    }
    text.line(fmt::format("{} = wp.{})", query, start));
    text.line(box + " = int(0)");
    text.block(fmt::format("while wp.bvh_query_next({}, {}{}):", query, box, limit), [&] {
      switch (text.rng().uniform_int(0, 2)) {
        case 0: text.count("1"); break;
        case 1: text.count(fmt::format("1 << {}", box)); break;
        default:
          text.parameter("weights", "wp.array(dtype=float)");
          text.add(fmt::format("weights[{}] * {}[{}]", box, text.at(), text.axis()));
      }
    });
  }
}

void use_grid(SpatialText& text) {
  const std::string grid = text.structure("grid", "grids");
  const std::string radius = text.reach(0.25, 1.5);
  std::string group;
  if (text.rng().bernoulli(0.25)) {
    text.groups();
    group = ", groups[i]";
  }
  const auto use = [&](const std::string& point) {
    switch (text.rng().uniform_int(0, 3)) {
      case 0: text.count("1"); break;
      case 1: text.count(fmt::format("{} * {} + 1", point, point)); break;
      case 2:
        text.parameter("centers", "wp.array(dtype=wp.vec3)");
        text.add(fmt::format("wp.exp(-wp.length_sq({} - centers[{}]) * {})", text.at(), point, text.factor()));
        break;
      default:
        text.parameter("mass", "wp.array(dtype=float)");
        text.add(fmt::format("mass[{}] * {}[{}]", point, text.at(), text.axis()));
    }
  };
  if (text.rng().bernoulli(0.6)) {
    text.block(fmt::format("for j in wp.hash_grid_query({}, {}, {}{}):", grid, text.at(), radius, group),
               [&] { use("j"); });
    return;
  }
  text.line(fmt::format("query = wp.hash_grid_query({}, {}, {}{})", grid, text.at(), radius, group));
  text.line("j = int(0)");
  text.block("while wp.hash_grid_query_next(query, j):", [&] { use("j"); });
}

// ---- textures and volumes

void use_texture(SpatialText& text) {
  const int rank = text.rng().uniform_int(1, 3);
  text.parameter("image", fmt::format("wp.Texture{}D", rank));
  const int count = text.rng().uniform_int(1, 2);
  for (int k = 0; k < count; ++k) {
    const std::string scaled = fmt::format("{} * {}", text.at(), number(text.rng(), 0.125, 0.5));
    const std::string place = text.unique("place");
    text.line(fmt::format("{} = {} + {}", place, scaled, text.constant_vector(0.25, 0.75)));
    const std::string at = rank == 1   ? place + "[0]"
                           : rank == 2 ? fmt::format("wp.vec2({}[0], {}[1])", place, place)
                                       : place;
    switch (text.rng().uniform_int(0, 2)) {
      case 0: text.add(fmt::format("wp.texture_sample(image, {}, dtype=float)", at)); break;
      case 1:
        text.add(fmt::format("wp.texture_sample(image, {}, dtype=wp.vec2)[{}] * {}", at, text.rng().uniform_int(0, 1),
                             text.factor()));
        break;
      default:
        text.add(fmt::format("wp.dot(wp.texture_sample(image, {}, dtype=wp.vec4), wp.vec4({}, 0.25, {}, 1.0))", at,
                             text.factor(), text.factor()));
    }
  }
}

void use_volume(SpatialText& text) {
  const std::string volume = text.structure("volume", "volumes");
  const bool has_vectors = text.rng().bernoulli(0.3);
  const std::string place = text.unique("at");
  text.line(fmt::format("{} = wp.volume_world_to_index({}, {})", place, volume, text.at()));
  const int count = text.rng().uniform_int(1, 3);
  for (int k = 0; k < count; ++k) {
    const std::string sampling = text.rng().choose({"wp.Volume.LINEAR", "wp.Volume.LINEAR", "wp.Volume.CLOSEST"});
    const std::string moved = fmt::format("{} + {}", place, text.constant_vector(-0.5, 0.5));
    switch (text.rng().uniform_int(0, 3)) {
      case 0:
        text.add(has_vectors
                     ? fmt::format("wp.volume_sample_v({}, {}, {})[{}]", volume, moved, sampling, text.axis())
                     : fmt::format("wp.volume_sample_f({}, {}, {}) * {}", volume, moved, sampling, text.factor()));
        break;
      case 1:
        text.add(has_vectors
                     ? fmt::format("wp.dot(wp.volume_lookup_v({}, i, 1, i % 2), {})", volume, text.at())
                     : fmt::format("wp.volume_lookup_f({}, i % 3, i % 2, 1) * {}[{}]", volume, text.at(), text.axis()));
        break;
      case 2: text.add(fmt::format("wp.volume_index_to_world({}, {})[{}]", volume, moved, text.axis())); break;
      default:
        if (has_vectors) {
          text.add(fmt::format("wp.volume_index_to_world_dir({}, wp.volume_sample_v({}, {}, wp.Volume.LINEAR))[{}]",
                               volume, volume, place, text.axis()));
        } else {
          const std::string slope = text.unique("slope");
          text.line(fmt::format("{} = wp.vec3()", slope));
          const std::string value = text.unique("value");
          text.line(
              fmt::format("{} = wp.volume_sample_grad_f({}, {}, wp.Volume.LINEAR, {})", value, volume, moved, slope));
          text.add(fmt::format("{} + wp.dot({}, {})", value, slope, text.constant_vector(-1, 1)));
        }
    }
  }
}

}  // namespace

std::string write_spatial(Rng& rng, std::string_view name) {
  SpatialText text(rng, name);
  switch (rng.uniform_int(0, 7)) {
    case 0:
    case 1:
    case 2: use_mesh(text); break;
    case 3:
    case 4: use_boxes(text); break;
    case 5: use_grid(text); break;
    case 6: use_volume(text); break;
    default: use_texture(text); break;
  }
  return text.take();
}

}  // namespace assay::generators
