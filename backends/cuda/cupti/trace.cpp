#include "backends/cuda/cupti/trace.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <mutex>

namespace assay::cuda {

namespace {

constexpr std::array kKinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                            CUPTI_ACTIVITY_KIND_DRIVER};
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

struct Buffer {
  std::unique_ptr<std::uint64_t[]> memory;  ///< aligned like records
  std::size_t valid_bytes = 0;
};

/// Global, because callbacks receive no user data. They may run on a CUPTI thread.
struct Buffers {
  std::mutex mutex;
  std::vector<Buffer> given;
  std::vector<Buffer> back;
};
Buffers& buffers() {
  static Buffers the_buffers;
  return the_buffers;
}

void give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  Buffers& all = buffers();
  const std::lock_guard lock(all.mutex);
  all.given.push_back({.memory = std::make_unique<std::uint64_t[]>(kBufferBytes / sizeof(std::uint64_t))});
  *buffer = reinterpret_cast<std::uint8_t*>(all.given.back().memory.get());
  *bytes = kBufferBytes;
  *max_records = 0;  // as many as fit
}

void take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
  Buffers& all = buffers();
  const std::lock_guard lock(all.mutex);
  for (auto given = all.given.begin(); given != all.given.end(); ++given) {
    if (reinterpret_cast<std::uint8_t*>(given->memory.get()) != buffer) continue;
    given->valid_bytes = valid_bytes;
    all.back.push_back(std::move(*given));
    all.given.erase(given);
    return;
  }
}

/// The buffers that CUPTI returned.
std::vector<Buffer> collect() {
  Buffers& all = buffers();
  const std::lock_guard lock(all.mutex);
  return std::exchange(all.back, {});
}

template <typename Record>
Record read(const CUpti_Activity* activity) {
  Record record;
  std::memcpy(&record, activity, sizeof(record));
  return record;
}

template <typename Record>
double nanoseconds(const Record& record) {
  return static_cast<double>(record.end - record.start);
}

void add(const CUpti_Activity* activity, CuptiTraceResult& traced) {
  switch (activity->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      traced.kernel_nanoseconds.push_back(nanoseconds(read<CUpti_ActivityKernel>(activity)));
      break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      if (const auto copy = read<CUpti_ActivityMemcpy>(activity); copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD) {
        traced.copies.push_back({static_cast<double>(copy.bytes), nanoseconds(copy)});
      }
      break;
    case CUPTI_ACTIVITY_KIND_DRIVER:
      if (const auto call = read<CUpti_ActivityAPI>(activity); call.cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) {
        traced.launch_call_nanoseconds.push_back(nanoseconds(call));
      }
      break;
    default: break;
  }
}

}  // namespace

CuptiTrace::CuptiTrace(const Cupti& cupti) : cupti_(&cupti) {
  cupti.call(cupti.cuptiActivityRegisterCallbacks, "activity buffers", give_buffer, take_buffer);
  collect();
  try {
    for (const CUpti_ActivityKind kind : kKinds) {
      cupti.call(cupti.cuptiActivityEnable, "activity records of launches and copies", kind);
      ++enabled_activity_count_;
    }
  } catch (const CallError&) {
    disable();
    throw;
  }
}

CuptiTrace::~CuptiTrace() { disable(); }

void CuptiTrace::disable() {
  for (; enabled_activity_count_ > 0; --enabled_activity_count_)
    cupti_->cuptiActivityDisable.address(kKinds[enabled_activity_count_ - 1]);
}

CuptiTraceResult CuptiTrace::finish() {
  disable();
  cupti_->call(cupti_->cuptiActivityFlushAll, "activity records of launches and copies",
               CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  CuptiTraceResult traced;
  cupti_->call(cupti_->cuptiActivityGetNumDroppedRecords, "dropped records", nullptr, 0U, &traced.dropped_record_count);
  for (const Buffer& buffer : collect()) {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(buffer.memory.get());
    CUpti_Activity* record = nullptr;
    // CUPTI reports the end of the buffer as an error.
    while (cupti_->cuptiActivityGetNextRecord.address(bytes, buffer.valid_bytes, &record) == CUPTI_SUCCESS)
      add(record, traced);
  }
  return traced;
}

}  // namespace assay::cuda
