// Calls the candidate's function with the arguments that Assay passes, and copies its results to the outputs. Included
// after the candidate's source.
#pragma once

#include <cstring>
#include <exception>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "call.hpp"
#include "tensor.h"

namespace assay::candidate {

inline c10::ScalarType scalar_type(const CallArgument& array) {
  switch (array.element) {
    case Element::kBool: return c10::ScalarType::Bool;
    case Element::kInt8: return c10::ScalarType::Char;
    case Element::kUInt8: return c10::ScalarType::Byte;
    case Element::kInt16: return c10::ScalarType::Short;
    case Element::kInt32: return c10::ScalarType::Int;
    case Element::kInt64: return c10::ScalarType::Long;
    case Element::kFloat16: return c10::ScalarType::Half;
    case Element::kBFloat16: return c10::ScalarType::BFloat16;
    case Element::kFloat32: return c10::ScalarType::Float;
    case Element::kFloat64: return c10::ScalarType::Double;
    default: throw c10::Error(c10::str("PyTorch has no tensors with the element type of '", array.name, "'"));
  }
}

inline at::Tensor tensor_of(const CallArgument& array) {
  const std::vector<int64_t> sizes(array.shape, array.shape + array.rank);
  return at::Tensor(array.address, sizes, at::Tensor::dense_strides(sizes), scalar_type(array));
}

inline const char* kind_name(const CallArgument& argument) {
  return argument.kind == CallArgumentKind::kArray ? "an array" : "a number";
}

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <typename T>
T parameter_of(const CallArgument& argument, int number) {
  if constexpr (IsOptional<T>::value) {
    return parameter_of<typename T::value_type>(argument, number);
  } else if constexpr (std::is_same_v<T, at::Tensor>) {
    if (argument.kind == CallArgumentKind::kArray) return tensor_of(argument);
  } else if constexpr (std::is_pointer_v<T>) {
    if (argument.kind == CallArgumentKind::kArray) {
      const bool fits = std::is_void_v<std::remove_pointer_t<T>> ||
                        sizeof(std::conditional_t<std::is_void_v<std::remove_pointer_t<T>>, char,
                                                  std::remove_pointer_t<T>>) == element_bytes(argument.element);
      if (fits) return reinterpret_cast<T>(argument.address);
    }
  } else if constexpr (std::is_floating_point_v<T>) {
    if (argument.kind == CallArgumentKind::kReal) return static_cast<T>(argument.real);
    if (argument.kind == CallArgumentKind::kInteger) return static_cast<T>(argument.integer);
  } else if constexpr (std::is_arithmetic_v<T>) {
    if (argument.kind == CallArgumentKind::kInteger) return static_cast<T>(argument.integer);
  } else if constexpr (std::is_same_v<T, std::vector<at::Tensor>>) {
    if (argument.kind == CallArgumentKind::kArray) return {tensor_of(argument)};
  } else if constexpr (std::is_same_v<T, cudaStream_t>) {
    return nullptr;
  } else {
    static_assert(std::is_same_v<T, at::Tensor>, "the candidate's function has a parameter of an unsupported type");
  }
  throw c10::Error(c10::str("parameter ", number + 1, " of the candidate's function does not accept '", argument.name,
                            "', which is ", kind_name(argument)));
}

inline std::vector<int64_t> without_ones(c10::IntArrayRef sizes) {
  std::vector<int64_t> result;
  for (int64_t size : sizes)
    if (size != 1) result.push_back(size);
  return result;
}

/// Copies a result to an output of the same shape, apart from extents of 1, and the same type.
inline void copy_result(const at::Tensor& result, const CallArgument& output) {
  at::Tensor target = tensor_of(output);
  if (!result.defined()) throw c10::Error("the candidate's function returns an undefined tensor");
  if (without_ones(result.sizes()) != without_ones(target.sizes())) {
    throw c10::Error(c10::str("the candidate's function returns a tensor of the shape ", result.sizes(), ", but '",
                              output.name, "' has the shape ", target.sizes()));
  }
  if (result.scalar_type() != target.scalar_type()) {
    throw c10::Error(c10::str("the candidate's function returns a tensor of type ", result.scalar_type(), ", but '",
                              output.name, "' has the type ", target.scalar_type()));
  }
  if (result.numel() == 0 || result.data_ptr() == target.data_ptr()) return;
  target.view(result.sizes()).copy_(result);
}

inline void copy_results(const std::vector<at::Tensor>& results, const CallArguments& call) {
  if (results.size() != static_cast<size_t>(call.output_count)) {
    throw c10::Error(c10::str("the candidate's function returns ", results.size(),
                              " tensors, but the specification writes ", call.output_count, " arrays"));
  }
  for (size_t i = 0; i < results.size(); ++i)
    copy_result(results[i], call.outputs[i]);
}

inline std::vector<at::Tensor> tensors_of(const at::Tensor& tensor) { return {tensor}; }
inline std::vector<at::Tensor> tensors_of(std::vector<at::Tensor> tensors) { return tensors; }
template <typename... T>
std::vector<at::Tensor> tensors_of(const std::tuple<T...>& tensors) {
  return std::apply([](const auto&... each) { return std::vector<at::Tensor>{each...}; }, tensors);
}

/// What the function gets: what the contract states; otherwise all parameters of the specification or, if it has as
/// many parameters as the specification has inputs, these.
inline std::vector<CallArgument> arguments_for(const CallArguments& call, size_t parameters) {
  std::vector<CallArgument> all(call.given, call.given + call.given_count);
  if (all.size() == parameters) return all;
  std::vector<CallArgument> inputs;
  for (const CallArgument& argument : all)
    if (argument.kind != CallArgumentKind::kArray || argument.is_output == 0) inputs.push_back(argument);
  if (call.is_inferred != 0 && inputs.size() == parameters) return inputs;
  throw c10::Error(c10::str(
      "the candidate's function has ", parameters, " parameters, but ",
      call.is_inferred != 0 ? "the specification has " : "the contract states ", all.size(),
      call.is_inferred != 0 ? c10::str(", ", inputs.size(), " of them inputs; state the 'arguments' in the contract")
                            : std::string(" arguments")));
}

template <typename Result, typename... Parameters, size_t... I>
void call_with(Result (*function)(Parameters...), const CallArguments& call, std::index_sequence<I...>) {
  const std::vector<CallArgument> arguments = arguments_for(call, sizeof...(Parameters));
  std::tuple<std::decay_t<Parameters>...> values{
      parameter_of<std::decay_t<Parameters>>(arguments[I], static_cast<int>(I))...};
  (void)values;
  if constexpr (std::is_void_v<Result> || std::is_arithmetic_v<Result> || std::is_enum_v<Result>) {
    static_cast<void>(function(std::get<I>(values)...));
  } else {
    copy_results(tensors_of(function(std::get<I>(values)...)), call);
  }
}

template <typename Result, typename... Parameters>
std::int32_t call_function(Result (*function)(Parameters...), const CallArguments& call) {
  const auto fail = [&](const char* reason) {
    std::strncpy(call.message, reason, call.message_bytes - 1);
    return 1;
  };
  try {
    call_with(function, call, std::index_sequence_for<Parameters...>());
    return 0;
  } catch (const std::exception& error) {
    return fail(error.what());
  } catch (...) {
    return fail("the host code throws an exception that is not a std::exception");
  }
}

}  // namespace assay::candidate
