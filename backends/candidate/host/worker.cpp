#include "backends/candidate/host/worker.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>

#include "backends/candidate/host/call.hpp"
#include "backends/candidate/host/outcome_text.hpp"
#include "backends/candidate/host/simulated_gpu.hpp"
#include "backends/worker/placed_arguments.hpp"
#include "backends/worker/serve.hpp"

namespace assay::candidate {

using namespace backends;
using worker::LaunchRecordReader;
using worker::LaunchResult;

namespace {

/// The candidate's library calls functions without a context, so a worker has one GPU.
SimulatedGpu& gpu() {
  static SimulatedGpu simulated;
  return simulated;
}

ptx::Dim3 dimensions_of(const std::uint32_t extents[3]) { return {extents[0], extents[1], extents[2]}; }

constexpr DeviceFunctions kDeviceFunctions{
    .allocate = [](std::uint64_t bytes) { return gpu().allocate(bytes); },
    .bytes = [](std::uint64_t address, std::uint64_t size,
                std::int32_t writes) { return gpu().bytes(address, size, writes != 0); },
    .add_module = [](const void* fat_binary) { return gpu().add_module(fat_binary); },
    .variable = [](std::int32_t module, const char* name) { return gpu().variable(module, name); },
    .prepare_launch =
        [](std::int32_t module, const char* kernel, const std::uint32_t grid[3], const std::uint32_t block[3],
           std::uint64_t dynamic_shared_bytes, std::int32_t is_cooperative, void** arguments, std::int32_t* launch) {
          const ptx::LaunchGeometry geometry{
              .grid = dimensions_of(grid),
              .block = dimensions_of(block),
              .dynamic_shared_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(dynamic_shared_bytes, ~0U)),
              .is_cooperative = is_cooperative != 0};
          return gpu().prepare_launch(module, kernel, geometry, arguments, *launch);
        },
    .resident_blocks =
        [](std::int32_t module, const char* kernel, std::uint32_t block_threads, std::uint64_t dynamic_shared_bytes) {
          return gpu().resident_blocks(module, kernel, block_threads, dynamic_shared_bytes);
        },
    .run_launch = [](std::int32_t launch) { return gpu().run_launch(launch); },
    .choose_stream = [](std::uint32_t count) { return gpu().choose_stream(count); },
    .report_unsupported = [](const char* what) { return gpu().report_unsupported(what); },
    .copied = [](std::uint64_t target, std::uint64_t source,
                 std::uint64_t size) { gpu().copied(target, source, size); },
    .converted = [](std::uint64_t target, Element target_type, std::uint64_t source,
                    Element source_type) { gpu().converted(target, target_type, source, source_type); },
    .allow_shared_bytes = [](std::int32_t module, const char* kernel,
                             std::uint64_t bytes) { return gpu().allow_shared_bytes(module, kernel, bytes); },
};

using AttachFunction = void (*)(const DeviceFunctions*);
using CallFunction = std::int32_t (*)(const CallArguments*);
using EndCallFunction = std::int32_t (*)();

ptx::Order order_of(std::uint64_t order) {
  switch (static_cast<ThreadOrder>(order)) {
    case ThreadOrder::kReverse: return ptx::Order::kReverse;
    case ThreadOrder::kShuffled: return ptx::Order::kShuffled;
    default: return ptx::Order::kForward;
  }
}

ptx::LaunchOptions options_of(const CallHeader& header) {
  ptx::LaunchOptions options;
  for (std::size_t i = 0; i < ptx::kChecks.size(); ++i)
    options.checks.*ptx::kChecks[i].member = ((header.checks >> i) & 1U) != 0;
  options.instruction_limit = header.instruction_limit;
  options.execution_order = {.order = order_of(header.order), .shuffle_seed = header.shuffle_seed};
  return options;
}

LaunchResult rejected(std::string message) {
  return {.progress = worker::LaunchProgress::kRejected, .message = std::move(message)};
}

class CandidateExecutor final : public worker::LaunchExecutor {
 public:
  explicit CandidateExecutor(std::span<std::byte> buffers) : buffers_(buffers) {}

  LaunchResult run(const LaunchRecordReader& reader) override {
    std::string message;
    const Functions& functions = functions_of(reader.code(), message);
    if (functions.forward == nullptr) return rejected(message);
    if (reader.loads_only()) return {};
    const std::span<void*> arguments =
        placed_.place(reader, reinterpret_cast<std::uintptr_t>(buffers_.data())).subspan(1);
    if (arguments.size() != 2) return rejected("a call of the candidate must have exactly two arguments");
    CallHeader header;
    std::memcpy(&header, arguments[0], sizeof(header));
    const std::span<const FunctionCall> calls(header.calls, static_cast<std::size_t>(header.call_count));
    std::size_t value_count = 0;
    for (const FunctionCall& call : calls)
      value_count += static_cast<std::size_t>(call.given_count) + static_cast<std::size_t>(call.output_count);
    std::vector<CallArgument> values(value_count);
    std::memcpy(values.data(), static_cast<const std::byte*>(arguments[0]) + sizeof(header),
                values.size() * sizeof(CallArgument));
    FailureReportBuffer place;
    std::memcpy(&place, arguments[1], sizeof(place));

    ptx::LaunchOptions options = options_of(header);
    options.computes_unrounded_values =
        std::ranges::any_of(values, [](const CallArgument& value) { return value.unrounded_address != 0; });
    options.may_have_rounded_parameters = true;
    gpu().begin_call(options);
    adopt_arrays(values);
    RunOutcome outcome = Completed{};
    const auto start = std::chrono::steady_clock::now();
    std::span<const CallArgument> left = values;
    for (const FunctionCall& call : calls) {
      const auto size = static_cast<std::size_t>(call.given_count) + static_cast<std::size_t>(call.output_count);
      if (call.is_backward != 0 && functions.backward == nullptr)
        return rejected("the compiled candidate has no function for the backward pass");
      outcome = run_call(functions, call, left.first(size));
      if (!std::holds_alternative<Completed>(outcome)) break;
      left = left.subspan(size);
    }
    const auto duration = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start);
    if (std::holds_alternative<Completed>(outcome)) write_unrounded_values(values);
    write_report(place, outcome);
    return {.nanoseconds = duration.count()};
  }

 private:
  struct Functions {
    CallFunction forward = nullptr;   ///< null if the library cannot be loaded
    CallFunction backward = nullptr;  ///< null if the candidate has no backward pass
    EndCallFunction end_call = nullptr;
  };

  /// The functions of a library; if it cannot be loaded, the reason is in `message`.
  const Functions& functions_of(const std::string& path, std::string& message) {
    Functions& known = functions_by_path_[path];
    if (known.forward != nullptr) return known;
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      message = std::string("cannot load the compiled candidate: ") + ::dlerror();
      return known;
    }
    const auto attach = reinterpret_cast<AttachFunction>(::dlsym(library, kAttachSymbol));
    const auto forward = reinterpret_cast<CallFunction>(::dlsym(library, kCallSymbol));
    const auto end_call = reinterpret_cast<EndCallFunction>(::dlsym(library, kEndCallSymbol));
    if (attach == nullptr || forward == nullptr || end_call == nullptr) {
      message = "the compiled candidate lacks the functions that Assay adds to its source";
      return known;
    }
    attach(&kDeviceFunctions);
    known = {.forward = forward,
             .backward = reinterpret_cast<CallFunction>(::dlsym(library, kCallBackwardSymbol)),
             .end_call = end_call};
    return known;
  }

  /// Calls a function and waits for its work.
  static RunOutcome run_call(const Functions& functions, const FunctionCall& call,
                             std::span<const CallArgument> values) {
    std::array<char, worker::kMessageBufferBytes> reason{};
    const CallArguments arguments{.given = values.data(),
                                  .given_count = call.given_count,
                                  .is_inferred = call.is_inferred,
                                  .outputs = values.data() + call.given_count,
                                  .output_count = call.output_count,
                                  .has_results = call.has_results,
                                  .is_forward = call.is_backward != 0 ? 0 : 1,
                                  .message = reason.data(),
                                  .message_bytes = reason.size()};
    if (call.is_backward != 0) protect_inputs(values);
    const bool returned = (call.is_backward != 0 ? functions.backward : functions.forward)(&arguments) == 0;
    const std::int32_t unfinished = functions.end_call();
    if (returned && unfinished > 0) gpu().report_unfinished(unfinished);
    if (gpu().failure()) return *gpu().failure();
    if (!returned) return LaunchFailed{reason.data()};
    return Completed{};
  }

  /// Outputs of the forward function are inputs of the function of the backward pass.
  static void protect_inputs(std::span<const CallArgument> values) {
    for (const CallArgument& value : values)
      if (value.kind == CallArgumentKind::kArray && value.is_output == 0) gpu().protect(value.address);
  }

  /// Replaces the host addresses of arrays by device addresses. An array that occurs twice gets one address.
  static void adopt_arrays(std::vector<CallArgument>& values) {
    std::map<std::uint64_t, std::uint64_t> addresses;
    for (CallArgument& value : values) {
      if (value.kind != CallArgumentKind::kArray) continue;
      const auto [known, is_new] = addresses.try_emplace(value.address, 0);
      if (is_new) {
        const std::size_t size = element_bytes(value.element) * static_cast<std::size_t>(element_count(value));
        known->second = gpu().adopt(value.name, {reinterpret_cast<std::byte*>(value.address), size},
                                    {.read_only = value.is_output == 0, .uninitialized = value.is_uninitialized != 0});
      }
      value.address = known->second;
    }
  }

  static void write_unrounded_values(const std::vector<CallArgument>& values) {
    for (const CallArgument& value : values) {
      if (value.unrounded_address == 0) continue;
      const auto count = static_cast<std::size_t>(element_count(value));
      gpu().write_unrounded_values(
          value.address, value.element, count,
          {reinterpret_cast<std::byte*>(value.unrounded_address), unrounded_array_bytes(count)});
    }
  }

  static void write_report(const FailureReportBuffer& place, const RunOutcome& outcome) {
    const std::string text =
        std::holds_alternative<Completed>(outcome) ? std::string() : outcome_text(outcome, place.bytes - 1);
    const std::size_t size = std::min<std::size_t>(text.size(), place.bytes - 1);
    auto* const target = reinterpret_cast<char*>(place.address);
    std::memcpy(target, text.data(), size);
    target[size] = '\0';
  }

  std::span<std::byte> buffers_;
  worker::RelocatedArguments placed_;
  std::map<std::string, Functions> functions_by_path_;  ///< functions of each library
};

}  // namespace

std::optional<int> run_if_worker(int argc, const char* const* argv) {
  return worker::serve_if_worker(
      argc, argv, kWorkerRoleArgument, [](const worker::WorkerLimits&, std::span<std::byte> buffers) {
        return Result<std::unique_ptr<worker::LaunchExecutor>>(std::make_unique<CandidateExecutor>(buffers));
      });
}

}  // namespace assay::candidate
