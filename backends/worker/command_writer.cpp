#include "backends/worker/command_writer.hpp"

#include <cstring>
#include <utility>

namespace assay::worker {

namespace {
constexpr std::size_t kAlignment = 16;
constexpr std::size_t kFirstRecordAt = round_up(sizeof(CommandHeader), kAlignment);
}  // namespace

CommandWriter::CommandWriter(std::span<std::byte> commands, LocateBuffer locate)
    : command_area_(commands),
      locate_buffer_(std::move(locate)),
      record_start_offset_(kFirstRecordAt),
      write_offset_(kFirstRecordAt) {}

std::uint32_t CommandWriter::reserve(std::size_t bytes) {
  const std::size_t at = write_offset_;
  const std::size_t end = at + round_up(bytes, kAlignment);
  if (end > command_area_.size()) {
    has_overflowed_ = true;
    return 0;
  }
  write_offset_ = end;
  return static_cast<std::uint32_t>(at - record_start_offset_);
}

std::uint32_t CommandWriter::put(std::span<const std::byte> piece) {
  const std::uint32_t at = reserve(piece.size());
  if (!has_overflowed_ && !piece.empty()) {
    std::memcpy(command_area_.data() + record_start_offset_ + at, piece.data(), piece.size());
  }
  return at;
}

std::uint32_t CommandWriter::put_text(const std::string& text) {
  return put(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
}

bool CommandWriter::add_launch(const backends::LaunchRequest& launch, const backends::BuiltEntryPoint& entry,
                               const std::string& code) {
  LaunchRecord record{};
  reserve(sizeof(LaunchRecord));
  record.code_offset = put_text(code);
  record.symbol_offset = put_text(entry.symbol);
  put_arguments(launch, record);
  record.thread_order = static_cast<std::uint32_t>(launch.order);
  record.threads = launch.threads;
  record.requested_block_threads = launch.threads_per_block;
  record.required_block_threads = entry.required_block_threads;
  record.shuffle_seed = launch.shuffle_seed;
  record.timed_run_count = launch.sample_count;
  record.checked_threads_offset = put(std::as_bytes(std::span(launch.checked_threads)));
  record.checked_thread_count = static_cast<std::uint32_t>(launch.checked_threads.size());
  return end_record(record);
}

bool CommandWriter::add_load(const std::string& code) {
  LaunchRecord record{};
  reserve(sizeof(LaunchRecord));
  record.code_offset = put_text(code);
  return end_record(record);
}

void CommandWriter::put_arguments(const backends::LaunchRequest& launch, LaunchRecord& record) {
  std::size_t argument_blob_bytes = 0;
  std::size_t pointers = 0;
  for (const backends::KernelArgument& argument : launch.arguments) {
    argument_blob_bytes += round_up(argument.bytes.size(), kAlignment);
    pointers += argument.pointers.size();
  }
  record.argument_count = static_cast<std::uint32_t>(launch.arguments.size());
  record.pointer_count = static_cast<std::uint32_t>(pointers);
  record.argument_blob_bytes = static_cast<std::uint32_t>(argument_blob_bytes);
  record.arguments_offset = reserve(launch.arguments.size() * sizeof(ArgumentLocation));
  record.pointers_offset = reserve(pointers * sizeof(PointerRelocation));
  record.blob_offset = reserve(argument_blob_bytes);
  if (has_overflowed_) {
    return;
  }
  std::byte* const base = command_area_.data() + record_start_offset_;
  std::byte* row = base + record.arguments_offset;
  std::byte* pointer_row = base + record.pointers_offset;
  std::uint32_t at = 0;
  for (const backends::KernelArgument& argument : launch.arguments) {
    const ArgumentLocation argument_row{at, static_cast<std::uint32_t>(argument.bytes.size())};
    std::memcpy(row, &argument_row, sizeof(argument_row));
    row += sizeof(argument_row);
    if (!argument.bytes.empty()) {
      std::memcpy(base + record.blob_offset + at, argument.bytes.data(), argument.bytes.size());
    }
    for (const backends::KernelArgument::Pointer& pointer : argument.pointers) {
      const BufferExtent buffer = locate_buffer_(pointer.address.buffer);
      const PointerRelocation address{at + pointer.byte_offset, buffer.offset + pointer.address.offset, buffer.offset,
                                      buffer.size};
      std::memcpy(pointer_row, &address, sizeof(address));
      pointer_row += sizeof(address);
    }
    at += static_cast<std::uint32_t>(round_up(argument.bytes.size(), kAlignment));
  }
}

bool CommandWriter::end_record(LaunchRecord& record) {
  if (std::exchange(has_overflowed_, false) || record_count_ == kMaxLaunchesPerRound) {
    write_offset_ = record_start_offset_;
    return false;
  }
  record.size = static_cast<std::uint32_t>(write_offset_ - record_start_offset_);
  std::memcpy(command_area_.data() + record_start_offset_, &record, sizeof(record));
  record_start_offset_ = write_offset_;
  ++record_count_;
  return true;
}

void CommandWriter::finish(std::uint32_t cpu_time_limit_seconds) {
  const CommandHeader header{static_cast<std::uint32_t>(record_count_), cpu_time_limit_seconds};
  std::memcpy(command_area_.data(), &header, sizeof(header));
}

}  // namespace assay::worker
