// assay emit: what a kernel becomes, as text.
#include <functional>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "backends/source/warp/writer.hpp"
#include "cli/command.hpp"
#include "cli/emission.hpp"
#include "ir/text.hpp"
#include "reports/report_files.hpp"

namespace assay::cli {
namespace {

struct EmitOptions {
  std::string selector;
  std::string to;
  std::string device = "cpu";
  std::string architecture = "compute_75";
  std::string output;
  bool backward = false;
  bool with_host = false;
};

using Emit = Result<std::string> (*)(const Subject&, const EmitOptions&);

Result<std::string> emit_cpu(const Subject& subject, const EmitOptions&) {
  return emit_source(subject, backends::SourceTarget::kCpp).map([](const auto& kernel) { return kernel.source(); });
}

Result<std::string> emit_cuda(const Subject& subject, const EmitOptions& options) {
  return emit_source(subject, backends::SourceTarget::kCuda, {.with_host = options.with_host})
      .map([](const auto& kernel) { return kernel.source(); });
}

Result<std::string> emit_ptx(const Subject& subject, const EmitOptions& options) {
  const Result<cuda::Nvrtc> nvrtc = cuda::Nvrtc::load();
  if (!nvrtc.ok()) {
    return Error{fmt::format("{}: PTX is made by NVRTC, from NVIDIA's CUDA toolkit; set ASSAY_NVRTC to the library",
                             nvrtc.error().message)};
  }
  if (!nvrtc->supports(options.architecture)) {
    return Error{fmt::format("NVRTC {} does not know the architecture '{}', expected one as compute_75",
                             nvrtc->version(), options.architecture)};
  }
  const Result<std::string> source = emit_cuda(subject, options);
  if (!source.ok()) return source.error();
  const cuda::CompileOutcome outcome =
      nvrtc->compile(*source, subject.kernel().name + ".cu", {.architecture = options.architecture});
  if (const auto* failed = std::get_if<backends::BuildFailed>(&outcome)) {
    return Error{"NVRTC refused the emitted source: " + failed->log, subject.source.selector};
  }
  return std::get<cuda::Compiled>(outcome).ptx;
}

Result<std::string> emit_python(const Subject& subject, const EmitOptions&) {
  if (subject.adjoint) return source::warp::write_kernel(subject.adjoint->module, 0);
  return source::warp::write_kernel(*subject.source.module, subject.source.kernel_index);
}

Result<std::string> emit_ir(const Subject& subject, const EmitOptions&) {
  if (subject.adjoint) return ir::to_text(subject.adjoint->module);
  ir::Module alone = *subject.source.module;
  alone.kernels = {subject.kernel()};
  return ir::to_text(alone);
}

const std::map<std::string, Emit> kTargets{
    {"cpu", emit_cpu}, {"cuda", emit_cuda}, {"ptx", emit_ptx}, {"python", emit_python}, {"ir", emit_ir}};

int emit(const EmitOptions& options) {
  const std::string target = options.to.empty() ? options.device : options.to;
  if (options.with_host && target != "cuda") {
    return fail({fmt::format("--with-host adds a CUDA main program, but the target is {}; use --to cuda", target)});
  }
  const Result<Subject> subject = one_kernel(options.selector, options.backward);
  if (!subject.ok()) return fail(subject.error());
  const Result<std::string> text = kTargets.at(target)(*subject, options);
  if (!text.ok()) return fail(text.error());
  const Result<void> written = options.output.empty() ? print(*text) : reports::replace_file(options.output, *text);
  return written.ok() ? 0 : fail(written.error());
}

}  // namespace

void add_emit(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<EmitOptions>();
  CLI::App& command = *app.add_subcommand("emit", "Print what a kernel becomes: C++, CUDA C++, PTX, Python or IR");
  command.add_option("KERNEL", options->selector, "FILE.py:KERNEL, FILE.py with one kernel, or a name as loop/r1_42")
      ->option_text(" ")
      ->required();
  command.add_option("--to", options->to, "What to print; default: the source for --device")
      ->option_text("{cpu,cuda,ptx,python,ir}")
      ->check(CLI::IsMember({"cpu", "cuda", "ptx", "python", "ir"}));
  add_device_option(command, options->device, "Print the source for this device, unless --to says otherwise");
  command.add_flag("--backward", options->backward,
                   "Add the backward kernel; with python and ir print it instead of the forward one");
  command.add_flag("--with-host", options->with_host, "With cuda: add a main() that runs the kernel; for nvcc");
  command.add_option("--arch", options->architecture, "With ptx: the architecture to compile for")
      ->option_text("NAME [compute_75]");
  command.add_option("-o,--output", options->output, "Write to this file instead of the terminal")->option_text("FILE");
  command.callback([options, &invocation] { invocation.status = emit(*options); });
}

}  // namespace assay::cli
