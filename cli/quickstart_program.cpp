// assay-quickstart: the program assay with only those commands that need nothing but the judge. ci/quickstart builds
// it, because the other commands take as long to compile as half of it.
#include "cli/program.hpp"

int main(int argc, char** argv) {
  if (const auto status = assay::cli::run_if_worker(argc, argv)) return *status;
  return assay::cli::run_program(argc, argv, assay::cli::add_judge_commands);
}
