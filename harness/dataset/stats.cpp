#include "harness/dataset/stats.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "harness/records/outcome.hpp"
#include "ir/visit.hpp"
#include "schemas/validator.hpp"
#include "support/concat.hpp"

namespace assay::dataset {
namespace {

using Json = nlohmann::ordered_json;

std::string_view statement_name(const ir::Stmt& statement) {
  return std::visit(ir::Overloaded{
                        [](const ir::Store&) -> std::string_view { return "store"; },
                        [](const ir::Atomic& node) -> std::string_view { return ir::row(node.op).mnemonic; },
                        [](const ir::Call&) -> std::string_view { return "call"; },
                        [](const ir::If&) -> std::string_view { return "if"; },
                        [](const ir::For&) -> std::string_view { return "for"; },
                        [](const ir::While&) -> std::string_view { return "while"; },
                        [](const ir::Break&) -> std::string_view { return "break"; },
                        [](const ir::Continue&) -> std::string_view { return "continue"; },
                        [](const ir::Return&) -> std::string_view { return "return"; },
                        [](const auto&) -> std::string_view { return ""; },
                    },
                    statement.node);
}

std::string_view expression_name(const ir::Expr& expr) {
  switch (expr.kind) {
    case ir::ExprKind::kOperation: return ir::row(expr.op).mnemonic;
    case ir::ExprKind::kLoad: return "load";
    case ir::ExprKind::kCall: return "call";
    default: return "";
  }
}

void count(const ir::Function& function, std::map<std::string_view, std::uint32_t>& operations) {
  ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
    if (const std::string_view name = statement_name(statement); !name.empty()) ++operations[name];
    ir::for_each_root_expression(statement, [&](const ir::ExprId& root) {
      ir::for_each_expression(function, root, [&](ir::ExprId, const ir::Expr& expr) {
        if (const std::string_view name = expression_name(expr); !name.empty()) ++operations[name];
      });
    });
  });
}

/// The device and the numeric mode of a case such as "cpu/forward/strict": "cpu/strict". Empty if nothing ran.
std::string mode_of_case(std::string_view where) {
  const std::size_t device_end = where.find('/');
  const std::size_t pass_end = where.find('/', device_end + 1);
  return pass_end == std::string_view::npos ? "" : concat(where.substr(0, device_end), where.substr(pass_end));
}

/// The devices and numeric modes in which every pass of the row that ran has passed.
std::set<std::string> passed_modes_of(const RowStatistics& statistics) {
  std::set<std::string> passed;
  for (const auto& [where, verdict] : statistics.verdict_by_case)
    if (std::string mode = mode_of_case(where); !mode.empty()) passed.insert(std::move(mode));
  for (const auto& [where, verdict] : statistics.verdict_by_case)
    if (harness::outcome_from_text(verdict) != harness::Outcome::pass) passed.erase(mode_of_case(where));
  return passed;
}

}  // namespace

RowStatistics row_statistics(const DatasetRow& row, const ir::Module& module, RowArena& memory) {
  RowStatistics statistics{.family = memory.store(row.family)};
  for (std::size_t i = 0; i < statistics.lengths.size(); ++i)
    statistics.lengths[i] = static_cast<std::uint32_t>((row.*kRowTextFields[i].member).size());
  std::map<std::string_view, std::uint32_t> operations;
  for (const ir::Function& function : module.functions)
    count(function, operations);
  for (const ir::Function& kernel : module.kernels)
    count(kernel, operations);
  const std::vector<std::pair<std::string_view, std::uint32_t>> counts(operations.begin(), operations.end());
  statistics.operation_counts = memory.store(std::span(counts));
  std::vector<std::pair<std::string_view, std::string_view>> verdict_by_case;
  for (const PassEvidence& evidence : row.evidence) {
    const std::string where =
        concat(evidence.device, "/", evidence.pass, evidence.mode.empty() ? "" : "/", evidence.mode);
    verdict_by_case.emplace_back(memory.store(where), memory.store(evidence.verdict));
    statistics.rho_max = std::max(statistics.rho_max, evidence.rho_max.value_or(0));
  }
  statistics.verdict_by_case = memory.store(std::span(std::as_const(verdict_by_case)));
  return statistics;
}

Timing& Timing::operator+=(const Timing& other) {
  wall_seconds += other.wall_seconds;
  preparation_seconds += other.preparation_seconds;
  write_seconds += other.write_seconds;
  judging_times.adjoint_ms += other.judging_times.adjoint_ms;
  judging_times.emit_ms += other.judging_times.emit_ms;
  judging_times.build_ms += other.judging_times.build_ms;
  judging_times.oracle_ms += other.judging_times.oracle_ms;
  judging_times.launch_ms += other.judging_times.launch_ms;
  judging_times.compare_ms += other.judging_times.compare_ms;
  judged_kernel_count += other.judged_kernel_count;
  return *this;
}

void DatasetStatistics::add(const RowStatistics& statistics, std::string_view split) {
  ++row_count_;
  ++rows_by_family_[std::string(statistics.family)];
  ++rows_by_split_[std::string(split)];
  for (std::size_t i = 0; i < statistics.lengths.size(); ++i) {
    if (statistics.lengths[i] == 0) continue;
    TextLengthStatistics& lengths = lengths_[i];
    lengths.min_length =
        lengths.rows == 0 ? statistics.lengths[i] : std::min<std::uint64_t>(lengths.min_length, statistics.lengths[i]);
    lengths.max_length = std::max<std::uint64_t>(lengths.max_length, statistics.lengths[i]);
    lengths.total_length += statistics.lengths[i];
    ++lengths.rows;
  }
  for (const auto& [name, times] : statistics.operation_counts)
    operation_counts_[std::string(name)] += times;
  for (const auto& [where, verdict] : statistics.verdict_by_case)
    ++verdict_counts_by_case_[std::string(where)][std::string(verdict)];
  std::set<std::string> passed_devices;
  for (const std::string& mode : passed_modes_of(statistics)) {
    ++passed_rows_.by_mode[mode];
    passed_devices.insert(mode.substr(0, mode.find('/')));
  }
  for (const std::string& device : passed_devices)
    ++passed_rows_.by_device[device];
  rho_max_ = std::max(rho_max_, statistics.rho_max);
}

void DatasetStatistics::add_cluster(std::uint64_t rows) {
  ++cluster_count_;
  clustered_row_count_ += rows;
  largest_cluster_row_count_ = std::max(largest_cluster_row_count_, rows);
}

Json DatasetStatistics::to_json() const {
  Json lengths = Json::object();
  for (std::size_t i = 0; i < lengths_.size(); ++i) {
    const TextLengthStatistics& one = lengths_[i];
    lengths[std::string(kRowTextFields[i].name)] = {
        {"rows", one.rows}, {"least", one.min_length}, {"greatest", one.max_length}, {"total", one.total_length}};
  }
  return {{"schema_version", schemas::kStatsSchemaVersion},
          {"rows", row_count_},
          {"families", rows_by_family_},
          {"splits", rows_by_split_},
          {"lengths", lengths},
          {"operations", operation_counts_},
          {"verdicts", verdict_counts_by_case_},
          {"rho_max", rho_max_},
          {"quarantined", rejections_by_verdict_},
          {"duplicates_dropped", duplicate_row_count_},
          {"near_duplicates",
           {{"clusters", cluster_count_}, {"rows", clustered_row_count_}, {"largest", largest_cluster_row_count_}}}};
}

Json to_json(const Timing& timing, std::uint64_t rows) {
  const auto seconds = [](double ms) { return ms / 1e3; };
  const harness::StageTimes& judging_times = timing.judging_times;
  return {{"wall_s", timing.wall_seconds},
          {"rows_per_s", timing.wall_seconds > 0 ? static_cast<double>(rows) / timing.wall_seconds : 0},
          {"render_s", timing.preparation_seconds},
          {"write_s", timing.write_seconds},
          {"adjoint_s", seconds(judging_times.adjoint_ms)},
          {"emit_s", seconds(judging_times.emit_ms)},
          {"compilers_s", seconds(judging_times.build_ms)},
          {"reference_s", seconds(judging_times.oracle_ms)},
          {"run_s", seconds(judging_times.launch_ms)},
          {"compare_s", seconds(judging_times.compare_ms)},
          {"judged", timing.judged_kernel_count}};
}

}  // namespace assay::dataset
