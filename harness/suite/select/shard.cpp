#include "harness/suite/select/shard.hpp"

#include <charconv>
#include <cstddef>

#include <fmt/format.h>

namespace assay::harness {

Result<Shard> parse_shard(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  const bool slash = index.ptr != end && *index.ptr == '/';
  const auto of = std::from_chars(slash ? index.ptr + 1 : end, end, shard.shard_count);
  const bool read = slash && index.ec == std::errc{} && of.ec == std::errc{} && of.ptr == end;
  if (read && shard.index >= 1 && shard.index <= shard.shard_count) return shard;
  return Error{fmt::format("--shard: invalid value '{}'; expected I/N with 1 <= I <= N, such as 2/4", text)};
}

void keep_shard(Selection& selection, const Shard& shard) {
  std::size_t position = 0;
  std::erase_if(selection.kernels, [&](const SelectedKernel&) {
    return position++ % static_cast<std::size_t>(shard.shard_count) != static_cast<std::size_t>(shard.index - 1);
  });
}

}  // namespace assay::harness
