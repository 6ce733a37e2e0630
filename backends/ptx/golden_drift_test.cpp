// Tests how far the golden PTX has drifted from the current output of the printer and NVRTC.
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "backends/ptx/parse/module.hpp"
#include "backends/source/print.hpp"
#include "frontend/warp/parse/reader.hpp"
#include "ir/transforms/adjoint.hpp"

namespace assay::ptx {
namespace {

const std::string kRoot = ASSAY_SOURCE_DIR;

/// The fraction of changed instructions above which the goldens are no longer representative; then run golden/remake.
constexpr double kMaxDrift = 0.25;

using Histogram = std::map<std::string, double>;

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Counts the instructions of all functions by spelling, "add.rn.f32".
Histogram histogram_of(const std::string& ptx) {
  Histogram histogram;
  const Result<Module> module = parse(ptx, "golden.ptx");
  EXPECT_TRUE(module.ok()) << module.error().text();
  for (const Function& function : module->functions) {
    for (const Instruction& instruction : function.instructions)
      histogram[std::string(instruction.text.substr(0, instruction.text.find_first_of(" \t")))] += 1;
  }
  return histogram;
}

/// Half the sum of differences over the mean size: 0 for equal histograms, 1 for disjoint histograms.
double drift(const Histogram& a, const Histogram& b) {
  double size = 0;
  double difference = 0;
  Histogram all = a;
  for (const auto& [name, count] : b)
    all.try_emplace(name, 0);
  for (const auto& [name, count] : all) {
    const double other = b.contains(name) ? b.at(name) : 0;
    difference += std::abs(count - other);
    size += count + other;
  }
  return difference / size;
}

Result<backends::EmittedKernel> emitted(const std::string& name) {
  auto file = frontend::parse_python(read(fmt::format("{}/conformance/cases/{}.py", kRoot, name)), name);
  if (!file.ok()) return file.error();
  auto adjoint = transforms::make_adjoint(file->module, file->module.kernels[0]);
  if (!adjoint.ok()) return adjoint.error();
  return source::print(adjoint->module, file->module.kernels[0], &adjoint->module.kernels[0],
                       backends::SourceTarget::kCuda);
}

TEST(GoldenPtxFiles, ResemblePtxOfCurrentCodeGenerator) {
  const Result<cuda::Nvrtc> nvrtc = cuda::Nvrtc::load();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  std::istringstream launches(read(kRoot + "/testdata/ptx/golden/launches.txt"));
  int compared = 0;
  double greatest = 0;
  for (std::string line; std::getline(launches, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    std::string targets;
    words >> name >> targets;
    const auto kernel = emitted(name);
    ASSERT_TRUE(kernel.ok()) << kernel.error().text();
    std::istringstream list(targets);
    for (std::string architecture; std::getline(list, architecture, ',');) {
      if (!nvrtc->supports("compute_" + architecture)) continue;
      const auto compiled =
          nvrtc->compile(kernel->source(), kernel->name + ".cu", {.architecture = "compute_" + architecture});
      ASSERT_TRUE(std::holds_alternative<cuda::CompiledCode>(compiled)) << name;
      std::string stem = name;
      stem[stem.find('/')] = '_';
      const Histogram golden =
          histogram_of(read(fmt::format("{}/testdata/ptx/golden/{}_{}.ptx", kRoot, stem, architecture)));
      const double drifted = drift(golden, histogram_of(std::get<cuda::CompiledCode>(compiled).ptx));
      greatest = std::max(greatest, drifted);
      EXPECT_LE(drifted, kMaxDrift) << name << " for compute_" << architecture
                                    << ": regenerate the goldens with testdata/ptx/golden/remake";
      ++compared;
    }
  }
  std::printf("greatest drift of %d golden kernels: %.1f %%\n", compared, 100 * greatest);
  EXPECT_GE(compared, 40);  // an NVRTC without compute_100 compiles only those for compute_75
}

}  // namespace
}  // namespace assay::ptx
