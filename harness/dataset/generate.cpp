#include "harness/dataset/generate.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>

#include <fmt/format.h>

#include "harness/dataset/journal.hpp"
#include "support/files.hpp"
#include "support/parallel.hpp"

namespace assay::dataset {
namespace {

namespace fs = std::filesystem;

/// Blocks are temporary, so that speed matters more than size. Negative levels are zstd's fastest.
constexpr int kBlockLevel = -3;

/// Bytes of lines kept in memory until they are written to the dataset; further lines are read back from their blocks.
constexpr std::size_t kMostKept = std::size_t{256} << 20;

/// The blocks of a run: those of an earlier, interrupted run and new ones.
class Blocks {
 public:
  Blocks(const DatasetPlan& plan, const RowProducer& producer, const DatasetGenerationOptions& options)
      : plan_(plan), producer_(producer), options_(options), slots_(slots_of(plan)) {}

  /// Reuses blocks in the folder that are in the journal and complete.
  Result<void> take_over(const Journal& journal) {
    for (const JournalBlock& block : journal.blocks)
      known_.emplace(block.block_number, block);
    std::vector<std::uint64_t> numbers;
    for (const auto& [number, block] : known_)
      numbers.push_back(number);
    for_each_child_block(numbers, [&](std::uint64_t number) { return load(known_.at(number)); });
    std::erase_if(known_, [&](const auto& entry) { return !done_.contains(entry.first); });
    return failure();
  }

  Result<void> start_journal() {
    Journal journal{.plan = plan_, .blocks = {}};
    for (const auto& [number, block] : known_)
      journal.blocks.push_back(block);
    Result<JournalWriter> writer = JournalWriter::create(options_.output, journal);
    if (!writer.ok()) return writer.error();
    journal_.emplace(writer.take());
    return {};
  }

  Result<void> produce() {
    std::vector<std::uint64_t> numbers = blocks_of_shard(plan_);
    std::erase_if(numbers, [&](std::uint64_t number) { return done_.contains(number); });
    for_each_child_block(numbers, [&](std::uint64_t number) { return make(number); });
    return failure();
  }

  /// Adds a block with rows of another dataset.
  Result<void> add(const JournalBlock& block, const std::vector<std::string>& lines) {
    const Result<void> written = write(block, std::vector<std::string_view>(lines.begin(), lines.end()));
    if (!written.ok()) return written;
    if (Result<void> loaded = load(block); !loaded.ok()) return loaded;
    if (done_.contains(block.block_number)) return {};
    return Error{fmt::format("cannot read back the rows of block {}", block.block_number), options_.output.string()};
  }

  UnfinishedDataset take() {
    std::ranges::sort(rows_, {}, [](const AcceptedRow& row) { return row.slot.number; });
    return {.dir = options_.output,
            .plan = plan_,
            .rows = std::move(rows_),
            .memory = std::move(memory_),
            .rejected = std::move(rejected_),
            .timing = timing_,
            .jobs = std::max(1, options_.jobs),
            .on_finishing = options_.on_finishing};
  }

 private:
  template <class Work>
  void for_each_child_block(const std::vector<std::uint64_t>& numbers, const Work& work) {
    for_each_index_in_parallel(numbers.size(), static_cast<unsigned>(std::max(1, options_.jobs)), [&](std::size_t i) {
      if (!failure().ok()) return;
      Result<void> done = work(numbers[i]);
      const std::lock_guard lock(mutex_);
      if (!done.ok() && !failure_) failure_ = done.error();
    });
  }

  Result<void> failure() const {
    const std::lock_guard lock(mutex_);
    return failure_ ? Result<void>(*failure_) : Result<void>();
  }

  /// Reads the rows of a block. A missing or damaged block is made again.
  Result<void> load(const JournalBlock& block) {
    Result<LineReader> reader = LineReader::open(block_file(options_.output, block.block_number));
    if (!reader.ok()) return {};
    ProducedBlock produced{.rejected = block.rejected};
    std::string line;
    for (const JournalRow& row : block.rows) {
      const Result<bool> more = reader->next(line);
      if (!more.ok() || !*more || row.slot >= slots_.size()) return {};
      Result<AcceptedRow> accepted = accept_line({slots_[row.slot], row.attempt}, line, produced.memory);
      if (!accepted.ok() || accepted->id != row.id) return {};
      produced.rows.push_back(accepted.take());
    }
    if (const Result<bool> more = reader->next(line); !more.ok() || *more) return {};
    keep(block.block_number, std::move(produced));
    return {};
  }

  Result<void> make(std::uint64_t number) {
    std::vector<SlotTask> tasks;
    for (const DatasetSlot& slot : slots_of_block(plan_, slots_, number))
      tasks.push_back({.slot = slot});
    Result<ProducedBlock> produced = producer_.produce(tasks);
    if (!produced.ok()) return produced.error();
    JournalBlock block{.block_number = number, .rejected = produced->rejected};
    for (const AcceptedRow& row : produced->rows) {
      block.rows.push_back({.slot = row.slot.number, .attempt = row.attempt, .id = std::string(row.id)});
    }
    std::vector<std::string_view> lines;
    for (const AcceptedRow& row : produced->rows)
      lines.push_back(row.line);
    if (Result<void> written = write(block, lines); !written.ok()) return written;
    keep(number, produced.take());
    return {};
  }

  /// Writes the rows, then the journal line that refers to them.
  Result<void> write(const JournalBlock& block, std::span<const std::string_view> lines) {
    const fs::path file = block_file(options_.output, block.block_number);
    if (Result<void> put = put_lines(file, lines, kBlockLevel); !put.ok()) return put;
    const std::lock_guard lock(mutex_);
    return journal_->append(block);
  }

  void keep(std::uint64_t number, ProducedBlock block) {
    const std::lock_guard lock(mutex_);
    done_.insert(number);
    for (const AcceptedRow& row : block.rows)
      stored_count_ += row.line.size();
    if (stored_count_ > kMostKept) {
      for (AcceptedRow& row : block.rows)
        row.line = {};
      block.memory.json_line_arena = {};
    }
    std::ranges::copy(block.rows, std::back_inserter(rows_));
    std::ranges::move(block.rejected, std::back_inserter(rejected_));
    memory_.push_back(std::move(block.memory));
    timing_ += block.timing;
    if (options_.on_progress) options_.on_progress(rows_.size(), rejected_.size());
  }

  const DatasetPlan& plan_;
  const RowProducer& producer_;
  const DatasetGenerationOptions& options_;
  const std::vector<DatasetSlot> slots_;
  std::map<std::uint64_t, JournalBlock> known_;
  std::optional<JournalWriter> journal_;

  mutable std::mutex mutex_;
  std::set<std::uint64_t> done_;
  std::vector<AcceptedRow> rows_;
  std::vector<RowArenas> memory_;
  std::vector<RejectedCandidate> rejected_;
  std::size_t stored_count_ = 0;  ///< bytes of lines, including those that exceeded the limit
  Timing timing_;
  std::optional<Error> failure_;
};

/// The journal in the folder, if any. Fails if the folder contains a dataset of another plan.
Result<std::optional<Journal>> journal_to_resume(const DatasetPlan& plan, const DatasetGenerationOptions& options) {
  Result<std::optional<Journal>> journal = read_journal(options.output);
  if (!journal.ok() || !journal->has_value()) return journal;
  const std::string where = options.output.string();
  if (!options.resume) {
    return Error{"folder already contains a dataset; continue it with --resume, or choose another folder", where};
  }
  const DatasetPlan& other = journal->value().plan;
  if (const std::string what = difference(other, plan); !what.empty()) {
    return Error{fmt::format("folder contains a dataset with a different '{}'; repeat the original options, or choose "
                             "another folder",
                             what),
                 where};
  }
  if (other.shard != plan.shard) {
    return Error{fmt::format("folder contains shard {}/{}, not {}/{}", other.shard.shard_index, other.shard.shard_count,
                             plan.shard.shard_index, plan.shard.shard_count),
                 where};
  }
  return journal;
}

Result<FinishedDataset> finish_in(Blocks& blocks, const RowProducer& producer,
                                  std::chrono::steady_clock::time_point start) {
  UnfinishedDataset dataset = blocks.take();
  dataset.start = start;
  return finish(std::move(dataset), producer);
}

/// The rows of a finished dataset, by slot. Each split is in the order of slots.
class ShardRows {
 public:
  static Result<ShardRows> open(const fs::path& dir) {
    ShardRows rows;
    Result<std::optional<Journal>> journal = read_journal(dir);
    if (!journal.ok()) return journal.error();
    for (const JournalBlock& block : journal->value().blocks) {
      for (const JournalRow& row : block.rows)
        rows.slots_.emplace(row.id, row.slot);
    }
    for (const std::string_view split : kSplits) {
      Stream stream;
      std::error_code error;
      for (const auto& entry : fs::directory_iterator(dir / kDataFolder, error)) {
        if (entry.path().filename().string().starts_with(fmt::format("{}-", split)))
          stream.files.push_back(entry.path());
      }
      std::ranges::sort(stream.files, std::greater<>());
      if (Result<void> moved = rows.move_on(stream); !moved.ok()) return moved.error();
      rows.streams_.push_back(std::move(stream));
    }
    return rows;
  }

  /// The line of the slot. Slots must be requested in ascending order.
  Result<std::string> line_of(std::uint64_t slot) {
    for (Stream& stream : streams_) {
      if (stream.slot != slot) continue;
      std::string line = std::move(stream.line);
      if (Result<void> moved = move_on(stream); !moved.ok()) return moved.error();
      return line;
    }
    return Error{fmt::format("journal.jsonl lists a row for slot {}, but data/ does not contain it", slot)};
  }

 private:
  struct Stream {
    std::vector<fs::path> files;  ///< not yet read, in reverse order
    std::optional<LineReader> reader;
    std::string line;
    std::optional<std::uint64_t> slot;  ///< of the line
  };

  Result<void> move_on(Stream& stream) {
    stream.slot.reset();
    for (;;) {
      if (!stream.reader) {
        if (stream.files.empty()) return {};
        Result<LineReader> reader = LineReader::open(stream.files.back());
        if (!reader.ok()) return reader.error();
        stream.reader = reader.take();
        stream.files.pop_back();
      }
      const Result<bool> more = stream.reader->next(stream.line);
      if (!more.ok()) return more.error();
      if (*more) break;
      stream.reader.reset();
    }
    // to_line writes the id first.
    constexpr std::string_view kStart = "{\"id\":\"";
    const std::string id = stream.line.substr(kStart.size(), stream.line.find('"', kStart.size()) - kStart.size());
    const auto known = slots_.find(id);
    if (known == slots_.end()) return Error{fmt::format("row {} is not in journal.jsonl", id)};
    stream.slot = known->second;
    return {};
  }

  std::unordered_map<std::string, std::uint64_t> slots_;
  std::vector<Stream> streams_;
};

/// The quarantined kernels of a shard, by block.
Result<std::map<std::uint64_t, std::vector<RejectedCandidate>>> quarantined(const fs::path& dir,
                                                                            const DatasetPlan& plan) {
  std::map<std::uint64_t, std::vector<RejectedCandidate>> blocks;
  Result<LineReader> reader = LineReader::open(dir / kQuarantineFileName);
  if (!reader.ok()) return reader.error();
  std::string line;
  for (;;) {
    const Result<bool> more = reader->next(line);
    if (!more.ok()) return more.error();
    if (!*more) return blocks;
    RejectedCandidate rejected = rejected_from(nlohmann::json::parse(line));
    blocks[rejected.slot / plan.slots_per_block].push_back(std::move(rejected));
  }
}

Result<void> add_shard(const fs::path& dir, Blocks& blocks) {
  Result<std::optional<Journal>> journal = read_journal(dir);
  if (!journal.ok()) return journal.error();
  Result<ShardRows> rows = ShardRows::open(dir);
  if (!rows.ok()) return rows.error();
  auto rejected = quarantined(dir, journal->value().plan);
  if (!rejected.ok()) return rejected.error();
  for (JournalBlock& block : journal->value().blocks) {
    std::vector<std::string> lines;
    for (const JournalRow& row : block.rows) {
      Result<std::string> line = rows->line_of(row.slot);
      if (!line.ok()) return Error{line.error().message, dir.string()};
      lines.push_back(line.take());
    }
    block.rejected = (*rejected)[block.block_number];
    if (Result<void> added = blocks.add(block, lines); !added.ok()) return added;
  }
  return {};
}

}  // namespace

Result<FinishedDataset> generate(const DatasetPlan& plan, const RowProducer& producer,
                                 const DatasetGenerationOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Result<std::optional<Journal>> journal = journal_to_resume(plan, options);
  if (!journal.ok()) return journal.error();
  if (journal->has_value() && journal->value().has_ended) {
    std::error_code error;
    fs::remove_all(options.output / kPartialFolder, error);
    return FinishedDataset{.requested_rows = plan.row_count, .was_already_complete = true};
  }
  Blocks blocks(plan, producer, options);
  if (journal->has_value()) {
    if (Result<void> taken = blocks.take_over(journal->value()); !taken.ok()) return taken.error();
  }
  if (Result<void> started = blocks.start_journal(); !started.ok()) return started.error();
  if (Result<void> produced = blocks.produce(); !produced.ok()) return produced.error();
  return finish_in(blocks, producer, start);
}

Result<DatasetPlan> whole_plan(const std::vector<fs::path>& shards) {
  std::optional<DatasetPlan> whole;
  std::set<std::uint32_t> seen;
  for (const fs::path& dir : shards) {
    const Result<std::optional<Journal>> journal = read_journal(dir);
    if (!journal.ok()) return journal.error();
    if (!journal->has_value()) return Error{"not a dataset: journal.jsonl is missing", dir.string()};
    const DatasetPlan& plan = journal->value().plan;
    if (!journal->value().has_ended)
      return Error{"dataset is not finished; finish it with 'assay generate --resume'", dir.string()};
    if (!whole) whole = plan;
    if (const std::string what = difference(*whole, plan); !what.empty()) {
      return Error{fmt::format("not a shard of the same dataset as {}: '{}' differs", shards.front().string(), what),
                   dir.string()};
    }
    if (plan.shard.shard_count != whole->shard.shard_count || !seen.insert(plan.shard.shard_index).second) {
      return Error{fmt::format("shard {}/{} is given twice, or its number of shards differs from that of {}",
                               plan.shard.shard_index, plan.shard.shard_count, shards.front().string()),
                   dir.string()};
    }
  }
  if (!whole) return Error{"no shards to merge"};
  if (seen.size() != whole->shard.shard_count) {
    return Error{fmt::format("merging requires all {} shards, got {}", whole->shard.shard_count, seen.size())};
  }
  whole->shard = {};
  return *whole;
}

Result<FinishedDataset> merge_shards(const std::vector<fs::path>& shards, const RowProducer& producer,
                                     const DatasetGenerationOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Result<DatasetPlan> plan = whole_plan(shards);
  if (!plan.ok()) return plan.error();
  const Result<std::optional<Journal>> journal = read_journal(options.output);
  if (!journal.ok()) return journal.error();
  if (journal->has_value())
    return Error{"folder already contains a dataset; choose another folder", options.output.string()};
  Blocks blocks(*plan, producer, options);
  if (Result<void> started = blocks.start_journal(); !started.ok()) return started.error();
  for (const fs::path& dir : shards) {
    if (Result<void> added = add_shard(dir, blocks); !added.ok()) return added.error();
  }
  return finish_in(blocks, producer, start);
}

}  // namespace assay::dataset
