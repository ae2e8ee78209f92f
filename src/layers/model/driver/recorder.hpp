// What the driver keeps with an open file: it counts, writes the ledger, predicts and delays.
// Nothing that goes wrong here reaches the program: it is logged, once, and given up.
// Threads may make calls at the same time; each has its Call, and they wait for each other only
// while one that is over is counted (and, every 32768 records, the ledger written).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/settings/settings.hpp"
#include "hdf5/report/events.hpp"
#include "layers/model/driver/queues.hpp"
#include "layers/model/driver/statistics.hpp"
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
  Recorder(Configuration configuration, const char* file, const Rank& place);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();  // tells what is to be told of the file

  // A call that is made of the file, by one thread: its pieces, start, the call below, end.
  class Call {
   public:
    Call(Recorder& recorder, Kind kind, bool collective) noexcept
        : recorder_(recorder), kind_(kind), collective_(collective) {}
    // `type`: an H5FD_mem_t, or kUnknown.
    static constexpr int kUnknown = -1;
    void piece(int type, std::uint64_t offset, std::uint64_t length, std::uint64_t span) noexcept;
    void start() noexcept;
    void end(bool good) noexcept;  // returns when the modelled file system would

   private:
    friend class Recorder;
    Recorder& recorder_;
    Kind kind_;
    bool collective_;
    std::int64_t begin_ = 0;     // nanoseconds, as clock_now()
    std::int64_t duration_ = 0;  // nanoseconds, below
    std::vector<Record> pieces_;
    std::int64_t until_ = 0;  // when it may return, if it is delayed
  };

 private:
  void add(Call& call, bool good) noexcept;
  void count(const Call& call);
  void write_ledger(Call& call, std::uint32_t number);
  void write_summary();
  // Runs it and logs what it throws; returns whether it threw nothing.
  template <typename Action>
  static bool guarded(Action action) noexcept;

  const Configuration configuration_;
  const std::string file_;
  const Rank place_;
  const int pid_;
  const std::int64_t opened_;
  const std::uint64_t identity_;  // the same for all who open this file
  Queues* queues_ = nullptr;      // which guard themselves; set once

  std::mutex mutex_;  // of all below
  std::uint32_t calls_ = 0;
  std::uint32_t collectives_ = 0;
  Statistics reads_;
  Statistics writes_;
  std::uint64_t flushes_ = 0;
  std::uint64_t truncates_ = 0;
  std::unique_ptr<LedgerWriter> ledger_;
  std::optional<SingleClient> prediction_;
};

}  // namespace headrace::model
