// From settings to cases: what goes with what.
#include <set>

#include "base/error.hpp"
#include "kernels/iotest/file.hpp"
#include "kernels/iotest/settings.hpp"
#include "world.hpp"

namespace headrace::bench::iotest {

void Settings::set_grid(Parameters& p, std::uint64_t ranks) const {
  const bool rows = given("process-rows");
  const bool columns = given("process-columns");
  p.process_rows = rows ? number("process-rows", 1) : 1;
  p.process_columns = columns ? number("process-columns", 1) : ranks / p.process_rows;
  if (columns && !rows) p.process_rows = ranks / p.process_columns;
  std::uint64_t product = 0;
  if (!__builtin_mul_overflow(p.process_rows, p.process_columns, &product) && product == ranks)
    return;
  const std::string processes = ranks == 1 ? "1 process" : std::to_string(ranks) + " processes";
  complain(rows ? "process-rows" : "process-columns",
           "process-rows times process-columns must be the number of processes, and there " +
               std::string(ranks == 1 ? "is " : "are ") + processes +
               (rows && columns ? ", not " + text("process-rows") + " x " + text("process-columns")
                                : ""));
}

void Settings::set_szip(Parameters& p) const {
  if (!given("szip")) return;
  constexpr unsigned kMostPixels = 32;
  const std::string mine = text("szip");
  const auto comma = mine.find_first_of(", ");
  const std::string mask = mine.substr(0, comma);
  const auto digit = comma == std::string::npos ? comma : mine.find_first_not_of(", ", comma);
  if (mask != "H5_SZIP_EC_OPTION_MASK" && mask != "H5_SZIP_NN_OPTION_MASK")
    complain("szip",
             "allowed are H5_SZIP_EC_OPTION_MASK or H5_SZIP_NN_OPTION_MASK and, after a "
             "comma, pixels per block");
  p.szip_mask = mask == "H5_SZIP_EC_OPTION_MASK" ? H5_SZIP_EC_OPTION_MASK : H5_SZIP_NN_OPTION_MASK;
  const std::string pixels = digit == std::string::npos ? "" : mine.substr(digit);
  p.szip_pixels = static_cast<unsigned>(number_of("szip", pixels, 2, kMostPixels));
  if (p.szip_pixels % 2 != 0) complain("szip", "pixels per block must be even");
  if (named("gzip") && text("gzip") != "0") complain("szip", "not together with gzip");
  unsigned how = 0;
  if (H5Zfilter_avail(H5Z_FILTER_SZIP) <= 0 || H5Zget_filter_info(H5Z_FILTER_SZIP, &how) < 0 ||
      (how & H5Z_FILTER_CONFIG_ENCODE_ENABLED) == 0)
    complain("szip", "HDF5 " + hdf5_library().version + " in " + hdf5_library().path +
                         " is built without szip's encoder");
}

Parameters Settings::common(std::uint64_t ranks) const {
  constexpr int kLongestName = 200;
  Parameters p;
  (void)value("version");
  (void)value("async");  // only 0 is allowed
  p.steps = number("steps", 1);
  p.arrays = number("arrays", 1);
  p.rows = number("rows", 1);
  p.columns = number("columns", 1);
  set_grid(p, ranks);
  set_szip(p);
  p.delay = duration("delay");
  p.restart = truth("restart");
  p.csv = text("csv-file");
  if (p.restart && p.csv.empty()) complain("restart", "needs csv-file, to see what is done");
  p.hdf5_file = text("hdf5-file");
  if (p.hdf5_file.empty() || p.hdf5_file.size() > kLongestName || p.hdf5_file[0] == '.' ||
      p.hdf5_file.find('/') != std::string::npos)
    complain("hdf5-file",
             "allowed are names of files that do not begin with a dot, without "
             "folders: the data lie below --dir");
  return p;
}

template <typename Set>
void Settings::span(std::vector<Parameters>& all, std::string_view key, const Set& set) const {
  std::vector<Parameters> more;
  const auto choices = values(key);
  for (const Parameters& each : all)
    for (const std::string& choice : choices) set(more.emplace_back(each), choice);
  all = std::move(more);
}

template <typename Set>
void Settings::span_numbers(std::vector<Parameters>& all, std::string_view key, std::uint64_t least,
                            const Set& set) const {
  span(all, key, [&](Parameters& p, const std::string& text) {
    set(p, number_of(key, text, least, std::uint64_t{1} << 62U));
  });
}

std::vector<Parameters> Settings::spanned(const Parameters& base) const {
  using Text = const std::string&;
  std::vector<Parameters> all{base};
  span(all, "scaling", [](Parameters& p, Text v) { p.strong = v == "strong"; });
  span(all, "single-process", [](Parameters& p, Text v) { p.single_process = v; });
  span(all, "dataset-rank", [](Parameters& p, Text v) { p.dataset_rank = v[0] - '0'; });
  span(all, "slowest-dimension", [](Parameters& p, Text v) { p.step_first = v == "step"; });
  span(all, "layout", [](Parameters& p, Text v) { p.chunked = v == "chunked"; });
  span(all, "gzip", [](Parameters& p, Text v) { p.gzip = static_cast<unsigned>(v[0] - '0'); });
  span(all, "fill-values", [](Parameters& p, Text v) { p.fill = v == "true"; });
  span_numbers(all, "alignment-increment", 1,
               [](Parameters& p, std::uint64_t v) { p.alignment_increment = v; });
  span_numbers(all, "alignment-threshold", 0,
               [](Parameters& p, std::uint64_t v) { p.alignment_threshold = v; });
  span_numbers(all, "meta-block-size", 0,
               [](Parameters& p, std::uint64_t v) { p.meta_block_size = v; });
  span(all, "libver-bound-low", [](Parameters& p, Text v) { p.libver_low = v; });
  span(all, "libver-bound-high", [](Parameters& p, Text v) { p.libver_high = v; });
  span(all, "split", [](Parameters& p, Text v) { p.split = v == "1"; });
  span(all, "mpi-io", [](Parameters& p, Text v) { p.collective = v == "collective"; });
  return possible(all);
}

bool Settings::wanted(const Parameters& p) const {
  // One process has nobody to transfer with.
  if (p.ranks() == 1 && p.collective && !given("mpi-io")) return false;
  if (p.ranks() > 1 && p.compressed() && !p.collective) return false;
  const bool all_bounds = text("libver-bound-low") == "all" || text("libver-bound-high") == "all";
  return !all_bounds || wrong_bounds(p).empty();
}

std::vector<Parameters> Settings::possible(const std::vector<Parameters>& all) const {
  std::vector<Parameters> left;
  std::set<std::string> names;
  for (Parameters each : all) {
    if (!each.chunked) each.gzip = each.szip_pixels = 0;
    if (wanted(each) && names.insert(each.name()).second) left.push_back(each);
  }
  if (left.empty()) complain("libver-bound-low", "no case is left");
  return left;
}

void Settings::check_sizes(const Parameters& p) const {
  if (p.strong && p.rows % p.process_rows != 0)
    complain("rows", "with strong scaling, process-rows (" + std::to_string(p.process_rows) +
                         ") must divide it");
  if (p.strong && p.columns % p.process_columns != 0)
    complain("columns", "with strong scaling, process-columns (" +
                            std::to_string(p.process_columns) + ") must divide it");
  std::uint64_t product = sizeof(double);
  const std::uint64_t processes = p.strong ? 1 : p.ranks();
  for (const std::uint64_t factor : {p.steps, p.arrays, p.rows, p.columns, processes})
    if (__builtin_mul_overflow(product, factor, &product) || product > std::uint64_t{1} << 62U)
      complain("steps", "all arrays of all steps together are larger than 4 EiB");
}

void Settings::check_compression(std::uint64_t ranks) const {
  const auto levels = values("gzip");
  const bool gzip = levels.size() > 1 || levels.front() != "0";
  if (!gzip && !given("szip")) return;
  const std::string_view key = gzip ? "gzip" : "szip";
  if (gzip && H5Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0)
    complain(key, "HDF5 " + hdf5_library().version + " in " + hdf5_library().path +
                      " is built without it");
  if (text("layout") == "contiguous")
    complain(key, "only chunks are compressed, and layout is contiguous");
  const auto modes = values("mpi-io");
  if (ranks > 1 && named("mpi-io") && modes.front() == "independent")
    complain("mpi-io", "several processes write compressed chunks only collectively, and " +
                           std::string(key) + " is " + text(key));
}

std::string Settings::wrong_bounds(const Parameters& p) {
  const std::string version = "HDF5 " + hdf5_library().version;
  const int low = libver_bound(p.libver_low);
  const int high = libver_bound(p.libver_high);
  if (low < 0) return version + " does not know " + p.libver_low;
  if (high < 0) return version + " does not know " + p.libver_high;
  if (high == 0) return version + " cannot write earliest and nothing newer";
  if (low > high) return "libver-bound-low " + p.libver_low + " is newer than " + p.libver_high;
  return {};
}

void Settings::check_bounds(const Parameters& p) const {
  if (const std::string wrong = wrong_bounds(p); !wrong.empty())
    complain(given("libver-bound-high") ? "libver-bound-high" : "libver-bound-low", wrong);
}

void Settings::check_split(const Parameters& p) const {
  if (p.split && (p.ranks() > 1 || p.single_process == "mpi-io-uni"))
    complain("split", "HDF5's split driver does not work over MPI-IO");
}

}  // namespace headrace::bench::iotest
