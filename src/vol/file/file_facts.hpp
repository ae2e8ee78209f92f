// What a file is that the program opens: by its name, by the access property list that it is opened
// with, and by HDF5's word. The application's thread only; what asks HDF5 keeps the error stack as
// it was.
#pragma once

#include <optional>

#include "comm/communicator.hpp"
#include "vol/object.hpp"

namespace headrace::vol {

constexpr unsigned kReadWrite = 0x01;  // H5F_ACC_RDWR, a macro that calls the library
constexpr unsigned kTruncate = 0x02;   // H5F_ACC_TRUNC
constexpr unsigned kSwmr = 0x60;       // H5F_ACC_SWMR_WRITE and H5F_ACC_SWMR_READ

// The arguments of H5Fcreate or H5Fopen. `fapl`: the program's, open as long as the call runs.
struct Opening {
  const char* name;
  unsigned flags;
  bool created;
  hid_t fapl;
  [[nodiscard]] bool writes() const { return created || (flags & kReadWrite) != 0; }
  [[nodiscard]] bool swmr() const { return (flags & kSwmr) != 0; }
};

// Of an access property list: whether ranks open the file together (its driver is one over MPI).
bool is_parallel(hid_t fapl);
// Collective: those ranks. Null where one process opens the file, and where our module for its MPI
// cannot be used.
CommunicatorHandle ranks_of(hid_t fapl);
// Whether HDF5 has all ranks wait for each other when it reads metadata, in questions of ours, too.
bool reads_metadata_together(hid_t fapl);
// Whether its driver makes files that every HDF5 can open as they are.
bool makes_ordinary_files(hid_t fapl);
bool has_page_buffer(hid_t fapl);
// Whether a function of the program's is called when HDF5 flushes an object.
bool tells_of_flushes(hid_t fapl);

// Of an open file, as the connector below knows it.
struct BelowFile {
  void* file = nullptr;
  hid_t connector = kInvalidId;
};
// The number that HDF5 has for it, and tells with each object that is in it; none where it does not
// tell. Not to be asked while HDF5 2.0 ends: it closes ids of files that it has freed.
std::optional<unsigned long> number_of(const BelowFile& file);
// Whether no id by which it is open, of this process, lets the program write.
bool is_read_only(const BelowFile& file);
// Whether nothing of it is open but the id that it was opened by.
bool only_one_open(const BelowFile& file);

}  // namespace headrace::vol
