// All files of the process that writes are logged of. The application's thread only.
#pragma once

#include <exception>
#include <map>
#include <vector>

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

// To be called when there is something in a log: HDF5, or the process, settles before it ends.
void settle_before_ends();

// Settles all files of the process, or gives HDF5 what it has not got yet; see File.
void settle() noexcept;
void give() noexcept;
// HDF5 has failed, and may have lost what it was given.
void give_again() noexcept;
// Settles once more what could not be settled of the file with that number.
void retry(unsigned long number) noexcept;
// And then no file says that there is a log: others may look for one.
void settle_and_unmark() noexcept;
// Settles, but for logs that outlive the program.
void settle_short_lived() noexcept;
// Before HDF5 flushes a file: settles, but for logs that outlive the program, which are to be kept.
void prepare_flush() noexcept;
// Those of the file that HDF5 has flushed have all that was logged; see File::keep(). The log of
// another one would cover what that does not have.
void keep_all(unsigned long number);
// From now on logs do not say how datasets are called: HDF5 tells the old names of those that are
// open when a group above them is moved.
void names_may_be_old();
bool names_are_old();
// Whether there is anything to settle.
bool anything_pending();
// In a child of fork() that cannot settle.
void lose_pending();
// From now on all files are left to HDF5: the token of a deleted dataset may become a new one's.
void log_nothing_more();
bool nothing_is_logged();
// Whether a log may have something of a dataset that HDF5 is to write to, which may be made of
// others.
bool may_be_logged(void* dataset);
// Before a write is logged: what other logs hold of the file with that number, opened once more or
// reached by an external link, is settled.
void settle_others(const File& file, unsigned long number) noexcept;

}  // namespace headrace::log_layout
