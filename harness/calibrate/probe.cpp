#include "harness/calibrate/probe.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

namespace assay::harness {

namespace {

constexpr std::size_t kOperandsOfLaunch = std::size_t{1} << 20U;
constexpr auto kProbeTimeLimit = std::chrono::seconds{60};

backends::EmittedKernel kernel_of(std::string_view instruction) {
  const bool wide = instruction.ends_with("f64");
  const std::string ask =
      wide ? fmt::format(
                 "double y; asm(\"{} %0, %1;\" : \"=d\"(y) : \"d\"(__hiloint2double(words.data[i], 0)));\n"
                 "    words.data[i] = __double2hiint(y);",
                 instruction)
           : fmt::format(
                 "float y; asm(\"{} %0, %1;\" : \"=f\"(y) : \"f\"(__int_as_float(words.data[i])));\n"
                 "    words.data[i] = __float_as_int(y);",
                 instruction);
  return {
      .name = "probe",
      .helpers = {},
      .body = fmt::format("#ifndef ASSAY_REAL\n#define ASSAY_REAL float\n#endif\nusing real = ASSAY_REAL;\n"
                          "struct Words {{ int* data; int shape[1]; long long strides[1]; }};\n"
                          "extern \"C\" __global__ void probe_forward(long long count, Words words) {{\n"
                          "  const long long step = (long long)gridDim.x * blockDim.x;\n"
                          "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; "
                          "i += step) {{\n    {}\n  }}\n}}\n",
                          ask),
      .entry_points = {{.pass = backends::Pass::kForward, .symbol = "probe_forward", .parameter_types = {"Words"}}}};
}

}  // namespace

Result<InstructionProbe> InstructionProbe::make(backends::Device& device, std::string_view instruction) {
  const backends::EmittedKernel kernel = kernel_of(instruction);
  backends::BuildOutcome outcome = device.build({&kernel, 1}, backends::BuildFlags::strict()).front();
  if (const auto* failed = std::get_if<backends::BuildFailed>(&outcome)) {
    return Error{failed->log, std::string(instruction)};
  }
  auto session = device.open({.buffer_bytes = 2 * kOperandsOfLaunch * sizeof(std::uint32_t)});
  if (!session.ok()) return session.error();
  InstructionProbe probe;
  probe.kernel_ = std::make_unique<backends::BuiltKernel>(std::get<backends::BuiltKernel>(std::move(outcome)));
  probe.session_ = session.take();
  const Result<backends::BufferId> words = probe.session_->allocate(kOperandsOfLaunch * sizeof(std::uint32_t));
  if (!words.ok()) return words.error();
  probe.word_buffer_ = *words;
  return probe;
}

Result<std::vector<std::uint32_t>> InstructionProbe::compute_results(std::span<const std::uint32_t> operands) {
  std::vector<std::uint32_t> answers;
  while (answers.size() < operands.size()) {
    const auto part = operands.subspan(answers.size(), std::min(kOperandsOfLaunch, operands.size() - answers.size()));
    std::byte* const memory = session_->bytes(word_buffer_).data();
    std::memcpy(memory, part.data(), part.size_bytes());
    const std::array shape{static_cast<std::int32_t>(part.size())};
    const std::array strides{static_cast<std::int64_t>(sizeof(std::uint32_t))};
    const backends::LaunchRequest launch{
        .kernel = kernel_.get(),
        .threads = static_cast<std::int64_t>(part.size()),
        .arguments = {backends::KernelArgument::array(backends::BufferAddress{word_buffer_, 0}, shape, strides)},
        .time_limit = kProbeTimeLimit};
    const backends::RunOutcome outcome = session_->run({&launch, 1}).front();
    if (!std::holds_alternative<backends::Completed>(outcome)) return Error{backends::describe(outcome)};
    const auto* const words = reinterpret_cast<const std::uint32_t*>(session_->bytes(word_buffer_).data());
    answers.insert(answers.end(), words, words + part.size());
  }
  return answers;
}

}  // namespace assay::harness
