// assay-cuda-worker: a program that is nothing but a worker of the CUDA device, for those that cannot be their own.

#include <cstdio>

#include "backends/cuda/worker.hpp"

int main(int argc, char** argv) {
  if (const auto status = assay::cuda::run_if_worker(argc, argv)) {
    return *status;
  }
  std::fputs("assay-cuda-worker: started by other programs, of no use by itself\n", stderr);
  return 2;
}
