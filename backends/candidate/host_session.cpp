#include "backends/candidate/host_session.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "backends/candidate/formula.hpp"
#include "backends/candidate/gradients.hpp"
#include "backends/candidate/host/outcome_text.hpp"

namespace assay::candidate {

using namespace backends;

namespace {

constexpr std::size_t kReportBytes = 64 * 1024;
/// Fills memory that nothing has written: a NaN in every floating-point type.
constexpr std::byte kPoison{0xff};

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

/// Adds to a crash what the host code printed last, such as the condition of a failed assertion.
RunOutcome with_last_line(RunOutcome outcome) {
  if (auto* const crash = std::get_if<Crashed>(&outcome)) crash->message += output_clause(crash->output);
  return outcome;
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
  scratch_buffers_.clear();
  saved_buffers_.clear();
}

std::vector<RunOutcome> HostCandidateSession::run(std::span<const LaunchRequest> launches) {
  std::vector<RunOutcome> outcomes;
  for (const LaunchRequest& launch : launches) {
    outcomes.push_back(run_one(launch));
    if (stops_later_launches(launch, outcomes.back())) break;
  }
  return outcomes;
}

Result<BufferAddress> HostCandidateSession::dense_address(const ptx::ArrayView& view, std::size_t element,
                                                          std::vector<DenseCopy>& copies) {
  DenseCopy dense{.view = view, .byte_strides = ptx::dense_byte_strides(view.shape, element), .buffer = {}};
  if (dense.byte_strides == view.byte_strides) return view.address;
  const std::size_t size =
      ptx::ArrayView{.address = {}, .region = {}, .shape = view.shape, .byte_strides = dense.byte_strides}.byte_extent(
          element);
  const Result<BufferId> buffer = workers_->allocate(std::max<std::size_t>(size, 1));
  if (!buffer.ok()) return buffer.error();
  dense.buffer = *buffer;
  copy(dense, true);
  copies.push_back(dense);
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

void HostCandidateSession::Call::add(const Parameters& parameters, std::size_t p) {
  if (parameters.values[p].kind == CallArgumentKind::kArray)
    array_addresses.emplace_back(arguments.size(), parameters.addresses[p]);
  if (parameters.unrounded_addresses[p])
    unrounded_addresses.emplace_back(arguments.size(), *parameters.unrounded_addresses[p]);
  arguments.push_back(parameters.values[p]);
}

Result<HostCandidateSession::Parameters> HostCandidateSession::place(const Specification& specification,
                                                                     const SpecificationArguments& arguments) {
  Parameters placed{.specification = specification,
                    .arguments = arguments,
                    .values = {},
                    .addresses = std::vector<BufferAddress>(specification.parameters.size()),
                    .unrounded_addresses = std::vector<std::optional<BufferAddress>>(specification.parameters.size()),
                    .dense_copies = {}};
  for (std::size_t p = 0; p < specification.parameters.size(); ++p) {
    const SpecificationParameter& parameter = specification.parameters[p];
    const std::optional<ptx::ArrayView>& view = arguments.at(p).view;
    const Result<CallArgument> value = view ? array_of(parameter, *view) : scalar_of(parameter, arguments, p);
    if (!value.ok()) return value.error();
    placed.values.push_back(*value);
    if (!view) continue;
    const Result<BufferAddress> address = dense_address(*view, parameter.bytes, placed.dense_copies);
    if (!address.ok()) return address.error();
    const bool is_dense = placed.dense_copies.empty() || placed.dense_copies.back().buffer != address->buffer;
    if (is_dense && float_type(parameter.type)) placed.unrounded_addresses[p] = view->region.unrounded_values;
    placed.addresses[p] = *address;
  }
  return placed;
}

std::vector<std::string> HostCandidateSession::saved_tensors(const Parameters& parameters) const {
  std::vector<std::string> names = contract_.forward.result_names;
  std::erase_if(names, [&](const std::string& name) { return parameters.arguments.find(name).has_value(); });
  return names;
}

Result<void> HostCandidateSession::add_given(Call& call, const Parameters& parameters,
                                             const std::vector<std::string>& formulas,
                                             const std::vector<std::size_t>& inferred) const {
  call.is_inferred = formulas.empty();
  if (formulas.empty()) {
    for (const std::size_t p : inferred)
      call.add(parameters, p);
  }
  const std::vector<std::string> saved = saved_tensors(parameters);
  for (const std::string& expression : formulas) {
    if (const std::optional<std::size_t> p = parameters.arguments.find(expression)) {
      call.add(parameters, *p);
      continue;
    }
    if (expression.ends_with(".grad"))
      return Error{fmt::format("'{}' in the contract must be the gradient of an array with floats", expression)};
    CallArgument& number = call.arguments.emplace_back();
    set_name(number, expression);
    if (const auto tensor = std::ranges::find(saved, expression);
        call.kind == CallKind::kBackward && tensor != saved.end()) {
      number.kind = CallArgumentKind::kSaved;
      number.integer = tensor - saved.begin();
      continue;
    }
    const Result<double> value = evaluate_real(expression, parameters.arguments.names());
    if (!value.ok()) {
      if (call.kind != CallKind::kBackward || !is_name(expression)) return value.error();
      return Error{unknown_argument_text(expression)};
    }
    number.real = *value;
    const Result<std::int64_t> integer = evaluate(expression, parameters.arguments.names());
    number.kind =
        integer.ok() && !has_decimal_number(expression) ? CallArgumentKind::kInteger : CallArgumentKind::kReal;
    if (integer.ok()) number.integer = *integer;
  }
  call.given_count = call.arguments.size();
  return {};
}

Result<BufferId> HostCandidateSession::reuse(std::vector<std::optional<BufferId>>& buffers, std::size_t number,
                                             std::size_t size) {
  if (number >= buffers.size()) buffers.resize(number + 1);
  std::optional<BufferId>& known = buffers[number];
  if (!known || bytes(*known).size() < size) {
    const Result<BufferId> buffer = workers_->allocate(size);
    if (!buffer.ok()) return buffer.error();
    known = *buffer;
  }
  return *known;
}

RunOutcome HostCandidateSession::run_one(const LaunchRequest& launch) {
  if (launch.threads == 0) return Completed{};
  const Artifact* const description = launch.kernel->artifact(Artifact::Kind::kPython, Precision::kNative);
  if (description == nullptr) return LaunchFailed{"the kernel was built for a different device"};
  Specification specification = specification_of(*description, launch.pass);
  if (const Result<void> added = specification.add_saved_arrays(contract_.saved_arrays); !added.ok())
    return LaunchFailed{added.error().text()};
  const auto allocate_saved = [&](std::size_t number,
                                  std::size_t size) -> Result<std::pair<BufferId, std::span<std::byte>>> {
    const Result<BufferId> buffer = reuse(saved_buffers_, number, size);
    if (!buffer.ok()) return buffer.error();
    return std::pair{*buffer, bytes(*buffer)};
  };
  const Result<SpecificationArguments> arguments = SpecificationArguments::of(specification, launch, allocate_saved);
  if (!arguments.ok()) return LaunchFailed{arguments.error().text()};
  if (!report_buffer_) {
    const Result<BufferId> report = workers_->allocate(kReportBytes);
    if (!report.ok()) return ResourceError{report.error().text()};
    report_buffer_ = *report;
  }
  Result<Parameters> parameters = place(specification, *arguments);
  if (!parameters.ok()) return LaunchFailed{parameters.error().text()};
  RunOutcome outcome = is_program_                      ? run_program(launch, *parameters)
                       : launch.pass == Pass::kBackward ? run_backward(launch, *parameters)
                                                        : run_forward(launch, *parameters);
  if (std::holds_alternative<Completed>(outcome))
    for (const DenseCopy& dense : parameters->dense_copies)
      copy(dense, false);
  return outcome;
}

Result<HostCandidateSession::Call> HostCandidateSession::forward_call(const Parameters& parameters) const {
  Call call;
  const auto& specified = parameters.specification.parameters;
  std::vector<std::size_t> all, outputs;
  for (std::size_t p = 0; p < parameters.values.size(); ++p) {
    if (specified[p].primal_index || specified[p].saved_array != nullptr) continue;
    all.push_back(p);
    if (parameters.values[p].kind == CallArgumentKind::kArray && parameters.values[p].is_output != 0)
      outputs.push_back(p);
  }
  const std::vector<std::string>& formulas = contract_.forward.argument_formulas;
  if (const auto given = add_given(call, parameters, formulas, all); !given.ok()) return given.error();
  const std::vector<std::string>& results = contract_.forward.result_names;
  call.has_results = !results.empty();
  if (results.empty()) {
    for (const std::size_t p : outputs)
      call.add(parameters, p);
    return call;
  }
  for (const std::size_t p : outputs) {
    const std::string& name = specified[p].name;
    if (std::ranges::find(results, name) == results.end() && std::ranges::find(formulas, name) == formulas.end()) {
      return Error{fmt::format(
          "'results' in the contract lacks '{}', which the specification writes; add it at the position at which the "
          "forward function returns it",
          name)};
    }
  }
  std::int64_t saved_count = 0;
  for (const std::string& name : results) {
    if (const std::optional<std::size_t> p = parameters.arguments.find(name)) {
      if (std::ranges::find(outputs, *p) == outputs.end()) {
        return Error{fmt::format(
            "'results' in the contract must be outputs of the specification and new names, got '{}'", name)};
      }
      call.add(parameters, *p);
      continue;
    }
    CallArgument& tensor = call.arguments.emplace_back();
    tensor.kind = CallArgumentKind::kSaved;
    tensor.integer = saved_count++;
    set_name(tensor, name);
  }
  return call;
}

RunOutcome HostCandidateSession::run_forward(const LaunchRequest& launch, const Parameters& parameters) {
  const Result<Call> call = forward_call(parameters);
  if (!call.ok()) return LaunchFailed{call.error().text()};
  return run_calls(launch, {&*call, 1});
}

RunOutcome HostCandidateSession::run_program(const LaunchRequest& launch, const Parameters& parameters) {
  const auto& all = parameters.specification.parameters;
  const std::map<std::string, std::string>& stated = contract_.program.kernel_parameters;
  for (const auto& [name, place] : stated)
    if (!parameters.arguments.find(name))
      return Unsupported{
          fmt::format("'parameters' of the contract must name parameters of the specification, got '{}'", name)};
  Call call{.kind = CallKind::kProgram};
  if (const auto given = add_given(call, parameters, contract_.program.argument_formulas, {}); !given.ok())
    return LaunchFailed{given.error().text()};
  std::int32_t array_count = 0;
  for (std::size_t p = 0; p < all.size(); ++p) {
    const auto found = stated.find(all[p].name);
    const bool is_array = parameters.values[p].kind == CallArgumentKind::kArray;
    if (found == stated.end() && !is_array) continue;  // the program has the value, or gets it as an argument
    ProgramParameter& parameter = call.program_parameters.emplace_back();
    parameter.is_read = parameters.values[p].is_uninitialized != 0 ? 0 : 1;
    parameter.index = array_count;
    if (found != stated.end()) {
      const std::size_t bracket = found->second.rfind('[');
      found->second.copy(parameter.kernel, std::min<std::size_t>(bracket, kMaxNameBytes - 1));
      parameter.index = std::stoi(found->second.substr(bracket + 1));
    } else if (!stated.empty()) {
      return Unsupported{fmt::format("'parameters' of the contract must also state the array '{}'", all[p].name)};
    }
    array_count += is_array ? 1 : 0;
    call.add(parameters, p);
  }
  std::vector<std::int64_t> given;
  for (std::size_t i = 0; i < call.given_count; ++i)
    given.push_back(call.arguments[i].integer);
  call.runs_own_data = own_runs_.insert(std::move(given)).second;
  return run_calls(launch, {&call, 1});
}

Result<BufferId> HostCandidateSession::redirect(Parameters& parameters, std::size_t p, std::size_t number) {
  CallArgument& value = parameters.values[p];
  const std::size_t size =
      std::max<std::size_t>(element_bytes(value.element) * static_cast<std::size_t>(element_count(value)), 1);
  const Result<BufferId> buffer = reuse(scratch_buffers_, number, size);
  if (!buffer.ok()) return buffer.error();
  std::ranges::fill(bytes(*buffer).first(size), kPoison);
  parameters.addresses[p] = BufferAddress{.buffer = *buffer};
  value.is_output = 1;
  value.is_uninitialized = 1;
  return *buffer;
}

bool HostCandidateSession::needs_forward_function(const Parameters& parameters) const {
  const std::vector<std::string> saved = saved_tensors(parameters);
  return std::ranges::any_of(contract_.backward->launch.argument_formulas, [&](const std::string& formula) {
    const std::optional<std::size_t> p = parameters.arguments.find(formula);
    if (!p) return std::ranges::find(saved, formula) != saved.end();
    const SpecificationParameter& parameter = parameters.specification.parameters[*p];
    return parameter.is_written && !parameter.primal_index;
  });
}

RunOutcome HostCandidateSession::run_backward(const LaunchRequest& launch, Parameters& parameters) {
  const auto& all = parameters.specification.parameters;
  const BackwardContract& contract = *contract_.backward;
  if (const Result<void> judged = parameters.specification.check_backward(); !judged.ok())
    return Unsupported{judged.error().text()};
  std::size_t scratch = 0;
  std::vector<Call> calls;
  const bool needs_outputs = needs_forward_function(parameters);
  std::vector<std::size_t> inputs, cotangents;
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (all[p].primal_index && all[p].is_written) cotangents.push_back(p);
    if (!all[p].primal_index && !all[p].is_written) inputs.push_back(p);
    if (all[p].primal_index || !all[p].is_written || all[p].saved_array != nullptr || !needs_outputs) continue;
    if (const auto buffer = redirect(parameters, p, scratch++); !buffer.ok())
      return ResourceError{buffer.error().text()};
  }
  if (needs_outputs) {
    Result<Call> forward = forward_call(parameters);
    if (!forward.ok()) return LaunchFailed{forward.error().text()};
    calls.push_back(forward.take());
  }
  const Result<std::vector<std::size_t>> results = parameters.specification.gradients(contract.launch.result_names);
  if (!results.ok()) return LaunchFailed{results.error().text()};
  for (std::size_t p = 0; p < all.size(); ++p)
    if (all[p].saved_array == nullptr) parameters.values[p].is_output = parameters.values[p].is_uninitialized = 0;
  std::vector<GradientResult> to_add;
  for (const std::size_t p : *results) {
    if (contract.accumulates(all[p].name)) {
      parameters.values[p].is_output = 1;
      continue;
    }
    const Result<BufferId> buffer = redirect(parameters, p, scratch++);
    if (!buffer.ok()) return ResourceError{buffer.error().text()};
    to_add.push_back({.parameter = p, .buffer = *buffer});
  }
  Call& call = calls.emplace_back();
  call.kind = CallKind::kBackward;
  cotangents.insert(cotangents.end(), inputs.begin(), inputs.end());
  if (const auto given = add_given(call, parameters, contract.launch.argument_formulas, cotangents); !given.ok())
    return LaunchFailed{given.error().text()};
  for (const std::size_t p : *results)
    call.add(parameters, p);
  RunOutcome outcome = run_calls(launch, calls);
  if (!std::holds_alternative<Completed>(outcome)) return outcome;
  for (const GradientResult& result : to_add)
    if (const auto added = add_to_gradient(parameters, result); !added.ok()) return Unsupported{added.error().text()};
  return outcome;
}

Result<void> HostCandidateSession::add_to_gradient(const Parameters& parameters, const GradientResult& result) {
  const SpecificationParameter& parameter = parameters.specification.parameters[result.parameter];
  const ptx::ArrayView& view = *parameters.arguments.at(result.parameter).view;
  // Until dense copies are copied back, the gradient is in the copy if there is one.
  const auto dense = std::ranges::find_if(parameters.dense_copies, [&](const DenseCopy& copy) {
    return copy.view.address.buffer == view.address.buffer && copy.view.address.offset == view.address.offset;
  });
  const std::span<std::byte> sum = dense == parameters.dense_copies.end()
                                       ? bytes(view.address.buffer).subspan(view.address.offset)
                                       : bytes(dense->buffer);
  const auto count = static_cast<std::size_t>(element_count(parameters.values[result.parameter]));
  if (const auto& place = parameters.unrounded_addresses[result.parameter])
    add_to_unrounded(bytes(place->buffer).subspan(place->offset), parameter.type, sum, count);
  return add_gradient(parameter.type, sum, bytes(result.buffer), count);
}

RunOutcome HostCandidateSession::run_calls(const LaunchRequest& launch, std::span<const Call> calls) {
  CallHeader header{.call_count = static_cast<std::int32_t>(calls.size()),
                    .instruction_limit = static_cast<std::uint64_t>(launch.time_limit.count()) *
                                         options_.instruction_limit_per_millisecond,
                    .shuffle_seed = launch.shuffle_seed,
                    .order = static_cast<std::uint64_t>(launch.order),
                    .instructions_with_errors = launch.instructions_with_errors};
  for (std::size_t i = 0; i < ptx::kChecks.size(); ++i)
    if (options_.checks.*ptx::kChecks[i].member) header.checks |= 1U << i;
  for (std::size_t i = 0; i < calls.size(); ++i)
    header.calls[i] = {.kind = calls[i].kind,
                       .given_count = static_cast<std::int32_t>(calls[i].given_count),
                       .is_inferred = calls[i].is_inferred ? 1 : 0,
                       .output_count = static_cast<std::int32_t>(calls[i].arguments.size() - calls[i].given_count),
                       .has_results = calls[i].has_results ? 1 : 0,
                       .runs_own_data = calls[i].runs_own_data ? 1 : 0};
  KernelArgument values;
  append(values.bytes, header);
  for (const Call& call : calls) {
    const std::size_t first = values.bytes.size();
    for (const CallArgument& value : call.arguments)
      append(values.bytes, value);
    const auto add_pointers = [&](const auto& addresses, std::size_t member) {
      for (const auto& [index, address] : addresses) {
        const std::size_t at = first + index * sizeof(CallArgument) + member;
        values.pointers.push_back({.byte_offset = static_cast<std::uint32_t>(at), .address = address});
      }
    };
    add_pointers(call.array_addresses, offsetof(CallArgument, address));
    add_pointers(call.unrounded_addresses, offsetof(CallArgument, unrounded_address));
    for (const ProgramParameter& parameter : call.program_parameters)
      append(values.bytes, parameter);
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
  // A worker that crashes may have written the reason before.
  const auto* const crash = std::get_if<Crashed>(&outcome);
  if (!std::holds_alternative<Completed>(outcome) && (crash == nullptr || crash->signal_number != SIGSEGV))
    return with_last_line(std::move(outcome));
  const auto* const text = reinterpret_cast<const char*>(bytes(*report_buffer_).data());
  const std::string_view report(text, ::strnlen(text, kReportBytes));
  if (report.empty()) return with_last_line(std::move(outcome));
  std::optional<RunOutcome> reported = outcome_from(report);
  if (!reported) return Crashed{.message = "the worker process returned an invalid launch outcome"};
  if (auto* const timed_out = std::get_if<TimedOut>(&*reported)) timed_out->limit = launch.time_limit;
  return *std::move(reported);
}

}  // namespace assay::candidate
