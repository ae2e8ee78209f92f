// All files of the process that writes are logged of. The application's thread only.
#pragma once

#include <exception>
#include <map>
#include <vector>

#include "vol/dataset/touched.hpp"

namespace headrace::log_layout {

class SerialFile;

// Files whose logs are not empty. Leaked: HDF5 closes what is open while the process exits.
struct Pending {
  std::vector<SerialFile*> files;
  std::vector<SerialFile*>
      marked;  // those that have logs which outlive the program, empty ones too
  // Why a log could not be drained, by the number of the file: it may be open twice.
  std::map<unsigned long, std::exception_ptr> broken;
};

Pending& pending();

// To be called when there is something in a log: it is drained before HDF5 or the process ends, and
// before forks. A fork on another thread than the one that called HDF5 last cannot drain, as HDF5
// may be at work there: the child has then lost what is logged, and is told so where it reads,
// flushes or closes the file.
void drain_before_ends();

using vol::Touched;

// By reads and writes of a dataset, and questions about it. All, where it may be made of others.
Touched touched_by(vol::Object& dataset);

// Drains or replays what is touched; see SerialFile.
void drain(const Touched& touched = {}) noexcept;
void replay(const Touched& touched) noexcept;
// HDF5 has failed, and may have lost what was replayed.
void replay_again() noexcept;
// Drains what could not be drained before of the file with that number.
void retry(unsigned long number) noexcept;
// And then no file says that there is a log: others may look for one.
void drain_and_unmark(const Touched& touched = {}) noexcept;
// The same of the file that the program is about to open by that name, or to look at.
void drain_and_unmark(const char* name) noexcept;
// Drains, but for logs that outlive the program.
void drain_short_lived(const Touched& touched = {}) noexcept;
// Before HDF5 flushes a file: drains, but for logs that outlive the program, which are to be kept.
void prepare_flush(const Touched& file) noexcept;
// Those of the file that HDF5 has flushed have all that was logged; see SerialFile::keep(). The log
// of another one would cover what that does not have.
void keep_all(unsigned long number);
// A link is about to be moved or deleted. Logs that outlive the program know datasets by their
// names and tokens: they end, and none is begun any more. HDF5 tells the old names of those that
// are open when a group above them is moved, and a deleted dataset's token may become a new one's.
// Datasets that the program has closed are closed below, so that what they take in the file is free
// when their last link goes.
void drain_before_names_change() noexcept;
bool names_have_changed();
// Whether there is anything to drain.
bool anything_pending();
// Whether publishing, of whatever strength, would change anything.
bool anything_to_publish();
// From now on all files are left to HDF5.
void log_nothing_more();
bool nothing_is_logged();
// Before a write is logged: what other logs hold of the file with that number, opened once more or
// reached by an external link, is drained.
void drain_others(const SerialFile& file, unsigned long number) noexcept;

}  // namespace headrace::log_layout
