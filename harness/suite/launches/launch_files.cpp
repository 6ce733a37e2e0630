#include "harness/suite/launches/launch_files.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "harness/judge/recorded_launch.hpp"
#include "ir/analysis.hpp"
#include "ir/spatial_paths.hpp"
#include "ir/spelling/spelling.hpp"
#include "ir/transforms/merged_parameters.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"
#include "support/files.hpp"

namespace assay::harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The oracle takes about 100 bytes for each.
constexpr std::int64_t kMostComponents = std::int64_t{1} << 22;

RecordedScalar scalar_from(const json& value) {
  if (value.is_string()) {
    const std::string text = value;
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    return text == "inf" ? HUGE_VAL : -HUGE_VAL;
  }
  if (value.is_boolean()) return std::int64_t{value.get<bool>()};
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return value.get<double>();
}

Result<RecordedArgument> argument_from(const json& value, const fs::path& folder) {
  RecordedArgument argument{.name = value.at("name"), .dtype = value.at("dtype"), .shape = {}, .content = {}};
  if (!value.contains("shape")) {
    std::ranges::transform(value.at("value"), std::back_inserter(argument.scalars), scalar_from);
    return argument;
  }
  argument.is_array = true;
  argument.shape = value.at("shape").get<std::vector<std::int64_t>>();
  if (const auto strides = value.find("strides"); strides != value.end() && strides->size() != argument.shape.size()) {
    return Error{fmt::format("'strides' of argument '{}' must have one number for each of its {} dimensions, got {}",
                             argument.name, argument.shape.size(), strides->size())};
  }
  argument.overlapping_argument_names = value.value("shares_memory_with", std::vector<std::string>{});
  argument.aliased_argument_name = value.value("same_array_as", "");
  if (value.at("file").is_null()) return argument;
  const std::string name = value.at("file");
  if (name.empty() || fs::path(name).filename() != name)
    return Error{
        fmt::format("the file of argument '{}' must be a name without folders, got '{}'", argument.name, name)};
  Result<NpyArray> content = read_npy(folder / name);
  if (!content.ok()) return content.error();
  argument.content = content.take();
  return argument;
}

/// An error if an argument shares memory with another one that the launch does not have, or with a value.
Result<void> check_names_of_arrays(const std::vector<RecordedArgument>& arguments) {
  const auto check = [&](const RecordedArgument& argument, std::string_view member,
                         const std::string& name) -> Result<void> {
    const auto is_named_array = [&](const RecordedArgument& other) { return other.is_array && other.name == name; };
    if (std::ranges::any_of(arguments, is_named_array)) return {};
    return Error{fmt::format("'{}' of argument '{}' must name an array argument of the launch, got '{}'", member,
                             argument.name, name)};
  };
  for (const RecordedArgument& argument : arguments) {
    for (const std::string& name : argument.overlapping_argument_names)
      if (Result<void> checked = check(argument, "shares_memory_with", name); !checked.ok()) return checked;
    if (argument.aliased_argument_name.empty()) continue;
    if (Result<void> checked = check(argument, "same_array_as", argument.aliased_argument_name); !checked.ok())
      return checked;
  }
  return {};
}

/// The stated block size, or the one that Warp chooses. On its CPU device, a block has one thread unless the program
/// sets wp.config.enable_cpu_blocks, which is not recorded.
std::int32_t block_size_of(const json& document) {
  if (document.value("device", "") == "cpu") return 1;
  constexpr std::int32_t kDefaultOfWarp = 256;
  return document.value("block_dim", kDefaultOfWarp);
}

Result<LaunchFile> read_launch_file(const fs::path& path, const schemas::Validator& validator) {
  const auto fail = [&](std::string reason) { return Error{std::move(reason), path.string()}; };
  const Result<std::string> text = read_file_text(path);
  if (!text.ok()) return text.error();
  const json document = json::parse(*text, nullptr, false);
  if (document.is_discarded()) return fail("invalid JSON; a recorded launch is one JSON object");
  if (const auto errors = validator.diagnostics(document); !errors.empty())
    return fail(fmt::format("invalid recorded launch: {}", errors.front().text()));
  LaunchFile file{.path = path,
                  .kernel = document.at("kernel"),
                  .source_file = document.value("source", ""),
                  .launch_dimensions = document.at("dim").get<std::vector<std::int64_t>>(),
                  .block_size = block_size_of(document),
                  .arguments = {}};
  for (const json& value : document.at("arguments")) {
    Result<RecordedArgument> argument = argument_from(value, path.parent_path());
    if (!argument.ok()) return argument.error().where.empty() ? fail(argument.error().message) : argument.error();
    file.arguments.push_back(argument.take());
  }
  if (const Result<void> checked = check_names_of_arrays(file.arguments); !checked.ok())
    return fail(checked.error().message);
  return file;
}

bool has_array_fields(const ir::Module& module, ir::Type type) {
  if (type.shape != ir::Shape::kStruct) return false;
  return std::ranges::any_of(module.structs[type.struct_id].fields, [&](const ir::Field& field) {
    return field.type.is_array() || has_array_fields(module, field.type);
  });
}

/// What an argument of this type must be, for messages.
std::string describe_type(const ir::Module& module, ir::Type type) {
  const std::size_t count = ir::scalar_components(module, type.element()).size();
  const std::string element =
      type.shape == ir::Shape::kStruct
          ? fmt::format("struct {}", module.structs[type.struct_id].name)
          : fmt::format("{}{}", ir::row(type.scalar).warp_name, count > 1 ? fmt::format(" x {}", count) : "");
  return type.is_array() ? fmt::format("an array of {} with {} dimensions", element, int{type.rank}) : element;
}

/// Whether elements with this descriptor hold the element type: the same scalar, or raw bytes for structs.
bool holds(const std::string& dtype_descriptor, ir::Type element) {
  if (element.shape == ir::Shape::kStruct) return dtype_descriptor[1] == 'V';
  const ir::ScalarTypeProperties& row = ir::row(element.scalar);
  if (dtype_descriptor.substr(2) != std::to_string(row.bytes)) return false;
  const char kind = dtype_descriptor[1];
  if (element.scalar == ir::Scalar::kBool) return kind == 'b' || kind == 'u' || kind == 'i';
  if (element.scalar == ir::Scalar::kBF16) return kind == 'u' || kind == 'V';
  return kind == (row.is_float ? 'f' : row.is_signed ? 'i' : 'u');
}

/// Whether the name of a type can be that of this element type. A name without a known meaning can be any.
bool can_name(std::string_view dtype, ir::Type element) {
  const auto& types = ir::spelling::types_by_name();
  const auto found = types.find(dtype);
  return found == types.end() || found->second == element;
}

class Binder {
 public:
  Binder(const LaunchFile& file, const ir::Module& module, const ir::Function& kernel)
      : file_(file), module_(module), kernel_(kernel), uses_(ir::parameter_use(module, kernel)) {}

  Result<BoundLaunch> bind() {
    const auto is_spatial = [](const ir::Variable& each) { return ir::is_spatial_path(each.path); };
    if (std::ranges::any_of(kernel_.variables, is_spatial)) {
      reject("the kernel uses meshes, hash grids, hierarchies of boxes or textures, whose arrays are not recorded");
      return BoundLaunch{.launch = std::nullopt, .unsupported_reason = unsupported_};
    }
    const auto parameters = static_cast<std::size_t>(kernel_.parameter_count);
    if (file_.arguments.size() != parameters) {
      return fail(fmt::format("kernel '{}' has {} parameters, but the launch has {} arguments", kernel_.name,
                              parameters, file_.arguments.size()));
    }
    choose_extents();
    for (std::size_t p = 0; p < parameters; ++p) {
      if (auto bound = bind_argument(p); !bound.ok()) return bound.error();
    }
    std::int64_t components = 0;
    for (const ir::Argument& argument : launch_.arguments)
      components += ir::element_count(argument) *
                    static_cast<std::int64_t>(ir::scalar_components(module_, argument.type.element()).size());
    if (components > kMostComponents)
      reject(fmt::format("the arguments have {} scalar components, but at most {} are supported", components,
                         kMostComponents));
    if (!unsupported_.empty()) return BoundLaunch{.launch = std::nullopt, .unsupported_reason = unsupported_};
    return BoundLaunch{.launch = std::move(launch_), .unsupported_reason = {}};
  }

 private:
  Error fail(std::string reason) const { return {std::move(reason), file_.path.string()}; }
  /// The first reason counts.
  void reject(std::string reason) {
    if (unsupported_.empty())
      unsupported_ = fmt::format("the recorded launch {} is not supported: {}", file_.path.filename().string(), reason);
  }

  void choose_extents() {
    if (std::ranges::find(file_.launch_dimensions, 0) != file_.launch_dimensions.end()) {
      reject(fmt::format("'dim' is ({}), so no thread runs and there is nothing to judge",
                         fmt::join(file_.launch_dimensions, ", ")));
    }
    const auto rank = static_cast<std::size_t>(kernel_.launch_rank);
    for (std::size_t d = 0; d < rank; ++d)
      launch_.extents.push_back(
          d < file_.launch_dimensions.size() ? static_cast<std::int32_t>(file_.launch_dimensions[d]) : 1);
    const bool repeats = std::any_of(
        file_.launch_dimensions.begin() + static_cast<std::ptrdiff_t>(std::min(rank, file_.launch_dimensions.size())),
        file_.launch_dimensions.end(), [](std::int64_t extent) { return extent != 1; });
    // The threads of a block share their indices in a kernel with tiles.
    if (repeats && !ir::uses_tiles(kernel_)) {
      reject(fmt::format(
          "the launch has {} extents, but wp.tid() returns {} indices, so several threads get the same indices",
          file_.launch_dimensions.size(), rank));
    }
  }

  Result<void> bind_argument(std::size_t p) {
    const RecordedArgument& argument = file_.arguments[p];
    const ir::Variable& parameter = kernel_.variables[p];
    if (argument.name != parameter.name) {
      return fail(fmt::format("argument {} must have the name of parameter '{}' of kernel '{}', got '{}'", p,
                              parameter.name, kernel_.name, argument.name));
    }
    if (has_array_fields(module_, parameter.type.element()))
      reject(fmt::format("parameter '{}' is a struct with array fields", parameter.name));
    const auto mismatch = [&](const std::string& got) {
      return fail(
          fmt::format("argument '{}' must be {}, got {}", argument.name, describe_type(module_, parameter.type), got));
    };
    if (argument.is_array != parameter.type.is_array()) return mismatch(argument.is_array ? "an array" : "a value");
    if (!can_name(argument.dtype, parameter.type.element())) return mismatch(fmt::format("dtype {}", argument.dtype));
    if (!argument.is_array) return bind_value(argument, parameter.type, mismatch);
    check_memory(argument, p);
    return bind_array(argument, parameter.type, mismatch);
  }

  template <class Mismatch>
  Result<void> bind_value(const RecordedArgument& argument, ir::Type type, const Mismatch& mismatch) {
    ir::Argument bound = ir::make_argument(module_, type);
    const std::vector<ir::ScalarComponent> components = ir::scalar_components(module_, type);
    if (argument.scalars.size() != components.size())
      return mismatch(fmt::format("{} numbers of {}", argument.scalars.size(), argument.dtype));
    for (std::size_t i = 0; i < components.size(); ++i) {
      std::byte* const at = bound.bytes.data() + components[i].offset;
      if (ir::is_float(components[i].scalar)) {
        const double value = std::visit([](auto number) { return static_cast<double>(number); }, argument.scalars[i]);
        ir::write_float(components[i].scalar, at, value);
      } else if (const auto* real = std::get_if<double>(&argument.scalars[i])) {
        return mismatch(fmt::format("the number {}", *real));
      } else if (const auto* natural = std::get_if<std::uint64_t>(&argument.scalars[i])) {
        ir::write_integer(components[i].scalar, at, static_cast<std::int64_t>(*natural));
      } else {
        ir::write_integer(components[i].scalar, at, std::get<std::int64_t>(argument.scalars[i]));
      }
    }
    launch_.arguments.push_back(std::move(bound));
    return {};
  }

  template <class Mismatch>
  Result<void> bind_array(const RecordedArgument& argument, ir::Type type, const Mismatch& mismatch) {
    if (argument.shape.size() != type.rank) return mismatch(fmt::format("{} dimensions", argument.shape.size()));
    std::vector<std::int32_t> shape;
    for (const std::int64_t extent : argument.shape)
      shape.push_back(static_cast<std::int32_t>(extent));
    const auto elements =
        std::accumulate(argument.shape.begin(), argument.shape.end(), 1.0,
                        [](double product, std::int64_t extent) { return product * static_cast<double>(extent); });
    const std::size_t held = argument.content ? argument.content->bytes.size() : 0;
    const double size = elements * static_cast<double>(ir::layout_of(module_, type.element()).size);
    if (argument.content && !holds(argument.content->dtype_descriptor, type.element()))
      return mismatch(fmt::format("elements of {} ({})", argument.dtype, argument.content->dtype_descriptor));
    if (static_cast<double>(held) != size)
      return mismatch(fmt::format("{} bytes for the shape ({})", held, fmt::join(argument.shape, ", ")));
    ir::Argument bound = ir::make_argument(module_, type, std::move(shape));
    if (held > 0) std::memcpy(bound.bytes.data(), argument.content->bytes.data(), held);
    launch_.arguments.push_back(std::move(bound));
    return {};
  }

  void check_memory(const RecordedArgument& argument, std::size_t p) {
    for (const std::string& name : argument.overlapping_argument_names) {
      const auto end = kernel_.variables.begin() + kernel_.parameter_count;
      const auto other = std::find_if(kernel_.variables.begin(), end,
                                      [&](const ir::Variable& variable) { return variable.name == name; });
      if (other == end) continue;
      const auto q = static_cast<std::size_t>(other - kernel_.variables.begin());
      if (!uses_[p].changed() && !uses_[q].changed()) continue;
      reject(fmt::format("arrays '{}' and '{}' share memory and the kernel changes '{}'; pass separate arrays",
                         argument.name, name, uses_[p].changed() ? argument.name : name));
    }
  }

  const LaunchFile& file_;
  const ir::Module& module_;
  const ir::Function& kernel_;
  ir::ParameterUses uses_;
  ir::Launch launch_;
  std::string unsupported_;
};

/// The launch with the block size as its last argument, if the kernel has a parameter for it.
LaunchFile with_block_size(LaunchFile file, const ir::Function& kernel) {
  const auto count = static_cast<std::size_t>(kernel.parameter_count);
  if (file.arguments.size() + 1 != count || kernel.variables[count - 1].path != ir::kBlockSizePath) return file;
  file.arguments.push_back(
      {.name = kernel.variables[count - 1].name, .dtype = "int32", .shape = {}, .content = {}, .scalars = {}});
  file.arguments.back().scalars.emplace_back(std::int64_t{file.block_size});
  return file;
}

bool is_launch_of(const LaunchFile& file, const KernelSource& source) {
  const std::string name = source.module != nullptr ? source.module->kernels[source.kernel_index].name : source.kernel;
  const bool named = file.kernel == name || (source.module == nullptr && name.ends_with("." + file.kernel));
  return named && (file.source_file.empty() || file.source_file == fs::path(source.file).filename());
}

/// For each parameter, the first parameter that the launch passes the same array for, if the kernel changes the array;
/// otherwise the parameter itself.
std::vector<ir::VarId> same_arrays(const LaunchFile& file, const ir::Function& kernel, const ir::ParameterUses& uses) {
  const auto count = static_cast<std::size_t>(kernel.parameter_count);
  std::vector<ir::VarId> same(count);
  std::iota(same.begin(), same.end(), 0);
  if (file.arguments.size() != count) return same;
  const auto number_of = [&](std::size_t p) {
    const auto found =
        std::ranges::find(file.arguments, file.arguments[p].aliased_argument_name, &RecordedArgument::name);
    const auto q = static_cast<std::size_t>(found - file.arguments.begin());
    return q < p && kernel.variables[q].type == kernel.variables[p].type ? q : p;
  };
  std::vector<bool> changes(count);
  for (std::size_t p = 0; p < count; ++p)
    changes[number_of(p)] = changes[number_of(p)] || uses[p].changed();
  for (std::size_t p = 0; p < count; ++p)
    if (changes[number_of(p)]) same[p] = static_cast<ir::VarId>(number_of(p));
  return same;
}

/// The launch without the arguments that are the same array as an earlier one.
LaunchFile without_same_arrays(LaunchFile file, std::span<const ir::VarId> same) {
  std::set<std::string> removed;
  std::vector<RecordedArgument> kept;
  for (std::size_t p = 0; p < file.arguments.size(); ++p) {
    if (same[p] == static_cast<ir::VarId>(p)) kept.push_back(file.arguments[p]);
    else removed.insert(file.arguments[p].name);
  }
  for (RecordedArgument& argument : kept)
    std::erase_if(argument.overlapping_argument_names, [&](const std::string& name) { return removed.contains(name); });
  file.arguments = std::move(kept);
  return file;
}

/// Replaces the kernel by one with a single parameter for each array that the launches pass more than once, and returns
/// the launches of that kernel. A launch with other such arrays becomes a reason.
std::vector<LaunchFile> merge_same_arrays(KernelSource& source, const std::vector<LaunchFile>& files,
                                          std::vector<SelectionNote>& notes, std::vector<std::string>& reasons) {
  const ir::Function& kernel = source.module->kernels[source.kernel_index];
  const ir::ParameterUses uses = ir::parameter_use(*source.module, kernel);
  const std::vector<ir::VarId> same = same_arrays(files.front(), kernel, uses);
  std::vector<LaunchFile> launches;
  for (const LaunchFile& file : files) {
    if (same_arrays(file, kernel, uses) == same) launches.push_back(without_same_arrays(file, same));
    else
      reasons.push_back(fmt::format(
          "the recorded launch {} is not supported: the parameters that share an array differ from those of {}",
          file.path.filename().string(), files.front().path.filename().string()));
  }
  std::vector<std::string> merged;
  for (std::size_t p = 0; p < same.size(); ++p) {
    if (same[p] != static_cast<ir::VarId>(p))
      merged.push_back(fmt::format("'{}' is '{}'", kernel.variables[p].name, kernel.var(same[p]).name));
  }
  if (merged.empty()) return launches;
  notes.push_back({.kind = "kernel judged with merged parameters, because they receive the same array",
                   .text = fmt::format("{}: {}", source.selector, fmt::join(merged, ", "))});
  ir::Module module = *source.module;
  module.kernels[source.kernel_index] = transforms::merge_parameters(kernel, same);
  source.module = std::make_shared<const ir::Module>(std::move(module));
  return launches;
}

/// Binds the launches of one kernel.
Result<void> attach(KernelSource& source, const std::vector<const LaunchFile*>& files,
                    std::vector<SelectionNote>& notes) {
  std::vector<RecordedLaunch> launches;
  std::vector<std::string> reasons;
  std::vector<LaunchFile> complete;
  for (const LaunchFile* file : files)
    complete.push_back(with_block_size(*file, source.module->kernels[source.kernel_index]));
  for (const LaunchFile& file : merge_same_arrays(source, complete, notes, reasons)) {
    Result<BoundLaunch> bound = bind_launch(file, *source.module, source.module->kernels[source.kernel_index]);
    if (!bound.ok()) return bound.error();
    if (bound->launch) launches.push_back({file.path.filename().string(), *std::move(bound->launch)});
    else reasons.push_back(bound->unsupported_reason);
  }
  if (launches.empty()) {
    source.unsupported_launch_reason = reasons.front();
    return {};
  }
  for (std::string& reason : reasons)
    notes.push_back({.kind = "unsupported launch", .text = std::move(reason)});
  source.recorded_launches = std::make_shared<const std::vector<RecordedLaunch>>(std::move(launches));
  return {};
}

}  // namespace

Result<std::vector<LaunchFile>> read_launch_files(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  if (error)
    return Error{fmt::format("cannot read the folder of recorded launches: {}", error.message()), folder.string()};
  if (paths.empty()) {
    return Error{"the folder must contain recorded launches, one .json file each (see schemas/launch.schema.json)",
                 folder.string()};
  }
  std::ranges::sort(paths);
  const schemas::Validator validator(schemas::kLaunchSchemaText);
  std::vector<LaunchFile> files;
  for (const fs::path& path : paths) {
    Result<LaunchFile> file = read_launch_file(path, validator);
    if (!file.ok()) return file.error();
    files.push_back(file.take());
  }
  return files;
}

Result<BoundLaunch> bind_launch(const LaunchFile& file, const ir::Module& module, const ir::Function& kernel) {
  const LaunchFile complete = with_block_size(file, kernel);
  return Binder(complete, module, kernel).bind();
}

Result<void> attach_launches(Selection& selection, const std::vector<LaunchFile>& files) {
  std::set<const LaunchFile*> used;
  for (SelectedKernel& kernel : selection.kernels) {
    std::vector<const LaunchFile*> own;
    for (const LaunchFile& file : files) {
      if (is_launch_of(file, kernel.source)) own.push_back(&file);
    }
    if (own.empty()) {
      selection.notes.push_back(
          {.kind = "kernel without a recorded launch, judged on generated inputs", .text = kernel.source.selector});
      continue;
    }
    used.insert(own.begin(), own.end());
    if (kernel.source.module == nullptr) continue;
    if (auto attached = attach(kernel.source, own, selection.notes); !attached.ok()) return attached.error();
  }
  for (const LaunchFile& file : files) {
    if (!used.contains(&file))
      selection.notes.push_back(
          {.kind = "recorded launch of a kernel that is not selected", .text = file.path.string()});
  }
  if (!used.empty()) return {};
  std::set<std::string> names;
  for (const LaunchFile& file : files)
    names.insert(file.kernel);
  return Error{fmt::format("no recorded launch belongs to a selected kernel; the recorded launches belong to {}",
                           fmt::join(names, ", ")),
               files.front().path.parent_path().string()};
}

}  // namespace assay::harness
