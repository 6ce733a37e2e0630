#include "reports/testing/synthetic_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <map>
#include <random>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "schemas/validator.hpp"

namespace assay::reports::testing {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 9> kFamilies{"arithmetic",        "math",         "conditional",
                                               "multi_conditional", "loop",         "nested_loop",
                                               "control_flow",      "scalar_param", "vector"};

constexpr const char* kPython = R"(@wp.kernel
def {0}(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    p = float(1.0)
    for j in range(n):
        p *= x[i * n + j]
        if p > 4.0:
            break
    out[i] = wp.sin(p) * 0.5
)";

// The kernel begins in line 22 of its file.
constexpr const char* kCpp =
    R"(extern "C" void {0}_forward(int begin, int end, Array<float, 1> x, int n, Array<float, 1> out) {{
  for (int thread = begin; thread < end; ++thread) {{
    // 24: i = wp.tid()
    const int i = int(thread);
    // 25: p = float(1.0)
    float p = 1.0f;
    // 26: for j in range(n):
    for (int j = 0; j < n; ++j) {{
      // 27: p *= x[i * n + j]
      p = p * x[i * n + j];
      // 28: if p > 4.0:
      if (p > 4.0f) break;
    }}
    // 30: out[i] = wp.sin(p) * 0.5
    out[i] = sinf(p) * 0.5f;
  }}
}}
)";

constexpr const char* kCuda =
    R"(extern "C" __global__ void {0}_forward(Array<float, 1> x, int n, Array<float, 1> out, int threads) {{
  for (int thread = blockIdx.x * blockDim.x + threadIdx.x; thread < threads; thread += gridDim.x * blockDim.x) {{
    // 24: i = wp.tid()
    const int i = int(thread);
    // 25: p = float(1.0)
    float p = 1.0f;
    // 26: for j in range(n):
    for (int j = 0; j < n; ++j) {{
      // 27: p *= x[i * n + j]
      p = p * x[i * n + j];
      // 28: if p > 4.0:
      if (p > 4.0f) break;
    }}
    // 30: out[i] = wp.sin(p) * 0.5
    out[i] = sinf(p) * 0.5f;
  }}
}}
)";

json artifact_of(const std::string& kernel) {
  return {
      {"python", fmt::format(kPython, kernel)},
      {"cpp", fmt::format(kCpp, kernel)},
      {"cuda", fmt::format(kCuda, kernel)},
      {"ir", ""},
      {"compile_command", fmt::format("g++ -std=c++20 -O0 -ffp-contract=off -shared -fPIC -o {0}.so {0}.cpp", kernel)}};
}

json mismatch(int index, double expected, const char* expected_bits, double got, const char* got_bits,
              const json& rho) {
  return {{"tier", "t1"},
          {"array", "grad_x"},
          {"index", {index}},
          {"input_set", index % 3},
          {"expected", {{"text", fmt::format("{}", expected)}, {"bits", expected_bits}}},
          {"bound", {{"text", "2.842170943040401e-14"}, {"bits", "0x3d20000000000000"}}},
          {"got", {{"text", fmt::format("{}", got)}, {"bits", got_bits}}},
          {"rho", rho}};
}

// 5120 values, in decreasing numbers up to the tenth of `rho`.
json histogram_up_to(double rho) {
  const auto last = static_cast<std::size_t>(10 * rho);
  json counts(11, 0);
  int left = 5120;
  for (std::size_t i = 0; i < last; ++i) {
    counts[i] = left / 2;
    left -= left / 2;
  }
  counts[last] = left;
  return counts;
}

// Differences with an error proportional to the square of the step, until rounding dominates.
json plateau_of(double rho) {
  const double gradient = 40 * rho - 13;
  json estimates = json::array();
  double step = 0x1p-6;
  for (int row = 0; row < 6; ++row, step /= 2)
    estimates.push_back({{"step", step}, {"value", gradient + rho * step * step}});
  return {{"input_set", 0}, {"gradient", gradient}, {"allowed", 1e-7}, {"estimates", estimates}};
}

class Maker {
 public:
  explicit Maker(const SyntheticRun& options) : options_(options) {}

  std::string text() {
    for (const char* family : kFamilies) {
      for (int k = 0; k < options_.kernels_per_family; ++k)
        add_kernel(family, fmt::format("generated_1_{:04}", 17 * k + 3));
    }
    if (options_.failures) inject_failures();
    schedule();
    std::string lines = start().dump() + "\n";
    for (const json& record : cases_)
      lines += record.dump() + "\n";
    if (options_.finished) lines += end().dump() + "\n";
    return lines;
  }

 private:
  void add_kernel(const std::string& family, const std::string& kernel) {
    for (const char* device : {"cpu", "cuda"}) {
      if (std::string_view(device) == "cuda" && !options_.cuda) continue;
      for (const char* pass : {"forward", "backward"})
        cases_.push_back(make_case(family, kernel, device, pass));
    }
  }

  json make_case(const std::string& family, const std::string& kernel, const std::string& device,
                 const std::string& pass) {
    const bool runs = device == "cpu";
    const bool backward = pass == "backward";
    const std::string name = fmt::format("{}/{}/f32/{}/{}", family, kernel, device, pass);
    const double rho = std::uniform_real_distribution(0.02, 0.82)(random_);
    const auto milliseconds = [&](double most) {
      return runs ? std::round(1e3 * std::uniform_real_distribution(0.2 * most, most)(random_)) / 1e3 : 0.0;
    };
    json record = {
        {"record", "case"},
        {"case", name},
        {"family", family},
        {"kernel", kernel},
        {"types", "f32"},
        {"device", device},
        {"pass", pass},
        {"mode", ""},
        {"outcome", runs ? "pass" : "unsupported"},
        {"kind", runs ? "" : "no CUDA driver"},
        {"message", runs ? "" : "libcuda.so.1 was not found: install the NVIDIA driver"},
        {"rho_max", runs ? json(rho) : json()},
        {"values_compared", runs ? 5120 : 0},
        {"input_sets", runs ? 10 : 0},
        {"controls_rejected", runs ? 7 : 0},
        {"inconclusive",
         {{"path", 0}, {"kink", runs ? 1 : 0}, {"conditioning", 0}, {"overflow", 0}, {"race", 0}, {"domain", 0}}},
        {"tiers", json::object()},
        {"attempts", json::array({runs ? "pass" : "unsupported"})},
        {"time_ms",
         {{"read", milliseconds(0.3)},
          {"adjoint", backward ? milliseconds(0.8) : 0.0},
          {"emit", milliseconds(0.4)},
          {"build", milliseconds(40)},
          {"reference", milliseconds(backward ? 30 : 9)},
          {"run", milliseconds(3)},
          {"compare", milliseconds(1)}}},
        {"source", {{"file", family + "/" + kernel + ".py"}, {"line", 2}}},
        {"reproduce", fmt::format("assay run {} --seed 7", name)}};
    if (runs) {
      record["tiers"]["t1"] = {{"checks", 2560}, {"failed", 0}, {"rho_max", rho / 2}};
      record["tiers"]["t3"] = {{"checks", 2560}, {"failed", 0}, {"rho_max", rho}};
      record["rho_histogram"] = histogram_up_to(rho);
      record["closest_control"] = {{"array", backward ? "grad_x" : "out"},
                                   {"control", backward ? "a zero gradient" : "the doubled result"},
                                   {"rho", std::round(1e7 * rho)}};
      if (backward) record["plateau"] = plateau_of(rho);
      if (!backward) record["artifact"] = artifact_of(kernel);
    }
    return record;
  }

  // Two jobs alternate, with batches of eight kernels.
  void schedule() {
    constexpr std::size_t kBatch = 16;
    std::vector<json*> judged;
    for (json& record : cases_) {
      if (record.at("device") == "cpu") judged.push_back(&record);
    }
    std::array<double, 2> clock{};
    const auto spend = [](const json& record, std::initializer_list<const char*> stages) {
      double sum = 0;
      for (const char* stage : stages)
        sum += record.at("time_ms").at(stage).get<double>();
      return sum;
    };
    for (std::size_t first = 0; first < judged.size(); first += kBatch) {
      const std::size_t lane = first / kBatch % clock.size();
      const std::size_t last = std::min(first + kBatch, judged.size());
      const double batch_ms = clock.at(lane);
      for (std::size_t i = first; i < last; ++i)
        clock.at(lane) += spend(*judged[i], {"adjoint", "emit", "build"});
      for (std::size_t i = first; i < last; ++i) {
        clock.at(lane) += spend(*judged[i], {"reference", "run", "compare"});
        (*judged[i])["schedule"] = {{"lane", lane}, {"batch_ms", batch_ms}, {"done_ms", clock.at(lane)}};
      }
    }
  }

  // Changes the CPU case of a family's `kernel`-th kernel into a failure.
  json& turn(const std::string& family, int kernel, const char* pass, const char* outcome, const char* kind,
             const std::string& message) {
    const std::string ending = fmt::format("{}/generated_1_{:04}/f32/cpu/{}", family, 17 * kernel + 3, pass);
    for (json& record : cases_) {
      if (record.at("case") != ending) continue;
      record["outcome"] = outcome;
      record["kind"] = kind;
      record["message"] = message + options_.hostile;
      record["attempts"] = json::array({outcome});
      record["artifact"] = artifact_of(record.at("kernel"));
      record["artifact"]["python"] = record["artifact"]["python"].get<std::string>() + options_.hostile;
      return record;
    }
    throw std::logic_error("no case " + ending);
  }

  void inject_mismatches() {
    for (const auto& [family, kernel] : {std::pair("loop", 1), std::pair("loop", 4), std::pair("nested_loop", 2)}) {
      json& record =
          turn(family, kernel, "backward", "fail", "mismatch", "grad_x[3] is 0.5, expected 1.25 within 2.8e-14");
      record["rho_max"] = "inf";
      record["tiers"]["t1"]["failed"] = 12;
      record["tiers"]["t1"]["rho_max"] = "inf";
      record["failures"] = {mismatch(3, 1.25, "0x3ff4000000000000", 0.5, "0x3fe0000000000000", 2.6388e13),
                            mismatch(4, 0.1, "0x3fb999999999999a", 0.2, "0x3fc999999999999a", 3.5184e12),
                            mismatch(11, -2.0, "0xc000000000000000", 2.0, "0x4000000000000000", "inf")};
      record["failures"][0]["array"] = "grad_x" + options_.hostile;
    }
  }

  void inject_failures() {
    inject_mismatches();
    turn("math", 0, "forward", "pass", "", "")["rho_max"] = 0.94;
    json& build = turn("vector", 1, "forward", "build_failed", "compiler", "g++ refused the emitted source");
    build["log"] = "vector_0020.cpp:14:22: error: 'vec3f' does not name a type\n   14 |   const vec3f v = x[i];\n" +
                   options_.hostile;
    build["values_compared"] = 0;
    json& crash = turn("control_flow", 2, "backward", "crashed", "SIGSEGV", "the worker died of signal 11 in run");
    crash["attempts"] = {"crashed", "crashed"};
    turn("loop", 6, "forward", "timed_out", "run", "the worker was ended after 10 s");
    turn("vector", 3, "backward", "pass", "", "")["unreached"] = {
        {{"line", 12}, {"what", "the condition is never true" + options_.hostile}},
        {{"line", 3}, {"what", "the condition is never false"}, {"file", "physics" + options_.hostile + ".py"}}};
    json& domain = turn("scalar_param", 0, "forward", "inconclusive", "domain",
                        "no shapes were found for which the kernel is defined: state a '# domain:' comment");
    domain["finding"] = {{"line", 6}, {"access", "load x[17], length 16" + options_.hostile}, {"threads", {"(3)"}}};
    json& race = turn("scalar_param", 3, "backward", "defect", "race", "two threads store to out[3]");
    race["finding"] = {{"line", 9}, {"access", "store out[3]"}, {"threads", {"(3)", "(4)"}}};
    for (json* record : {&domain, &race}) {
      (*record)["values_compared"] = 0;
      (*record)["rho_max"] = nullptr;
      (*record)["tiers"] = json::object();
    }
  }

  json start() const {
    json plan = json::array();
    for (const json& record : cases_)
      plan.push_back(record.at("case"));
    return {{"record", "run_start"},
            {"schema_version", schemas::kRecordSchemaVersion},
            {"run_id", "20261121T034702Z-5f1c09ab"},
            {"started", "2026-11-21T03:47:02Z"},
            {"command_line", {"assay", "run", "--device", "cpu", "--device", "cuda", "--seed", "7", "--output", "out"}},
            {"seed", "0x0000000000000007"},
            {"environment",
             {{"os", "Debian GNU/Linux 12 (bookworm)"},
              {"cpu", "AMD EPYC 7B13, 16 cores"},
              {"compiler", "g++ 12.2.0"},
              {"nvrtc", "12.8"},
              {"devices",
               {{{"name", "cpu"},
                 {"available", true},
                 {"reason", ""},
                 {"description", "AMD EPYC 7B13"},
                 {"toolkit", "g++ 12.2.0"}},
                {{"name", "cuda"},
                 {"available", false},
                 {"reason", "no CUDA driver"},
                 {"description", ""},
                 {"toolkit", "NVRTC 12.8"}}}},
              {"commit", "63982813f00d"},
              {"dirty", true}}},
            {"plan", plan}};
  }

  json end() const {
    std::map<std::string, int> counts;
    for (const json& record : cases_)
      ++counts[record.at("outcome")];
    return {{"record", "run_end"},
            {"finished", "2026-11-21T03:47:40Z"},
            {"counts", counts},
            {"exit_status", options_.failures ? 1 : 0},
            {"wall_time_s", 38.25}};
  }

  const SyntheticRun& options_;
  std::mt19937_64 random_{7};
  std::vector<json> cases_;
};

}  // namespace

std::string synthetic_records(const SyntheticRun& options) { return Maker(options).text(); }

void write_synthetic_run(const std::filesystem::path& dir, const SyntheticRun& options) {
  std::filesystem::create_directories(dir);
  std::ofstream(dir / kRecordsFileName, std::ios::binary) << synthetic_records(options);
}

Run synthetic_run(const SyntheticRun& options) {
  const auto dir = std::filesystem::temp_directory_path() / fmt::format("assay-synthetic-run-{}", ::getpid());
  write_synthetic_run(dir, options);
  Result<Run> run = read_run(dir);
  std::filesystem::remove_all(dir);
  if (!run.ok()) throw std::runtime_error(run.error().text());
  return run.take();
}

}  // namespace assay::reports::testing
