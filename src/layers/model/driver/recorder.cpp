#include "layers/model/driver/recorder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/process/machine.hpp"
#include "base/report/json.hpp"
#include "base/report/log.hpp"
#include "hdf5/api.hpp"
#include "model/quantity.hpp"

namespace headrace::model {
namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;

// All but the values of datasets, as HDF5's own separation of metadata and raw data has it; its
// buffer for metadata is written as H5FD_MEM_DEFAULT.
bool is_metadata(int type) {
  return type != H5FD_MEM_DRAW && type != H5FD_MEM_GHEAP && type != Recorder::Call::kUnknown;
}

// The same for every name that a path is reached by from one working directory or another.
std::uint64_t identity_of(const std::string& file) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(file, error).lexically_normal();
  return std::hash<std::string>()(error ? file : path.string()) >> 16U;
}

void sleep_until(std::int64_t time) {
  const std::timespec until{time / kNanoseconds, time % kNanoseconds};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) continue;
}

void append(const std::string& file, std::string line) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) throw Error("summary " + file + ": " + std::strerror(errno), errno);
  line += '\n';
  const ssize_t done = ::write(fd, line.data(), line.size());
  const int error = done < 0 ? errno : done < static_cast<ssize_t>(line.size()) ? ENOSPC : 0;
  ::close(fd);
  if (error != 0) throw Error("summary " + file + ": " + std::strerror(error), error);
}

}  // namespace

template <typename Action>
bool Recorder::guarded(Action action) noexcept {
  try {
    action();
    return true;
  } catch (const std::exception& error) {
    log(Level::error, std::string("model: ") + error.what());
    return false;
  }
}

Recorder::Recorder(Configuration configuration, const char* file, const Rank& place)
    : configuration_(std::move(configuration)),
      file_(file),
      place_(place),
      pid_(::getpid()),
      opened_(clock_now()),
      identity_(identity_of(file_)) {
  if (!configuration_.ledger.empty())
    ledger_ = std::make_unique<LedgerWriter>(
        configuration_.ledger,
        Header{file_, host_name(), place.rank, place.ranks, static_cast<std::uint32_t>(pid_),
               static_cast<std::uint64_t>(since_1970())});
  if (configuration_.mode == Mode::predict) prediction_.emplace(configuration_.parameters);
  if (configuration_.mode == Mode::delay) queues_ = &Queues::of(configuration_.shared);
}

// What a forked child inherits is its parent's to tell.
Recorder::~Recorder() {
  if (::getpid() != pid_) return;
  if (ledger_ != nullptr) guarded([&] { ledger_->close(); });
  if (!configuration_.summary.empty()) guarded([&] { write_summary(); });
}

void Recorder::Call::piece(int type, std::uint64_t offset, std::uint64_t length,
                           std::uint64_t span) noexcept {
  Record record;
  record.offset = offset;
  record.length = length;
  record.span = std::max(length, span);
  record.kind = kind_;
  record.type = static_cast<std::uint8_t>(type == kUnknown ? H5FD_MEM_DEFAULT : type);
  record.flags =
      static_cast<std::uint8_t>((is_metadata(type) ? kMetadata : 0) |
                                (collective_ ? kCollective : 0) | (span > length ? kScattered : 0));
  guarded([&] { pieces_.push_back(record); });
}

void Recorder::Call::start() noexcept {
  begin_ = clock_now();
  if (recorder_.queues_ == nullptr) return;
  for (const Record& piece : pieces_)
    until_ = std::max(until_, recorder_.queues_->reserve(recorder_.configuration_.parameters,
                                                         piece.kind, recorder_.identity_,
                                                         piece.offset, piece.length, begin_));
}

void Recorder::Call::end(bool good) noexcept {
  duration_ = clock_now() - begin_;
  recorder_.add(*this, good);
  if (until_ > begin_ + duration_) sleep_until(until_);
}

void Recorder::add(Call& call, bool good) noexcept {
  const std::lock_guard lock(mutex_);
  // Numbered though it failed: the other ranks number it, too.
  const std::uint32_t number = call.collective_ ? ++collectives_ : ++calls_;
  if (!good) return;
  count(call);
  if (ledger_ != nullptr && ::getpid() == pid_ && !guarded([&] { write_ledger(call, number); }))
    ledger_.reset();
  if (prediction_ && !guarded([&] {
        for (const Record& piece : call.pieces_)
          prediction_->request(piece.kind, piece.offset, piece.length);
      }))
    prediction_.reset();
}

void Recorder::count(const Call& call) {
  if (call.kind_ == Kind::flush) ++flushes_;
  if (call.kind_ == Kind::truncate) ++truncates_;
  if (call.kind_ > Kind::write) return;
  Statistics& statistics = call.kind_ == Kind::read ? reads_ : writes_;
  ++statistics.calls;
  statistics.nanoseconds += static_cast<std::uint64_t>(call.duration_);
  for (const Record& piece : call.pieces_)
    statistics.add(piece.offset, piece.length, piece.span, piece.has(kMetadata));
}

void Recorder::write_ledger(Call& call, std::uint32_t number) {
  // A call that moves nothing is told, so that those of all ranks can be put together.
  if (call.pieces_.empty()) {
    Record nothing;
    nothing.kind = call.kind_;
    nothing.flags = call.collective_ ? kCollective : 0;
    call.pieces_.push_back(nothing);
  }
  std::int64_t duration = call.duration_;
  for (Record& piece : call.pieces_) {
    piece.begin = static_cast<std::uint64_t>(call.begin_ - opened_);
    piece.duration = static_cast<std::uint64_t>(std::exchange(duration, 0));
    piece.call = number;
    ledger_->add(piece);
  }
}

void Recorder::write_summary() {
  // HDF5 opens some files only to look at them.
  if (reads_.calls + writes_.calls + flushes_ + truncates_ == 0) return;
  constexpr std::array<std::string_view, 3> kModes{"count", "predict", "delay"};
  JsonObject summary;
  summary.text("file", file_)
      .number("pid", pid_)
      .number("rank", place_.rank)
      .number("ranks", place_.ranks)
      .text("mode", kModes.at(static_cast<std::size_t>(configuration_.mode)))
      .text("preset", configuration_.preset)
      .raw("reads", reads_.json())
      .raw("writes", writes_.json())
      .number("flushes", static_cast<long long>(flushes_))
      .number("truncates", static_cast<long long>(truncates_))
      .raw("sizes",
           JsonObject().raw("read", reads_.sizes_json()).raw("write", writes_.sizes_json()).str());
  if (prediction_) summary.raw("predicted", json_number(prediction_->seconds()));
  append(configuration_.summary, summary.str());
}

}  // namespace headrace::model
