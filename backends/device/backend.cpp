#include "backends/device/backend.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include <fmt/format.h>

namespace assay::backends {

namespace {

std::size_t round_up(std::size_t size, std::size_t alignment) { return (size + alignment - 1) / alignment * alignment; }

template <typename T>
void append_bytes(std::vector<std::byte>& bytes, std::span<const T> values) {
  const auto source = std::as_bytes(values);
  bytes.insert(bytes.end(), source.begin(), source.end());
}

struct Describe {
  std::string operator()(const Completed&) const { return "completed"; }
  std::string operator()(const LaunchFailed& failed) const { return "launch failed: " + failed.message; }
  std::string operator()(const Crashed& crashed) const { return "crashed: " + crashed.message; }
  std::string operator()(const TimedOut& out) const { return fmt::format("timed out after {} ms", out.limit.count()); }
  std::string operator()(const MemoryFault& fault) const { return "memory fault: " + fault.message; }
  std::string operator()(const ResourceError& error) const { return "resource error: " + error.message; }
  std::string operator()(const Unsupported& unsupported) const { return "unsupported: " + unsupported.reason; }
};

}  // namespace

const BuiltEntryPoint* BuiltKernel::find(Pass pass, Precision precision) const {
  const auto entry = std::ranges::find_if(entry_points, [&](const BuiltEntryPoint& candidate) {
    return candidate.pass == pass && candidate.precision == code_precision(precision);
  });
  return entry == entry_points.end() ? nullptr : &*entry;
}

bool BuiltKernel::is_built_for(std::string_view architecture, Precision precision) const {
  return architecture.empty() || std::ranges::any_of(artifacts, [&](const std::shared_ptr<const Artifact>& candidate) {
           return candidate->architecture == architecture && candidate->precision == code_precision(precision);
         });
}

const Artifact* BuiltKernel::artifact(Artifact::Kind kind, Precision precision, std::string_view architecture) const {
  for (const std::shared_ptr<const Artifact>& candidate : artifacts) {
    if (candidate->kind == kind &&
        (kind == Artifact::Kind::kSharedLibrary || candidate->precision == code_precision(precision)) &&
        (architecture.empty() || candidate->architecture == architecture)) {
      return candidate.get();
    }
  }
  return nullptr;
}

KernelArgument KernelArgument::array(std::optional<BufferAddress> data, std::span<const std::int32_t> shape,
                                     std::span<const std::int64_t> strides, MemoryRegion region) {
  assert(shape.size() == strides.size() && !shape.empty() && shape.size() <= 4);
  KernelArgument argument;
  argument.bytes.reserve(sizeof(void*) + round_up(shape.size_bytes(), alignof(std::int64_t)) + strides.size_bytes());
  argument.bytes.resize(sizeof(void*));
  if (data) {
    argument.pointers.push_back({.byte_offset = 0, .address = *data, .region = std::move(region)});
  }
  append_bytes(argument.bytes, shape);
  argument.pad(alignof(std::int64_t));
  append_bytes(argument.bytes, strides);
  return argument;
}

void KernelArgument::append(const KernelArgument& member, std::size_t alignment) {
  pad(alignment);
  const auto base = static_cast<std::uint32_t>(bytes.size());
  bytes.insert(bytes.end(), member.bytes.begin(), member.bytes.end());
  for (const Pointer& pointer : member.pointers) {
    pointers.push_back(
        {.byte_offset = base + pointer.byte_offset, .address = pointer.address, .region = pointer.region});
  }
}

void KernelArgument::pad(std::size_t alignment) { bytes.resize(round_up(bytes.size(), alignment)); }

std::string describe(const RunOutcome& outcome) { return std::visit(Describe{}, outcome); }

}  // namespace assay::backends
