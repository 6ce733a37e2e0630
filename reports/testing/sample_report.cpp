// sample_report DIR [KERNELS]: writes sample reports of a synthetic run to DIR, compared with a baseline with fewer
// failures.
#include <cstdio>
#include <cstdlib>

#include "reports/report_files.hpp"
#include "reports/testing/synthetic_run.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: sample_report DIR [KERNELS_PER_FAMILY]\n");
    return 2;
  }
  namespace reports = assay::reports;
  reports::testing::SyntheticRun options;
  if (argc > 2) options.kernels_per_family = std::atoi(argv[2]);
  const std::filesystem::path dir = argv[1];
  reports::testing::write_synthetic_run(dir, options);
  options.failures = false;
  ++options.kernels_per_family;
  reports::testing::write_synthetic_run(dir / "before", options);
  assay::Result<reports::Baseline> baseline = reports::read_baseline(dir / "before");
  const assay::Result<reports::WrittenReports> written = reports::write_reports(dir, {.baseline = baseline.take()});
  std::printf("%s\n", written.ok() ? written->html_path.c_str() : written.error().text().c_str());
  return written.ok() ? 0 : 1;
}
