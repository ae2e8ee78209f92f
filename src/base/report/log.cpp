#include "base/report/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/report/printable.hpp"
#include "base/settings/settings.hpp"

namespace headrace {
namespace {

// A file that a variable names.
struct Named {
  const char* variable;
  std::string file;
  std::atomic<bool> complained = false;
};

struct Destinations {
  Level level = Level::warning;
  Named log{"HEADRACE_LOG_FILE", {}};
  Named report{"HEADRACE_REPORT", {}};
  std::string summary_file;
};

// Leaked on purpose: HDF5 ends its connectors after C++ statics are destroyed.
Destinations& destinations() {
  static auto* const instance = new Destinations;
  return *instance;
}

// Returns the errno of a file that cannot be opened, else 0.
int append_to(const std::string& file, std::string line) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return errno;
  line += '\n';
  [[maybe_unused]] const auto written = ::write(fd, line.data(), line.size());
  ::close(fd);
  return 0;
}

// The user, who has named the file, is told once that it cannot be opened.
void append(Named& to, std::string line) {
  const int error = append_to(to.file, std::move(line));
  if (error == 0 || to.complained.exchange(true)) return;
  const std::string text = std::string("headrace: ") + to.variable + " names " +
                           printable(to.file) + ": " + std::strerror(error) +
                           "; nothing is written there\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

constexpr std::array<std::string_view, 4> kLevels{"error", "warning", "info", "debug"};

}  // namespace

void append_line(const std::string& file, std::string line) { append_to(file, std::move(line)); }

void configure_log() {
  Destinations& to = destinations();
  for (const Setting& setting : global_settings()) {
    std::string value;
    try {
      value = value_of(setting, {});
    } catch (const Error&) {
      value = setting.fallback;
    }
    if (setting.option == "log_file") to.log.file = value;
    if (setting.option == "report") to.report.file = value;
    if (setting.option == "summary") to.summary_file = value;
    if (setting.option != "log_level") continue;
    for (std::size_t i = 0; i < kLevels.size(); ++i)
      if (kLevels.at(i) == value) to.level = static_cast<Level>(i);
  }
}

void log(Level level, std::string_view message) noexcept {
  Destinations& to = destinations();
  if (to.log.file.empty() || level > to.level) return;
  try {
    std::array<char, 32> time{};
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    std::strftime(time.data(), time.size(), "%FT%T", localtime_r(&now, &parts));
    append(to.log, std::string(time.data()) + ' ' + std::to_string(::getpid()) + ' ' +
                       std::string(kLevels.at(static_cast<std::size_t>(level))) + ' ' +
                       printable(message));
  } catch (...) {  // out of memory: the message is lost, the program goes on
  }
}

bool report_wanted() noexcept { return !destinations().report.file.empty(); }

void report(std::string_view json) noexcept {
  if (!report_wanted()) return;
  try {
    append(destinations().report, std::string(json));
  } catch (...) {  // out of memory: the line is lost, the program goes on
  }
}

bool summary_wanted() noexcept { return !destinations().summary_file.empty(); }

void summarise(std::string_view json) noexcept {
  if (!summary_wanted()) return;
  try {  // `headrace run` may have ended, and its file with it
    append_line(destinations().summary_file, std::string(json));
  } catch (...) {  // out of memory
  }
}

}  // namespace headrace
