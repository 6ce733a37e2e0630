#include "backends/ptx/session.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "backends/device/geometry.hpp"
#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

using namespace backends;

namespace {

constexpr std::size_t kBufferAlignment = 256;

AccessSite site_of(const InstructionSite& site) {
  return {.code_line = site.ptx_line,
          .source_line = site.source_location.line,
          .instruction = site.instruction_text,
          .thread = {site.thread.x, site.thread.y, site.thread.z},
          .block = {site.block.x, site.block.y, site.block.z}};
}

MemoryFinding finding_of(const CheckFinding& finding, const std::string& target) {
  MemoryFinding result{.kind = std::string(to_text(finding.kind)),
                       .kernel = finding.kernel,
                       .target = target,
                       .site = site_of(finding.site),
                       .count = finding.count,
                       .text = describe(finding)};
  if (finding.conflicting_access) result.conflicting_access = site_of(*finding.conflicting_access);
  if (finding.access_bytes == 0) return result;
  result.state_space = to_text(finding.space);
  result.address = fmt::format("0x{:x}", finding.address);
  result.allocation_name = finding.allocation_name;
  result.offset = finding.offset;
  result.allocation_bytes = finding.allocation_bytes;
  result.access_bytes = finding.access_bytes;
  return result;
}

MemoryFault fault_of(const std::vector<CheckFinding>& findings, const std::string& target) {
  MemoryFault fault{.message = describe(findings.front()), .kind = std::string(to_text(findings.front().kind))};
  if (findings.size() > 1)
    fault.message += fmt::format("; and {} more finding{}", findings.size() - 1, findings.size() == 2 ? "" : "s");
  for (const CheckFinding& finding : findings)
    fault.findings.push_back(finding_of(finding, target));
  return fault;
}

ExecutionProfile profile_of(const InstructionProfile& profile, const LaunchRequest& launch, const std::string& target) {
  return {.target = target,
          .threads = launch.threads,
          .exactness = {.exact_instruction_count = profile.exact_instruction_count,
                        .approximate_instruction_count = profile.approximate_instruction_count,
                        .order_dependent_instruction_count = profile.order_dependent_instruction_count,
                        .contractible_instruction_count = profile.contractible_instruction_count,
                        .approximation_reaches_result = profile.approximation_reaches_result},
          .measures = measures_of(profile)};
}

Order order_of(ThreadOrder order) {
  if (order == ThreadOrder::kReverse) return Order::kReverse;
  return order == ThreadOrder::kShuffled ? Order::kShuffled : Order::kForward;
}

/// The grid of a launch. If only a sample of the threads is checked and the block size is free, each block has one
/// warp, because whole blocks run: with blocks of four warps, a sample of single threads takes four times as long.
std::optional<BlockGrid> block_grid_of(const LaunchRequest& launch, std::int64_t required_block_threads) {
  constexpr std::int64_t kWarpSize = 32;
  const bool is_free = launch.threads_per_block == 0 && required_block_threads == 0;
  const std::int64_t block = is_free && !launch.checked_threads.empty() ? kWarpSize : launch.threads_per_block;
  return block_grid_for(launch.threads, block, required_block_threads);
}

/// The blocks that process a sample of the launch's range. With a required block size (`stated`), each block processes
/// the indices congruent to its number; otherwise each thread processes one index.
std::vector<std::uint64_t> blocks_of(std::span<const std::int64_t> sample, const BlockGrid& grid, bool stated) {
  std::set<std::uint64_t> blocks;
  for (const std::int64_t index : sample)
    blocks.insert(static_cast<std::uint64_t>(stated ? index : index / grid.threads_per_block) % grid.block_count);
  return {blocks.begin(), blocks.end()};
}

}  // namespace

void write_unrounded_array(const UnroundedLosses& losses, std::span<const UnroundedNumber> values,
                           std::span<std::byte> place) {
  const UnroundedArrayHeader header{.ambiguous_decision_count = static_cast<double>(losses.ambiguous_decision_count),
                                    .lost_value_count = static_cast<double>(losses.lost_value_count),
                                    .host_value_count = static_cast<double>(losses.host_value_count),
                                    .evaluates_polynomials = losses.evaluates_polynomials ? 1.0 : 0.0,
                                    .overflows = losses.overflows ? 1.0 : 0.0,
                                    .approximate_instructions = static_cast<double>(losses.approximate_functions)};
  if (place.size() < unrounded_array_bytes(values.size())) return;
  std::memcpy(place.data(), &header, sizeof(header));
  place = place.subspan(sizeof(header));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const UnroundedElement element{.value = values[i].value, .error = values[i].error};
    std::memcpy(place.data() + i * sizeof(element), &element, sizeof(element));
  }
}

RunOutcome make_run_outcome(const RunResult& result, const LaunchRequest& launch, const std::string& target,
                            std::chrono::nanoseconds duration) {
  if (!result.findings.empty()) return fault_of(result.findings, target);
  switch (result.status) {
    case RunResult::Status::kRejected: return LaunchFailed{result.message};
    case RunResult::Status::kUnsupported: return Unsupported{result.message};
    case RunResult::Status::kTrapped: return Crashed{.message = result.message};
    case RunResult::Status::kInstructionLimit: return TimedOut{launch.time_limit};
    default: break;
  }
  Completed completed{.duration = duration};
  if (launch.profile) completed.profile = profile_of(result.profile, launch, target);
  return completed;
}

void PtxSession::AlignedDeleter::operator()(std::byte* pointer) const { std::free(pointer); }

PtxSession::PtxSession(const SessionLimits& limits, const PtxOptions& options)
    : session_limits_(limits), options_(options) {}

Result<BufferId> PtxSession::allocate(std::size_t size) {
  const std::size_t rounded =
      (std::max<std::size_t>(size, 1) + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  if (rounded < size || rounded > session_limits_.buffer_bytes - used_bytes_) {
    return Error{fmt::format("cannot allocate a buffer of {} bytes: it exceeds the session's memory of {} bytes", size,
                             session_limits_.buffer_bytes)};
  }
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kBufferAlignment, rounded));
  if (memory == nullptr) return Error{fmt::format("cannot allocate a buffer of {} bytes: out of memory", size)};
  used_bytes_ += rounded;
  const BufferId id{static_cast<std::uint32_t>(buffers_.size())};
  Buffer& buffer = buffers_.emplace_back();
  buffer.memory.reset(memory);
  buffer.size = size;
  return id;
}

std::span<std::byte> PtxSession::bytes(BufferId buffer) {
  Buffer& found = buffers_.at(buffer.index);
  return {found.memory.get(), found.size};
}

void PtxSession::reset() {
  buffers_.clear();
  used_bytes_ = 0;
  completed_launches_.clear();
  kept_bytes_ = 0;
}

std::vector<RunOutcome> PtxSession::run(std::span<const LaunchRequest> launches) {
  std::vector<RunOutcome> outcomes;
  for (const LaunchRequest& launch : launches) {
    outcomes.push_back(run_one(launch));
    if (stops_later_launches(launch, outcomes.back())) break;
  }
  return outcomes;
}

Result<LaunchCode> PtxSession::code_of(const LaunchRequest& launch) {
  const BuiltEntryPoint* const entry = launch.kernel->find(launch.pass, launch.precision);
  if (entry == nullptr)
    return Error{fmt::format("kernel '{}' has no entry point for this pass and precision", launch.kernel->name)};
  if (entry->parameter_count != launch.arguments.size()) {
    return Error{
        fmt::format("'{}' takes {} arguments, got {}", entry->symbol, entry->parameter_count, launch.arguments.size())};
  }
  const auto artifact = std::ranges::find_if(launch.kernel->artifacts, [&](const auto& candidate) {
    return candidate->kind == Artifact::Kind::kPtx &&
           candidate->precision == launch.kernel->code_precision(launch.precision) &&
           (launch.target.empty() || candidate->architecture == launch.target);
  });
  if (artifact == launch.kernel->artifacts.end())
    return Error{"the kernel was not built for this precision and GPU architecture"};
  return LaunchCode{entry, *artifact};
}

LaunchOptions PtxSession::launch_options(const LaunchRequest& launch) const {
  LaunchOptions options;
  options.checks = options_.checks;
  options.tables = options_.tables.get();
  options.functions_with_errors = launch.instructions_with_errors;
  options.computes_unrounded_values = options_.computes_unrounded_values;
  options.computes_profile = launch.profile;
  options.counts_atomic_collisions = launch.profile;
  options.execution_order = {order_of(launch.order), launch.shuffle_seed, false};
  options.instruction_limit = options_.instruction_limit_per_millisecond *
                              static_cast<std::uint64_t>(std::max<std::int64_t>(1, launch.time_limit.count()));
  return options;
}

RunOutcome PtxSession::run_one(const LaunchRequest& launch) {
  const Result<LaunchCode> code = code_of(launch);
  if (!code) return LaunchFailed{code.error().text()};
  const BuiltEntryPoint* const entry = code->entry_point;
  const auto kernel = find_or_lower_kernel(code->artifact, entry->symbol);
  if (!kernel) return LaunchFailed{kernel.error().text()};
  machine_.reset();
  const Result<KernelArguments> arguments = arguments_of(launch);
  if (!arguments) return LaunchFailed{arguments.error().text()};

  const std::optional<BlockGrid> grid = block_grid_of(launch, entry->required_block_threads);
  if (!grid) return LaunchFailed{"the launch size or the block size is out of range"};
  LaunchOptions options = launch_options(launch);
  options.blocks_to_run = blocks_of(launch.checked_threads, *grid, entry->required_block_threads > 0);
  const LaunchGeometry geometry{{grid->block_count}, {grid->threads_per_block}};
  const auto start = std::chrono::steady_clock::now();
  // A launch has the same effect each time. Kernels of f64 are launched in two precisions that have the same code, and
  // some checks of the backward pass begin with the same launch.
  const bool is_kept = !launch.profile && !options.computes_unrounded_values;
  std::string identity = is_kept ? identity_of(**kernel, geometry, *arguments, options) : "";
  if (const auto same = completed_launches_.find(identity); is_kept && same != completed_launches_.end()) {
    auto contents = same->second.contents.begin();
    for (const Region& region : regions_)
      if (may_change(region)) std::ranges::copy(*contents++, region.memory.begin());
    return same->second.outcome;
  }
  const RunResult result = machine_.launch(*kernel, geometry, *arguments, options);
  RunOutcome outcome =
      make_run_outcome(result, launch, code->artifact->architecture, std::chrono::steady_clock::now() - start);
  if (const auto* const completed = std::get_if<Completed>(&outcome); is_kept && completed != nullptr)
    keep(std::move(identity), *completed);
  return outcome;
}

std::size_t PtxSession::IdentityHash::operator()(const std::string& identity) const {
  constexpr std::size_t kHashedBytes = 4096;
  return std::hash<std::string_view>{}(std::string_view(identity).substr(0, kHashedBytes)) ^ identity.size();
}

bool PtxSession::may_change(const Region& region) const {
  return !region.flags.read_only || !options_.checks.reports_read_only;
}

std::string PtxSession::identity_of(const Kernel& kernel, const LaunchGeometry& geometry,
                                    const KernelArguments& arguments, const LaunchOptions& options) const {
  // Enough for most launches; without it, the text is copied each time that it grows.
  std::size_t size = 1024;
  for (const Region& region : regions_)
    size += region.memory.size() + sizeof(std::size_t) + sizeof(AllocationFlags);
  std::string bytes;
  bytes.reserve(size);
  const auto add = [&bytes](const auto&... values) {
    (bytes.append(reinterpret_cast<const char*>(&values), sizeof(values)), ...);
  };
  const auto add_all = [&](std::span<const std::byte> more) {
    add(more.size());
    bytes.append(reinterpret_cast<const char*>(more.data()), more.size());
  };
  const Kernel* const address = &kernel;  // the session keeps the kernels
  const std::uint64_t blocks =
      options.blocks_to_run.empty() ? geometry.grid.count() : std::uint64_t{options.blocks_to_run.size()};
  // The order of the blocks does not matter if there is only one.
  const Order order = blocks == 1 ? Order::kForward : options.execution_order.order;
  const std::uint64_t seed = order == Order::kShuffled ? options.execution_order.shuffle_seed : 0;
  add(address, geometry.grid.x, geometry.block.x, order, seed, options.instruction_limit,
      options.functions_with_errors);
  add_all(std::as_bytes(std::span(options.blocks_to_run)));
  for (const std::vector<std::byte>& argument : arguments.values())
    add_all(argument);
  for (const Region& region : regions_) {
    add(region.flags.read_only, region.flags.uninitialized);
    add_all(region.memory);
  }
  return bytes;
}

void PtxSession::keep(std::string identity, const Completed& outcome) {
  constexpr std::size_t kMaxKeptBytes = std::size_t{128} << 20U;
  std::size_t size = identity.size();
  for (const Region& region : regions_)
    size += may_change(region) ? region.memory.size() : 0;
  if (size > kMaxKeptBytes - kept_bytes_) return;
  kept_bytes_ += size;
  CompletedLaunch& kept = completed_launches_[std::move(identity)];
  kept.outcome = outcome;
  for (const Region& region : regions_)
    if (may_change(region)) kept.contents.emplace_back(region.memory.begin(), region.memory.end());
}

Result<std::shared_ptr<const Kernel>> PtxSession::find_or_lower_kernel(const std::shared_ptr<const Artifact>& artifact,
                                                                       const std::string& symbol) {
  std::shared_ptr<const Module>& module = modules_by_artifact_[artifact];
  if (module == nullptr) {
    Result<Module> parsed = parse(artifact->content, symbol + ".ptx");
    if (!parsed) return parsed.error();
    module = std::make_shared<const Module>(parsed.take());
  }
  std::shared_ptr<const Kernel>& kernel = kernels_by_module_and_entry_name_[{module.get(), symbol}];
  if (kernel == nullptr) {
    auto lowered = lower(module, symbol);
    if (!lowered) return lowered.error();
    kernel = lowered.take();
  }
  return kernel;
}

Result<KernelArguments> PtxSession::arguments_of(const LaunchRequest& launch) {
  region_allocations_.clear();
  regions_.clear();
  KernelArguments arguments;
  arguments.add(static_cast<long long>(launch.threads));
  for (const KernelArgument& argument : launch.arguments) {
    std::vector<std::byte> bytes = argument.bytes;
    for (const KernelArgument::Pointer& pointer : argument.pointers) {
      if (bytes.size() < 8 || pointer.byte_offset > bytes.size() - 8)
        return Error{fmt::format("an argument has {} bytes, too few for a pointer at offset {}", bytes.size(),
                                 pointer.byte_offset)};
      const Result<std::uint64_t> address = address_of(pointer);
      if (!address) return address.error();
      std::memcpy(bytes.data() + pointer.byte_offset, &*address, sizeof(*address));
    }
    arguments.add_bytes(std::move(bytes));
  }
  return arguments;
}

/// The device address of a region. Pointers to the same memory share an allocation with the flags of the first pointer.
Result<std::uint64_t> PtxSession::address_of(const KernelArgument::Pointer& pointer) {
  const auto& [buffer, offset] = pointer.address;
  if (buffer.index >= buffers_.size() || offset > buffers_[buffer.index].size) {
    return Error{"a pointer argument does not point to an allocated buffer"};
  }
  const std::span<std::byte> rest = bytes(buffer).subspan(offset);
  const std::span<std::byte> memory = rest.first(std::min<std::uint64_t>(rest.size(), pointer.region.bytes));
  const auto [known, is_new] = region_allocations_.try_emplace({memory.data(), memory.size()}, AllocationId{});
  if (is_new) {
    const MemoryRegion& region = pointer.region;
    const AllocationFlags flags{.read_only = region.read_only, .uninitialized = region.uninitialized};
    known->second =
        machine_.adopt(region.name.empty() ? fmt::format("buffer {}", buffer.index) : region.name, memory, flags);
    regions_.push_back({.memory = memory, .flags = flags});
  }
  return machine_.address(known->second);
}

}  // namespace assay::ptx
