// assay-worker: a worker of the CPU device, for programs that cannot be their own worker.

#include <cstdio>

#include "backends/cpu/worker.hpp"

int main(int argc, char** argv) {
  if (const auto status = assay::cpu::run_if_worker(argc, argv)) {
    return *status;
  }
  std::fputs("assay-worker: started by other Assay programs; do not run it directly\n", stderr);
  return 2;
}
