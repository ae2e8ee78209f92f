#include "layers/fault/driver/inject.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/report/json.hpp"
#include "base/report/log.hpp"
#include "layers/fault/driver/disk.hpp"
#include "layers/fault/driver/gate.hpp"

namespace headrace::fault {
namespace {

// Why all operations fail, when the power was cut and the process goes on; else null. Leaked:
// needed until HDF5 has closed its files, after the end of the program's statics.
std::atomic<const Error*> darkness = nullptr;

// By Data.
constexpr std::array<std::string_view, 3> kDataNames{"unknown", "metadata", "raw"};

std::string describe(const Operation& operation) {
  std::string text(name_of(operation.op));
  if (operation.op == Op::read || operation.op == Op::write)
    text += " of " + std::to_string(operation.length) + " bytes at offset " +
            std::to_string(operation.offset);
  return text.append(" of file ").append(operation.file);
}

JsonObject line_for(std::string_view fault, std::uint64_t number, const Operation& operation) {
  JsonObject line;
  line.text("fault", fault)
      .text("operation", name_of(operation.op))
      .number("number", static_cast<long long>(number))
      .text("file", operation.file);
  if (operation.op == Op::read || operation.op == Op::write)
    line.text("type", kDataNames.at(static_cast<std::size_t>(operation.data)))
        .number("offset", static_cast<long long>(operation.offset))
        .number("length", static_cast<long long>(operation.length));
  return line.number("rank", operation.rank).number("pid", ::getpid());
}

void note(const Plan& plan, const JsonObject& line) {
  if (!plan.journal.empty()) append_line(plan.journal, line.str());
}

Error in_darkness(const Error& dark, const Operation& operation) {
  return Error(std::string(dark.what()) + " before this " + describe(operation),
               dark.error_number());
}

Error cut_power(const Plan& plan, std::uint64_t number, const Operation& operation) {
  const Standstill standstill;
  // Another thread may have come first.
  if (const Error* dark = darkness; dark != nullptr) return in_darkness(*dark, operation);
  JsonObject line = line_for("power_cut", number, operation);
  try {
    if (!standstill.reached()) throw Error("what other threads write to files did not end");
    Random random(plan.seed);
    line.raw("files", cut_all_disks(plan.outcome, random));
  } catch (const std::exception& failure) {
    line.text("failed", failure.what());
    log(Level::error, std::string("the power cut is not as it should be: ") + failure.what());
  }
  note(plan, line);
  if (plan.exits) {
    ::kill(::getpid(), SIGKILL);
    while (true) ::pause();
  }
  darkness = new Error("injected fault: the power was cut", plan.error_number);
  return Error("injected fault: power cut at matching operation " + std::to_string(number) + ", " +
                   describe(operation),
               plan.error_number);
}

Error fail(const Plan& plan, std::uint64_t number, const Operation& operation,
           std::uint64_t transferred) {
  const bool part = plan.kind == Kind::short_transfer;
  JsonObject line = line_for(part ? "short" : "error", number, operation);
  line.text("errno", plan.error_name);
  if (part) line.number("transferred", static_cast<long long>(transferred));
  note(plan, line);
  std::string text = "injected fault: " + plan.error_name + " at matching operation " +
                     std::to_string(number) + ", " + describe(operation);
  if (part) text += ", of which " + std::to_string(transferred) + " were transferred";
  return Error(text, plan.error_number);
}

}  // namespace

Plan& plan_for(const Options& options) {
  static auto* const plans = new std::map<Options, std::unique_ptr<Plan>>;  // leaked on purpose
  auto& plan = (*plans)[options];
  if (plan == nullptr) plan = std::make_unique<Plan>(options);
  return *plan;
}

Verdict inject(Plan& plan, const Operation& operation) {
  if (const Error* dark = darkness; dark != nullptr) return {0, in_darkness(*dark, operation)};
  const std::optional<std::uint64_t> number = plan.hit(operation);
  if (!number) return {operation.length, {}};
  switch (plan.kind) {
    case Kind::none:
      break;
    case Kind::delay:
      note(plan, line_for("delay", *number, operation).number("delay", plan.delay.count()));
      std::this_thread::sleep_for(plan.delay);
      break;
    case Kind::error:
      return {0, fail(plan, *number, operation, 0)};
    case Kind::short_transfer: {
      const std::uint64_t part = plan.part_of(operation);
      return {part, fail(plan, *number, operation, part)};
    }
    case Kind::power_cut:
      return {0, cut_power(plan, *number, operation)};
  }
  return {operation.length, {}};
}

int launched_rank() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* value = std::getenv(variable); value != nullptr)
      return static_cast<int>(std::strtol(value, nullptr, 10));
  return 0;
}

}  // namespace headrace::fault
