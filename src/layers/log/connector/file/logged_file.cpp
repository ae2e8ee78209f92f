#include "layers/log/connector/file/logged_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "layers/log/connector/state.hpp"
#include "sidecar/folder.hpp"

namespace headrace::log_layout {

LoggedFile* LoggedFile::of(const vol::UnderConnector& connector) {
  const FileState* const state = connector.state.find<FileState>();
  return state == nullptr ? nullptr : state->file.get();
}

LoggedFile::LoggedFile(vol::UnderConnector& connector, OpenFile place, Canonicalise when)
    : connector_(&connector), place_(std::move(place)), later_(when != Canonicalise::close) {
  if (when == Canonicalise::background) background_ = library.path;
}

bool LoggedFile::is(const vol::Object& file) const {
  const auto* const opened = file.state.find<OpenedByProgram>();
  return opened != nullptr && opened->number == number_;
}

engine::log::Writer& LoggedFile::writer() {
  if (log_ == nullptr)
    log_ = std::make_unique<engine::log::Writer>(store_->own_storage(descriptor_),
                                                 store_->own_belonging(),
                                                 engine::StagingLimits{place_.for_data(), {}});
  return *log_;
}

// Further ahead than a write, as that is a call of the system.
bool LoggedFile::reserve(std::uint64_t bytes) {
  constexpr std::uint64_t kIndex = std::uint64_t{1} << 20U;
  constexpr std::uint64_t kAhead = std::uint64_t{16} << 20U;
  const std::uint64_t end = writer().bytes() + bytes + kIndex;
  if (end <= reserved_) return true;
  for (const std::uint64_t ahead : {kAhead, std::uint64_t{0}}) {
    const std::uint64_t more = end + ahead - reserved_;
    if (::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(reserved_),
                    static_cast<off_t>(more)) == 0 ||
        errno == EOPNOTSUPP) {
      reserved_ += more;
      return true;
    }
  }
  return false;
}

bool LoggedFile::has_read_all() const {
  return reader_ != nullptr && reader_->end() == log_->end() &&
         reader_->index().write_count == log_->writes();
}

const engine::log::Reader& LoggedFile::read_log() {
  if (reader_ == nullptr)
    reader_ = std::make_unique<engine::log::Reader>(store_->own_storage(descriptor_), log_->end());
  else
    reader_->read_on(log_->end());
  if (!has_read_all()) throw Error("a part of the log of file " + path() + " is gone");
  return *reader_;
}

void LoggedFile::close_log() {
  log_.reset();
  reader_.reset();
  // What was reserved and not needed is others' again.
  struct stat status{};
  if (reserved_ > 0 && !is_parents() && ::fstat(descriptor_, &status) == 0 &&
      ::ftruncate(descriptor_, status.st_size) != 0)
    headrace::log(Level::debug, "room that a log does not need stays reserved");
  note_emptied();
  // Not kept for the next log: a child may have it, too.
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

}  // namespace headrace::log_layout
