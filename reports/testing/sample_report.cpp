// sample_report DIR [KERNELS]: writes the reports of a synthetic run into DIR, for looking at them.
#include <cstdio>
#include <cstdlib>

#include "reports/report_files.hpp"
#include "reports/testing/synthetic_run.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: sample_report DIR [KERNELS_PER_FAMILY]\n");
    return 2;
  }
  assay::reports::testing::SyntheticRun options;
  if (argc > 2) options.kernels_per_family = std::atoi(argv[2]);
  assay::reports::testing::write_synthetic_run(argv[1], options);
  const assay::Result<assay::reports::Reports> reports = assay::reports::write_reports(argv[1]);
  std::printf("%s\n", reports.ok() ? reports->html.c_str() : reports.error().text().c_str());
  return reports.ok() ? 0 : 1;
}
