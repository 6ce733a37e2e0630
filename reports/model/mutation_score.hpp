// How strong the judge is: the score of a certification, for people.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "support/result.hpp"

namespace assay::reports {

inline constexpr std::string_view kMutationScoreFile = "certification.json";

/// Reads DIR/certification.json. Fails where there is none, and with the pointer to what the schema does not admit.
Result<nlohmann::json> read_mutation_score(const std::filesystem::path& dir);

/// "99.7": the part of a tally in the whole, in per cent and rounded down, so that 100.0 means all; "" where the whole
/// is 0.
std::string percent_of(const nlohmann::json& tally, const char* part = "killed", const char* whole = "mutants");

/// The score by operator as a table for the terminal, and a line for each survivor.
std::string mutation_table(const nlohmann::json& mutation_score, bool color);

/// docs/generated/mutation_score.md: the same with families, checks, the sensitivity to the bounds, and the survivors'
/// patches.
std::string mutation_document(const nlohmann::json& mutation_score);

}  // namespace assay::reports
