#include "backends/worker/command_writer.hpp"

#include <cstring>
#include <utility>

namespace assay::worker {

namespace {
constexpr std::size_t kAlignment = 16;
constexpr std::size_t kFirstRecordAt = round_up(sizeof(CommandHeader), kAlignment);
}  // namespace

CommandWriter::CommandWriter(std::span<std::byte> commands, PlaceOf place_of)
    : commands_(commands), place_of_(std::move(place_of)), record_at_(kFirstRecordAt), end_(kFirstRecordAt) {}

std::uint32_t CommandWriter::reserve(std::size_t bytes) {
  const std::size_t at = end_;
  const std::size_t end = at + round_up(bytes, kAlignment);
  if (end > commands_.size()) {
    overflow_ = true;
    return 0;
  }
  end_ = end;
  return static_cast<std::uint32_t>(at - record_at_);
}

std::uint32_t CommandWriter::put(std::span<const std::byte> piece) {
  const std::uint32_t at = reserve(piece.size());
  if (!overflow_ && !piece.empty()) {
    std::memcpy(commands_.data() + record_at_ + at, piece.data(), piece.size());
  }
  return at;
}

std::uint32_t CommandWriter::put_text(const std::string& text) {
  return put(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
}

bool CommandWriter::add_launch(const backends::LaunchRequest& launch, const backends::BuiltEntry& entry,
                               const std::string& code) {
  LaunchRecord record{};
  reserve(sizeof(LaunchRecord));
  record.code_at = put_text(code);
  record.symbol_at = put_text(entry.symbol);
  put_arguments(launch, record);
  record.order = static_cast<std::uint32_t>(launch.order);
  record.threads = launch.threads;
  record.block = launch.block;
  record.block_threads = entry.block_threads;
  record.shuffle_seed = launch.shuffle_seed;
  record.samples = launch.samples;
  record.sample_at = put(std::as_bytes(std::span(launch.sample)));
  record.sample_count = static_cast<std::uint32_t>(launch.sample.size());
  return end_record(record);
}

bool CommandWriter::add_load(const std::string& code) {
  LaunchRecord record{};
  reserve(sizeof(LaunchRecord));
  record.code_at = put_text(code);
  return end_record(record);
}

void CommandWriter::put_arguments(const backends::LaunchRequest& launch, LaunchRecord& record) {
  std::size_t blob_bytes = 0;
  std::size_t pointers = 0;
  for (const backends::Argument& argument : launch.arguments) {
    blob_bytes += round_up(argument.bytes.size(), kAlignment);
    pointers += argument.pointers.size();
  }
  record.argument_count = static_cast<std::uint32_t>(launch.arguments.size());
  record.pointer_count = static_cast<std::uint32_t>(pointers);
  record.blob_bytes = static_cast<std::uint32_t>(blob_bytes);
  record.arguments_at = reserve(launch.arguments.size() * sizeof(ArgumentRow));
  record.pointers_at = reserve(pointers * sizeof(PointerRow));
  record.blob_at = reserve(blob_bytes);
  if (overflow_) {
    return;
  }
  std::byte* const base = commands_.data() + record_at_;
  std::byte* row = base + record.arguments_at;
  std::byte* pointer_row = base + record.pointers_at;
  std::uint32_t at = 0;
  for (const backends::Argument& argument : launch.arguments) {
    const ArgumentRow argument_row{at, static_cast<std::uint32_t>(argument.bytes.size())};
    std::memcpy(row, &argument_row, sizeof(argument_row));
    row += sizeof(argument_row);
    if (!argument.bytes.empty()) {
      std::memcpy(base + record.blob_at + at, argument.bytes.data(), argument.bytes.size());
    }
    for (const backends::Argument::Pointer& pointer : argument.pointers) {
      const BufferPlace buffer = place_of_(pointer.address.buffer);
      const PointerRow address{at + pointer.at, buffer.offset + pointer.address.offset, buffer.offset, buffer.size};
      std::memcpy(pointer_row, &address, sizeof(address));
      pointer_row += sizeof(address);
    }
    at += static_cast<std::uint32_t>(round_up(argument.bytes.size(), kAlignment));
  }
}

bool CommandWriter::end_record(LaunchRecord& record) {
  if (std::exchange(overflow_, false) || count_ == kMaxLaunches) {
    end_ = record_at_;
    return false;
  }
  record.size = static_cast<std::uint32_t>(end_ - record_at_);
  std::memcpy(commands_.data() + record_at_, &record, sizeof(record));
  record_at_ = end_;
  ++count_;
  return true;
}

void CommandWriter::finish(std::uint32_t processor_seconds) {
  const CommandHeader header{static_cast<std::uint32_t>(count_), processor_seconds};
  std::memcpy(commands_.data(), &header, sizeof(header));
}

}  // namespace assay::worker
