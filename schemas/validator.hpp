// Validates JSON documents with the schemas in this folder.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "support/result.hpp"

namespace assay::schemas {

/// Version of the records that this program writes. As for all of these versions, an incompatible change increments the
/// first number.
inline constexpr std::string_view kRecordSchemaVersion = "2.7.0";
inline constexpr std::string_view kReportSchemaVersion = "1.7.0";  ///< version of report.json that this program writes
/// Version of conformance/state.json that this program writes.
inline constexpr std::string_view kStateSchemaVersion = "1.0.0";
/// Version of certification.json that this program writes.
inline constexpr std::string_view kMutationScoreSchemaVersion = "1.3.0";
/// Version of the dataset rows that this program writes.
inline constexpr std::string_view kDatasetRowSchemaVersion = "1.5.0";
/// Version of the lines of journal.jsonl and of quarantine files that this program writes.
inline constexpr std::string_view kManifestSchemaVersion = "1.7.0";
inline constexpr std::string_view kStatsSchemaVersion = "1.0.0";  ///< version of stats.json that this program writes
inline constexpr std::string_view kBenchSchemaVersion = "1.1.0";  ///< version of bench.json that this program writes

/// A violation of a schema.
struct SchemaError {
  std::string pointer;   ///< JSON pointer (RFC 6901) to the incorrect value; "" is the whole document
  std::string found;     ///< the incorrect value, shortened
  std::string expected;  ///< what the schema requires

  /// "/tiers/t1/checks: found -1, expected a number of at least 0 (values compared)".
  [[nodiscard]] std::string text() const;

  friend bool operator==(const SchemaError&, const SchemaError&) = default;
};

/// A parsed schema, with which any number of documents can be validated. Not thread-safe.
class Validator {
 public:
  /// `schema_text` is one of embedded.hpp; an invalid schema is a bug and aborts.
  explicit Validator(std::string_view schema_text);
  /// Parses another schema. Fails if it is not a valid draft-07 schema, or if it uses a keyword of a later draft, which
  /// would be ignored silently.
  static Result<Validator> parse(std::string_view schema_text);
  Validator(Validator&&) noexcept;
  Validator& operator=(Validator&&) noexcept;
  ~Validator();

  /// All violations by `document`, in the order of the schema; empty if it is valid.
  [[nodiscard]] std::vector<SchemaError> diagnostics(const nlohmann::json& document) const;

 private:
  struct Parsed;
  explicit Validator(std::unique_ptr<Parsed> parsed);
  std::unique_ptr<Parsed> parsed_schema_;  ///< the schema in the form of the validation library
};

}  // namespace assay::schemas
