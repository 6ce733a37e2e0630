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

/// Adds `count` dense elements of `terms` to those of `sum`.
template <typename T>
void add_elements(std::span<std::byte> sum, std::span<const std::byte> terms, std::size_t count) {
  for (std::size_t at = 0; at < count * sizeof(T); at += sizeof(T)) {
    T value, term;
    std::memcpy(&value, sum.data() + at, sizeof(T));
    std::memcpy(&term, terms.data() + at, sizeof(T));
    value += term;
    std::memcpy(sum.data() + at, &value, sizeof(T));
  }
}

/// Adds `count` dense floats, the gradient before the launch, to the unrounded values of the result. If the backward
/// pass used outputs of the forward pass, which are rounded, the result is only approximate.
void add_to_unrounded(std::span<std::byte> unrounded, std::span<const std::byte> before, Element type,
                      std::size_t count, bool uses_rounded_outputs) {
  UnroundedArrayHeader header;
  std::memcpy(&header, unrounded.data(), sizeof(header));
  if (uses_rounded_outputs) header.lost_value_count += 1;
  std::memcpy(unrounded.data(), &header, sizeof(header));
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* const place = unrounded.data() + sizeof(header) + i * sizeof(UnroundedElement);
    UnroundedElement element;
    std::memcpy(&element, place, sizeof(element));
    element.value += real_from(before.subspan(i * element_bytes(type), element_bytes(type)));
    std::memcpy(place, &element, sizeof(element));
  }
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

Result<void> HostCandidateSession::add_given(Call& call, const Parameters& parameters,
                                             const std::vector<std::string>& formulas,
                                             const std::vector<std::size_t>& inferred) {
  call.is_inferred = formulas.empty();
  if (formulas.empty()) {
    for (const std::size_t p : inferred)
      call.add(parameters, p);
  }
  for (const std::string& expression : formulas) {
    if (const std::optional<std::size_t> p = parameters.arguments.find(expression)) {
      call.add(parameters, *p);
      continue;
    }
    if (expression.ends_with(".grad"))
      return Error{fmt::format("'{}' in the contract must be the gradient of an array with floats", expression)};
    const Result<std::int64_t> value = evaluate(expression, parameters.arguments.names());
    if (!value.ok()) return value.error();
    CallArgument& number = call.arguments.emplace_back();
    number.kind = CallArgumentKind::kInteger;
    number.integer = *value;
    set_name(number, expression);
  }
  call.given_count = call.arguments.size();
  return {};
}

RunOutcome HostCandidateSession::run_one(const LaunchRequest& launch) {
  if (launch.threads == 0) return Completed{};
  const Artifact* const description = launch.kernel->artifact(Artifact::Kind::kPython, Precision::kNative);
  if (description == nullptr) return LaunchFailed{"the kernel was built for a different device"};
  const Specification specification = specification_of(*description, launch.pass);
  const Result<SpecificationArguments> arguments = SpecificationArguments::of(specification, launch);
  if (!arguments.ok()) return LaunchFailed{arguments.error().text()};
  if (!report_buffer_) {
    const Result<BufferId> report = workers_->allocate(kReportBytes);
    if (!report.ok()) return ResourceError{report.error().text()};
    report_buffer_ = *report;
  }
  Result<Parameters> parameters = place(specification, *arguments);
  if (!parameters.ok()) return LaunchFailed{parameters.error().text()};
  RunOutcome outcome =
      launch.pass == Pass::kBackward ? run_backward(launch, *parameters) : run_forward(launch, *parameters);
  if (std::holds_alternative<Completed>(outcome))
    for (const DenseCopy& dense : parameters->dense_copies)
      copy(dense, false);
  return outcome;
}

RunOutcome HostCandidateSession::run_forward(const LaunchRequest& launch, const Parameters& parameters) {
  Call call;
  std::vector<std::size_t> all, outputs;
  for (std::size_t p = 0; p < parameters.values.size(); ++p) {
    if (parameters.specification.parameters[p].primal_index) continue;
    all.push_back(p);
    if (parameters.values[p].kind == CallArgumentKind::kArray && parameters.values[p].is_output != 0)
      outputs.push_back(p);
  }
  if (const auto given = add_given(call, parameters, contract_.forward.argument_formulas, all); !given.ok())
    return LaunchFailed{given.error().text()};
  for (const std::size_t p : outputs)
    call.add(parameters, p);
  return run_call(launch, call);
}

Result<BufferId> HostCandidateSession::redirect(Parameters& parameters, std::size_t p, std::size_t number) {
  CallArgument& value = parameters.values[p];
  const std::size_t size =
      std::max<std::size_t>(element_bytes(value.element) * static_cast<std::size_t>(element_count(value)), 1);
  if (number >= scratch_buffers_.size()) scratch_buffers_.resize(number + 1);
  std::optional<BufferId>& known = scratch_buffers_[number];
  if (!known || bytes(*known).size() < size) {
    const Result<BufferId> buffer = workers_->allocate(size);
    if (!buffer.ok()) return buffer.error();
    known = *buffer;
  }
  std::ranges::fill(bytes(*known).first(size), kPoison);
  parameters.addresses[p] = BufferAddress{.buffer = *known};
  value.is_output = 1;
  value.is_uninitialized = 1;
  return *known;
}

/// The indices of the gradients that the backward pass computes, among the parameters.
Result<std::vector<std::size_t>> HostCandidateSession::results_of(const Parameters& parameters) const {
  std::vector<std::size_t> results;
  const auto& all = parameters.specification.parameters;
  for (std::size_t p = 0; contract_.backward->result_names.empty() && p < all.size(); ++p)
    if (all[p].primal_index && !all[p].is_written) results.push_back(p);
  for (const std::string& name : contract_.backward->result_names) {
    const std::optional<std::size_t> p = parameters.arguments.find(name);
    if (!p || !all[*p].primal_index)
      return Error{fmt::format(
          "'results' of the contract's backward pass must be gradients of arrays with floats, got '{}'", name)};
    results.push_back(*p);
  }
  if (results.empty()) return Error{"the specification has no input array with floats, so no gradient can be judged"};
  return results;
}

RunOutcome HostCandidateSession::run_backward(const LaunchRequest& launch, Parameters& parameters) {
  const auto& all = parameters.specification.parameters;
  const BackwardContract& contract = *contract_.backward;
  const auto in_place = std::ranges::find_if(
      all, [](const SpecificationParameter& parameter) { return parameter.is_read && parameter.is_written; });
  if (in_place != all.end())
    return Unsupported{fmt::format(
        "the specification changes '{}' in place; the backward pass of a candidate is judged only if inputs "
        "and outputs are different arrays",
        in_place->name)};
  std::size_t scratch = 0;
  // The outputs of the forward pass, for functions that need them.
  const bool needs_outputs = std::ranges::any_of(contract.argument_formulas, [&](const std::string& formula) {
    const std::optional<std::size_t> p = parameters.arguments.find(formula);
    return p && all[*p].is_written && !all[*p].primal_index;
  });
  std::vector<std::size_t> inputs, cotangents;
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (all[p].primal_index && all[p].is_written) cotangents.push_back(p);
    if (!all[p].primal_index && !all[p].is_written) inputs.push_back(p);
    if (all[p].primal_index || !all[p].is_written || !needs_outputs) continue;
    if (const auto buffer = redirect(parameters, p, scratch++); !buffer.ok())
      return ResourceError{buffer.error().text()};
  }
  if (needs_outputs) {
    RunOutcome outcome = run_forward(launch, parameters);
    if (!std::holds_alternative<Completed>(outcome)) return outcome;
  }
  const Result<std::vector<std::size_t>> results = results_of(parameters);
  if (!results.ok()) return LaunchFailed{results.error().text()};
  for (CallArgument& value : parameters.values)
    value.is_output = value.is_uninitialized = 0;
  std::vector<GradientResult> to_add;
  for (const std::size_t p : *results) {
    if (contract.accumulates) {
      parameters.values[p].is_output = 1;
      continue;
    }
    const Result<BufferId> buffer = redirect(parameters, p, scratch++);
    if (!buffer.ok()) return ResourceError{buffer.error().text()};
    to_add.push_back({.parameter = p, .buffer = *buffer});
  }
  Call call;
  call.is_backward = true;
  cotangents.insert(cotangents.end(), inputs.begin(), inputs.end());
  if (const auto given = add_given(call, parameters, contract.argument_formulas, cotangents); !given.ok())
    return LaunchFailed{given.error().text()};
  for (const std::size_t p : *results)
    call.add(parameters, p);
  RunOutcome outcome = run_call(launch, call);
  if (!std::holds_alternative<Completed>(outcome)) return outcome;
  for (const GradientResult& result : to_add)
    if (const auto added = add_to_gradient(parameters, result, needs_outputs); !added.ok())
      return Unsupported{added.error().text()};
  return outcome;
}

Result<void> HostCandidateSession::add_to_gradient(const Parameters& parameters, const GradientResult& result,
                                                   bool uses_rounded_outputs) {
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
    add_to_unrounded(bytes(place->buffer).subspan(place->offset), sum, element_of(parameter.type), count,
                     uses_rounded_outputs);
  switch (element_of(parameter.type)) {
    case Element::kFloat32: add_elements<float>(sum, bytes(result.buffer), count); return {};
    case Element::kFloat64: add_elements<double>(sum, bytes(result.buffer), count); return {};
    default:
      return Error{fmt::format(
          "gradients of type {} are supported only if the function adds to them; state \"accumulates\": true",
          parameter.type)};
  }
}

RunOutcome HostCandidateSession::run_call(const LaunchRequest& launch, const Call& call) {
  CallHeader header{.given_count = static_cast<std::int32_t>(call.given_count),
                    .is_inferred = call.is_inferred ? 1 : 0,
                    .output_count = static_cast<std::int32_t>(call.arguments.size() - call.given_count),
                    .is_backward = call.is_backward ? 1 : 0,
                    .instruction_limit = static_cast<std::uint64_t>(launch.time_limit.count()) *
                                         options_.instruction_limit_per_millisecond,
                    .shuffle_seed = launch.shuffle_seed,
                    .order = static_cast<std::uint64_t>(launch.order)};
  for (std::size_t i = 0; i < ptx::kChecks.size(); ++i)
    if (options_.checks.*ptx::kChecks[i].member) header.checks |= 1U << i;
  KernelArgument values;
  append(values.bytes, header);
  for (const CallArgument& value : call.arguments)
    append(values.bytes, value);
  for (const auto& [index, address] : call.array_addresses) {
    const std::size_t at = sizeof(header) + index * sizeof(CallArgument) + offsetof(CallArgument, address);
    values.pointers.push_back({.byte_offset = static_cast<std::uint32_t>(at), .address = address});
  }
  for (const auto& [index, address] : call.unrounded_addresses) {
    const std::size_t at = sizeof(header) + index * sizeof(CallArgument) + offsetof(CallArgument, unrounded_address);
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
  const auto* const text = reinterpret_cast<const char*>(bytes(*report_buffer_).data());
  const std::string_view report(text, ::strnlen(text, kReportBytes));
  if (report.empty()) return outcome;
  std::optional<RunOutcome> reported = outcome_from(report);
  if (!reported) return Crashed{.message = "the worker process returned an invalid launch outcome"};
  if (auto* const timed_out = std::get_if<TimedOut>(&*reported)) timed_out->limit = launch.time_limit;
  return *std::move(reported);
}

}  // namespace assay::candidate
