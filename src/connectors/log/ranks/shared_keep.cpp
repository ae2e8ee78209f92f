// Where the ranks of a file keep what they have logged (canonicalise=later), and read through it.
#include <algorithm>
#include <exception>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "comm/agreement.hpp"
#include "connectors/log/opening/opening.hpp"
#include "connectors/log/ranks/shared_file.hpp"
#include "connectors/log/replaying/target.hpp"
#include "connectors/log/state.hpp"
#include "sidecar/folder.hpp"
#include "sidecar/replay_process.hpp"

namespace headrace::log_layout {

using engine::log::Layers;
using engine::log::Reader;

void SharedFile::keep(bool closes) {
  const auto told = tell();
  if (told.empty()) return;
  // Whoever finds the marker finds all logs: they have been there since the file was opened.
  if (!marked_) {
    marked_ = true;  // or a part of it is there: logs too many harm nobody
    do_together(*ranks_, [&] { write_marker(place_.below, owner_); });
  }
  // What the logs say of the file now, the file must have on storage first.
  do_together(*ranks_, [&] {
    flush(place_.below);
    if (place_.sync) sidecar::sync_file(place_.path);
  });
  do_together(*ranks_, [&] {
    closes ? log().close(place_.sync) : log().tell_flushed(place_.sync);
    if (place_.sync) sidecar::sync_names(place_.path);
  });
  wrote_ = false;
  flushed_ = told;
  ++kept_times_;
  others_stale_ = true;
}

void SharedFile::settle_or_keep_at_flush() noexcept {
  if (!logs_) return;
  try {
    later_ ? act_together([&] { keep(false); }) : settle();
  } catch (...) {
    connector_->defer(std::current_exception());
  }
}

// Objects that the program leaves open keep the file open below; what is written through them would
// be what the logs are put on top of.
void SharedFile::stop_at_close(bool ends) noexcept {
  try {
    if (logs_ && later_)
      act_together([&] {
        const bool last = ends || only_one_open(place_.below);
        if (ranks_->reduce(last ? 1 : 0, Reduction::min) == 0) return;
        keep(true);
        kept_ = marked_;
      });
    if (!kept_) settle();
  } catch (...) {
    connector_->defer(std::current_exception());
  }
  end();
}

std::shared_ptr<SharedFile> SharedFile::awaiting_background(const vol::UnderConnector& connector) {
  const FileState* const state = FileState::of(connector);
  if (state == nullptr || state->shared == nullptr || !state->shared->kept_) return nullptr;
  return state->shared->background_.empty() ? nullptr : state->shared;
}

void SharedFile::start_background(bool closed) noexcept {
  const std::string hdf5 = std::exchange(background_, {});
  try {
    const bool all = ranks_->reduce(closed ? 1 : 0, Reduction::min) != 0;
    if (all && ranks_->rank() == 0)
      sidecar::start_background_replay({place_.path, logs_of_->path_of(0), hdf5, place_.sync});
    ranks_->barrier();  // whichever rank opens the file next finds the log locked
  } catch (const std::exception& error) {
    headrace::log(
        Level::warning,
        "file " + place_.path + " may not be put in order in the background: " + error.what());
  }
}

bool SharedFile::any_logged() const {
  return !flushed_.empty() ||
         std::ranges::any_of(datasets_, [](const auto& one) { return one.second->pending; });
}

void SharedFile::forget_layers() {
  for (const auto& [identity, one] : datasets_) one->layers.reset();  // they point into indexes
}

void SharedFile::read_own() {
  const auto is_whole = [&] {
    return reader_->end() == log_->end() && reader_->index().write_count == log_->writes();
  };
  if (log_ == nullptr || (reader_ != nullptr && is_whole())) return;
  forget_layers();
  log_->publish(false);
  if (reader_ == nullptr)
    reader_ = std::make_unique<Reader>(logs_of_->own_device(descriptor_), log_->end());
  else
    reader_->read_on(log_->end());
  if (!is_whole()) throw Error("a part of the log of file " + place_.path + " is gone");
}

// What other ranks have logged since may be seen, too.
void SharedFile::read_others() {
  if (!others_stale_) return;
  forget_layers();
  for (int rank = 0; rank < static_cast<int>(flushed_.size()); ++rank) {
    const LogStatus& told = flushed_[static_cast<std::size_t>(rank)];
    if (rank == ranks_->rank() || told.writes == 0) continue;
    auto log = others_.find(rank);
    if (log == others_.end())
      log = others_.try_emplace(rank, logs_of_->path_of(rank), logs_of_->device_of(rank), told.end)
                .first;
    else
      log->second.read_on(told.end);
    require_log(log->second, rank, told);
  }
  others_stale_ = false;
}

std::unique_ptr<Layers> SharedFile::layers_of(const Dataset& dataset) const {
  auto layers = std::make_unique<Layers>();
  const auto add = [&](const Reader& reader) {
    const auto& datasets = reader.index().datasets;
    for (std::uint32_t place = 0; place < datasets.size(); ++place)
      if (is_of(datasets[place], dataset.identity.token)) layers->add(reader, place);
  };
  for (int rank = 0; rank < ranks_->size(); ++rank) {
    const auto other = others_.find(rank);
    if (rank == ranks_->rank() && reader_ != nullptr) add(*reader_);
    if (other != others_.end()) add(other->second.reader());
  }
  return layers;
}

const Layers* SharedFile::logged(SharedDataset& dataset) {
  require_whole();
  if (flushed_.empty() && !dataset.pending) return nullptr;
  read_own();
  read_others();
  if (dataset.layers == nullptr) dataset.layers = layers_of(*dataset.elements);
  return dataset.layers->empty() ? nullptr : dataset.layers.get();
}

}  // namespace headrace::log_layout
