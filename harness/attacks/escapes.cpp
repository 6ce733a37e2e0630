#include <iterator>
#include <utility>

#include "harness/attacks/attack.hpp"

namespace assay::attacks {

using harness::Outcome;

namespace {

/// An attack by a system call of the first thread; the results are correct.
Attack calling(std::string name, std::string does, std::string includes, const std::string& call) {
  return {.name = std::move(name),
          .behavior = std::move(does),
          .required_protection = Protection::kSystemCallFilter,
          .allowed_outcomes = {{Outcome::crashed, "signal"}},
          .includes = std::move(includes),
          .statements = "if (thread == begin) { " + call + " }"};
}

std::vector<Attack> other_processes() {
  return {
      calling("forks", "starts a process that never ends", "unistd.h", "if (fork() == 0) for (;;) sleep(1);"),
      calling("forks_and_stays", "starts a process that leaves its group and outlives the worker", "unistd.h",
              "if (fork() == 0) { setsid(); sleep(100); _exit(0); }"),
      calling("forks_a_bomb", "starts processes that start processes", "unistd.h",
              "for (int i = 0; i < 5; ++i) fork(); if (getppid() != @PARENT@) { sleep(2); _exit(0); }"),
      calling("starts_threads", "starts threads that keep running after it returns", "pthread.h unistd.h",
              "for (int i = 0; i < 4; ++i) { pthread_t thread; pthread_create(&thread, nullptr, "
              "[](void*) -> void* { for (;;) sleep(1); }, nullptr); }"),
      calling("executes", "replaces itself with another program", "unistd.h",
              "execl(\"/bin/true\", \"true\", (char*)nullptr);"),
      calling("runs_a_command", "runs a shell command", "stdlib.h",
              "if (system(\"touch @FOLDER@/intruder\") != 0) return;"),
      calling("kills_its_parent", "kills its parent", "signal.h", "kill(@PARENT@, SIGKILL);"),
      calling("traces_its_parent", "attaches to its parent with ptrace", "sys/ptrace.h",
              "ptrace(PTRACE_SEIZE, @PARENT@, nullptr, nullptr);"),
      calling("writes_its_parents_memory", "writes to its parent's memory", "sys/uio.h",
              "char byte = 1; iovec here{&byte, 1}, there{(void*)4096, 1}; "
              "process_vm_writev(@PARENT@, &here, 1, &there, 1, 0);"),
      calling("limits_its_parent", "lowers its parent's limit on open files", "sys/resource.h",
              "rlimit none{4, 4}; prlimit(@PARENT@, RLIMIT_NOFILE, &none, nullptr);"),
      calling("slows_its_parent", "lowers the priority of its parent", "sys/resource.h",
              "setpriority(PRIO_PROCESS, @PARENT@, 19);"),
  };
}

std::vector<Attack> itself() {
  return {
      calling("raises_its_limits", "raises its own resource limits", "sys/resource.h",
              "rlimit all{RLIM_INFINITY, RLIM_INFINITY}; setrlimit(RLIMIT_AS, &all); setrlimit(RLIMIT_FSIZE, &all);"),
      calling("raises_its_priority", "raises its own priority", "sys/resource.h", "setpriority(PRIO_PROCESS, 0, -20);"),
      calling("ignores_termination", "ignores SIGTERM", "signal.h", "signal(SIGTERM, SIG_IGN);"),
      calling("catches_crashes", "handles the signals of its own crashes", "signal.h",
              "signal(SIGSEGV, [](int) {}); raise(SIGSEGV);"),
      calling("stops_itself", "stops its own process (SIGSTOP)", "signal.h", "raise(SIGSTOP);"),
      calling("leaves_its_group", "leaves its process group, so that killing the group does not end it", "unistd.h",
              "setsid();"),
      calling("makes_its_code_writable", "makes its own code writable, to modify it at run time", "sys/mman.h",
              "mprotect((void*)((unsigned long)__builtin_return_address(0) & ~4095ul), 4096, "
              "PROT_READ | PROT_WRITE | PROT_EXEC);"),
  };
}

std::vector<Attack> files_and_network() {
  return {
      calling("writes_a_file", "creates a file in another folder", "fcntl.h unistd.h",
              "close(open(\"@FOLDER@/intruder\", O_CREAT | O_WRONLY, 0600));"),
      calling("overwrites_a_file", "empties a file in another folder", "fcntl.h unistd.h",
              "close(open(\"@FOLDER@/bystander\", O_TRUNC | O_WRONLY));"),
      calling("deletes_a_file", "deletes a file in another folder", "unistd.h", "unlink(\"@FOLDER@/bystander\");"),
      calling("renames_a_file", "renames a file in another folder", "stdio.h",
              "rename(\"@FOLDER@/bystander\", \"@FOLDER@/gone\");"),
      calling("makes_a_folder", "creates a folder in another folder", "sys/stat.h",
              "mkdir(\"@FOLDER@/intruder\", 0700);"),
      calling("shuts_a_folder", "removes all permissions from another folder", "sys/stat.h", "chmod(\"@FOLDER@\", 0);"),
      calling("rewrites_its_library", "opens its own library for writing, to change the code of other kernels",
              "dlfcn.h fcntl.h unistd.h",
              "static char here; Dl_info self; dladdr(&here, &self); close(open(self.dli_fname, O_RDWR));"),
      calling("connects", "connects to a port of this machine", "netinet/in.h sys/socket.h",
              "sockaddr_in there{AF_INET, __builtin_bswap16(@PORT@), {__builtin_bswap32(0x7f000001u)}, {}}; "
              "connect(socket(AF_INET, SOCK_STREAM, 0), (sockaddr*)&there, sizeof there);"),
      calling("sends_a_datagram", "sends a datagram to this machine", "netinet/in.h sys/socket.h",
              "sockaddr_in there{AF_INET, __builtin_bswap16(@PORT@), {__builtin_bswap32(0x7f000001u)}, {}}; "
              "sendto(socket(AF_INET, SOCK_DGRAM, 0), \"x\", 1, 0, (sockaddr*)&there, sizeof there);"),
  };
}

std::vector<Attack> inherited_descriptors() {
  Attack closes = calling("closes_its_descriptors", "closes all inherited file descriptors", "unistd.h",
                          "for (int fd = 0; fd < 64; ++fd) close(fd); for (;;) sleep(1);");
  closes.required_protection = Protection::kProcessIsolation;
  Attack writes = calling("writes_to_its_descriptors",
                          "writes the record of a passing case to all inherited file descriptors", "unistd.h",
                          R"(static const char record[] = "{\"record\": \"case\", \"outcome\": \"pass\"}\n"; )"
                          "for (int fd = 3; fd < 64; ++fd) if (write(fd, record, sizeof record) < 0) {}"
                          "for (;;) sleep(1);");
  writes.required_protection = Protection::kProcessIsolation;
  writes.allowed_outcomes.push_back({Outcome::launch_failed, "launch"});
  Attack tells = calling("says_that_it_is_done", "reports to the judge that all launches are done, and keeps running",
                         "sys/socket.h unistd.h", "send(3, \"\\1\", 1, 0); for (;;) sleep(1);");
  tells.required_protection = Protection::kProcessIsolation;
  tells.allowed_outcomes = {{Outcome::launch_failed, "launch"}};
  return {closes, writes, tells};
}

}  // namespace

std::vector<Attack> escapes() {
  std::vector<Attack> attacks;
  for (const auto& part : {other_processes(), itself(), files_and_network(), inherited_descriptors()})
    attacks.insert(attacks.end(), part.begin(), part.end());
  return attacks;
}

}  // namespace assay::attacks
