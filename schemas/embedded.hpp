// The texts of the schemas, compiled into the program from the JSON files in this folder.
#pragma once

#include <string_view>

namespace assay::schemas {

extern const std::string_view kBenchSchemaText;          ///< schema of bench.json (bench.schema.json)
extern const std::string_view kMutationScoreSchemaText;  ///< schema of certification.json (certification.schema.json)
/// Schema of one line in the data/ folder of a dataset (dataset_row.schema.json).
extern const std::string_view kDatasetRowSchemaText;
/// Schema of the file of `assay validate --map` (foreign_map.schema.json).
extern const std::string_view kForeignMapSchemaText;
extern const std::string_view kCandidateSchemaText;  ///< schema of the contract of a candidate (candidate.schema.json)
/// Schema of candidates.json (candidate_verdicts.schema.json).
extern const std::string_view kCandidateVerdictsSchemaText;
/// Schema of a launch file of `assay run --launches` (launch.schema.json).
extern const std::string_view kLaunchSchemaText;
/// Schema of one line of journal.jsonl or quarantine (manifest.schema.json).
extern const std::string_view kManifestSchemaText;
extern const std::string_view kRecordSchemaText;  ///< schema of one line of records.jsonl (record.schema.json)
extern const std::string_view kReportSchemaText;  ///< schema of report.json (report.schema.json)
extern const std::string_view kStateSchemaText;   ///< schema of conformance/state.json (state.schema.json)
extern const std::string_view kStatsSchemaText;   ///< schema of the file stats.json of a dataset (stats.schema.json)

}  // namespace assay::schemas
