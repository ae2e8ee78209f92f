#include <unistd.h>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/stripe/driver/striped_file.hpp"
#include "sidecar/striped/fusion.hpp"

// What becomes of a set when its file is closed.
namespace headrace::stripe {

void StripedFile::close_subfiles() {
  std::exception_ptr failed;
  for (std::size_t number = 0; number < subfiles_.size(); ++number) {
    const auto one = error_of([&] { close_subfile(subfiles_[number], set_.subfiles[number]); });
    if (failed == nullptr) failed = one;
  }
  if (failed != nullptr) std::rethrow_exception(failed);
}

void StripedFile::close_subfile(Subfile& one, const std::string& path) {
  Subfile closed = std::exchange(one, {});
  if (closed.own != nullptr) return closed.own->close();
  if (closed.file == nullptr) return;
  closed.storage.reset();
  const NestedCalls nested;
  if (h5.FDclose(closed.file) < 0)
    throw Error("subfile " + path + " of " + set_.stub + " cannot be closed");
}

void StripedFile::write_state() {
  const bool wanted = checksums_ && fuse_ != Fuse::close;
  std::vector<std::uint64_t> sums;
  if (wanted)
    sums = of_all_subfiles(*ranks_, set_.layout.count, mine(), [&](std::uint32_t number) {
      return sidecar::checksum_of_file(set_.subfiles[number]);
    });
  do_together(*ranks_, [&] {
    if (ranks_->rank() != 0) return;
    sidecar::SetState state{true, cut_at_, {}, set_.nodes};
    for (const std::uint64_t sum : sums) state.checksums.push_back(static_cast<std::uint32_t>(sum));
    sidecar::mark_closed(set_.config, state, sync_);
  });
}

void StripedFile::finish() {
  if (nodes_ != nullptr) {
    ranks_->barrier();
    nodes_->stop_serving();
  }
  const std::exception_ptr closing = error_of([&] { close_subfiles(); });
  std::exception_ptr mine = failed_;
  for (const std::exception_ptr& one : {told_, broken_, closing})
    if (mine == nullptr) mine = one;
  agree(*ranks_, mine);
  // What a forked child closes its parent may still write to, and what HDF5 has not got because it
  // is locked, another process.
  if (!writes_ || ::getpid() != opener_ || farthest_ == 0) return;
  if (ranks_->reduce(opened_.use_count() == 1 ? 1 : 0, Reduction::max) == 0) return;
  if (changing_ && eoa_ == cut_at_)
    if (const auto failed = error_of([&] { write_state(); }))
      log(Level::warning, "stripe: " + set_.stub + " is not marked as closed: " + text_of(failed));
  // A program that was told where data lie may go on there by itself.
  const bool told = ranks_->reduce(told_addresses_ ? 1 : 0, Reduction::max) != 0;
  if (told) fuse_ = Fuse::close;
  if (fuse_ == Fuse::later || (ranks_->reduce(changed_ ? 1 : 0, Reduction::max) == 0 && !told))
    return;
  try {
    if (fuse_ == Fuse::close) return fuse();
    do_together(*ranks_, [] {});  // all have closed theirs
  } catch (const Error& error) {
    throw Error("file " + set_.stub + " stays in pieces: " + error.what(), error);
  }
  if (ranks_->rank() != 0) return;
  if (const auto failed = error_of([&] { sidecar::start_background_fusion(set_); }))
    log(Level::warning, "stripe: " + set_.stub + " stays in pieces: " + text_of(failed));
}

void StripedFile::fuse() {
  std::uint64_t size = 0;
  if (nodes_ != nullptr) size = set_.layout.whole_size(nodes_->sizes(*ranks_, set_));
  std::string copy;
  do_together(*ranks_, [&] {
    if (ranks_->rank() != 0) return;
    if (nodes_ == nullptr) size = set_.layout.whole_size(sidecar::subfile_sizes(set_));
    copy = sidecar::begin_fusion(set_, size);
  });
  share(*ranks_, copy);
  try {
    do_together(*ranks_, [&] {
      for (const std::uint32_t number : mine()) sidecar::fuse_subfile(set_, number, copy);
    });
    do_together(*ranks_, [&] {
      if (ranks_->rank() == 0) sidecar::end_fusion(set_, copy);
    });
  } catch (...) {
    if (ranks_->rank() == 0) sidecar::abandon_fusion(copy);
    throw;
  }
  if (const auto failed = error_of([&] { remove_pieces(); }))
    log(Level::warning, "stripe: " + set_.stub + " is one file now, but " + text_of(failed));
}

void StripedFile::remove_pieces() {
  if (nodes_ != nullptr)
    do_together(*ranks_, [&] {
      if (nodes_->first() && ranks_->rank() != 0) sidecar::remove_subfiles_here(set_.config);
    });
  do_together(*ranks_, [&] {
    if (ranks_->rank() == 0) sidecar::remove_pieces(set_);
  });
}

}  // namespace headrace::stripe
