// Tests that nvcc accepts the CUDA source, including its host program.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/source/testing/printing.hpp"

namespace assay::source {
namespace {

using backends::SourceTarget;

/// The path of nvcc; empty if it is not installed.
std::string find_nvcc() {
  std::string folders = "/usr/local/cuda/bin";
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable)) folders = std::string(home) + "/bin:" + folders;
  }
  if (const char* path = std::getenv("PATH")) folders = std::string(path) + ":" + folders;
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string nvcc = folders.substr(0, end) + "/nvcc";
    if (std::filesystem::exists(nvcc)) return nvcc;
    folders.erase(0, end + 1);
  }
  return "";
}

constexpr std::string_view kProgram = R"(
struct Ball {
  place: vec<f32,3>
  speed: f32
}

kernel step(balls: array<Ball,2>, index: array<i32,1>, wind: Ball, grid: array<vec<f64,2>,2>, dt: f32; i, j) {
  let ball: Ball = balls[index[i], j]
  let other: Ball = with_field(wind, speed, dt)
  ball = with_field(ball, place, add(ball.place, mul(wind.place, mul(other.speed, ball.speed))))
  balls[index[i], j] = ball
  atomic_add(grid[i, 0], splat<vec<f64,2>>(cast<f64>(sin(ball.speed))))
}
)";

TEST(Nvcc, CompilesKernelAndHostProgramWithoutWarnings) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "nvcc is not installed";
  const auto kernel =
      testing::print_first(testing::parse(kProgram), SourceTarget::kCuda, {.prints_host_program = true});
  EXPECT_THAT(kernel.body,
              ::testing::HasSubstr("int main() {\n  std::puts(\"step_forward\");\n  run_step_forward();\n"));
  EXPECT_THAT(kernel.body, ::testing::HasSubstr("show_value(grid);"));
  EXPECT_THAT(kernel.body, ::testing::Not(::testing::HasSubstr("show_value(index);"))) << "index is only read";
  // Compiles to a discarded object, with device and host warnings as errors.
  EXPECT_EQ(
      testing::command_output(nvcc + " -std=c++17 -Werror all-warnings -Xcompiler -Wall,-Werror -c -o /dev/null -x cu",
                              kernel.source()),
      "");
}

}  // namespace
}  // namespace assay::source
