// The mutation score of the judge, as text for people.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "support/result.hpp"

namespace assay::reports {

/// Name of the file with the mutation score, in the folder of a campaign.
inline constexpr std::string_view kMutationScoreFileName = "certification.json";

/// Reads DIR/certification.json. Fails if it does not exist, or with the JSON pointer if it violates its schema.
Result<nlohmann::json> read_mutation_score(const std::filesystem::path& dir);

/// "99.7": the part as a percentage of the whole, rounded down so that 100.0 means all; "" if the whole is 0.
std::string percent_of(const nlohmann::json& tally, const char* part = "killed", const char* whole = "mutants");

/// The score by operator as a table for the terminal, with a line for each survivor.
std::string mutation_table(const nlohmann::json& mutation_score, bool color);

/// docs/generated/mutation_score.md: also by family and check, with the sensitivity to the bounds and the patches of
/// survivors.
std::string mutation_document(const nlohmann::json& mutation_score);

}  // namespace assay::reports
