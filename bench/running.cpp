#include "bench/running.hpp"

namespace assay::bench {
namespace {

bool one_failed = false;

}  // namespace

void fail(benchmark::State& state, const std::string& why) {
  one_failed = true;
  state.SkipWithError(why.c_str());
}

int run_registered() {
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return one_failed ? 1 : 0;
}

}  // namespace assay::bench
