// assay-worker: a program that is nothing but a worker of the CPU device, for those that cannot be their own.

#include <cstdio>

#include "backends/cpu/worker.hpp"

int main(int argc, char** argv) {
  if (const auto status = assay::cpu::run_if_worker(argc, argv)) {
    return *status;
  }
  std::fputs("assay-worker: started by other programs, of no use by itself\n", stderr);
  return 2;
}
