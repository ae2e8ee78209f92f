// All files of the process that writes are logged of. The application's thread only.
#pragma once

#include <exception>
#include <map>
#include <vector>

#include "vol/dataset/touched.hpp"

namespace headrace::log_layout {

class File;

// Files whose logs are not empty. Leaked: HDF5 closes what is open while the process exits.
struct Pending {
  std::vector<File*> files;
  std::vector<File*> marked;  // those that have logs which outlive the program, empty ones too
  // Why a log could not be settled, by the number of the file: it may be open twice.
  std::map<unsigned long, std::exception_ptr> broken;
};

Pending& pending();

// To be called when there is something in a log: it is settled before HDF5 or the process ends, and
// before forks. A fork on another thread than the one that called HDF5 last cannot settle, as HDF5
// may be at work there: the child has then lost what is logged, and is told so where it reads,
// flushes or closes the file.
void settle_before_ends();

using vol::Touched;

// By reads and writes of a dataset, and questions about it. All, where it may be made of others.
Touched touched_by(vol::Object& dataset);

// Settles what is touched, or gives it to HDF5 if that has not got it yet; see File.
void settle(const Touched& touched = {}) noexcept;
void give(const Touched& touched) noexcept;
// HDF5 has failed, and may have lost what it was given.
void give_again() noexcept;
// Settles once more what could not be settled of the file with that number.
void retry(unsigned long number) noexcept;
// And then no file says that there is a log: others may look for one.
void settle_and_unmark(const Touched& touched = {}) noexcept;
// The same of the file that the program is about to open by that name, or to look at.
void settle_and_unmark(const char* name) noexcept;
// Settles, but for logs that outlive the program.
void settle_short_lived(const Touched& touched = {}) noexcept;
// Before HDF5 flushes a file: settles, but for logs that outlive the program, which are to be kept.
void prepare_flush(const Touched& file) noexcept;
// Those of the file that HDF5 has flushed have all that was logged; see File::keep(). The log of
// another one would cover what that does not have.
void keep_all(unsigned long number);
// A link is about to be moved or deleted. Logs that outlive the program know datasets by their
// names and tokens: they end, and none is begun any more. HDF5 tells the old names of those that
// are open when a group above them is moved, and a deleted dataset's token may become a new one's.
// Datasets that the program has closed are closed below, so that what they take in the file is free
// when their last link goes.
void settle_before_names_change() noexcept;
bool names_have_changed();
// Whether there is anything to settle.
bool anything_pending();
// From now on all files are left to HDF5.
void log_nothing_more();
bool nothing_is_logged();
// Before a write is logged: what other logs hold of the file with that number, opened once more or
// reached by an external link, is settled.
void settle_others(const File& file, unsigned long number) noexcept;

}  // namespace headrace::log_layout
