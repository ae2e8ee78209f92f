// The rule for fill values. When the first data of a contiguous dataset is written, HDF5 sets all
// of its storage aside and writes the fill value over it, which data then takes the place of: twice
// the bytes. Here the driver of the layer keeps the fill values back (src/layers/tune/driver/), and
// writes what no data has taken the place of at the next flush or close.
//
// Safe, as HDF5 makes the file as ever, fill values are read as if they were there, and are in the
// file before anybody else could look: before a flush of whatever kind, before the program is told
// a place in the file or takes its descriptor. Applies to files of one process that are written
// without SWMR, where the native connector is the next one below, or the layer async is, over
// native HDF5: it reads and writes what is not in chunks by HDF5, so by the driver of this layer,
// which is above its own. Other layers between might look at the file past the driver. Needs no
// memory to speak of.
#pragma once

#include "layers/tune/connector/file_state.hpp"
#include "vol/effects.hpp"

namespace headrace::tune {

// What HDF5 fills the storage of a dataset with that is being made; empty where it does not, or
// not with one value.
std::vector<std::byte> fill_value_of(hid_t type, hid_t dcpl);

// The part of the layer's driver in a file that has just been opened; null where none is to be
// used.
std::shared_ptr<OpenFile*> driver_of(const vol::Object& file, const vol::Opening& opening);

// Effects of calls after which the program, or another process, may look for the bytes of the file
// without a call.
constexpr unsigned kFillsMustBeThere =
    vol::effect::tells_addresses | vol::effect::gives_handle | vol::effect::lets_others_read;

// Writes the fill values that are kept back of a file, and has none kept back from then on. Throws
// Error where they cannot be written. Flushes of whatever kind reach the driver by themselves.
void keep_no_more_fills(const vol::UnderConnector& file);

}  // namespace headrace::tune
