// assay-cuda-worker: a worker of the CUDA device, for programs that cannot be their own worker.

#include <cstdio>

#include "backends/cuda/worker.hpp"

int main(int argc, char** argv) {
  if (const auto status = assay::cuda::run_if_worker(argc, argv)) {
    return *status;
  }
  std::fputs("assay-cuda-worker: started by other Assay programs; do not run it directly\n", stderr);
  return 2;
}
