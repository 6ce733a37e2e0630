// The texts of the schemas, compiled into the program from the JSON files in this folder.
#pragma once

#include <string_view>

namespace assay::schemas {

extern const std::string_view kBenchSchemaText;          // bench.schema.json: the whole of bench.json
extern const std::string_view kMutationScoreSchemaText;  // certification.schema.json: the whole of certification.json
extern const std::string_view kDatasetRowSchemaText;     // dataset_row.schema.json: one line of a dataset's data/
extern const std::string_view kForeignMapSchemaText;     // foreign_map.schema.json: the file of `assay validate --map`
extern const std::string_view kCandidateSchemaText;      // candidate.schema.json: the contract of a candidate
extern const std::string_view kCandidateVerdictsSchemaText;  // candidate_verdicts.schema.json: candidates.json
extern const std::string_view kLaunchSchemaText;    // launch.schema.json: a launch file of `assay run --launches`
extern const std::string_view kManifestSchemaText;  // manifest.schema.json: one line of journal.jsonl or quarantine
extern const std::string_view kRecordSchemaText;    // record.schema.json: one line of records.jsonl
extern const std::string_view kReportSchemaText;    // report.schema.json: the whole of report.json
extern const std::string_view kStateSchemaText;     // state.schema.json: conformance/state.json
extern const std::string_view kStatsSchemaText;     // stats.schema.json: the whole of a dataset's stats.json

}  // namespace assay::schemas
