// The layer's options: of a file, and of a dataset in it, for which a file of patterns may say
// something else. The application's thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/settings/settings.hpp"
#include "hdf5/api.hpp"

namespace headrace::tune {

// Options for what fits both patterns, in which `*` and `?` stand for any characters (fnmatch(3)).
struct Pattern {
  std::string file;     // of its name as the program opens it, or of the last part of that
  std::string dataset;  // of its path; empty where the options are the file's
  Options options;
};

// What a file in TOML says: docs/guide/tune.md. Throws Error that names file, line and key.
std::vector<Pattern> read_patterns(const std::string& path);
// Whether options name a file of patterns.
bool has_patterns(const Options& options);
// The same for its text.
std::vector<Pattern> parse_patterns(std::string_view text, const std::string& path);

struct DatasetOptions {
  // Throws Error for a malformed option, and for one that `allow` does not.
  explicit DatasetOptions(const Options& options);

  bool chunk_cache;
  std::uint64_t assume_cache;
  std::uint64_t compact;
  std::vector<hsize_t> chunk;
  std::optional<unsigned> deflate;
  bool never_fill;

  // Whether datasets are created otherwise than the program says.
  [[nodiscard]] bool change_layout() const {
    return compact > 0 || !chunk.empty() || deflate || never_fill;
  }
};

// The options of a file and of what is in it.
class TuneOptions {
 public:
  // `name`: the file's, as the program opens it. Throws Error for a malformed option, for one that
  // `allow` does not, and for a file of patterns that cannot be read.
  TuneOptions(const Options& given, const std::string& name);

  std::uint64_t memory = 0;
  std::uint64_t sieve = 0;
  std::uint64_t conversion_buffer = 0;
  std::uint64_t metadata_block = 0;
  std::uint64_t metadata_cache = 0;
  std::uint64_t page_buffer = 0;
  std::uint64_t alignment = 0;
  bool collective_metadata = false;
  bool read_once = false;
  bool check_ranks = false;
  bool newest_format = false;
  std::uint64_t page = 0;
  std::vector<std::pair<std::string, std::string>> hints;  // for MPI-IO, by their keys

  // Whether datasets may be created otherwise than the program says.
  [[nodiscard]] bool may_change_layout() const { return changes_layout_; }
  // Whether it depends on the path what is done with a dataset.
  [[nodiscard]] bool depend_on_path() const { return depend_on_path_; }
  // All of them, for comparison.
  [[nodiscard]] std::string text() const;
  // `path`: the dataset's in the file; empty for one without a name.
  [[nodiscard]] DatasetOptions of_dataset(const std::string& path) const;

 private:
  TuneOptions(Options given, std::vector<Pattern> patterns);

  Options given_;
  std::vector<Pattern> patterns_;  // for this file and what is in it
  Options all_;                    // of the file
  bool depend_on_path_;
  bool changes_layout_ = false;
};

}  // namespace headrace::tune
