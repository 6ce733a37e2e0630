#include "cli/program.hpp"

int main(int argc, char** argv) {
  if (const auto status = assay::cli::run_if_worker(argc, argv)) return *status;
  return assay::cli::run_program(argc, argv, assay::cli::add_commands);
}
