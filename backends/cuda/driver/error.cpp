#include "backends/cuda/driver/error.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace assay::cuda {

namespace {

struct ErrorRow {
  CUresult code;
  ErrorClassification error_class;
};
constexpr std::array kErrors = {
    ErrorRow{CUDA_ERROR_INVALID_VALUE, {ErrorCause::kInvalidRequest, false}},
    ErrorRow{CUDA_ERROR_OUT_OF_MEMORY, {ErrorCause::kMachineFailure, false}},
    ErrorRow{CUDA_ERROR_INVALID_IMAGE, {ErrorCause::kInvalidRequest, false}},
    ErrorRow{CUDA_ERROR_NO_BINARY_FOR_GPU, {ErrorCause::kInvalidRequest, false}},
    ErrorRow{CUDA_ERROR_INVALID_PTX, {ErrorCause::kInvalidRequest, false}},
    ErrorRow{CUDA_ERROR_UNSUPPORTED_PTX_VERSION, {ErrorCause::kInvalidRequest, false}},
    ErrorRow{CUDA_ERROR_INVALID_HANDLE, {ErrorCause::kMachineFailure, false}},
    ErrorRow{CUDA_ERROR_NOT_FOUND, {ErrorCause::kInvalidRequest, false}},
    ErrorRow{CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, {ErrorCause::kInvalidRequest, false}},
    ErrorRow{CUDA_ERROR_NOT_SUPPORTED, {ErrorCause::kInvalidRequest, false}},
    ErrorRow{CUDA_ERROR_ILLEGAL_ADDRESS, {ErrorCause::kInvalidAccess, true}},
    ErrorRow{CUDA_ERROR_MISALIGNED_ADDRESS, {ErrorCause::kInvalidAccess, true}},
    ErrorRow{CUDA_ERROR_INVALID_ADDRESS_SPACE, {ErrorCause::kInvalidAccess, true}},
    ErrorRow{CUDA_ERROR_HARDWARE_STACK_ERROR, {ErrorCause::kInvalidAccess, true}},
    ErrorRow{CUDA_ERROR_ASSERT, {ErrorCause::kKernelFailure, true}},
    ErrorRow{CUDA_ERROR_ILLEGAL_INSTRUCTION, {ErrorCause::kKernelFailure, true}},
    ErrorRow{CUDA_ERROR_INVALID_PC, {ErrorCause::kKernelFailure, true}},
    ErrorRow{CUDA_ERROR_LAUNCH_FAILED, {ErrorCause::kKernelFailure, true}},
    ErrorRow{CUDA_ERROR_LAUNCH_TIMEOUT, {ErrorCause::kTimeLimit, true}},
};

std::string_view file_name(const std::source_location& location) {
  const std::string_view path = location.file_name();
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

CallError::CallError(std::string_view call, const CallContext& subject, int code, std::string_view name,
                     std::string_view meaning)
    : function_name_(call),
      result_code_(code),
      message_(fmt::format("{} of {}: {} ({}, {}), at {}:{}", call, subject.object_description, meaning, name, code,
                           file_name(subject.location), subject.location.line())) {}

ErrorClassification classify(CUresult code) {
  const auto row = std::ranges::find(kErrors, code, &ErrorRow::code);
  return row == kErrors.end() ? ErrorClassification{} : row->error_class;
}

}  // namespace assay::cuda
