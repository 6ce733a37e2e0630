#include "generators/generator.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

#include "frontend/warp/parse/reader.hpp"
#include "generators/families.hpp"
#include "ir/index_wrapping.hpp"

namespace assay::generators {
namespace {

// cli/CMakeLists.txt parses the names of the conformance tests from the rows of this table.
constexpr std::array<KernelFamilyDefinition, 24> kFamilies = {{
    {Family::kArithmetic, "arithmetic", "", "+ - * / // % ** and unary operators on every scalar type",
     make_arithmetic},
    {Family::kMath, "math", "", "each scalar function over its whole domain, including the edges", make_math},
    {Family::kConditional, "conditional", "", "if, else, where, conditional expressions, min, max, clamp, abs",
     make_conditional},
    {Family::kMultiConditional, "multi_conditional", "multi_cond", "elif chains, nested and combined conditions",
     make_multi_conditional},
    {Family::kLoop, "loop", "", "static and dynamic for, step, reversed range, zero iterations, loop-carried state",
     make_loop},
    {Family::kNestedLoop, "nested_loop", "nested", "nested loops, static inside dynamic, triangular bounds",
     make_nested_loop},
    {Family::kControlFlow, "control_flow", "", "while, break, continue, early return, return inside loops",
     make_control_flow},
    {Family::kScalarParam, "scalar_param", "", "scalars and vectors passed by value, with and without gradients",
     make_scalar_param},
    {Family::kVector, "vector", "", "vectors of 2 or more components: reads, writes, dot, cross, normalize",
     make_vector},
    {Family::kMatrix, "matrix", "", "square and rectangular matrices: rows, product, determinant, inverse, trace",
     make_matrix},
    {Family::kQuaternion, "quaternion", "",
     "quaternions: product, rotation, inverse, slerp, matrix, axis and angle, roll-pitch-yaw", make_quaternion},
    {Family::kTransform, "transform", "", "transforms, spatial vectors and matrices", make_transform},
    {Family::kRandomMath, "random_math", "", "random expression trees of operations and functions, depth 2 to 8",
     make_random_math},
    {Family::kInPlace, "in_place", "",
     "array elements: read-modify-write, overwrite, read after write, +=", make_in_place},
    {Family::kAtomic, "atomic", "", "atomic add, sub, min, max and bitwise operations, contended or spread out",
     make_atomic},
    {Family::kReduction, "reduction", "", "sums, norms, argmin and argmax, histograms, softmax, log-sum-exp",
     make_reduction},
    {Family::kArrayAccess, "array_access", "", "1-D to 4-D arrays: transposed, gather, scatter, permutation, stencil",
     make_array_access},
    {Family::kInteger, "integer", "", "8-bit to 64-bit integers: bitwise, shifts, casts, wrap-around, random numbers",
     make_integer},
    {Family::kFunction, "function", "", "functions with several results or side effects, nested calls", make_function},
    {Family::kCombined, "combined", "", "several families in one kernel of 20 to 200 statements", make_combined},
    {Family::kStructParam, "struct_param", "", "structs by value, in arrays and nested; fields read and written",
     make_struct_param},
    {Family::kPrecision, "precision", "", "f16, bf16, f32 and f64, mixed types and casts, literals", make_precision},
    {Family::kTile, "tile", "", "blocks of threads: tiles loaded, stored, mapped, summed, multiplied", make_tile},
    {Family::kSpatial, "spatial", "", "queries of meshes, hash grids, hierarchies of boxes, textures and volumes",
     nullptr, write_spatial},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kFamilies.size(); ++i) {
    if (static_cast<std::size_t>(kFamilies[i].family) != i) return false;
  }
  return true;
}
static_assert(in_order(), "kFamilies must list every family in the order of the enumeration Family");

}  // namespace

std::span<const KernelFamilyDefinition> families() { return kFamilies; }

const KernelFamilyDefinition& row(Family family) { return kFamilies[static_cast<std::size_t>(family)]; }

std::optional<Family> find_family(std::string_view name) {
  const auto by_name = std::ranges::find(kFamilies, name, &KernelFamilyDefinition::name);
  if (by_name != kFamilies.end()) return by_name->family;
  const auto by_alias = std::ranges::find(kFamilies, name, &KernelFamilyDefinition::alias);
  if (name.empty() || by_alias == kFamilies.end()) return std::nullopt;
  return by_alias->family;
}

namespace {

std::string messages(const frontend::ParsedFile& file) {
  std::string text;
  for (const frontend::Diagnostic& diagnostic : file.diagnostics)
    text += diagnostic.text() + "\n";
  return text;
}

}  // namespace

GeneratedKernel generate(Family family, std::uint64_t seed) {
  std::string kernel = fmt::format("r{}_{}", kGeneratorVersion, seed);
  std::string name = fmt::format("{}/{}", row(family).name, kernel);
  Rng rng = Rng(seed).split(row(family).name);
  if (row(family).write != nullptr) {
    std::string python = row(family).write(rng, kernel);
    Result<frontend::ParsedFile> read = frontend::parse_python(python, name + ".py", {});
    if (!read.ok() || read->module.kernels.size() != 1)
      throw std::logic_error(fmt::format("the written kernel {} is not parsed:\n{}{}", name, python,
                                         read.ok() ? messages(*read) : read.error().text()));
    return {.module = std::move(read->module), .name = std::move(name), .python = std::move(python)};
  }
  KernelSketch sketch(std::move(kernel), std::move(rng));
  row(family).make(sketch);
  ir::Module module = sketch.take();
  ir::wrap_indices(module);
  return {.module = std::move(module), .name = std::move(name)};
}

Result<GeneratedKernel> generate_named(std::string_view name) {
  const auto reject = [&](std::string_view why) {
    return Error{
        fmt::format("{} is not a generated kernel: {}; expected <family>/r{}_<seed>", name, why, kGeneratorVersion)};
  };
  const std::size_t slash = name.find('/');
  const auto family = find_family(name.substr(0, slash));
  if (!family) return reject("unknown family");
  const std::string_view kernel = slash == std::string_view::npos ? "" : name.substr(slash + 1);
  const std::string prefix = fmt::format("r{}_", kGeneratorVersion);
  if (!kernel.starts_with(prefix)) return reject("the name does not belong to this version of the generators");
  std::uint64_t seed = 0;
  const char* const end = kernel.data() + kernel.size();
  const auto [stop, error] = std::from_chars(kernel.data() + prefix.size(), end, seed);
  if (error != std::errc() || stop != end) return reject("the seed is not a 64-bit number");
  return generate(*family, seed);
}

}  // namespace assay::generators
