#include <array>

#include "kernels/iotest/settings.hpp"

namespace headrace::bench::iotest {
namespace {

constexpr std::string_view kBoundNames = "earliest,v18,v110,v112,v114,v200,latest";

constexpr std::array kKeys{
    Key{"version", "0", "0", "Version of the INI file"},
    Key{"steps", "20", "", "Steps"},
    Key{"arrays", "500", "", "2-D arrays a step"},
    Key{"rows", "100", "", "Rows of an array: of each process when weak, of all when strong"},
    Key{"columns", "200", "", "Columns of an array, likewise"},
    Key{"process-rows", "", "", "Processes along the rows; 1 when absent"},
    Key{"process-columns", "", "", "Processes along the columns; the others when absent"},
    Key{"scaling", "weak", "weak,strong", "Whether a process or all have the array's size"},
    Key{"dataset-rank", "all", "2,3,4", "A dataset per step and array, per either, or one"},
    Key{"slowest-dimension", "all", "step,array", "What comes first"},
    Key{"layout", "all", "contiguous,chunked", "Storage; a chunk is the tile of a process"},
    Key{"fill-values", "true", "true,false", "Fill when allocated, or never"},
    Key{"alignment-increment", "1", "", "Bytes that objects in the file are aligned to"},
    Key{"alignment-threshold", "0", "", "Bytes from which on objects are"},
    Key{"meta-block-size", "2048", "", "Bytes that metadata are allocated by"},
    Key{"libver-bound-low", "earliest", kBoundNames, "Oldest file format used"},
    Key{"libver-bound-high", "latest", kBoundNames, "Newest file format used"},
    Key{"gzip", "0", "0,1,2,3,4,5,6,7,8,9", "Level that chunks are compressed with; 0: none"},
    Key{"szip", "", "", "H5_SZIP_EC_OPTION_MASK or H5_SZIP_NN_OPTION_MASK, pixels per block"},
    Key{"split", "0", "0,1", "Metadata and data in two files; not under MPI"},
    Key{"mpi-io", "all", "independent,collective", "Transfers; one process: independent"},
    Key{"single-process", "posix", "posix,core,mpi-io-uni", "Driver when there is one process"},
    Key{"hdf5-file", "data.h5", "", "Name in the folder of the case; # is the case's number"},
    Key{"csv-file", "", "", "File that rows are appended to; none when absent"},
    Key{"restart", "0", "0,1", "Leave out what has a row in the CSV file"},
    Key{"one-case", "0", "", "Number of the only case to run; 0: all"},
    Key{"async", "0", "0,false", "Event sets, which are not supported"},
    Key{"delay", "0s", "", "Emulated computation per step: us, ms, s or min"},
};

}  // namespace

std::span<const Key> keys() { return kKeys; }

}  // namespace headrace::bench::iotest
