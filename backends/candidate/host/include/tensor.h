// The part of PyTorch's C++ interface that host code of load_inline files uses, without PyTorch: a tensor is memory of
// the simulated GPU. Functions that compute on tensors are missing on purpose: only the candidate's kernels are judged.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "device_memory.h"

namespace c10 {

enum class ScalarType : int8_t {
  Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool, QInt8, QUInt8,
  QInt32, BFloat16, Undefined,
};

inline const char* toString(ScalarType type) {
  switch (type) {
    case ScalarType::Byte: return "Byte";
    case ScalarType::Char: return "Char";
    case ScalarType::Short: return "Short";
    case ScalarType::Int: return "Int";
    case ScalarType::Long: return "Long";
    case ScalarType::Half: return "Half";
    case ScalarType::Float: return "Float";
    case ScalarType::Double: return "Double";
    case ScalarType::Bool: return "Bool";
    case ScalarType::BFloat16: return "BFloat16";
    default: return "Undefined";
  }
}
inline std::ostream& operator<<(std::ostream& out, ScalarType type) { return out << toString(type); }

inline size_t elementSize(ScalarType type) {
  switch (type) {
    case ScalarType::Byte:
    case ScalarType::Char:
    case ScalarType::Bool: return 1;
    case ScalarType::Short:
    case ScalarType::Half:
    case ScalarType::BFloat16: return 2;
    case ScalarType::Int:
    case ScalarType::Float: return 4;
    default: return 8;
  }
}

/// A 16-bit float with the conversions of PyTorch's class.
struct alignas(2) Half {
  unsigned short x;
  Half() = default;
  __host__ __device__ Half(float value) : x(__half_as_ushort(__float2half(value))) {}
  __host__ __device__ Half(__half value) : x(__half_as_ushort(value)) {}
  __host__ __device__ operator float() const { return __half2float(__ushort_as_half(x)); }
};
struct alignas(2) BFloat16 {
  unsigned short x;
  BFloat16() = default;
  __host__ __device__ BFloat16(float value) : x(__bfloat16_as_ushort(__float2bfloat16(value))) {}
  __host__ __device__ BFloat16(__nv_bfloat16 value) : x(__bfloat16_as_ushort(value)) {}
  __host__ __device__ operator float() const { return __bfloat162float(__ushort_as_bfloat16(x)); }
};

template <typename T>
struct CppTypeToScalarType;
#define ASSAY_SCALAR_TYPE(cpp, scalar) \
  template <>                          \
  struct CppTypeToScalarType<cpp> : std::integral_constant<ScalarType, ScalarType::scalar> {};
ASSAY_SCALAR_TYPE(uint8_t, Byte)
ASSAY_SCALAR_TYPE(int8_t, Char)
ASSAY_SCALAR_TYPE(short, Short)
ASSAY_SCALAR_TYPE(int, Int)
ASSAY_SCALAR_TYPE(long, Long)
ASSAY_SCALAR_TYPE(long long, Long)
ASSAY_SCALAR_TYPE(Half, Half)
ASSAY_SCALAR_TYPE(__half, Half)
ASSAY_SCALAR_TYPE(float, Float)
ASSAY_SCALAR_TYPE(double, Double)
ASSAY_SCALAR_TYPE(bool, Bool)
ASSAY_SCALAR_TYPE(BFloat16, BFloat16)
ASSAY_SCALAR_TYPE(__nv_bfloat16, BFloat16)
#undef ASSAY_SCALAR_TYPE

inline bool isFloatingType(ScalarType type) {
  return type == ScalarType::Half || type == ScalarType::BFloat16 || type == ScalarType::Float ||
         type == ScalarType::Double;
}

struct Error : std::runtime_error {
  using runtime_error::runtime_error;
};

template <typename... Parts>
std::string str(const Parts&... parts) {
  std::ostringstream text;
  (void)(text << ... << parts);
  return text.str();
}

template <typename... Parts>
[[noreturn]] void fail_check(const char* condition, const Parts&... parts) {
  const std::string text = str(parts...);
  throw Error(text.empty() ? std::string("the host code's check failed: ") + condition
                           : "the host code's check failed: " + text);
}

enum class DeviceType : int8_t { CPU, CUDA };
using DeviceIndex = int8_t;

struct Device {
  Device() = default;
  Device(DeviceType type, int index = 0) : type_(type), index_(static_cast<DeviceIndex>(index)) {}
  Device(const std::string& text) : type_(text.rfind("cuda", 0) == 0 ? DeviceType::CUDA : DeviceType::CPU) {}
  Device(const char* text) : Device(std::string(text)) {}
  bool is_cuda() const { return type_ == DeviceType::CUDA; }
  bool is_cpu() const { return type_ == DeviceType::CPU; }
  DeviceType type() const { return type_; }
  DeviceIndex index() const { return index_; }
  bool operator==(const Device& other) const { return type_ == other.type_ && index_ == other.index_; }
  bool operator!=(const Device& other) const { return !(*this == other); }

 private:
  DeviceType type_ = DeviceType::CUDA;
  DeviceIndex index_ = 0;
};
inline std::ostream& operator<<(std::ostream& out, const Device& device) {
  return out << (device.is_cuda() ? "cuda:0" : "cpu");
}

enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast };

struct TensorOptions {
  TensorOptions() = default;
  TensorOptions(ScalarType type) : type_(type) {}
  TensorOptions(Device device) : device_(device) {}
  TensorOptions(DeviceType device) : device_(device) {}
  TensorOptions dtype(ScalarType type) const { return with(type, device_); }
  template <typename D>
  TensorOptions device(D device, int = 0) const { return with(type_, Device(device)); }
  TensorOptions requires_grad(bool) const { return *this; }
  TensorOptions memory_format(MemoryFormat) const { return *this; }
  ScalarType dtype() const { return type_; }
  Device device() const { return device_; }

 private:
  static TensorOptions with(ScalarType type, Device device) {
    TensorOptions options(type);
    options.device_ = device;
    return options;
  }
  ScalarType type_ = ScalarType::Float;
  Device device_;
};

class IntArrayRef {
 public:
  IntArrayRef(const std::vector<int64_t>& values) : data_(values.data()), size_(values.size()) {}
  IntArrayRef(std::initializer_list<int64_t> values) : data_(values.begin()), size_(values.size()) {}
  template <size_t N>
  IntArrayRef(const std::array<int64_t, N>& values) : data_(values.data()), size_(N) {}
  const int64_t& operator[](size_t i) const { return data_[i]; }
  const int64_t& at(size_t i) const {
    if (i >= size_) fail_check("i < size()", "index ", i, " of a list of ", size_, " numbers");
    return data_[i];
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const int64_t* begin() const { return data_; }
  const int64_t* end() const { return data_ + size_; }
  const int64_t* data() const { return data_; }
  const int64_t& front() const { return at(0); }
  const int64_t& back() const { return at(size_ - 1); }
  std::vector<int64_t> vec() const { return {begin(), end()}; }
  bool operator==(const IntArrayRef& other) const { return vec() == other.vec(); }
  bool operator!=(const IntArrayRef& other) const { return !(*this == other); }

 private:
  const int64_t* data_;
  size_t size_;
};
inline std::ostream& operator<<(std::ostream& out, const IntArrayRef& values) {
  out << '[';
  for (size_t i = 0; i < values.size(); ++i)
    out << (i == 0 ? "" : ", ") << values[i];
  return out << ']';
}

template <typename T>
using optional = std::optional<T>;
using std::nullopt;

}  // namespace c10

namespace at {

using namespace c10;

template <typename T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
template <typename T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};

template <typename T, size_t N, typename Index>
class TensorAccessor {
 public:
  __host__ __device__ TensorAccessor(T* data, const Index* sizes, const Index* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  __host__ __device__ Index size(int64_t d) const { return sizes_[d]; }
  __host__ __device__ Index stride(int64_t d) const { return strides_[d]; }
  __host__ __device__ T* data() const { return data_; }
  __host__ __device__ decltype(auto) operator[](Index i) const {
    if constexpr (N == 1) return static_cast<T&>(data_[i * strides_[0]]);
    else return TensorAccessor<T, N - 1, Index>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
  }

 private:
  T* data_;
  const Index* sizes_;
  const Index* strides_;
};

template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits, typename Index = int64_t>
class GenericPackedTensorAccessor {
 public:
  GenericPackedTensorAccessor(T* data, const int64_t* sizes, const int64_t* strides) : data_(data) {
    for (size_t d = 0; d < N; ++d) {
      sizes_[d] = static_cast<Index>(sizes[d]);
      strides_[d] = static_cast<Index>(strides[d]);
    }
  }
  __host__ __device__ Index size(int64_t d) const { return sizes_[d]; }
  __host__ __device__ Index stride(int64_t d) const { return strides_[d]; }
  __host__ __device__ T* data() const { return data_; }
  __host__ __device__ decltype(auto) operator[](Index i) const {
    if constexpr (N == 1) return static_cast<T&>(data_[i * strides_[0]]);
    else return TensorAccessor<T, N - 1, Index>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
  }

 private:
  typename Traits<T>::PtrType data_;
  Index sizes_[N];
  Index strides_[N];
};
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int32_t>;
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, int64_t>;

class Tensor {
 public:
  Tensor() = default;
  /// Memory of the simulated GPU at an address; `strides` in elements.
  Tensor(uint64_t address, std::vector<int64_t> sizes, std::vector<int64_t> strides, ScalarType type, Device device = {})
      : address_(address),
        sizes_(std::move(sizes)),
        strides_(std::move(strides)),
        type_(type),
        device_(device),
        is_defined_(true) {}

  bool defined() const { return is_defined_; }
  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t ndimension() const { return dim(); }
  int64_t size(int64_t d) const { return sizes_[index(d)]; }
  int64_t stride(int64_t d) const { return strides_[index(d)]; }
  IntArrayRef sizes() const { return sizes_; }
  IntArrayRef strides() const { return strides_; }
  int64_t numel() const {
    int64_t count = 1;
    for (int64_t size : sizes_)
      count *= size;
    return count;
  }
  size_t element_size() const { return elementSize(type_); }
  size_t itemsize() const { return element_size(); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * element_size(); }
  ScalarType scalar_type() const { return type_; }
  ScalarType dtype() const { return type_; }
  Device device() const { return device_; }
  bool is_cuda() const { return device_.is_cuda(); }
  bool is_cpu() const { return device_.is_cpu(); }
  int64_t get_device() const { return 0; }
  bool is_floating_point() const { return isFloatingType(type_); }
  bool requires_grad() const { return false; }
  TensorOptions options() const { return TensorOptions(type_).device(device_); }
  bool is_contiguous(MemoryFormat = MemoryFormat::Contiguous) const { return strides_ == dense_strides(sizes_); }
  bool is_non_overlapping_and_dense() const { return is_contiguous(); }
  bool is_same(const Tensor& other) const { return address_ == other.address_ && sizes_ == other.sizes_; }

  void* data_ptr() const { return reinterpret_cast<void*>(address_); }
  template <typename T>
  T* data_ptr() const {
    if (CppTypeToScalarType<std::remove_const_t<T>>::value != type_) {
      fail_check("", "expected scalar type ", CppTypeToScalarType<std::remove_const_t<T>>::value, " but found ", type_);
    }
    return static_cast<T*>(data_ptr());
  }
  template <typename T>
  T* data() const { return data_ptr<T>(); }
  template <typename T>
  const T* const_data_ptr() const { return data_ptr<T>(); }
  const void* const_data_ptr() const { return data_ptr(); }
  template <typename T>
  T* mutable_data_ptr() const { return data_ptr<T>(); }
  void* mutable_data_ptr() const { return data_ptr(); }

  template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, Traits> packed_accessor32() const { return accessor_of<PackedTensorAccessor32<T, N, Traits>, T, N>(); }
  template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, Traits> packed_accessor64() const { return accessor_of<PackedTensorAccessor64<T, N, Traits>, T, N>(); }
  template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits, typename Index = int64_t>
  GenericPackedTensorAccessor<T, N, Traits, Index> generic_packed_accessor() const { return accessor_of<GenericPackedTensorAccessor<T, N, Traits, Index>, T, N>(); }

  // Views of the same memory.
  Tensor view(IntArrayRef sizes) const {
    if (!is_contiguous()) fail_check("is_contiguous()", "view() of a tensor that is not contiguous");
    const std::vector<int64_t> shape = with_inferred_size(sizes);
    return Tensor(address_, shape, dense_strides(shape), type_, device_);
  }
  Tensor reshape(IntArrayRef sizes) const { return contiguous().view(sizes); }
  Tensor flatten(int64_t first = 0, int64_t last = -1) const {
    if (dim() == 0) return reshape({1});
    std::vector<int64_t> shape;
    const size_t from = index(first), to = index(last);
    for (size_t d = 0; d < sizes_.size(); ++d) {
      if (d > from && d <= to) shape.back() *= sizes_[d];
      else shape.push_back(sizes_[d]);
    }
    return reshape(shape);
  }
  Tensor transpose(int64_t a, int64_t b) const {
    Tensor result = *this;
    std::swap(result.sizes_[index(a)], result.sizes_[index(b)]);
    std::swap(result.strides_[index(a)], result.strides_[index(b)]);
    return result;
  }
  Tensor t() const { return dim() < 2 ? *this : transpose(0, 1); }
  Tensor permute(IntArrayRef order) const {
    Tensor result = *this;
    for (size_t d = 0; d < order.size(); ++d) {
      result.sizes_[d] = sizes_[index(order[d])];
      result.strides_[d] = strides_[index(order[d])];
    }
    return result;
  }
  Tensor unsqueeze(int64_t d) const {
    Tensor result = *this;
    const int64_t at = d < 0 ? d + dim() + 1 : d;
    result.sizes_.insert(result.sizes_.begin() + at, 1);
    result.strides_.insert(result.strides_.begin() + at, 1);
    return result;
  }
  Tensor squeeze(int64_t d) const {
    Tensor result = *this;
    const size_t at = index(d);
    if (sizes_[at] != 1) return result;
    result.sizes_.erase(result.sizes_.begin() + static_cast<int64_t>(at));
    result.strides_.erase(result.strides_.begin() + static_cast<int64_t>(at));
    return result;
  }
  Tensor narrow(int64_t d, int64_t start, int64_t length) const {
    Tensor result = *this;
    const size_t at = index(d);
    if (start < 0 || length < 0 || start + length > sizes_[at]) fail_check("", "narrow() beyond the end of a dimension");
    result.address_ += static_cast<uint64_t>(start * strides_[at]) * element_size();
    result.sizes_[at] = length;
    return result;
  }
  Tensor select(int64_t d, int64_t i) const {
    const size_t at = index(d);
    Tensor result = narrow(d, i < 0 ? i + sizes_[at] : i, 1);
    result.sizes_.erase(result.sizes_.begin() + static_cast<int64_t>(at));
    result.strides_.erase(result.strides_.begin() + static_cast<int64_t>(at));
    return result;
  }
  Tensor operator[](int64_t i) const { return select(0, i); }
  Tensor detach() const { return *this; }
  Tensor cuda() const { return *this; }
  Tensor to(Device) const { return *this; }

  // Copies. The host makes them; a GPU would use a kernel of PyTorch.
  Tensor contiguous(MemoryFormat = MemoryFormat::Contiguous) const { return is_contiguous() ? *this : clone(); }
  Tensor clone() const;
  Tensor to(ScalarType type) const;
  Tensor to(const TensorOptions& options) const { return to(options.dtype()); }
  Tensor toType(ScalarType type) const { return to(type); }
  Tensor to_float() const { return to(ScalarType::Float); }
  const Tensor& copy_(const Tensor& source) const;
  const Tensor& fill_(double value) const;
  const Tensor& zero_() const { return fill_(0); }
  /// The value of the only element.
  template <typename T>
  T item() const;

  static std::vector<int64_t> dense_strides(const std::vector<int64_t>& sizes) {
    std::vector<int64_t> strides(sizes.size(), 1);
    for (size_t d = sizes.size(); d-- > 1;)
      strides[d - 1] = strides[d] * std::max<int64_t>(sizes[d], 1);
    return strides;
  }
  /// The host's view of the element at these indices.
  std::byte* host_element(const std::vector<int64_t>& indices, bool writes) const {
    int64_t offset = 0;
    for (size_t d = 0; d < indices.size(); ++d)
      offset += indices[d] * strides_[d];
    return assay::candidate::host_bytes(address_ + static_cast<uint64_t>(offset) * element_size(), element_size(),
                                        writes);
  }

 private:
  size_t index(int64_t d) const {
    if (d < -dim() || d >= dim()) fail_check("", "dimension ", d, " of a tensor with ", dim(), " dimensions");
    return static_cast<size_t>(d < 0 ? d + dim() : d);
  }
  std::vector<int64_t> with_inferred_size(IntArrayRef sizes) const {
    std::vector<int64_t> shape = sizes.vec();
    int64_t known = 1;
    int64_t* inferred = nullptr;
    for (int64_t& size : shape) {
      if (size == -1) inferred = &size;
      else known *= size;
    }
    if (inferred != nullptr) {
      if (known == 0) fail_check("", "view() cannot infer a size next to an extent of 0");
      *inferred = numel() / known;
      known *= *inferred;
    }
    if (known != numel()) fail_check("", "view() of ", numel(), " elements as ", sizes);
    return shape;
  }
  template <typename Accessor, typename T, size_t N>
  Accessor accessor_of() const {
    if (dim() != static_cast<int64_t>(N)) fail_check("", "expected ", N, " dimensions but the tensor has ", dim());
    return Accessor(data_ptr<T>(), sizes_.data(), strides_.data());
  }

  uint64_t address_ = 0;
  std::vector<int64_t> sizes_, strides_;
  ScalarType type_ = ScalarType::Undefined;
  Device device_;
  bool is_defined_ = false;
};

/// Calls visit(indices) for each element, in row-major order.
template <typename Visit>
void for_each_index(IntArrayRef sizes, const Visit& visit) {
  std::vector<int64_t> indices(sizes.size(), 0);
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
  for (;;) {
    visit(indices);
    size_t d = sizes.size();
    while (d > 0 && ++indices[d - 1] == sizes[d - 1])
      indices[--d] = 0;
    if (d == 0) return;
  }
}

inline double load_number(const std::byte* bytes, ScalarType type) {
  const auto read = [&](auto value) {
    std::memcpy(&value, bytes, sizeof(value));
    return value;
  };
  switch (type) {
    case ScalarType::Bool:
    case ScalarType::Byte: return read(uint8_t{});
    case ScalarType::Char: return read(int8_t{});
    case ScalarType::Short: return read(int16_t{});
    case ScalarType::Int: return read(int32_t{});
    case ScalarType::Long: return static_cast<double>(read(int64_t{}));
    case ScalarType::Half: return static_cast<float>(read(Half{}));
    case ScalarType::BFloat16: return static_cast<float>(read(BFloat16{}));
    case ScalarType::Float: return read(float{});
    case ScalarType::Double: return read(double{});
    default: fail_check("", "a tensor of type ", type);
  }
}

inline void store_number(std::byte* bytes, ScalarType type, double number) {
  const auto write = [&](auto value) { std::memcpy(bytes, &value, sizeof(value)); };
  switch (type) {
    case ScalarType::Bool: return write(static_cast<uint8_t>(number != 0));
    case ScalarType::Byte: return write(static_cast<uint8_t>(number));
    case ScalarType::Char: return write(static_cast<int8_t>(number));
    case ScalarType::Short: return write(static_cast<int16_t>(number));
    case ScalarType::Int: return write(static_cast<int32_t>(number));
    case ScalarType::Long: return write(static_cast<int64_t>(number));
    case ScalarType::Half: return write(Half(static_cast<float>(number)));
    case ScalarType::BFloat16: return write(BFloat16(static_cast<float>(number)));
    case ScalarType::Float: return write(static_cast<float>(number));
    case ScalarType::Double: return write(number);
    default: fail_check("", "a tensor of type ", type);
  }
}

inline Tensor empty(IntArrayRef sizes, const TensorOptions& options = {}) {
  Tensor shape(0, sizes.vec(), Tensor::dense_strides(sizes.vec()), options.dtype());
  return Tensor(assay::candidate::allocate(std::max<size_t>(shape.nbytes(), 1)), sizes.vec(),
                Tensor::dense_strides(sizes.vec()), options.dtype(), options.device());
}
inline Tensor full(IntArrayRef sizes, double value, const TensorOptions& options = {}) {
  Tensor result = empty(sizes, options);
  result.fill_(value);
  return result;
}
inline Tensor zeros(IntArrayRef sizes, const TensorOptions& options = {}) { return full(sizes, 0, options); }
inline Tensor ones(IntArrayRef sizes, const TensorOptions& options = {}) { return full(sizes, 1, options); }
inline Tensor empty_like(const Tensor& other, const TensorOptions& options) { return empty(other.sizes(), options); }
inline Tensor empty_like(const Tensor& other) { return empty(other.sizes(), other.options()); }
inline Tensor zeros_like(const Tensor& other, const TensorOptions& options) { return zeros(other.sizes(), options); }
inline Tensor zeros_like(const Tensor& other) { return zeros(other.sizes(), other.options()); }
inline Tensor ones_like(const Tensor& other) { return ones(other.sizes(), other.options()); }
inline Tensor full_like(const Tensor& other, double value) { return full(other.sizes(), value, other.options()); }

inline const Tensor& Tensor::copy_(const Tensor& source) const {
  if (source.sizes_ != sizes_) fail_check("", "copy_() from ", source.sizes(), " to ", sizes());
  for_each_index(sizes_, [&](const std::vector<int64_t>& indices) {
    const std::byte* from = source.host_element(indices, false);
    std::byte* to = host_element(indices, true);
    if (source.type_ == type_) std::memcpy(to, from, element_size());
    else store_number(to, type_, load_number(from, source.type_));
  });
  return *this;
}
inline const Tensor& Tensor::fill_(double value) const {
  for_each_index(sizes_, [&](const std::vector<int64_t>& indices) {
    store_number(host_element(indices, true), type_, value);
  });
  return *this;
}
inline Tensor Tensor::clone() const {
  Tensor result = empty(sizes_, options());
  result.copy_(*this);
  return result;
}
inline Tensor Tensor::to(ScalarType type) const {
  if (type == type_) return *this;
  Tensor result = empty(sizes_, options().dtype(type));
  result.copy_(*this);
  return result;
}
template <typename T>
T Tensor::item() const {
  if (numel() != 1) fail_check("numel() == 1", "item() of a tensor with ", numel(), " elements");
  return static_cast<T>(load_number(assay::candidate::host_bytes(address_, element_size(), false), type_));
}

inline IntArrayRef check_same_size(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes()) fail_check("", "tensors of the sizes ", a.sizes(), " and ", b.sizes());
  return a.sizes();
}

using TensorList = const std::vector<Tensor>&;

namespace cuda {

struct CUDAStream {
  cudaStream_t stream() const { return nullptr; }
  operator cudaStream_t() const { return nullptr; }
  void synchronize() const {}
};
inline CUDAStream getCurrentCUDAStream(int = 0) { return {}; }
inline CUDAStream getDefaultCUDAStream(int = 0) { return {}; }
inline CUDAStream getStreamFromPool(bool = false, int = 0) { return {}; }
inline cudaDeviceProp* getCurrentDeviceProperties() {
  static cudaDeviceProp properties = [] {
    cudaDeviceProp result;
    cudaGetDeviceProperties(&result, 0);
    return result;
  }();
  return &properties;
}
inline cudaDeviceProp* getDeviceProperties(int) { return getCurrentDeviceProperties(); }
inline int current_device() { return 0; }

struct CUDAGuard {
  template <typename T>
  explicit CUDAGuard(const T&) {}
};
using OptionalCUDAGuard = CUDAGuard;

}  // namespace cuda

inline std::optional<Device> device_of(const Tensor& tensor) { return tensor.device(); }

template <typename T, typename U>
constexpr std::common_type_t<T, U> ceil_div(T a, U b) { return (a + b - 1) / b; }

}  // namespace at

namespace c10::cuda {
using at::cuda::CUDAGuard;
using at::cuda::CUDAStream;
using at::cuda::current_device;
using at::cuda::getCurrentCUDAStream;
using at::cuda::OptionalCUDAGuard;
}  // namespace c10::cuda

namespace torch {
using namespace at;
}  // namespace torch

#define ASSAY_CONSTANTS                                \
  constexpr auto kFloat32 = c10::ScalarType::Float;    \
  constexpr auto kFloat = c10::ScalarType::Float;      \
  constexpr auto kF32 = c10::ScalarType::Float;        \
  constexpr auto kFloat64 = c10::ScalarType::Double;   \
  constexpr auto kDouble = c10::ScalarType::Double;    \
  constexpr auto kFloat16 = c10::ScalarType::Half;     \
  constexpr auto kHalf = c10::ScalarType::Half;        \
  constexpr auto kBFloat16 = c10::ScalarType::BFloat16; \
  constexpr auto kInt8 = c10::ScalarType::Char;        \
  constexpr auto kChar = c10::ScalarType::Char;        \
  constexpr auto kUInt8 = c10::ScalarType::Byte;       \
  constexpr auto kByte = c10::ScalarType::Byte;        \
  constexpr auto kInt16 = c10::ScalarType::Short;      \
  constexpr auto kShort = c10::ScalarType::Short;      \
  constexpr auto kInt32 = c10::ScalarType::Int;        \
  constexpr auto kInt = c10::ScalarType::Int;          \
  constexpr auto kInt64 = c10::ScalarType::Long;       \
  constexpr auto kLong = c10::ScalarType::Long;        \
  constexpr auto kBool = c10::ScalarType::Bool;        \
  constexpr auto kCUDA = c10::DeviceType::CUDA;        \
  constexpr auto kCPU = c10::DeviceType::CPU;
namespace at {
ASSAY_CONSTANTS
}
#undef ASSAY_CONSTANTS

namespace torch {
inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
template <typename D>
TensorOptions device(D device) { return TensorOptions().device(device); }
namespace cuda {
inline int device_count() { return 1; }
inline bool is_available() { return true; }
inline void synchronize() {}
}  // namespace cuda
}  // namespace torch

#define TORCH_CHECK(condition, ...) \
  do {                              \
    if (!(condition)) c10::fail_check(#condition, ##__VA_ARGS__); \
  } while (0)
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b), #a " != " #b)
#define TORCH_INTERNAL_ASSERT TORCH_CHECK
#define AT_ASSERT TORCH_CHECK
#define AT_ASSERTM TORCH_CHECK
#define AT_ERROR(...) c10::fail_check("", __VA_ARGS__)
#define C10_CUDA_CHECK(expression) \
  do {                             \
    const cudaError_t assay_error = (expression); \
    if (assay_error != cudaSuccess) c10::fail_check("", "CUDA error: ", cudaGetErrorString(assay_error)); \
  } while (0)
#define AT_CUDA_CHECK C10_CUDA_CHECK
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define TORCH_WARN(...) ((void)0)

#define ASSAY_CASE(scalar, cpp, ...)  \
  case c10::ScalarType::scalar: {     \
    using scalar_t [[maybe_unused]] = cpp; \
    return __VA_ARGS__();             \
  }
#define ASSAY_SWITCH(type, name, ...)                                                  \
  [&] {                                                                                \
    const auto assay_type = (type);                                                    \
    switch (assay_type) {                                                              \
      __VA_ARGS__                                                                      \
      default: c10::fail_check("", name, " is not implemented for ", assay_type);      \
    }                                                                                  \
  }()
#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) \
  ASSAY_SWITCH(type, name, ASSAY_CASE(Float, float, __VA_ARGS__) ASSAY_CASE(Double, double, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, ...)                                              \
  ASSAY_SWITCH(type, name,                                                                                \
               ASSAY_CASE(Float, float, __VA_ARGS__) ASSAY_CASE(Double, double, __VA_ARGS__)              \
                   ASSAY_CASE(Half, c10::Half, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(first, second, type, name, ...)                                   \
  ASSAY_SWITCH(type, name,                                                                                \
               ASSAY_CASE(Float, float, __VA_ARGS__) ASSAY_CASE(Double, double, __VA_ARGS__)              \
                   ASSAY_CASE(Half, c10::Half, __VA_ARGS__) ASSAY_CASE(BFloat16, c10::BFloat16, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(type, name, ...)                                                       \
  ASSAY_SWITCH(type, name,                                                                                \
               ASSAY_CASE(Byte, uint8_t, __VA_ARGS__) ASSAY_CASE(Char, int8_t, __VA_ARGS__)               \
                   ASSAY_CASE(Short, int16_t, __VA_ARGS__) ASSAY_CASE(Int, int32_t, __VA_ARGS__)          \
                       ASSAY_CASE(Long, int64_t, __VA_ARGS__))

/// The module's functions are called by Assay, not by Python.
#define PYBIND11_MODULE(name, variable) \
  template <typename Module>            \
  [[maybe_unused]] static void assay_unused_module(Module& variable)
#define TORCH_LIBRARY(name, variable) \
  template <typename Module>          \
  [[maybe_unused]] static void assay_unused_library_##name(Module& variable)
#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME candidate
#endif

using std::max;
using std::min;
