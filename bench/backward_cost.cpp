#include "bench/backward_cost.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "backends/source/print.hpp"
#include "frontend/warp/parse/reader.hpp"
#include "ir/launch.hpp"
#include "ir/transforms/adjoint.hpp"
#include "support/rng.hpp"

namespace assay::bench {
namespace {

using backends::Pass;

void fill(const ir::Module& module, ir::Argument& argument, std::int32_t trips, Rng& rng) {
  const auto components = ir::scalar_components(module, argument.type.element());
  for (std::int64_t k = 0; k < ir::element_count(argument); ++k) {
    for (const ir::ScalarComponent& component : components) {
      std::byte* const at = argument.bytes.data() + ir::element_offset(argument, k) + component.offset;
      if (ir::is_float(component.scalar)) {
        ir::write_float(component.scalar, at, rng.uniform_real(0.9999, 1.0001));
      } else {
        ir::write_integer(component.scalar, at,
                          argument.type.is_array() ? rng.uniform_int(0, argument.shape[0] - 1) : trips);
      }
    }
  }
}

Result<backends::BuiltKernel> build(backends::Device& device, const backends::EmittedKernel& emitted) {
  backends::BuildFlags flags = backends::BuildFlags::strict();
  flags.optimization_level = 2;
  std::vector<backends::BuildOutcome> outcomes = device.build({&emitted, 1}, flags);
  if (const auto* failed = std::get_if<backends::BuildFailed>(&outcomes[0])) return Error{.message = failed->log};
  return std::get<backends::BuiltKernel>(std::move(outcomes[0]));
}

}  // namespace

Result<TimedKernel> TimedKernel::make(backends::Device& device, std::string_view python, std::int32_t trips,
                                      std::int32_t threads, std::int32_t extent) {
  auto file = frontend::parse_python(python, "bench.py");
  if (!file.ok()) return file.error();
  if (file->module.kernels.empty()) return Error{.message = "the source has no kernel"};
  const ir::Module& module = file->module;
  auto adjoint = transforms::make_adjoint(module, module.kernels[0]);
  if (!adjoint.ok()) return adjoint.error();
  const ir::Function& backward = adjoint->module.kernels[0];
  auto emitted = source::print(adjoint->module, module.kernels[0], &backward, device.target());
  if (!emitted.ok()) return emitted.error();

  TimedKernel timed;
  auto built = build(device, *emitted);
  if (!built.ok()) return built.error();
  timed.built_ = std::make_unique<backends::BuiltKernel>(built.take());
  auto session = device.open({.buffer_bytes = std::size_t{4} << 30});
  if (!session.ok()) return session.error();
  timed.session_ = session.take();
  if (auto placed = timed.place(adjoint->module, backward, trips, threads, extent); !placed.ok()) return placed.error();
  return timed;
}

Result<void> TimedKernel::place(const ir::Module& module, const ir::Function& backward, std::int32_t trips,
                                std::int32_t threads, std::int32_t extent) {
  Rng rng(1);
  std::vector<backends::KernelArgument> arguments;
  for (ir::VarId p = 0; p < backward.parameter_count; ++p) {
    const ir::Type type = backward.var(p).type;
    ir::Argument argument = ir::make_argument(module, type, std::vector<std::int32_t>(type.rank, extent));
    fill(module, argument, trips, rng);
    if (!type.is_array()) {
      arguments.emplace_back().bytes = argument.bytes;
      continue;
    }
    auto buffer = session_->allocate(argument.bytes.size());
    if (!buffer.ok()) return buffer.error();
    std::ranges::copy(argument.bytes, session_->bytes(*buffer).begin());
    arguments.push_back(
        backends::KernelArgument::array(backends::BufferAddress{*buffer, 0}, argument.shape, argument.strides));
  }
  for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
    const std::size_t count = built_->find(pass, backends::Precision::kNative)->parameter_count;
    launches_.push_back({.kernel = built_.get(),
                         .pass = pass,
                         .threads = threads,
                         .arguments = {arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(count)}});
  }
  return count_instructions();
}

Result<void> TimedKernel::count_instructions() {
  std::vector<backends::LaunchRequest> profiled = launches_;
  for (backends::LaunchRequest& launch : profiled)
    launch.profile = true;
  for (const backends::RunOutcome& outcome : session_->run(profiled)) {
    const auto* completed = std::get_if<backends::Completed>(&outcome);
    if (completed == nullptr) return Error{.message = backends::describe(outcome)};
    instructions_.push_back(completed->profile ? completed->profile->measures.at("thread_instructions") : 0);
  }
  return {};
}

Result<PassTimes> TimedKernel::run() {
  const std::vector<backends::RunOutcome> outcomes = session_->run(launches_);
  PassTimes times;
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    const auto* completed = std::get_if<backends::Completed>(&outcomes[k]);
    if (completed == nullptr) return Error{.message = backends::describe(outcomes[k])};
    PassTime& time = launches_[k].pass == Pass::kForward ? times.forward : times.backward;
    time.seconds = std::chrono::duration<double>(completed->duration).count();
    time.instructions = instructions_[k];
  }
  return times;
}

}  // namespace assay::bench
