// assay-warp-worker: a worker of the device warp-cpu, for programs that cannot be their own worker.

#include <cstdio>

#include "backends/warp/worker.hpp"

int main(int argc, char** argv) {
  if (const auto status = assay::warp::run_if_worker(argc, argv)) return *status;
  std::fputs("assay-warp-worker: started by other Assay programs; do not run it directly\n", stderr);
  return 2;
}
