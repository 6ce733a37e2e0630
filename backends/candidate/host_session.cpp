#include "backends/candidate/host_session.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "backends/candidate/formula.hpp"
#include "backends/candidate/host/outcome_text.hpp"
#include "backends/candidate/host/worker.hpp"

namespace assay::candidate {

using namespace backends;

namespace {

constexpr std::size_t kReportBytes = 64 * 1024;

struct ElementName {
  std::string_view warp;
  Element element;
};
/// Warp's scalar types that PyTorch has, too.
constexpr std::array kElementNames{
    ElementName{"bool", Element::kBool},       ElementName{"int8", Element::kInt8},
    ElementName{"uint8", Element::kUInt8},     ElementName{"int16", Element::kInt16},
    ElementName{"int32", Element::kInt32},     ElementName{"int64", Element::kInt64},
    ElementName{"float16", Element::kFloat16}, ElementName{"bfloat16", Element::kBFloat16},
    ElementName{"float32", Element::kFloat32}, ElementName{"float64", Element::kFloat64},
};

Element element_of(std::string_view warp) {
  const auto* const found = std::ranges::find(kElementNames, warp, &ElementName::warp);
  return found == kElementNames.end() ? Element::kUnknown : found->element;
}

void set_name(CallArgument& argument, std::string_view name) {
  const std::size_t size = std::min<std::size_t>(name.size(), kMaxNameBytes - 1);
  std::memcpy(argument.name, name.data(), size);
  argument.name[size] = '\0';
}

double real_from(std::span<const std::byte> bytes) {
  float narrow = 0;
  double wide = 0;
  if (bytes.size() == sizeof(narrow)) {
    std::memcpy(&narrow, bytes.data(), sizeof(narrow));
    return narrow;
  }
  if (bytes.size() == sizeof(wide)) std::memcpy(&wide, bytes.data(), sizeof(wide));
  return wide;
}

/// The value of a scalar parameter.
Result<CallArgument> scalar_of(const SpecificationParameter& parameter, const SpecificationArguments& arguments,
                               std::size_t p) {
  CallArgument result;
  set_name(result, parameter.name);
  if (parameter.is_integer() || parameter.type == "bool") {
    result.kind = CallArgumentKind::kInteger;
    result.integer = arguments.integer(p);
    return result;
  }
  const Element element = element_of(parameter.type);
  if ((element == Element::kFloat32 || element == Element::kFloat64) && element_bytes(element) == parameter.bytes) {
    result.kind = CallArgumentKind::kReal;
    result.real = real_from(arguments.at(p).value);
    return result;
  }
  return Error{fmt::format(
      "cannot pass '{}' to a host function: only arrays, integers, float32 and float64 are supported", parameter.name)};
}

/// The array as the function sees it, without its address. An element of several scalars is one more dimension.
Result<CallArgument> array_of(const SpecificationParameter& parameter, const ptx::ArrayView& view) {
  CallArgument result;
  set_name(result, parameter.name);
  result.element = element_of(parameter.type);
  result.is_output = view.region.read_only ? 0 : 1;
  result.is_uninitialized = view.region.uninitialized ? 1 : 0;
  const std::uint64_t scalar = element_bytes(result.element);
  if (scalar == 0 || parameter.bytes % scalar != 0)
    return Error{
        fmt::format("cannot pass '{}' to a host function: PyTorch does not support its element type", parameter.name)};
  for (const std::int32_t extent : view.shape)
    result.shape[result.rank++] = extent;
  if (parameter.bytes > scalar) result.shape[result.rank++] = static_cast<std::int64_t>(parameter.bytes / scalar);
  return result;
}

template <typename T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto* const first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof(value));
}

Result<std::string> library_of(const LaunchRequest& launch) {
  const Artifact* const library =
      launch.kernel->artifact(Artifact::Kind::kSharedLibrary, Precision::kNative, launch.target);
  if (library == nullptr) return Error{"the kernel was built for a different device"};
  return library->path.native();
}

}  // namespace

Result<std::unique_ptr<worker::WorkerSession>> open_host_workers(const SessionLimits& limits,
                                                                 const std::filesystem::path& folder) {
  return worker::WorkerSession::open({.buffer_bytes = limits.buffer_bytes,
                                      .process_memory_limit_bytes = limits.process_memory_limit_bytes,
                                      .filter_system_calls = true,
                                      .restrict_file_access = true},
                                     {.program = "/proc/self/exe",
                                      .role_argument = kWorkerRoleArgument,
                                      .code_folder = folder,
                                      .code_of = library_of});
}

void HostCandidateSession::reset() {
  workers_->reset();
  report_buffer_.reset();
}

std::vector<RunOutcome> HostCandidateSession::run(std::span<const LaunchRequest> launches) {
  std::vector<RunOutcome> outcomes;
  for (const LaunchRequest& launch : launches) {
    outcomes.push_back(run_one(launch));
    if (stops_later_launches(launch, outcomes.back())) break;
  }
  return outcomes;
}

Result<BufferAddress> HostCandidateSession::dense_address(const ptx::ArrayView& view, std::size_t element, Call& call) {
  DenseCopy dense{.view = view, .byte_strides = ptx::dense_byte_strides(view.shape, element), .buffer = {}};
  if (dense.byte_strides == view.byte_strides) return view.address;
  const std::size_t size =
      ptx::ArrayView{.address = {}, .region = {}, .shape = view.shape, .byte_strides = dense.byte_strides}.byte_extent(
          element);
  const Result<BufferId> buffer = workers_->allocate(std::max<std::size_t>(size, 1));
  if (!buffer.ok()) return buffer.error();
  dense.buffer = *buffer;
  copy(dense, true);
  call.dense_copies.push_back(dense);
  return BufferAddress{.buffer = *buffer};
}

void HostCandidateSession::copy(const DenseCopy& dense, bool to_copy) {
  const std::span<std::byte> own = bytes(dense.buffer);
  const std::span<std::byte> theirs = bytes(dense.view.address.buffer).subspan(dense.view.address.offset);
  const auto element = static_cast<std::size_t>(dense.byte_strides.back());
  ptx::for_each_offset_pair(dense.view.shape, dense.byte_strides, dense.view.byte_strides,
                            [&](std::size_t at_own, std::size_t at_theirs) {
                              if (to_copy) std::memcpy(own.data() + at_own, theirs.data() + at_theirs, element);
                              else std::memcpy(theirs.data() + at_theirs, own.data() + at_own, element);
                            });
}

Result<HostCandidateSession::Call> HostCandidateSession::call_of(const Specification& specification,
                                                                 const SpecificationArguments& arguments) {
  Call call;
  std::vector<CallArgument> parameters;
  std::vector<BufferAddress> addresses(specification.parameters.size());
  for (std::size_t p = 0; p < specification.parameters.size(); ++p) {
    const SpecificationParameter& parameter = specification.parameters[p];
    const std::optional<ptx::ArrayView>& view = arguments.at(p).view;
    const Result<CallArgument> value = view ? array_of(parameter, *view) : scalar_of(parameter, arguments, p);
    if (!value.ok()) return value.error();
    parameters.push_back(*value);
    if (!view) continue;
    const Result<BufferAddress> address = dense_address(*view, parameter.bytes, call);
    if (!address.ok()) return address.error();
    addresses[p] = *address;
  }
  const auto add = [&](std::size_t p) {
    if (parameters[p].kind == CallArgumentKind::kArray)
      call.array_addresses.emplace_back(call.arguments.size(), addresses[p]);
    call.arguments.push_back(parameters[p]);
  };
  if (contract_.argument_formulas.empty()) {
    for (std::size_t p = 0; p < parameters.size(); ++p)
      add(p);
  }
  for (const std::string& expression : contract_.argument_formulas) {
    if (const std::optional<std::size_t> p = arguments.find(expression)) {
      add(*p);
      continue;
    }
    const Result<std::int64_t> value = evaluate(expression, arguments.names());
    if (!value.ok()) return value.error();
    CallArgument& number = call.arguments.emplace_back();
    number.kind = CallArgumentKind::kInteger;
    number.integer = *value;
    set_name(number, expression);
  }
  call.given_count = call.arguments.size();
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (parameters[p].kind == CallArgumentKind::kArray && parameters[p].is_output != 0) add(p);
  return call;
}

RunOutcome HostCandidateSession::run_one(const LaunchRequest& launch) {
  if (launch.threads == 0) return Completed{};
  const Artifact* const description = launch.kernel->artifact(Artifact::Kind::kPython, Precision::kNative);
  if (description == nullptr) return LaunchFailed{"the kernel was built for a different device"};
  const Specification specification = specification_of(*description);
  const Result<SpecificationArguments> arguments = SpecificationArguments::of(specification, launch);
  if (!arguments.ok()) return LaunchFailed{arguments.error().text()};
  if (!report_buffer_) {
    const Result<BufferId> report = workers_->allocate(kReportBytes);
    if (!report.ok()) return ResourceError{report.error().text()};
    report_buffer_ = *report;
  }
  const Result<Call> call = call_of(specification, *arguments);
  if (!call.ok()) return LaunchFailed{call.error().text()};

  CallHeader header{.given_count = static_cast<std::int32_t>(call->given_count),
                    .is_inferred = contract_.argument_formulas.empty() ? 1 : 0,
                    .output_count = static_cast<std::int32_t>(call->arguments.size() - call->given_count),
                    .instruction_limit = static_cast<std::uint64_t>(launch.time_limit.count()) *
                                         options_.instruction_limit_per_millisecond,
                    .shuffle_seed = launch.shuffle_seed,
                    .order = static_cast<std::uint64_t>(launch.order)};
  for (std::size_t i = 0; i < ptx::kChecks.size(); ++i)
    if (options_.checks.*ptx::kChecks[i].member) header.checks |= 1U << i;
  KernelArgument values;
  append(values.bytes, header);
  for (const CallArgument& value : call->arguments)
    append(values.bytes, value);
  for (const auto& [index, address] : call->array_addresses) {
    const std::size_t at = sizeof(header) + index * sizeof(CallArgument) + offsetof(CallArgument, address);
    values.pointers.push_back({.byte_offset = static_cast<std::uint32_t>(at), .address = address});
  }
  KernelArgument place;
  append(place.bytes, FailureReportBuffer{.bytes = kReportBytes});
  place.pointers.push_back(
      {.byte_offset = offsetof(FailureReportBuffer, address), .address = {.buffer = *report_buffer_}});

  LaunchRequest request = launch;
  request.arguments = {std::move(values), std::move(place)};
  request.profile = false;
  request.sample_count = 0;
  bytes(*report_buffer_)[0] = std::byte{0};
  RunOutcome outcome = workers_->run({&request, 1}).front();
  if (!std::holds_alternative<Completed>(outcome)) return outcome;
  for (const DenseCopy& dense : call->dense_copies)
    copy(dense, false);
  const auto* const text = reinterpret_cast<const char*>(bytes(*report_buffer_).data());
  const std::string_view report(text, ::strnlen(text, kReportBytes));
  if (report.empty()) return outcome;
  std::optional<RunOutcome> reported = outcome_from(report);
  if (!reported) return Crashed{.message = "the worker process returned an invalid launch outcome"};
  if (auto* const timed_out = std::get_if<TimedOut>(&*reported)) timed_out->limit = launch.time_limit;
  return *std::move(reported);
}

}  // namespace assay::candidate
