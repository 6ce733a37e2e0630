// Judges JSON documents by the schemas of this folder.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "support/result.hpp"

namespace assay::schemas {

// The versions that this program writes. A change that old readers cannot take raises the first number.
inline constexpr std::string_view kRecordSchemaVersion = "2.0.0";
inline constexpr std::string_view kReportSchemaVersion = "1.4.0";
inline constexpr std::string_view kStateSchemaVersion = "1.0.0";
inline constexpr std::string_view kMutationScoreSchemaVersion = "1.2.0";
inline constexpr std::string_view kDatasetRowSchemaVersion = "1.0.0";
inline constexpr std::string_view kManifestSchemaVersion = "1.0.0";
inline constexpr std::string_view kStatsSchemaVersion = "1.0.0";
inline constexpr std::string_view kBenchSchemaVersion = "1.0.0";

// One thing that a schema does not admit.
struct SchemaError {
  std::string pointer;   // JSON pointer (RFC 6901) to the value; "" is the whole document
  std::string found;     // the value, shortened
  std::string expected;  // what the schema asks for there

  // "/tiers/t1/checks: found -1, expected a number of at least 0 (values compared)".
  [[nodiscard]] std::string text() const;

  friend bool operator==(const SchemaError&, const SchemaError&) = default;
};

// A schema, parsed once, that judges any number of documents. Not for use by two threads at once.
class Validator {
 public:
  // `schema_text` is one of embedded.hpp's; a text that is no schema is a bug and aborts.
  explicit Validator(std::string_view schema_text);
  // A schema from elsewhere. Fails for a text that is no schema of draft-07, and for one that uses a keyword of a later
  // draft, which would be passed over in silence.
  static Result<Validator> parse(std::string_view schema_text);
  Validator(Validator&&) noexcept;
  Validator& operator=(Validator&&) noexcept;
  ~Validator();

  // Everything that is wrong with `document`, in the order of the schema; empty where it is admitted.
  [[nodiscard]] std::vector<SchemaError> diagnostics(const nlohmann::json& document) const;

 private:
  struct Parsed;
  explicit Validator(std::unique_ptr<Parsed> parsed);
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace assay::schemas
