#include "harness/dataset/finish.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "harness/dataset/card.hpp"
#include "harness/dataset/similarity.hpp"
#include "schemas/embedded.hpp"
#include "support/files.hpp"
#include "support/hash.hpp"
#include "support/parallel.hpp"

namespace assay::dataset {
namespace {

namespace fs = std::filesystem;

/// Rows that are renamed and written together; their lines are in memory.
constexpr std::size_t kRowsWrittenTogether = 256;

/// The steps that finish one dataset.
class DatasetWriter {
 public:
  DatasetWriter(UnfinishedDataset dataset, const RowProducer& producer) : m_(std::move(dataset)), producer_(producer) {}

  Result<FinishedDataset> run() {
    clear_leftovers();
    if (Result<void> dropped = drop_duplicates(); !dropped.ok()) return dropped.error();
    if (Result<void> replaced = replace_near_duplicates(); !replaced.ok()) return replaced.error();
    std::ranges::sort(m_.rejected, {}, [](const RejectedCandidate& one) { return std::pair(one.slot, one.attempt); });
    if (m_.on_finishing) m_.on_finishing(0);
    choose_splits();
    for (const auto step :
         {&DatasetWriter::write_data, &DatasetWriter::write_quarantine, &DatasetWriter::write_texts}) {
      if (Result<void> done = (this->*step)(); !done.ok()) return done.error();
    }
    std::error_code error;
    fs::remove_all(m_.dir / kPartialFolder, error);
    return finished_;
  }

 private:
  /// Removes temporary files of a process that died here.
  void clear_leftovers() const {
    std::error_code error;
    for (const char* folder : {"data", "quarantine", "partial", "."}) {
      for (const auto& entry : fs::directory_iterator(m_.dir / folder, error)) {
        if (entry.path().extension() == ".tmp") fs::remove(entry.path(), error);
      }
    }
  }

  /// Replaces each row whose program is in an earlier slot by the next candidate of its slot that passes.
  Result<void> drop_duplicates() {
    std::unordered_set<std::string_view> seen;
    std::vector<AcceptedRow> kept;
    for (const AcceptedRow& row : m_.rows) {
      std::optional<AcceptedRow> candidate = row;
      while (candidate && !seen.insert(candidate->id).second) {
        const SlotTask next{candidate->slot, candidate->attempt + 1};
        candidate.reset();
        Result<ProducedBlock> produced = producer_.produce({&next, 1});
        if (!produced.ok()) return produced.error();
        for (const AcceptedRow& made : take(produced.take()))
          candidate = made;
      }
      if (candidate) kept.push_back(*candidate);
    }
    m_.rows = std::move(kept);
    return {};
  }

  /// Keeps what was made with the rows, and returns them.
  std::vector<AcceptedRow> take(ProducedBlock produced) {
    std::ranges::move(produced.rejected, std::back_inserter(m_.rejected));
    m_.timing += produced.timing;
    m_.memory.push_back(std::move(produced.memory));
    return std::move(produced.rows);
  }

  /// Keeps each row, in the order of slots, unless it is a near duplicate of a kept row; replaces the others by the
  /// next candidates of their slots, which are treated in the same way until all rows differ. A shard keeps all rows,
  /// so that a merge of shards makes the same choices as a run without shards. A user's kernels have no other
  /// candidates.
  Result<void> replace_near_duplicates() {
    if (!m_.plan.user_kernels.empty() || m_.plan.shard.shard_count > 1) return {};
    std::vector<AcceptedRow> kept;
    std::vector<AcceptedRow> candidates = std::move(m_.rows);
    while (!candidates.empty()) {
      const std::size_t first_new = kept.size();
      std::ranges::copy(candidates, std::back_inserter(kept));
      std::vector<ShingleView> shingles;
      for (const AcceptedRow& row : kept)
        shingles.push_back(row.shingles);
      std::vector<bool> is_replaced(kept.size());
      for (const auto& [earlier, later] : near_duplicates(shingles, first_new))
        if (!is_replaced[earlier]) is_replaced[later] = true;
      std::vector<SlotTask> tasks;
      std::vector<AcceptedRow> distinct;
      for (std::size_t i = 0; i < kept.size(); ++i) {
        if (is_replaced[i]) tasks.push_back({kept[i].slot, kept[i].attempt + 1});
        else distinct.push_back(kept[i]);
      }
      kept = std::move(distinct);
      Result<std::vector<AcceptedRow>> produced = produce(tasks);
      if (!produced.ok()) return produced.error();
      candidates = produced.take();
    }
    std::ranges::sort(kept, {}, [](const AcceptedRow& row) { return row.slot.number; });
    m_.rows = std::move(kept);
    return {};
  }

  /// The rows of the tasks, made in several threads, by slot.
  Result<std::vector<AcceptedRow>> produce(std::span<const SlotTask> tasks) {
    if (!tasks.empty() && m_.on_finishing) m_.on_finishing(tasks.size());
    const std::size_t together = m_.plan.slots_per_block;
    std::vector<std::span<const SlotTask>> parts;
    for (std::span<const SlotTask> left = tasks; !left.empty(); left = left.subspan(parts.back().size()))
      parts.push_back(left.first(std::min(together, left.size())));
    std::vector<std::optional<Result<ProducedBlock>>> produced(parts.size());
    for_each_index_in_parallel(parts.size(), static_cast<unsigned>(m_.jobs),
                               [&](std::size_t part) { produced[part] = producer_.produce(parts[part]); });
    std::vector<AcceptedRow> rows;
    for (std::optional<Result<ProducedBlock>>& part : produced) {
      if (!part->ok()) return part->error();
      std::ranges::copy(take(part->take()), std::back_inserter(rows));
    }
    std::ranges::sort(rows, {}, [](const AcceptedRow& row) { return row.slot.number; });
    return rows;
  }

  void choose_splits() {
    std::vector<ShingleView> shingles;
    std::vector<std::string_view> ids;
    for (const AcceptedRow& row : m_.rows) {
      shingles.push_back(row.shingles);
      ids.push_back(row.id);
    }
    const std::vector<std::uint32_t> clusters = clusters_of(shingles);
    splits_ = assign_splits(ids, clusters, m_.plan.seed);
    for (const auto& [first, rows] : cluster_sizes(clusters)) {
      if (rows > 1) stats_.add_cluster(rows);
    }
    for (const RejectedCandidate& rejected : m_.rejected) {
      stats_.add_rejected(rejected.verdict);
      ++finished_.rejected_counts_by_verdict[rejected.verdict];
    }
    stats_.add_duplicates(finished_.duplicate_count = duplicates());
    finished_.rows = m_.rows.size();
    finished_.rejected = m_.rejected.size();
    for (const std::uint64_t block : blocks_of_shard(m_.plan))
      finished_.requested_rows +=
          std::min<std::uint64_t>(m_.plan.slots_per_block, m_.plan.row_count - block * m_.plan.slots_per_block);
  }

  static std::map<std::uint32_t, std::uint64_t> cluster_sizes(const std::vector<std::uint32_t>& clusters) {
    std::map<std::uint32_t, std::uint64_t> sizes;
    for (const std::uint32_t first : clusters)
      ++sizes[first];
    return sizes;
  }

  /// Duplicates: candidates that passed but were replaced, i.e. attempts that are neither a slot's row nor rejected.
  std::uint64_t duplicates() const {
    std::uint64_t attempts = 0;
    for (const AcceptedRow& row : m_.rows)
      attempts += row.attempt;
    std::unordered_set<std::uint64_t> filled;
    for (const AcceptedRow& row : m_.rows)
      filled.insert(row.slot.number);
    const auto rejected =
        std::ranges::count_if(m_.rejected, [&](const RejectedCandidate& one) { return filled.contains(one.slot); });
    return attempts - static_cast<std::uint64_t>(rejected);
  }

  /// A split's files, written one after another.
  struct SplitFiles {
    std::string_view split;
    std::uint64_t files = 0;
    std::uint64_t rows = 0;  ///< written
    std::optional<LineWriter> file = std::nullopt;
  };

  Result<void> write_data() {
    std::vector<SplitFiles> splits;
    for (const std::string_view split : kSplits) {
      const auto rows = static_cast<std::uint64_t>(std::ranges::count(splits_, split));
      splits.push_back({.split = split, .files = (rows + kRowsPerFile - 1) / kRowsPerFile});
    }
    RowLines lines(m_);
    const std::vector<std::string> names = assign_names(m_.rows);
    for (std::size_t begin = 0; begin < m_.rows.size(); begin += kRowsWrittenTogether) {
      const std::size_t end = std::min(begin + kRowsWrittenTogether, m_.rows.size());
      std::vector<std::string> texts;
      for (std::size_t i = begin; i < end; ++i) {
        const Result<std::string_view> line = lines.line_of(m_.rows[i]);
        if (!line.ok()) return line.error();
        texts.emplace_back(*line);
      }
      std::vector<RowArenas> memory;  // owns the statistics of renamed rows until they are added
      if (Result<void> renamed = rename(begin, names, texts, memory); !renamed.ok()) return renamed;
      for (std::size_t i = begin; i < end; ++i) {
        const std::string& line = texts[i - begin];
        stats_.add(m_.rows[i].statistics, splits_[i]);
        if (sample_.empty()) sample_ = line;
        SplitFiles& split = *std::ranges::find(splits, splits_[i], &SplitFiles::split);
        if (Result<void> added = add_row(split, line); !added.ok()) return added;
      }
    }
    for (SplitFiles& split : splits) {
      if (Result<void> closed = close(split.file); !closed.ok()) return closed;
    }
    std::ranges::sort(names_);
    return {};
  }

  /// Gives the kernels of rows their names, in several threads. `texts` are the lines of the rows from number `begin`.
  /// `memory` then owns the statistics of the renamed rows.
  Result<void> rename(std::size_t begin, const std::vector<std::string>& names, std::vector<std::string>& texts,
                      std::vector<RowArenas>& memory) {
    const auto threads = static_cast<std::size_t>(m_.jobs);
    std::vector<std::vector<RowProducer::Renaming>> parts(threads);
    std::vector<std::vector<std::size_t>> rows(threads);
    std::size_t next = 0;
    for (std::size_t i = begin; i < begin + texts.size(); ++i) {
      const AcceptedRow& row = m_.rows[i];
      if (row.kernel_name == names[i]) continue;
      const std::size_t part = next++ % threads;
      parts[part].push_back({.task = {row.slot, row.attempt}, .line = texts[i - begin], .name = names[i]});
      rows[part].push_back(i);
    }
    std::vector<std::optional<Result<ProducedBlock>>> produced(threads);
    for_each_index_in_parallel(threads, static_cast<unsigned>(threads), [&](std::size_t part) {
      if (!parts[part].empty()) produced[part] = producer_.rename(parts[part]);
    });
    for (std::size_t part = 0; part < threads; ++part) {
      if (!produced[part]) continue;
      if (!produced[part]->ok()) return produced[part]->error();
      ProducedBlock& block = **produced[part];
      for (std::size_t k = 0; k < block.rows.size(); ++k) {
        texts[rows[part][k] - begin] = block.rows[k].line;
        m_.rows[rows[part][k]].statistics = block.rows[k].statistics;
      }
      m_.timing += block.timing;
      memory.push_back(std::move(block.memory));
    }
    return {};
  }

  Result<void> add_row(SplitFiles& split, std::string_view line) {
    if (split.rows % kRowsPerFile == 0) {
      if (Result<void> closed = close(split.file); !closed.ok()) return closed;
      const std::string name = data_file(split.split, split.rows / kRowsPerFile, split.files, m_.plan.compression);
      Result<LineWriter> created = LineWriter::create(m_.dir / name);
      if (!created.ok()) return created.error();
      split.file.emplace(created.take());
      names_.push_back(name);
    }
    ++split.rows;
    split_bytes_[split.split] += line.size() + 1;
    return split.file->add(line);
  }

  static Result<void> close(std::optional<LineWriter>& file) {
    if (!file) return {};
    Result<void> committed = file->commit();
    file.reset();
    return committed;
  }

  /// The lines of the rows in the order of slots, read from the blocks, one block open at a time.
  class RowLines {
   public:
    explicit RowLines(const UnfinishedDataset& dataset) : m_(dataset) {}

    /// The line is valid until the next call.
    Result<std::string_view> line_of(const AcceptedRow& row) {
      if (!row.line.empty()) return row.line;
      const std::uint64_t block = row.slot.number / m_.plan.slots_per_block;
      if (!reader_ || block != block_) {
        Result<LineReader> reader = LineReader::open(block_file(m_.dir, block));
        if (!reader.ok()) return reader.error();
        reader_.emplace(reader.take());
        block_ = block;
      }
      const std::string start = fmt::format("{{\"id\":\"{}\"", row.id);
      do {
        const Result<bool> more = reader_->next(line_);
        if (!more.ok()) return more.error();
        if (!*more) return Error{"the file lacks a row that journal.jsonl lists", block_file(m_.dir, block).string()};
      } while (!line_.starts_with(start));
      return std::string_view(line_);
    }

   private:
    const UnfinishedDataset& m_;
    std::optional<LineReader> reader_;
    std::uint64_t block_ = 0;
    std::string line_;  ///< the line read last
  };

  Result<void> write_quarantine() {
    std::string text;
    for (const RejectedCandidate& rejected : m_.rejected)
      text += to_json(rejected).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    names_.emplace_back(kQuarantineFileName);
    return put_file(m_.dir / kQuarantineFileName, text);
  }

  /// Writes card, schema, stats, checksums and, last, the journal, which marks the dataset as complete.
  Result<void> write_texts() {
    m_.timing.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_.start).count();
    finished_.timing = m_.timing;
    finished_.passed_rows = stats_.passed_rows();
    nlohmann::ordered_json stats = stats_.to_json();
    const std::string card = render_dataset_card(m_.plan, stats_, stats, split_bytes_, sample_);
    stats["timing"] = to_json(m_.timing, finished_.rows);
    const std::string journal = final_journal();
    std::string sums;
    for (const std::string& name : names_) {
      const Result<std::string> sum = sha256_of_file(m_.dir / name);
      if (!sum.ok()) return sum.error();
      sums += fmt::format("{}  {}\n", *sum, name);
    }
    const std::pair<std::string, std::string_view> texts[] = {
        {"README.md", card}, {"schema.json", schemas::kDatasetRowSchemaText}, {std::string(kJournalFileName), journal}};
    for (const auto& [name, text] : texts)
      sums += fmt::format("{}  {}\n", sha256_hex(text), name);
    const std::pair<std::string, std::string> files[] = {{"README.md", card},
                                                         {"schema.json", std::string(schemas::kDatasetRowSchemaText)},
                                                         {"stats.json", stats.dump(2) + "\n"},
                                                         {"checksums.sha256", sums},
                                                         {std::string(kJournalFileName), journal}};
    for (const auto& [name, text] : files) {
      if (Result<void> put = put_file(m_.dir / name, text); !put.ok()) return put;
    }
    return {};
  }

  /// The final journal. It does not depend on the order of blocks and leaves out the texts in quarantine/.
  std::string final_journal() const {
    std::map<std::uint64_t, JournalBlock> blocks;
    for (const std::uint64_t number : blocks_of_shard(m_.plan))
      blocks[number].block_number = number;
    for (const AcceptedRow& row : m_.rows)
      blocks[row.slot.number / m_.plan.slots_per_block].rows.push_back(
          {row.slot.number, row.attempt, std::string(row.id)});
    Journal journal{.plan = m_.plan, .blocks = {}, .has_ended = true};
    for (auto& [number, block] : blocks)
      journal.blocks.push_back(std::move(block));
    return to_text(journal);
  }

  UnfinishedDataset m_;
  const RowProducer& producer_;
  FinishedDataset finished_;
  DatasetStatistics stats_;
  std::vector<std::string_view> splits_;  ///< by row
  SplitBytes split_bytes_;                ///< of the lines written
  std::vector<std::string> names_;        ///< of the files written, relative to the folder
  std::string sample_;                    ///< the line of the first row
};

}  // namespace

std::vector<std::string> assign_names(std::span<const AcceptedRow> rows) {
  std::unordered_set<std::string> taken;
  std::unordered_map<std::string_view, std::uint64_t> last_numbers;
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const AcceptedRow& row : rows) {
    std::string name(row.kernel_name);
    const auto is_free = [&](std::string_view choice) { return !taken.contains(std::string(choice)); };
    if (const auto free = std::ranges::find_if(row.names, is_free); free != row.names.end()) {
      name = *free;
    } else if (!row.names.empty()) {
      std::uint64_t& number = last_numbers.try_emplace(row.names.front(), 1).first->second;
      do {
        name = fmt::format("{}_{}", row.names.front(), ++number);
      } while (taken.contains(name));
    }
    taken.insert(name);
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string_view> assign_splits(std::span<const std::string_view> ids,
                                            std::span<const std::uint32_t> clusters, std::uint64_t seed) {
  struct Cluster {
    std::uint64_t key = 0;
    std::uint32_t first = 0;
    std::uint64_t rows = 0;
  };
  std::map<std::uint32_t, Cluster> by_first;
  for (std::uint32_t i = 0; i < clusters.size(); ++i) {
    Cluster& cluster = by_first[clusters[i]];
    if (cluster.rows++ == 0) cluster = {fnv1a(ids[i], kFnv1aBasis ^ seed), i, 1};
  }
  std::vector<Cluster> order;
  for (const auto& [first, cluster] : by_first)
    order.push_back(cluster);
  std::ranges::sort(order, {}, [&](const Cluster& cluster) { return std::pair(cluster.key, cluster.first); });

  const auto share = static_cast<std::uint64_t>(std::ceil(kHeldOutShare * static_cast<double>(ids.size())));
  const std::uint64_t held_out = ids.size() < 3 ? 0 : share;
  std::uint64_t test = 0;
  std::uint64_t validation = 0;
  std::map<std::uint32_t, std::string_view> chosen;
  for (const Cluster& cluster : order) {
    std::string_view split = kSplits[0];
    if (test + cluster.rows <= held_out) split = kSplits[2], test += cluster.rows;
    else if (validation + cluster.rows <= held_out) split = kSplits[1], validation += cluster.rows;
    chosen[cluster.first] = split;
  }
  std::vector<std::string_view> splits;
  for (const std::uint32_t first : clusters)
    splits.push_back(chosen.at(first));
  return splits;
}

std::string data_file(std::string_view split, std::uint64_t number, std::uint64_t of, Compression compression) {
  return fmt::format("{}/{}-{:05}-of-{:05}.jsonl{}", kDataFolder, split, number, of, suffix_of(compression));
}

Result<FinishedDataset> finish(UnfinishedDataset dataset, const RowProducer& producer) {
  return DatasetWriter(std::move(dataset), producer).run();
}

}  // namespace assay::dataset
