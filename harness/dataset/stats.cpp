#include "harness/dataset/stats.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

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
    ir::for_each_root(statement, [&](const ir::ExprId& root) {
      ir::for_each_expression(function, root, [&](ir::ExprId, const ir::Expr& expr) {
        if (const std::string_view name = expression_name(expr); !name.empty()) ++operations[name];
      });
    });
  });
}

}  // namespace

RowFacts facts_of(const Row& row, const ir::Module& module, RowMemory& memory) {
  RowFacts facts{.family = memory.store(row.family)};
  for (std::size_t i = 0; i < facts.lengths.size(); ++i)
    facts.lengths[i] = static_cast<std::uint32_t>((row.*kTextFields[i].member).size());
  std::map<std::string_view, std::uint32_t> operations;
  for (const ir::Function& function : module.functions)
    count(function, operations);
  for (const ir::Function& kernel : module.kernels)
    count(kernel, operations);
  const std::vector<std::pair<std::string_view, std::uint32_t>> counts(operations.begin(), operations.end());
  facts.operations = memory.store(std::span(counts));
  std::vector<std::pair<std::string_view, std::string_view>> verdicts;
  for (const Evidence& evidence : row.evidence) {
    const std::string where =
        concat(evidence.device, "/", evidence.pass, evidence.mode.empty() ? "" : "/", evidence.mode);
    verdicts.emplace_back(memory.store(where), memory.store(evidence.verdict));
    facts.rho_max = std::max(facts.rho_max, evidence.rho_max.value_or(0));
  }
  facts.verdicts = memory.store(std::span(std::as_const(verdicts)));
  return facts;
}

Timing& Timing::operator+=(const Timing& other) {
  wall_seconds += other.wall_seconds;
  render_seconds += other.render_seconds;
  write_seconds += other.write_seconds;
  judging_times.adjoint_ms += other.judging_times.adjoint_ms;
  judging_times.emit_ms += other.judging_times.emit_ms;
  judging_times.build_ms += other.judging_times.build_ms;
  judging_times.reference_ms += other.judging_times.reference_ms;
  judging_times.run_ms += other.judging_times.run_ms;
  judging_times.compare_ms += other.judging_times.compare_ms;
  judged_kernels += other.judged_kernels;
  return *this;
}

void Stats::add(const RowFacts& facts, std::string_view split) {
  ++rows_;
  ++families_[std::string(facts.family)];
  ++splits_[std::string(split)];
  for (std::size_t i = 0; i < facts.lengths.size(); ++i) {
    if (facts.lengths[i] == 0) continue;
    TextLengths& lengths = lengths_[i];
    lengths.min_length =
        lengths.rows == 0 ? facts.lengths[i] : std::min<std::uint64_t>(lengths.min_length, facts.lengths[i]);
    lengths.max_length = std::max<std::uint64_t>(lengths.max_length, facts.lengths[i]);
    lengths.total += facts.lengths[i];
    ++lengths.rows;
  }
  for (const auto& [name, times] : facts.operations)
    operations_[std::string(name)] += times;
  for (const auto& [where, verdict] : facts.verdicts)
    ++verdicts_[std::string(where)][std::string(verdict)];
  rho_max_ = std::max(rho_max_, facts.rho_max);
}

void Stats::add_cluster(std::uint64_t rows) {
  ++clusters_;
  clustered_rows_ += rows;
  largest_cluster_ = std::max(largest_cluster_, rows);
}

Json Stats::to_json() const {
  Json lengths = Json::object();
  for (std::size_t i = 0; i < lengths_.size(); ++i) {
    const TextLengths& one = lengths_[i];
    lengths[std::string(kTextFields[i].name)] = {
        {"rows", one.rows}, {"least", one.min_length}, {"greatest", one.max_length}, {"total", one.total}};
  }
  return {{"schema_version", schemas::kStatsSchemaVersion},
          {"rows", rows_},
          {"families", families_},
          {"splits", splits_},
          {"lengths", lengths},
          {"operations", operations_},
          {"verdicts", verdicts_},
          {"rho_max", rho_max_},
          {"quarantined", rejected_},
          {"duplicates_dropped", duplicates_},
          {"near_duplicates", {{"clusters", clusters_}, {"rows", clustered_rows_}, {"largest", largest_cluster_}}}};
}

Json to_json(const Timing& timing, std::uint64_t rows) {
  const auto seconds = [](double ms) { return ms / 1e3; };
  const harness::StageTimes& judging_times = timing.judging_times;
  return {{"wall_s", timing.wall_seconds},
          {"rows_per_s", timing.wall_seconds > 0 ? static_cast<double>(rows) / timing.wall_seconds : 0},
          {"render_s", timing.render_seconds},
          {"write_s", timing.write_seconds},
          {"adjoint_s", seconds(judging_times.adjoint_ms)},
          {"emit_s", seconds(judging_times.emit_ms)},
          {"compilers_s", seconds(judging_times.build_ms)},
          {"reference_s", seconds(judging_times.reference_ms)},
          {"run_s", seconds(judging_times.run_ms)},
          {"compare_s", seconds(judging_times.compare_ms)},
          {"judged", timing.judged_kernels}};
}

}  // namespace assay::dataset
