#include "base/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <string>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "base/settings.hpp"

namespace headrace {
namespace {

struct Destinations {
  Level level = Level::warning;
  std::string log_file;
  std::string report_file;
  std::string summary_file;
};

// Leaked on purpose: HDF5 ends its connectors after C++ statics are destroyed.
Destinations& destinations() {
  static auto* const instance = new Destinations;
  return *instance;
}

void append(const std::string& file, std::string_view json) noexcept {
  try {
    if (!file.empty()) append_line(file, std::string(json));
  } catch (...) {  // out of memory: the line is lost, the program goes on
  }
}

constexpr std::array<std::string_view, 4> kLevels{"error", "warning", "info", "debug"};

}  // namespace

void append_line(const std::string& file, std::string line) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return;
  line += '\n';
  [[maybe_unused]] const auto written = ::write(fd, line.data(), line.size());
  ::close(fd);
}

void configure_log() {
  Destinations& to = destinations();
  for (const Setting& setting : global_settings()) {
    std::string value;
    try {
      value = value_of(setting, {});
    } catch (const Error&) {
      value = setting.fallback;
    }
    if (setting.option == "log_file") to.log_file = value;
    if (setting.option == "report") to.report_file = value;
    if (setting.option == "summary") to.summary_file = value;
    if (setting.option != "log_level") continue;
    for (std::size_t i = 0; i < kLevels.size(); ++i)
      if (kLevels.at(i) == value) to.level = static_cast<Level>(i);
  }
}

void log(Level level, std::string_view message) noexcept {
  const Destinations& to = destinations();
  if (to.log_file.empty() || level > to.level) return;
  try {
    std::array<char, 32> time{};
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    std::strftime(time.data(), time.size(), "%FT%T", localtime_r(&now, &parts));
    append_line(to.log_file, std::string(time.data()) + ' ' + std::to_string(::getpid()) + ' ' +
                                 std::string(kLevels.at(static_cast<std::size_t>(level))) + ' ' +
                                 printable(message));
  } catch (...) {  // out of memory: the message is lost, the program goes on
  }
}

bool report_wanted() noexcept { return !destinations().report_file.empty(); }

void report(std::string_view json) noexcept { append(destinations().report_file, json); }

bool summary_wanted() noexcept { return !destinations().summary_file.empty(); }

void summarise(std::string_view json) noexcept { append(destinations().summary_file, json); }

}  // namespace headrace
