#include "backends/cuda/driver/error.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace assay::cuda {

namespace {

struct ErrorRow {
  CUresult code;
  ErrorClass error_class;
};
constexpr std::array kErrors = {
    ErrorRow{CUDA_ERROR_INVALID_VALUE, {Blame::kRequest, false}},
    ErrorRow{CUDA_ERROR_OUT_OF_MEMORY, {Blame::kMachine, false}},
    ErrorRow{CUDA_ERROR_INVALID_IMAGE, {Blame::kRequest, false}},
    ErrorRow{CUDA_ERROR_NO_BINARY_FOR_GPU, {Blame::kRequest, false}},
    ErrorRow{CUDA_ERROR_INVALID_PTX, {Blame::kRequest, false}},
    ErrorRow{CUDA_ERROR_UNSUPPORTED_PTX_VERSION, {Blame::kRequest, false}},
    ErrorRow{CUDA_ERROR_INVALID_HANDLE, {Blame::kMachine, false}},
    ErrorRow{CUDA_ERROR_NOT_FOUND, {Blame::kRequest, false}},
    ErrorRow{CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, {Blame::kRequest, false}},
    ErrorRow{CUDA_ERROR_NOT_SUPPORTED, {Blame::kRequest, false}},
    ErrorRow{CUDA_ERROR_ILLEGAL_ADDRESS, {Blame::kAccess, true}},
    ErrorRow{CUDA_ERROR_MISALIGNED_ADDRESS, {Blame::kAccess, true}},
    ErrorRow{CUDA_ERROR_INVALID_ADDRESS_SPACE, {Blame::kAccess, true}},
    ErrorRow{CUDA_ERROR_HARDWARE_STACK_ERROR, {Blame::kAccess, true}},
    ErrorRow{CUDA_ERROR_ASSERT, {Blame::kKernel, true}},
    ErrorRow{CUDA_ERROR_ILLEGAL_INSTRUCTION, {Blame::kKernel, true}},
    ErrorRow{CUDA_ERROR_INVALID_PC, {Blame::kKernel, true}},
    ErrorRow{CUDA_ERROR_LAUNCH_FAILED, {Blame::kKernel, true}},
    ErrorRow{CUDA_ERROR_LAUNCH_TIMEOUT, {Blame::kDuration, true}},
};

std::string_view file_name(const std::source_location& place) {
  const std::string_view path = place.file_name();
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

CallError::CallError(std::string_view call, const Subject& subject, int code, std::string_view name,
                     std::string_view meaning)
    : call_(call),
      code_(code),
      text_(fmt::format("{} of {}: {} ({}, {}), at {}:{}", call, subject.text, meaning, name, code,
                        file_name(subject.place), subject.place.line())) {}

ErrorClass classify(CUresult code) {
  const auto row = std::ranges::find(kErrors, code, &ErrorRow::code);
  return row == kErrors.end() ? ErrorClass{} : row->error_class;
}

}  // namespace assay::cuda
