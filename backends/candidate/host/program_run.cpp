#include "backends/candidate/host/program_run.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace assay::candidate {

using namespace backends;

namespace {

std::uint64_t integer_in(const std::vector<std::byte>& bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(value)));
  return value;
}

/// Writes a number into an argument of a kernel.
void set_number(std::vector<std::byte>& argument, const CallArgument& value) {
  const auto narrow = static_cast<float>(value.real);
  if (value.kind == CallArgumentKind::kInteger)
    std::memcpy(argument.data(), &value.integer, std::min(argument.size(), sizeof(value.integer)));
  else if (argument.size() == sizeof(narrow)) std::memcpy(argument.data(), &narrow, sizeof(narrow));
  else if (argument.size() == sizeof(value.real)) std::memcpy(argument.data(), &value.real, sizeof(value.real));
}

}  // namespace

ProgramRun::ProgramRun(SimulatedGpu& gpu, std::span<const CallArgument> values,
                       std::span<const ProgramParameter> parameters, bool has_arguments)
    : gpu_(gpu), has_arguments_(has_arguments) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Binding& binding = bindings_.emplace_back(Binding{.value = &values[i], .parameter = &parameters[i]});
    if (values[i].kind != CallArgumentKind::kArray) continue;
    ++array_count_;
    binding.bytes = element_bytes(values[i].element) * static_cast<std::uint64_t>(element_count(values[i]));
    binding.result.resize(binding.bytes);
    binding.is_copied.resize(binding.bytes);
  }
}

std::vector<std::size_t> ProgramRun::pointers_in(const std::vector<std::vector<std::byte>>& arguments) const {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].size() == sizeof(std::uint64_t) && gpu_.bytes_from(integer_in(arguments[i])) > 0)
      indices.push_back(i);
  return indices;
}

std::optional<std::size_t> ProgramRun::index_in(const Binding& binding, const std::string& kernel,
                                                const std::vector<std::vector<std::byte>>& arguments) const {
  const auto index = static_cast<std::size_t>(binding.parameter->index);
  if (binding.parameter->kernel[0] == '\0') {
    if (kernel != inferred_kernel_) return std::nullopt;
    return pointers_in(arguments).at(index);
  }
  if (kernel != binding.parameter->kernel) return std::nullopt;
  return index;
}

std::optional<RunOutcome> ProgramRun::before_launch(const std::string& kernel,
                                                    std::vector<std::vector<std::byte>>& arguments) {
  if (std::ranges::find(started_kernels_, kernel) == started_kernels_.end()) started_kernels_.push_back(kernel);
  if (pointers_in(arguments).size() == array_count_) {
    if (inferred_kernel_.empty()) inferred_kernel_ = kernel;
    const bool infers =
        std::ranges::any_of(bindings_, [](const Binding& binding) { return binding.parameter->kernel[0] == '\0'; });
    if (infers && inferred_kernel_ != kernel) {
      return Unsupported{
          fmt::format("the kernels '{}' and '{}' of the program take {} arrays each; state in 'parameters' of the "
                      "contract which parameters are those of the specification",
                      inferred_kernel_, kernel, array_count_)};
    }
  } else if (kernel == inferred_kernel_) {
    return LaunchFailed{
        fmt::format("the program passes to '{}' a pointer that is not the address of device memory", kernel)};
  }
  for (Binding& binding : bindings_) {
    const std::optional<std::size_t> index = index_in(binding, kernel, arguments);
    if (!index) continue;
    if (*index >= arguments.size()) {
      return Unsupported{
          fmt::format("'parameters' of the contract names {}[{}] for '{}', but the kernel has {} parameters", kernel,
                      *index, binding.value->name, arguments.size())};
    }
    if (binding.value->kind != CallArgumentKind::kArray) {
      set_number(arguments[*index], *binding.value);
      binding.address = 1;
      continue;
    }
    if (auto failure = bind_array(binding, integer_in(arguments[*index]), kernel)) return failure;
  }
  return std::nullopt;
}

std::optional<RunOutcome> ProgramRun::bind_array(Binding& binding, std::uint64_t address, const std::string& kernel) {
  const std::uint64_t available = gpu_.bytes_from(address);
  const char* const name = binding.value->name;
  if (!has_arguments_ && available != binding.bytes) {
    return Unsupported{
        fmt::format("the program passes {} bytes to '{}' for '{}', but the array has {} bytes for these inputs; state "
                    "in the contract "
                    "how the program gets its sizes ('program_arguments') or which sizes it has ('shapes')",
                    available, kernel, name, binding.bytes)};
  }
  if (available < binding.bytes) {
    return LaunchFailed{fmt::format("the program passes {} bytes to '{}' for '{}', but the array has {} bytes",
                                    available, kernel, name, binding.bytes)};
  }
  const bool is_first = binding.address == 0;
  if (address != binding.address) std::fill(binding.is_copied.begin(), binding.is_copied.end(), false);
  binding.address = address;
  if (is_first && binding.parameter->is_read != 0) {
    void* const memory = gpu_.bytes(address, binding.bytes, true);
    if (memory != nullptr) std::memcpy(memory, reinterpret_cast<const void*>(binding.value->address), binding.bytes);
  }
  return std::nullopt;
}

void ProgramRun::write_unrounded_values(const Binding& binding) const {
  if (binding.value->unrounded_address == 0) return;
  const auto count = static_cast<std::size_t>(element_count(*binding.value));
  gpu_.write_unrounded_values(
      binding.address, binding.value->element, count,
      {reinterpret_cast<std::byte*>(binding.value->unrounded_address), unrounded_array_bytes(count)});
}

void ProgramRun::copied_to_host(std::uint64_t source, std::uint64_t size) {
  for (Binding& binding : bindings_) {
    if (binding.value->kind != CallArgumentKind::kArray || binding.value->is_output == 0 || binding.address == 0)
      continue;
    const std::uint64_t begin = std::max(source, binding.address);
    const std::uint64_t end = std::min(source + size, binding.address + binding.bytes);
    if (begin >= end) continue;
    const auto at = static_cast<std::size_t>(begin - binding.address);
    const auto count = static_cast<std::size_t>(end - begin);
    const void* const memory = gpu_.bytes(begin, count, false);
    if (memory == nullptr) continue;
    std::memcpy(binding.result.data() + at, memory, count);
    std::fill_n(binding.is_copied.begin() + static_cast<std::ptrdiff_t>(at), count, true);
    write_unrounded_values(binding);
  }
}

std::optional<RunOutcome> ProgramRun::write_results(int exit_status) {
  const std::string end = exit_status == 0 ? std::string() : fmt::format("; its exit status is {}", exit_status);
  for (Binding& binding : bindings_) {
    const std::string name = binding.value->name;
    if (binding.address == 0) {
      const std::string kernel = binding.parameter->kernel;
      if (started_kernels_.empty()) return LaunchFailed{fmt::format("the program starts no kernel{}", end)};
      if (!kernel.empty()) {
        return LaunchFailed{fmt::format("the program does not start the kernel '{}', which gets '{}'; it starts {}{}",
                                        kernel, name, fmt::join(started_kernels_, ", "), end)};
      }
      return Unsupported{fmt::format(
          "the specification has {} arrays, but no kernel of the program takes as many; the program starts {}; "
          "state in 'parameters' of the contract, for each array, the kernel and the index of its parameter",
          array_count_, fmt::join(started_kernels_, ", "))};
    }
    if (binding.value->kind != CallArgumentKind::kArray || binding.value->is_output == 0) continue;
    if (gpu_.is_managed(binding.address)) copied_to_host(binding.address, binding.bytes);
    const auto copied = std::ranges::count(binding.is_copied, true);
    if (static_cast<std::uint64_t>(copied) != binding.bytes) {
      return LaunchFailed{fmt::format("the program copies {} of the {} bytes of the result '{}' to the host{}", copied,
                                      binding.bytes, name, end)};
    }
    std::memcpy(reinterpret_cast<void*>(binding.value->address), binding.result.data(), binding.bytes);
  }
  return std::nullopt;
}

}  // namespace assay::candidate
