// Which files the connector's filters work on.
#pragma once

#include "engine/cache/room.hpp"
#include "layers/async/driver/write_behind.hpp"
#include "vol/dataset/touched.hpp"
#include "vol/file/file_facts.hpp"

namespace headrace::async {

// To be called when a file was opened, with the program's arguments and the file's options.
// `ranks`: of a file over MPI, where one of them stages.
void note_opened(vol::Object& file, const vol::Opening& opening, const AsyncOptions& options,
                 CommunicatorHandle ranks);

// Collective, of a file that ranks stage, until it is closed: all have in it what they have staged,
// or all throw the Error of the first that has not.
void drain_together(const vol::UnderConnector& connector);
void forget_ranks(const vol::UnderConnector& connector);

// False for files over MPI and in SWMR mode, and where the options say so.
bool filters_on(const vol::UnderConnector& connector);

// Of a file over MPI that is only read: whether what a rank reads of chunks on its own is decoded
// here. Nothing else is done for such a file.
bool only_decodes(const vol::UnderConnector& connector);

// Of a file that filters are on for, or that is only decoded: what the datasets that are found
// through it have of the chunk cache, in the file that has HDF5's number `file`: its own, or that
// of a file that is mounted or linked to.
std::shared_ptr<const engine::cache::Share> cache_share(const vol::UnderConnector& connector,
                                                        unsigned long file);

// Of a file that filters are on for: whether the program has opened it for writing.
bool may_write(const vol::UnderConnector& connector);

// The same: whether what HDF5 reads for the program comes from the driver as it is: no connector
// below may change it, and no page buffer, of whichever file, is looked at afterwards.
bool reads_pass_by(const vol::UnderConnector& connector);

// The same: our driver, where it reads as HDF5 would: nobody writes to the file, which is HDF5's
// number `file`, and nothing lies above the driver. Null otherwise. Open as long as a dataset is.
H5FD_t* driver_for_reads(const vol::UnderConnector& connector, unsigned long file);

// The same: what a call touches that is made for `object`, a file or its id. All once one has been
// mounted in another.
vol::Touched file_touched_by(const vol::Effects& effects, const vol::Object& object);
void note_mounted();

// The same: whether the program has not closed it. Objects that it leaves open keep it open below.
bool is_open(const vol::UnderConnector& connector);
void note_closing(const vol::Object& file);

// Pauses the workers of the process for the file, once more; undoes one such call, false when there
// is none left; undoes all of them.
void pause_for(const vol::UnderConnector& connector);
bool resume_for(const vol::UnderConnector& connector);
void end_pauses_for(const vol::UnderConnector& connector);

// Our driver's part of a file, through what lies above it; null where there is none.
OpenFile* driver_of(const vol::Object& file);

// The program has the file's descriptor: its chunks are left to HDF5 from now on.
void filters_off(const vol::UnderConnector& connector);
// From now on all files of the process are left to HDF5: one of them begins to be read by others.
void filters_off();

}  // namespace headrace::async
