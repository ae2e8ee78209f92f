// Logs each call that HDF5 makes to its VOL connector: what was called, on what, how long it took.
// No callback is named one by one: hooks are called around them all, and what meaning.hpp says of
// the arguments follows from their types.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iomanip>
#include <sstream>

#include "base/report/log.hpp"
#include "meaning.hpp"
#include "plugin/layer_entry.hpp"

namespace log_calls {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array kSettings{
    Setting{"file", "LOG_CALLS_FILE", Type::path, "", "", "log_calls.log",
            "File that one line is appended to for each call."},
};

class Log {
 public:
  void configure(const Options& options) {
    file_ =
        std::filesystem::absolute(value_of(kSettings[0], options));  // programs change directory
  }

  void add(Callback callback, const std::string& meaning, Clock::time_point begin, bool ok) {
    const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
    const std::chrono::duration<double> at = begin - start_;
    std::ostringstream line;
    line << first_ << std::fixed << std::setprecision(6) << at.count() << ' ' << ::getpid() << ' '
         << vol::kCallbackNames[static_cast<std::size_t>(callback)] << ' ' << meaning
         << (ok ? "ok, " : "failed, ") << std::setprecision(1) << took.count() << " us";
    first_.clear();
    // HDF5 initializes a connector before it tells the options, of which one may name the file.
    if (callback == Callback::initialize)
      first_ = line.str() + '\n';
    else
      append_line(file_, line.str());
  }

 private:
  std::string file_ = std::filesystem::absolute(value_of(kSettings[0], {}));
  std::string first_;
  Clock::time_point start_ = Clock::now();
};

Log& the_log() {
  // Leaked on purpose: HDF5 ends its connectors after C++ statics are destroyed.
  static auto* const log = new Log;
  return *log;
}

struct Connector : vol::PassThrough<Connector> {
  static constexpr const char* kName = "headrace_log_calls";
  static constexpr H5VL_class_value_t kValue = 7290;
  static constexpr std::span<const Setting> kSettings = log_calls::kSettings;
  static constexpr std::array kOverrides{Callback::info_from_str};

  // Besides logging: it obeys its option.
  static herr_t info_from_str(const char* text, void** info) {
    const herr_t result = PassThrough::info_from_str(text, info);
    the_log().configure(static_cast<vol::Info*>(*info)->options);
    return result;
  }

  struct During {
    std::string what;
    Clock::time_point begun;

    template <Callback callback>
    void begin(const vol::Arguments<callback>& args) {
      the_log();  // what is logged is the time since it was made
      what = args.each([](const auto&... all) { return meaning<callback>(all...); });
      begun = Clock::now();
    }
    template <Callback callback, typename R>
    void end(const vol::Outcome<R>& outcome, const vol::Arguments<callback>& /*args*/) const {
      the_log().add(callback, what, begun, !outcome.failed());
    }
  };
};

}  // namespace
}  // namespace log_calls

std::span<const headrace::LayerEntry> headrace::layers() {
  static const std::array kLayers{
      LayerEntry{"log_calls",
                 "appends each call with its arguments to a file",
                 log_calls::kSettings,
                 connector<log_calls::Connector>("libheadrace_log_calls.so"),
                 {},
                 {}}};
  return kLayers;
}
