#pragma once

#include <array>

#include "base/settings/settings.hpp"

namespace headrace::tune {

inline constexpr std::array kSettings{
    Setting{
        "seat", "HEADRACE_TUNE_SEAT", Type::choice, "vol|both", "", "vol",
        "Where the layer sits: above the native connector (vol), or below it, too (both), where "
        "it writes the fill value of a contiguous dataset only where no data takes its place, and "
        "over MPI no zeros where a file has them anyway."},
    Setting{"rules", "HEADRACE_TUNE_RULES", Type::path, "", "", "",
            "TOML file with options for files and datasets by pattern; empty is none."},
    Setting{"allow", "HEADRACE_TUNE_ALLOW", Type::choice, "unnoticed|layout", "", "unnoticed",
            "What options may change: nothing that a reader of the file could notice (unnoticed), "
            "or also how objects are stored, which older readers may not know (layout)."},
    Setting{"memory", "HEADRACE_TUNE_MEMORY", Type::size, "", "bytes", "256MiB",
            "What the chunk caches that the layer enlarges may take in all, in a process."},
    Setting{"chunk_cache", "HEADRACE_TUNE_CHUNK_CACHE", Type::boolean, "", "", "true",
            "Enlarge the chunk cache of a dataset whose chunks leave it before they are used "
            "again."},
    Setting{"assume_cache", "HEADRACE_TUNE_ASSUME_CACHE", Type::size, "", "bytes", "0",
            "What HDF5's chunk caches are taken to hold, to try the rule on small data; 0 takes "
            "what they hold."},
    Setting{"sieve", "HEADRACE_TUNE_SIEVE", Type::size, "", "bytes", "0",
            "The buffer through which small parts of a contiguous dataset are read and written; "
            "0 leaves HDF5's."},
    Setting{"conversion_buffer", "HEADRACE_TUNE_CONVERSION_BUFFER", Type::size, "", "bytes", "0",
            "The buffer through which elements go whose type in memory is not that in the file; 0 "
            "leaves HDF5's."},
    Setting{"metadata_block", "HEADRACE_TUNE_METADATA_BLOCK", Type::size, "", "bytes", "0",
            "What HDF5 sets aside in the file for metadata at a time; 0 leaves HDF5's."},
    Setting{"metadata_cache", "HEADRACE_TUNE_METADATA_CACHE", Type::size, "", "bytes", "0",
            "The size that the cache of metadata has in the beginning; 0 leaves HDF5's."},
    Setting{"page_buffer", "HEADRACE_TUNE_PAGE_BUFFER", Type::size, "", "bytes", "0",
            "The buffer for pages of files that are made of pages, of one process; 0 is none."},
    Setting{"alignment", "HEADRACE_TUNE_ALIGNMENT", Type::size, "", "bytes", "0",
            "What is at least as large in the file begins at a multiple of it; 0 leaves HDF5's."},
    Setting{"collective_metadata", "HEADRACE_TUNE_COLLECTIVE_METADATA", Type::boolean, "", "",
            "false",
            "Over MPI: one rank reads metadata for all, and ranks write theirs together. Only for "
            "programs whose ranks make all calls together, others hang."},
    Setting{"read_once", "HEADRACE_TUNE_READ_ONCE", Type::boolean, "", "", "false",
            "Over MPI: where all ranks read a whole dataset together, one reads it and sends it to "
            "the others."},
    Setting{
        "check_ranks", "HEADRACE_TUNE_CHECK_RANKS", Type::boolean, "", "", "false",
        "Over MPI: a flush or close fails where ranks have not kept apart since the one before, "
        "as async(mpi_staging=true) and log(mpi_logs=rank) demand."},
    Setting{"cb_nodes", "HEADRACE_TUNE_CB_NODES", Type::integer, "", "", "0",
            "Hint for MPI-IO: ranks that write and read for all in collective transfers; 0 gives "
            "none."},
    Setting{"cb_buffer_size", "HEADRACE_TUNE_CB_BUFFER_SIZE", Type::size, "", "bytes", "0",
            "Hint for MPI-IO: the buffer of each of those ranks; 0 gives none."},
    Setting{"data_sieving", "HEADRACE_TUNE_DATA_SIEVING", Type::choice,
            "default|automatic|enable|disable", "", "default",
            "Hint for MPI-IO (romio_ds_write): whether small pieces are written by reading and "
            "writing all that lies between them."},
    Setting{"striping_factor", "HEADRACE_TUNE_STRIPING_FACTOR", Type::integer, "", "", "0",
            "Hint for MPI-IO: over how many storage targets a new file is striped; 0 gives none."},
    Setting{"striping_unit", "HEADRACE_TUNE_STRIPING_UNIT", Type::size, "", "bytes", "0",
            "Hint for MPI-IO: the size of stripes of a new file; 0 gives none."},
    Setting{"libver", "HEADRACE_TUNE_LIBVER", Type::choice, "default|latest", "", "default",
            "With allow=layout: new objects have the newest format that this HDF5 knows."},
    Setting{"page", "HEADRACE_TUNE_PAGE", Type::size, "", "bytes", "0",
            "With allow=layout: new files are made of pages of this size, which HDF5 1.10.1 and "
            "newer read; 0 leaves it to the program."},
    Setting{"compact", "HEADRACE_TUNE_COMPACT", Type::size, "", "bytes", "0",
            "With allow=layout: new datasets that are at most as large are stored in their "
            "headers; 0 leaves it to the program."},
    Setting{"chunk", "HEADRACE_TUNE_CHUNK", Type::string, "", "elements", "",
            "With allow=layout: the extent of chunks of new datasets with as many dimensions, such "
            "as 16x512x512; empty leaves it to the program."},
    Setting{"deflate", "HEADRACE_TUNE_DEFLATE", Type::choice, "default|0|1|2|3|4|5|6|7|8|9", "",
            "default",
            "With allow=layout: the level at which chunks of new datasets are compressed, 0 for "
            "not at all."},
    Setting{"fill", "HEADRACE_TUNE_FILL", Type::choice, "default|never", "", "default",
            "With allow=layout: never puts no fill value where a new dataset is not written: "
            "whatever lies there is read."},
};

}  // namespace headrace::tune
