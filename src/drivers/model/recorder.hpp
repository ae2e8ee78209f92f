// What the driver keeps with an open file: it counts, writes the ledger, predicts and delays.
// Nothing that goes wrong here reaches the program: it is logged, once, and given up.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/events.hpp"
#include "base/settings.hpp"
#include "drivers/model/queues.hpp"
#include "drivers/model/statistics.hpp"
#include "model/ledger_writer.hpp"
#include "model/machine.hpp"

namespace headrace::model {

enum class Mode { count, predict, delay };

struct Configuration {
  Mode mode = Mode::count;
  std::string preset;
  Parameters parameters;
  std::string ledger;
  std::string summary;
  std::string shared;
};

// The settings' values. Throws Error for malformed ones.
Configuration configuration(const Options& options);

class Recorder {
 public:
  Recorder(Configuration configuration, const char* file, const Place& place);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();  // tells what is to be told of the file

  // A call, in this order: begin, its pieces, start, the call below, end.
  void begin(Kind kind, bool collective) noexcept;
  void piece(int type, std::uint64_t offset, std::uint64_t length, std::uint64_t span) noexcept;
  void start() noexcept;
  void end(bool good) noexcept;  // returns when the modelled file system would

 private:
  struct Call {
    Kind kind = Kind::read;
    bool collective = false;
    std::int64_t begin = 0;  // nanoseconds, as clock_now()
    std::int64_t until = 0;  // when a delayed call may return
  };

  void count(std::int64_t duration);
  void write_ledger(std::int64_t duration, std::uint32_t call);
  void write_summary();
  // Runs it and logs what it throws; returns whether it threw nothing.
  template <typename Action>
  bool guarded(Action action) noexcept;

  Configuration configuration_;
  std::string file_;
  Place place_;
  int pid_;
  std::int64_t opened_;
  std::uint64_t identity_;  // the same for all who open this file
  Call call_;
  std::vector<Record> pieces_;  // of the call
  std::uint32_t calls_ = 0;
  std::uint32_t collectives_ = 0;
  Statistics reads_;
  Statistics writes_;
  std::uint64_t flushes_ = 0;
  std::uint64_t truncates_ = 0;
  std::unique_ptr<LedgerWriter> ledger_;
  std::optional<SingleClient> prediction_;
  Queues* queues_ = nullptr;
};

}  // namespace headrace::model
