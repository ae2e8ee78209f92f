// Collective transfers over MPI, and what is made of them. The application's thread only.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "hdf5/id.hpp"
#include "vol/dataset/transfer.hpp"
#include "vol/dataset/transfer_list.hpp"
#include "vol/file/driver_seat.hpp"

namespace headrace::stripe {

class StripedFile;

// What a transfer has to know of a dataset, kept with the program's id of it.
struct Transferred {
  // In pieces, and without filters: each rank can transfer it by itself.
  bool apart = false;
  std::shared_ptr<StripedFile*> file;  // null for one that is not in pieces
};
// Collective, as HDF5 may have ranks read metadata together. Throws Error.
const Transferred& transferred(vol::Object& dataset);

// Those of datasets that ranks transfer by themselves, and the others.
template <typename Bytes>
std::pair<vol::TransferList<Bytes>, vol::TransferList<Bytes>> parted(
    const vol::Transfers<Bytes>& all) {
  std::pair<vol::TransferList<Bytes>, vol::TransferList<Bytes>> parts;
  for (std::size_t i = 0; i < all.size(); ++i)
    (transferred(all.dataset(i)).apart ? parts.first : parts.second).add(all[i], all.buffer(i));
  return parts;
}

// A copy of a collective transfer list, whose transfers each rank makes by itself. Throws Error.
Id<Kind::plist> independent(hid_t dxpl);

// The file that an object is in; null where it is not in pieces.
StripedFile* striped_file_of(const vol::Object& object);
// Of a file that has just been opened: finds its driver.
void note_opened(const vol::Object& file);
// Before the program learns where data of the dataset lie, all of them or those of chunks
// (StripedFile::before_addresses_are_told). Throws Error.
void before_addresses_are_told(const vol::Object& dataset, bool of_whole_dataset);
// Collective, where the file is in pieces. Throws Error on ranks whose own flush has not failed.
void agree_on_flush(const vol::Object& object);

// H5VL_NATIVE_FILE_SET_MPI_ATOMICITY, which serial libraries' headers do not have.
inline constexpr int kSetAtomicity = 27;
// For H5Fset_mpi_atomicity with these arguments: throws Error where the file is in pieces and the
// program wants transfers of ranks not to mix.
void refuse_atomic(const vol::Object& object, const void* native_args);

// For H5Fstart_swmr_write: throws Error where the file is in pieces.
void refuse_swmr_write(const vol::Object& object);

// For a file that HDF5 has refused to open: throws Error in place of HDF5's where it may be a stub
// that a driver not of ours has read.
void explain_refused(hid_t fapl, const vol::DriverSeat& seat);

// The driver's connection string with the option by which it knows its connector.
std::string with_seat(const std::string& config);

}  // namespace headrace::stripe
