#include "backends/warp/ptx_session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/ptx/array_view.hpp"

namespace assay::warp {

using namespace backends;
using nlohmann::json;
using ptx::array_view_of;
using ptx::ArrayView;
using ptx::for_each_offset_pair;

/// The entries of one kernel in one precision, and the layout of their arguments in the installed Warp.
struct PtxCode {
  /// One argument, passed by value.
  struct Argument {
    std::size_t bytes = 0;
    std::map<std::string, std::size_t> fields;  ///< of a struct: the offset of each field, by its path in the struct
  };
  struct Parameter {
    std::string path;
    std::size_t rank = 0;
  };
  struct Gradient {
    std::size_t parameter = 0, offset = 0, bytes = 0;
  };
  std::string forward, backward;  ///< symbols
  /// Sizes in bytes of the dynamic shared memory of a block, forward and backward.
  std::array<std::uint32_t, 2> shared_bytes{};
  std::size_t dimensions = 1;                 ///< of Warp's launch bounds
  std::map<std::string, std::size_t> bounds;  ///< offset of each field of the launch bounds, and "bytes"
  std::map<std::string, std::size_t> array;   ///< the same of an array
  std::size_t launch_dimension_count = 1;     ///< of Assay's launches
  std::uint32_t block_dim = 1;
  bool is_tiled = false;
  std::vector<Argument> arguments;
  std::vector<Parameter> parameters;
  std::vector<Gradient> gradients;
};

namespace {

template <typename T>
void put(std::vector<std::byte>& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

/// One launch: its arguments in Warp's layout, on the machine.
class WarpLaunch {
 public:
  WarpLaunch(const PtxCode& code, const LaunchRequest& launch, ptx::PtxSession& session, ptx::Machine& machine)
      : code_(code), launch_(launch), session_(session), machine_(machine) {}

  /// Makes the arrays known to the machine. Fails if the arguments do not match the kernel's.
  Result<void> place() {
    const std::size_t first = code_.launch_dimension_count - 1;
    for (std::size_t p = 0; p < code_.parameters.size(); ++p) {
      const KernelArgument& argument = launch_.arguments[first + p];
      PlacedParameter placed;
      if (code_.parameters[p].rank > 0) {
        placed.view = array_view_of(argument, code_.parameters[p].rank);
        const std::span<std::byte> memory = memory_of(*placed.view);
        const MemoryRegion& region = placed.view->region;
        placed.allocation = machine_.adopt(region.name, memory, {.uninitialized = region.uninitialized});
        placed.before.assign(memory.begin(), memory.end());
      } else {
        placed.value = argument.bytes;
      }
      parameters_.push_back(std::move(placed));
    }
    if (launch_.pass == Pass::kBackward) place_gradients(first + code_.parameters.size());
    return {};
  }

  /// Makes the arrays read-only: a reverse pass accumulates in gradients and changes nothing else.
  void protect_arrays() {
    for (const PlacedParameter& parameter : parameters_)
      if (parameter.view) machine_.set_flags(parameter.allocation, {.read_only = true});
  }

  void restore_arrays() {
    for (const PlacedParameter& parameter : parameters_)
      if (parameter.view) std::ranges::copy(parameter.before, memory_of(*parameter.view).begin());
    for (const PlacedParameter& parameter : parameters_)
      copy_gradient(parameter, false);
  }

  Result<ptx::KernelArguments> arguments(bool backward) const {
    ptx::KernelArguments arguments;
    arguments.add_bytes(bounds());
    for (const bool adjoint : {false, true}) {
      if (adjoint && !backward) break;
      Result<std::vector<std::vector<std::byte>>> packed = packed_arguments(backward, adjoint);
      if (!packed.ok()) return packed.error();
      for (std::vector<std::byte>& bytes : *packed)
        arguments.add_bytes(std::move(bytes));
    }
    return arguments;
  }

  /// Fails if the number of threads is out of range.
  std::optional<ptx::LaunchGeometry> geometry(bool backward) const {
    const std::uint64_t blocks = (threads() + code_.block_dim - 1) / code_.block_dim;
    if (blocks > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    return ptx::LaunchGeometry{.grid = {std::max<std::uint32_t>(static_cast<std::uint32_t>(blocks), 1)},
                               .block = {code_.block_dim},
                               .dynamic_shared_bytes = code_.shared_bytes[backward ? 1 : 0]};
  }

  bool has_threads() const { return threads() > 0; }

 private:
  struct PlacedParameter {
    std::optional<ArrayView> view;  ///< of an array
    ptx::AllocationId allocation;
    std::vector<std::byte> before;  ///< the array's content before the launch
    std::vector<std::byte> value;   ///< of a value
    std::optional<ptx::AllocationId> gradient;
    bool owns_gradient = false;  ///< a copy in the array's layout
    struct Part {
      ArrayView view;
      std::size_t offset = 0, bytes = 0;
    };
    std::vector<Part> parts = {};  ///< the gradient arrays of the launch
  };

  std::span<std::byte> memory_of(const ArrayView& view) const {
    const std::span<std::byte> rest = session_.bytes(view.address.buffer).subspan(view.address.offset);
    return rest.first(std::min<std::uint64_t>(rest.size(), view.region.bytes));
  }

  void place_gradients(std::size_t first) {
    for (std::size_t g = 0; g < code_.gradients.size(); ++g) {
      const PtxCode::Gradient& gradient = code_.gradients[g];
      parameters_[gradient.parameter].parts.push_back(
          {.view = array_view_of(launch_.arguments[first + g], code_.parameters[gradient.parameter].rank),
           .offset = gradient.offset,
           .bytes = gradient.bytes});
    }
    for (PlacedParameter& parameter : parameters_) {
      if (parameter.parts.empty()) continue;
      const auto& part = parameter.parts.front();
      const std::size_t whole = memory_of(*parameter.view).size();
      // Warp's gradient has the strides of its array, and one element type.
      if (parameter.parts.size() == 1 && part.offset == 0 && part.view.byte_strides == parameter.view->byte_strides &&
          part.view.byte_extent(part.bytes) == whole) {
        parameter.gradient = machine_.adopt(part.view.region.name, memory_of(part.view), {});
        continue;
      }
      auto made = machine_.allocate(part.view.region.name, std::max<std::size_t>(whole, 1));
      if (!made.ok()) continue;
      parameter.gradient = made.value();
      parameter.owns_gradient = true;
      copy_gradient(parameter, true);
    }
  }

  void copy_gradient(const PlacedParameter& parameter, bool to_machine) const {
    if (!parameter.owns_gradient) return;
    const std::span<std::byte> own = machine_.bytes(*parameter.gradient);
    for (const auto& part : parameter.parts) {
      const std::span<std::byte> theirs = memory_of(part.view);
      for_each_offset_pair(part.view.shape, parameter.view->byte_strides, part.view.byte_strides,
                           [&](std::size_t at_own, std::size_t at_theirs) {
                             std::byte* const mine = own.data() + at_own + part.offset;
                             if (to_machine) std::memcpy(mine, theirs.data() + at_theirs, part.bytes);
                             else std::memcpy(theirs.data() + at_theirs, mine, part.bytes);
                           });
    }
  }

  /// The extents of Warp's launch: those of Assay's launch, and for tiles the threads of a block.
  std::vector<std::uint64_t> extents() const {
    std::vector<std::uint64_t> result(1);
    std::uint64_t others = 1;
    for (std::size_t d = 0; d + 1 < code_.launch_dimension_count; ++d) {
      std::int32_t extent = 0;
      std::memcpy(&extent, launch_.arguments[d].bytes.data(), sizeof(extent));
      result.push_back(static_cast<std::uint64_t>(extent));
      others *= result.back();
    }
    result.front() = others == 0 ? 0 : static_cast<std::uint64_t>(launch_.threads) / others;
    if (code_.is_tiled) result.push_back(code_.block_dim);
    return result;
  }

  std::uint64_t threads() const {
    std::uint64_t product = 1;
    for (const std::uint64_t extent : extents())
      product *= extent;
    return product;
  }

  /// Warp's launch bounds: the extents that threads are numbered by, their product, and the product of the others.
  std::vector<std::byte> bounds() const {
    std::vector<std::byte> bytes(code_.bounds.at("bytes"));
    std::vector<std::uint64_t> all = extents();
    all.resize(std::max(all.size(), code_.dimensions), 1);
    std::uint64_t others = 1;
    for (std::size_t d = 0; d < all.size(); ++d) {
      if (d < code_.dimensions)
        put(bytes, code_.bounds.at("shape") + d * sizeof(std::uint32_t), static_cast<std::uint32_t>(all[d]));
      else others *= all[d];
    }
    put(bytes, code_.bounds.at("size"), threads());
    put(bytes, code_.bounds.at("coord_mult"), others);
    return bytes;
  }

  void put_array(std::vector<std::byte>& bytes, std::size_t at, const PlacedParameter& parameter, bool backward,
                 bool adjoint) const {
    const std::uint64_t gradient = parameter.gradient && backward ? machine_.address(*parameter.gradient) : 0;
    if (adjoint && gradient == 0) return;
    put(bytes, at + code_.array.at("data"), adjoint ? gradient : machine_.address(parameter.allocation));
    if (!adjoint) put(bytes, at + code_.array.at("grad"), gradient);
    const ArrayView& view = *parameter.view;
    for (std::size_t d = 0; d < view.shape.size(); ++d) {
      put(bytes, at + code_.array.at("shape") + d * 4, view.shape[d]);
      put(bytes, at + code_.array.at("strides") + d * 4, static_cast<std::int32_t>(view.byte_strides[d]));
    }
    put(bytes, at + code_.array.at("ndim"), static_cast<std::uint16_t>(view.shape.size()));
  }

  /// The kernel's arguments, or their adjoints, which are the gradient arrays and zero values.
  Result<std::vector<std::vector<std::byte>>> packed_arguments(bool backward, bool adjoint) const {
    std::vector<std::vector<std::byte>> packed;
    for (const PtxCode::Argument& argument : code_.arguments)
      packed.emplace_back(argument.bytes);
    std::size_t argument = 0;
    std::string struct_name;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const std::string& path = code_.parameters[p].path;
      const std::string root = path.substr(0, path.find('.'));
      const bool is_field = path.find('.') != std::string::npos;
      // Fields of one struct are consecutive parameters.
      if (p > 0 && !(is_field && root == struct_name)) ++argument;
      struct_name = is_field ? root : "";
      if (argument >= packed.size()) return Error{"the kernel that Warp generated has fewer arguments than the launch"};
      std::size_t at = 0;
      if (is_field) {
        const auto& fields = code_.arguments[argument].fields;
        const auto found = fields.find(path.substr(root.size() + 1));
        if (found == fields.end()) return Error{fmt::format("the struct that Warp generated has no field '{}'", path)};
        at = found->second;
      }
      if (parameters_[p].view) {
        put_array(packed[argument], at, parameters_[p], backward, adjoint);
      } else if (!adjoint) {
        if (at + parameters_[p].value.size() > packed[argument].size())
          return Error{fmt::format("argument must have {} bytes in Warp's layout, got {}", packed[argument].size(),
                                   parameters_[p].value.size())};
        std::ranges::copy(parameters_[p].value, packed[argument].begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    return packed;
  }

  const PtxCode& code_;
  const LaunchRequest& launch_;
  ptx::PtxSession& session_;
  ptx::Machine& machine_;
  std::vector<PlacedParameter> parameters_;
};

PtxCode parse_code(const std::string& text) {
  const json described = json::parse(text);
  const json& code = described.at("code");
  const json& binding = described.at("binding");
  PtxCode result{.forward = code.at("forward"),
                 .backward = code.at("backward"),
                 .shared_bytes = {code.at("shared_bytes").at("forward").get<std::uint32_t>(),
                                  code.at("shared_bytes").value("backward", std::uint32_t{0})},
                 .dimensions = code.at("dimensions"),
                 .bounds = code.at("bounds"),
                 .array = code.at("array"),
                 .launch_dimension_count = binding.at("dimensions"),
                 .block_dim = binding.at("block_dim"),
                 .is_tiled = binding.at("tiled"),
                 .arguments = {},
                 .parameters = {},
                 .gradients = {}};
  for (const json& argument : code.at("arguments"))
    result.arguments.push_back({.bytes = argument.at("bytes"), .fields = argument.at("fields")});
  for (const json& parameter : binding.at("parameters"))
    result.parameters.push_back({.path = parameter.at("path"), .rank = parameter.at("rank")});
  for (const json& gradient : binding.at("gradients")) {
    result.gradients.push_back(
        {.parameter = gradient.at("parameter"), .offset = gradient.at("offset"), .bytes = gradient.at("bytes")});
  }
  return result;
}

}  // namespace

std::string describe_code(const std::string& binding, const std::string& code) {
  return json{{"binding", json::parse(binding)}, {"code", json::parse(code)}}.dump();
}

Result<std::shared_ptr<const PtxCode>> WarpPtxSession::description_of(const LaunchRequest& launch) {
  const auto artifact = std::ranges::find_if(launch.kernel->artifacts, [&](const auto& candidate) {
    return candidate->kind == Artifact::Kind::kPython && candidate->precision == launch.precision;
  });
  if (artifact == launch.kernel->artifacts.end()) return Error{"the kernel was built for a different device"};
  std::shared_ptr<const PtxCode>& code = code_by_artifact_[*artifact];
  if (code == nullptr) code = std::make_shared<const PtxCode>(parse_code((*artifact)->content));
  return code;
}

RunOutcome WarpPtxSession::run_one(const LaunchRequest& launch) {
  const Result<ptx::LaunchCode> ptx_code = code_of(launch);
  if (!ptx_code) return LaunchFailed{ptx_code.error().text()};
  const Result<std::shared_ptr<const PtxCode>> code = description_of(launch);
  if (!code) return LaunchFailed{code.error().text()};
  machine().reset();
  WarpLaunch placed(**code, launch, *this, machine());
  if (const Result<void> done = placed.place(); !done.ok()) return LaunchFailed{done.error().text()};
  // Warp does not launch a kernel without threads.
  if (!placed.has_threads()) return Completed{};
  RunOutcome outcome = Completed{};
  for (const bool backward : {false, true}) {
    if (backward && launch.pass == Pass::kForward) break;
    const auto geometry = placed.geometry(backward);
    if (!geometry) return LaunchFailed{"the launch size or the block size is out of range"};
    const auto kernel = find_or_lower_kernel(ptx_code->artifact, backward ? (*code)->backward : (*code)->forward);
    if (!kernel) return LaunchFailed{kernel.error().text()};
    const Result<ptx::KernelArguments> arguments = placed.arguments(backward);
    if (!arguments) return LaunchFailed{arguments.error().text()};
    if (backward) placed.protect_arrays();
    const auto start = std::chrono::steady_clock::now();
    const ptx::RunResult result = machine().launch(*kernel, *geometry, *arguments, launch_options(launch));
    outcome = ptx::make_run_outcome(result, launch, ptx_code->artifact->architecture,
                                    std::chrono::steady_clock::now() - start);
    if (!std::holds_alternative<Completed>(outcome)) break;
  }
  if (launch.pass == Pass::kBackward) placed.restore_arrays();
  return outcome;
}

}  // namespace assay::warp
