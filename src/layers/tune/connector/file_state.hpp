// What the layer keeps with a file. The application's thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "layers/tune/connector/options.hpp"
#include "layers/tune/connector/rules/rank_check.hpp"
#include "vol/dataset/elements.hpp"
#include "vol/file/file_facts.hpp"
#include "vol/file/info.hpp"

namespace headrace::tune {

struct OpenFile;  // layers/tune/driver/deferred_fill.hpp

// A property of an access list that was changed, by HDF5's name for it.
struct Changed {
  std::string property;
  std::vector<std::byte> before;
};

// How the file is made that is being created; of one that is being opened it is not known.
struct FileForm {
  bool pages = true;       // whether it may be made of pages
  hsize_t page = 0;        // bytes of each
  hsize_t user_block = 0;  // bytes before it
  bool roomy = true;       // whether addresses have the usual length
};

struct FileState {
  // Throws Error as TuneOptions does.
  FileState(const Options& given, const vol::Opening& opening);

  TuneOptions options;
  DatasetOptions of_datasets;         // as far as they do not depend on a path
  std::string name;                   // as the program has opened it
  bool parallel;                      // whether ranks have opened it together
  bool writes;                        // whether the program may write to it
  std::vector<Changed> changed;       // in the list that it is open with
  bool over_async = false;            // that layer, and then native HDF5, are below
  bool may_reopen = false;            // whether its datasets may be closed and opened anew
  std::set<vol::Identity> grown;      // datasets of which the chunk cache is enlarged
  std::set<vol::Identity> relaid;     // datasets that are stored otherwise than the program says
  std::shared_ptr<OpenFile*> driver;  // null where no fill values are kept back
  CommunicatorHandle ranks;           // null where none are asked for anything
  bool shares_reads = false;          // with these ranks
  std::unique_ptr<RankCheck> check;   // whether these ranks keep apart; null where nobody asks
  Id<Kind::plist> transfer_list;      // in place of HDF5's default; none where that is left

  // `object`: an open one of that type, through which the dataset is reached by `name`; null where
  // it is the dataset, and empty for one without a name.
  [[nodiscard]] DatasetOptions options_of(const vol::Object& object, H5I_type_t type,
                                          const char* name) const;
};

// What is to be kept with a file that is about to be created or opened. Collective over MPI: throws
// Error, on all ranks, where it is malformed on one, or options are not the same on all.
std::shared_ptr<FileState> agreed_state(const vol::Layer& layer, const vol::Opening& opening);

// Counts for the report.
struct Statistics {
  std::uint64_t lists = 0;         // properties of access lists
  std::uint64_t caches = 0;        // of chunks, enlarged
  std::uint64_t cache_bytes = 0;   // that those were enlarged to
  std::uint64_t reads_shared = 0;  // that one rank has made for all
  std::uint64_t layouts = 0;       // datasets and files created otherwise
  std::uint64_t beyond = 0;        // not enlarged, as the memory did not suffice
};
Statistics& statistics();
// Writes them into the report and starts counting anew.
void report_statistics();

}  // namespace headrace::tune
