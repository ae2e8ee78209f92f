#pragma once

#include <array>

#include "base/settings.hpp"

namespace headrace::tune {

inline constexpr std::array kSettings{
    Setting{
        "seat", "HEADRACE_TUNE_SEAT", Type::choice, "vol|both", "", "vol",
        "Where the layer sits: above the native connector (vol), or below it, too (both), where "
        "it writes the fill value of a contiguous dataset only where no data takes its place."},
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
    Setting{"metadata_block", "HEADRACE_TUNE_METADATA_BLOCK", Type::size, "", "bytes", "0",
            "What HDF5 sets aside in the file for metadata at a time; 0 leaves HDF5's."},
    Setting{"metadata_cache", "HEADRACE_TUNE_METADATA_CACHE", Type::size, "", "bytes", "0",
            "The size that the cache of metadata has in the beginning; 0 leaves HDF5's."},
    Setting{"alignment", "HEADRACE_TUNE_ALIGNMENT", Type::size, "", "bytes", "0",
            "What is at least as large in the file begins at a multiple of it; 0 leaves HDF5's."},
};

}  // namespace headrace::tune
