// assay-faulty FAULT ARGUMENTS...: the command assay with one fault in its own oracle or judge. `assay mutate
// --inject-faults` runs it to test that the suite notices.
#include <string>
#include <string_view>

#include "cli/program.hpp"
#include "support/fault_injection.hpp"

namespace {

/// Set before anything else runs.
std::string& chosen_fault() {
  static std::string fault;
  return fault;
}

}  // namespace

bool assay::fault_is_active(std::string_view fault) { return fault == chosen_fault(); }

int main(int argc, char** argv) {
  if (const auto status = assay::cli::run_if_worker(argc, argv)) return *status;
  if (argc < 2) return assay::cli::run_program(argc, argv, assay::cli::add_commands);
  chosen_fault() = argv[1];
  argv[1] = argv[0];
  return assay::cli::run_program(argc - 1, argv + 1, assay::cli::add_commands);
}
