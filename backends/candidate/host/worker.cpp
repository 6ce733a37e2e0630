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
#include <fmt/format.h>
#include <unistd.h>

#include "backends/candidate/host/call.hpp"
#include "backends/candidate/host/outcome_text.hpp"
#include "backends/candidate/host/program_run.hpp"
#include "backends/candidate/host/simulated_gpu.hpp"
#include "backends/worker/placed_arguments.hpp"
#include "backends/worker/serve.hpp"

namespace assay::candidate {

using namespace backends;
using worker::LaunchRecordReader;
using worker::LaunchResult;

namespace {

/// The candidate's library calls functions without a context, so a worker has one GPU. It is never destroyed, because
/// static tensors of the candidate, which are destroyed at the end of the process, use it.
SimulatedGpu& gpu() {
  static auto* const simulated = new SimulatedGpu;
  return *simulated;
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
    .allocate_managed = [](std::uint64_t bytes) { return gpu().allocate_managed(bytes); },
    .release = [](std::uint64_t address) { gpu().release(address); },
    .set_lasting = [](std::uint64_t address, std::int32_t is_lasting) { gpu().set_lasting(address, is_lasting != 0); },
    .copied_to_host = [](std::uint64_t source, std::uint64_t size) { gpu().copied_to_host(source, size); },
    .copied_from_host = [](std::uint64_t target, std::uint64_t size) { gpu().copied_from_host(target, size); },
    .encode_tensor_map = [](const TensorMapRequest* request,
                            void* map) { return SimulatedGpu::encode_tensor_map(*request, map); },
};

using AttachFunction = void (*)(const DeviceFunctions*);
using CallFunction = std::int32_t (*)(const CallArguments*);
using EndCallFunction = std::int32_t (*)();
using RunProgramFunction = std::int32_t (*)(int, char**, char*, std::uint64_t);

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
  options.functions_with_errors = static_cast<std::uint32_t>(header.instructions_with_errors);
  return options;
}

/// An argument of a program as text.
std::string argument_text(const CallArgument& argument) {
  return argument.kind == CallArgumentKind::kReal ? fmt::format("{}", argument.real)
                                                  : fmt::format("{}", argument.integer);
}

/// The last line that the program has printed since its start, as a clause of a message; empty if there is none.
std::string program_output_clause() {
  constexpr std::size_t kMostBytes = 200;
  const off_t end = ::lseek(STDOUT_FILENO, 0, SEEK_CUR);
  if (end <= 0) return {};
  std::string text(std::min<std::size_t>(static_cast<std::size_t>(end), kMostBytes), '\0');
  const ssize_t count = ::pread(STDOUT_FILENO, text.data(), text.size(), end - static_cast<off_t>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return output_clause(std::move(text));
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
    if (functions.library == nullptr) return rejected(message);
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
    if (!calls.empty() && calls.front().kind == CallKind::kProgram) {
      std::vector<ProgramParameter> parameters(static_cast<std::size_t>(calls.front().output_count));
      std::memcpy(parameters.data(),
                  static_cast<const std::byte*>(arguments[0]) + sizeof(header) + values.size() * sizeof(CallArgument),
                  parameters.size() * sizeof(ProgramParameter));
      const auto start = std::chrono::steady_clock::now();
      gpu().set_crash_report({reinterpret_cast<char*>(place.address), static_cast<std::size_t>(place.bytes)});
      write_report(place, run_program(reader.code(), header, values, parameters));
      return {.nanoseconds = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count()};
    }

    gpu().begin_call(options_for(header, values));
    adopt_arrays(values);
    RunOutcome outcome = Completed{};
    const auto start = std::chrono::steady_clock::now();
    std::span<const CallArgument> left = values;
    for (const FunctionCall& call : calls) {
      const auto size = static_cast<std::size_t>(call.given_count) + static_cast<std::size_t>(call.output_count);
      if (call.kind == CallKind::kBackward && functions.backward == nullptr)
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
    void* library = nullptr;          ///< null if the library cannot be loaded
    CallFunction forward = nullptr;   ///< null for a program
    CallFunction backward = nullptr;  ///< null if the candidate has no backward pass
    EndCallFunction end_call = nullptr;
    RunProgramFunction run_program = nullptr;  ///< null if the candidate is not a program
    EndCallFunction end_program = nullptr;
  };

  static ptx::LaunchOptions options_for(const CallHeader& header, const std::vector<CallArgument>& values) {
    ptx::LaunchOptions options = options_of(header);
    options.computes_unrounded_values =
        std::ranges::any_of(values, [](const CallArgument& value) { return value.unrounded_address != 0; });
    options.may_have_rounded_parameters = true;
    return options;
  }

  /// Runs a program with the arrays and values of the specification.
  RunOutcome run_program(const std::string& code, const CallHeader& header, const std::vector<CallArgument>& values,
                         const std::vector<ProgramParameter>& parameters) {
    const FunctionCall& call = header.calls[0];
    const auto given_count = static_cast<std::size_t>(call.given_count);
    const std::span<const CallArgument> given(values.data(), given_count);
    const ptx::LaunchOptions options = options_for(header, values);
    if (call.runs_own_data != 0) {
      ptx::LaunchOptions own = options;
      own.computes_unrounded_values = false;
      own.functions_with_errors = 0;
      int status = 0;
      if (auto failure = run_main(code, given, own, nullptr, status)) return *std::move(failure);
      if (status != 0 && gpu().launch_count() == 0) {
        return Unsupported{
            fmt::format("the program ends with exit status {} before it starts a kernel{}; it may read no "
                        "files",
                        status, program_output_clause())};
      }
      if (status != 0)
        return LaunchFailed{fmt::format("the program ends with exit status {} when it runs with its own data{}", status,
                                        program_output_clause())};
    }
    ProgramRun run(gpu(), std::span(values).subspan(given_count), parameters, given_count > 0);
    int status = 0;
    if (auto failure = run_main(code, given, options, &run, status)) return *std::move(failure);
    if (auto failure = run.write_results(status)) return *std::move(failure);
    return Completed{};
  }

  /// Runs main() as in a new process. Returns a failure, if there is one.
  std::optional<RunOutcome> run_main(const std::string& code, std::span<const CallArgument> given,
                                     const ptx::LaunchOptions& options, ProgramRun* run, int& status) {
    // Static variables get their initial values when the library is loaded again.
    if (void* const library = std::exchange(functions_by_path_[code], {}).library; library != nullptr)
      ::dlclose(library);
    gpu().end_process();
    std::string message;
    const Functions& functions = functions_of(code, message);
    if (functions.run_program == nullptr)
      return LaunchFailed{message.empty() ? "the compiled candidate has no main()" : message};
    std::vector<std::string> texts{"program"};
    for (const CallArgument& argument : given)
      texts.push_back(argument_text(argument));
    std::vector<char*> arguments;
    for (std::string& text : texts)
      arguments.push_back(text.data());
    arguments.push_back(nullptr);
    std::array<char, worker::kMessageBufferBytes> reason{};
    gpu().begin_call(options);
    gpu().set_observer(run);
    status = functions.run_program(static_cast<int>(texts.size()), arguments.data(), reason.data(), reason.size());
    gpu().set_observer(nullptr);
    if (gpu().failure()) return gpu().failure();
    if (reason.front() != '\0') return LaunchFailed{fmt::format("main() throws: {}", reason.data())};
    const std::int32_t unfinished = functions.end_program();
    if (unfinished == 0) return std::nullopt;
    return LaunchFailed{
        fmt::format("the program ends before {} run, and nothing waits for this work; call cudaDeviceSynchronize()",
                    unfinished == 1 ? std::string("1 kernel, copy or fill has")
                                    : fmt::format("{} kernels, copies or fills have", unfinished))};
  }

  /// The functions of a library; if it cannot be loaded, the reason is in `message`.
  const Functions& functions_of(const std::string& path, std::string& message) {
    Functions& known = functions_by_path_[path];
    if (known.library != nullptr) return known;
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      message = std::string("cannot load the compiled candidate: ") + ::dlerror();
      return known;
    }
    const auto attach = reinterpret_cast<AttachFunction>(::dlsym(library, kAttachSymbol));
    const auto forward = reinterpret_cast<CallFunction>(::dlsym(library, kCallSymbol));
    const auto end_call = reinterpret_cast<EndCallFunction>(::dlsym(library, kEndCallSymbol));
    const auto run_program = reinterpret_cast<RunProgramFunction>(::dlsym(library, kRunProgramSymbol));
    if (attach == nullptr || (forward == nullptr && run_program == nullptr) || end_call == nullptr) {
      message = "the compiled candidate lacks the functions that Assay adds to its source";
      return known;
    }
    attach(&kDeviceFunctions);
    known = {.library = library,
             .forward = forward,
             .backward = reinterpret_cast<CallFunction>(::dlsym(library, kCallBackwardSymbol)),
             .end_call = end_call,
             .run_program = run_program,
             .end_program = reinterpret_cast<EndCallFunction>(::dlsym(library, kEndProgramSymbol))};
    return known;
  }

  /// Calls a function and waits for its work.
  static RunOutcome run_call(const Functions& functions, const FunctionCall& call,
                             std::span<const CallArgument> values) {
    const bool is_backward = call.kind == CallKind::kBackward;
    std::array<char, worker::kMessageBufferBytes> reason{};
    const CallArguments arguments{.given = values.data(),
                                  .given_count = call.given_count,
                                  .is_inferred = call.is_inferred,
                                  .outputs = values.data() + call.given_count,
                                  .output_count = call.output_count,
                                  .has_results = call.has_results,
                                  .is_forward = is_backward ? 0 : 1,
                                  .message = reason.data(),
                                  .message_bytes = reason.size()};
    if (is_backward) protect_inputs(values);
    const bool returned = (is_backward ? functions.backward : functions.forward)(&arguments) == 0;
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
