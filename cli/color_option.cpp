#include "cli/color_option.hpp"

#include <map>
#include <string>

namespace assay::cli {

void add_color_option(CLI::App& command, reports::ColorChoice& choice) {
  static const std::map<std::string, reports::ColorChoice> kChoices{{"auto", reports::ColorChoice::automatic},
                                                                    {"always", reports::ColorChoice::always},
                                                                    {"never", reports::ColorChoice::never}};
  command
      .add_option_function<std::string>(
          "--color", [&choice](const std::string& text) { choice = kChoices.at(text); },
          "Colour the output; auto: on a terminal, unless NO_COLOR is set")
      ->option_text("{auto,always,never}")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

}  // namespace assay::cli
