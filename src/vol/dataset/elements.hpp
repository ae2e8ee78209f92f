// What the elements of a dataset are, where connectors handle them themselves.
#pragma once

#include <string>

#include "engine/box.hpp"
#include "vol/object.hpp"

namespace headrace::vol {

// The same for all handles of a dataset, however the program came by them.
struct Identity {
  unsigned long file;
  H5O_token_t token;
  bool operator<(const Identity& other) const;
};

// Elements that are nothing but their bytes, in an array. The application's thread only.
struct Elements {
  Identity identity{};
  unsigned rank = 0;
  std::size_t element = 0;  // bytes
  Id<Kind::datatype> type;
  bool numeric = false;  // integers or floats: their conversions need no background
  // The type is an object of the file: HDF5 only tells it in calls for objects that are open, not
  // while it opens a file, nor in a context of ours.
  bool committed = false;

  // The extent as it was at a time; see update_dims().
  engine::Index dims{};
  std::uint64_t dims_time = 0;
};

// What HDF5 says of a dataset. Throws Error when it does not.
H5VL_dataset_get_args_t get(const Object& dataset, H5VL_dataset_get_t what);

// Whether elements of that type are nothing but their bytes.
bool is_flat(hid_t type);

// Fill parts of `elements`. False when elements are more than their bytes, the dataset is no array,
// or HDF5 does not tell.
bool read_type(const Object& dataset, Elements& elements);
bool read_extent(const Object& dataset, Elements& elements);  // rank and dims
// `links`: those that lead to it. Without one it goes with its last handle, and another object may
// get its token.
bool read_identity(const Object& object, Identity& identity, unsigned* links = nullptr,
                   H5I_type_t type = H5I_DATASET);

// Whether HDF5 puts something where nothing was written of a dataset with that creation list; else
// reads leave the program's memory there as it is.
bool fills(hid_t dcpl);

// The extent of a dataspace; false when it has none.
bool read_dims(hid_t space, unsigned& rank, engine::Index& dims);
// Asks for the dims where they are not up to date. False when HDF5 does not tell.
bool update_dims(Elements& elements, const Object& object);
// Whether the dims are up to date.
bool extent_known(const Elements& elements);
// The extents of all datasets are asked for anew. A connector that asks for dims calls it after
// each call whose effects have `resizes` or `refreshes` (vol/effects.hpp; those of unknown calls
// do), whether it has failed or not, and after the close of a file: the next one may get its
// number. One that may ask in the midst of such a call does so before it, too. What another process
// changes HDF5 itself does not know before a refresh.
void extents_may_have_changed();

// Whether a transfer list has nothing that changes data on its way. HDF5 writes results into the
// program's list, so one that is not the default may still say nothing.
bool leaves_data_alone(hid_t dxpl);

// Its name in the file, empty when HDF5 does not tell.
std::string name_of(const Object& object, H5I_type_t type = H5I_DATASET);
// That of its file, as it was opened.
std::string file_name_of(const Object& object);
// Both, for errors.
std::string describe(const Object& object);

}  // namespace headrace::vol
