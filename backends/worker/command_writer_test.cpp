#include "backends/worker/command_writer.hpp"

#include <array>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace assay::worker {
namespace {

using namespace backends;

template <typename T>
T read_at(const std::vector<std::byte>& bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

LaunchRequest request() {
  const std::array<std::int32_t, 1> shape{5};
  const std::array<std::int64_t, 1> strides{4};
  return {.threads = 5,
          .threads_per_block = 2,
          .checked_threads = {1, 3},
          .arguments = {KernelArgument::value(std::int8_t{7}),
                        KernelArgument::array(BufferAddress{{3}, 40}, shape, strides)}};
}

constexpr std::size_t kFirst = 16;

TEST(CommandWriter, WrittenCommandsCanBeReadBack) {
  std::vector<std::byte> commands(4096);
  CommandWriter writer(commands, [](BufferId buffer) { return BufferExtent{buffer.index * std::size_t{1000}, 60}; });
  ASSERT_TRUE(writer.add_launch(request(), {.symbol = "entry", .required_block_threads = 64}, "/lib.so"));
  ASSERT_TRUE(writer.add_load("/other.so"));
  writer.finish(9);

  EXPECT_EQ(read_at<CommandHeader>(commands, 0).count, 2U);
  EXPECT_EQ(read_at<CommandHeader>(commands, 0).cpu_time_limit_seconds, 9U);
  const auto record = read_at<LaunchRecord>(commands, kFirst);
  EXPECT_STREQ(reinterpret_cast<const char*>(commands.data() + kFirst + record.code_offset), "/lib.so");
  EXPECT_STREQ(reinterpret_cast<const char*>(commands.data() + kFirst + record.symbol_offset), "entry");
  EXPECT_EQ(record.threads, 5);
  EXPECT_EQ(record.requested_block_threads, 2);
  EXPECT_EQ(record.required_block_threads, 64);
  ASSERT_EQ(record.checked_thread_count, 2U);
  EXPECT_EQ(read_at<std::int64_t>(commands, kFirst + record.checked_threads_offset + sizeof(std::int64_t)), 3);
  ASSERT_EQ(record.argument_count, 2U);
  const auto second = read_at<ArgumentLocation>(commands, kFirst + record.arguments_offset + sizeof(ArgumentLocation));
  EXPECT_EQ(second.blob_offset, 16U);
  EXPECT_EQ(second.size, 24U);
  EXPECT_EQ(read_at<std::int8_t>(commands, kFirst + record.blob_offset), 7);
  EXPECT_EQ(read_at<std::int32_t>(commands, kFirst + record.blob_offset + second.blob_offset + 8), 5);
  ASSERT_EQ(record.pointer_count, 1U);
  const auto pointer = read_at<PointerRelocation>(commands, kFirst + record.pointers_offset);
  EXPECT_EQ(pointer.blob_offset, 16U);
  EXPECT_EQ(pointer.target_offset, 3040U);
  EXPECT_EQ(pointer.buffer_offset, 3000U);
  EXPECT_EQ(pointer.buffer_size, 60U);
  EXPECT_EQ(read_at<LaunchRecord>(commands, kFirst + record.size).symbol_offset, 0U);
}

TEST(CommandWriter, RejectsLaunchIfCommandBufferIsFull) {
  std::vector<std::byte> commands(700);
  CommandWriter writer(commands, [](BufferId) { return BufferExtent{}; });
  std::size_t written = 0;
  while (writer.add_launch(request(), {.symbol = "entry"}, "/lib.so"))
    ++written;
  EXPECT_GT(written, 1U);
  EXPECT_LT(written, 5U);
  EXPECT_EQ(writer.count(), written);
  EXPECT_FALSE(writer.add_launch(request(), {.symbol = "entry"}, "/lib.so"));
}

}  // namespace
}  // namespace assay::worker
