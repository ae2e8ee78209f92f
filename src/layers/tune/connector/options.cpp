#include "layers/tune/connector/options.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ranges>

#include "base/error.hpp"
#include "layers/tune/settings.hpp"

namespace headrace::tune {
namespace {

// Those that readers of the file may notice.
constexpr std::array<std::string_view, 6> kLayout{"libver", "page",    "compact",
                                                  "chunk",  "deflate", "fill"};
constexpr std::uint64_t kSmallestPage = 512;
constexpr std::uint64_t kLargestPage = std::uint64_t{1} << 30U;
// Those that MPI-IO has by another name.
constexpr std::string_view kDataSieving = "romio_ds_write";

std::string value(std::string_view option, const Options& options) {
  return value_of(kSettings, option, options);
}
std::uint64_t number(std::string_view option, const Options& options) {
  return number_of(kSettings, option, options);
}
bool on(std::string_view option, const Options& options) {
  return is_on(kSettings, option, options);
}

void require_consent(const Options& options) {
  if (value("allow", options) == "layout") return;
  for (const std::string_view option : kLayout) {
    const auto& setting = *std::ranges::find(kSettings, option, &Setting::option);
    if (value(option, options) != setting.fallback)
      throw Error("layer tune: " + std::string(option) +
                  "= changes how objects are stored, which readers of the file may notice; it "
                  "takes effect with allow=layout only");
  }
}

std::uint64_t page_of(const Options& options) {
  const std::uint64_t page = number("page", options);
  if (page != 0 && (page < kSmallestPage || page > kLargestPage))
    throw Error("setting page: HDF5's pages have 512 bytes to 1 GiB, not " + std::to_string(page));
  return page;
}

std::vector<hsize_t> extent(const std::string& text) {
  std::vector<hsize_t> dims;
  if (text.empty()) return dims;
  for (const auto part : std::views::split(text, 'x')) {
    hsize_t length = 0;
    const char* const end = std::ranges::data(part) + std::ranges::size(part);
    const auto [last, code] = std::from_chars(std::ranges::data(part), end, length);
    if (code != std::errc() || last != end || length == 0)
      throw Error("setting chunk: '" + text + "' is not an extent such as 16x512x512");
    dims.push_back(length);
  }
  return dims;
}

std::vector<std::pair<std::string, std::string>> hints_of(const Options& options) {
  std::vector<std::pair<std::string, std::string>> hints;
  for (const std::string_view option :
       {"cb_nodes", "cb_buffer_size", "striping_factor", "striping_unit"})
    if (const std::uint64_t wanted = number(option, options); wanted > 0)
      hints.emplace_back(option, std::to_string(wanted));
  if (const std::string wanted = value("data_sieving", options); wanted != "default")
    hints.emplace_back(kDataSieving, wanted);
  return hints;
}

bool fits(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

bool fits_file(const std::string& pattern, const std::string& name) {
  return pattern.empty() || fits(pattern, name) || fits(pattern, name.substr(name.rfind('/') + 1));
}

Options with(Options options, const Options& more) {
  for (const auto& [option, text] : more) options.insert_or_assign(option, text);
  return options;
}

std::vector<Pattern> patterns_for(const Options& given, const std::string& name) {
  const std::string path = value("rules", given);
  std::vector<Pattern> patterns = path.empty() ? std::vector<Pattern>() : read_patterns(path);
  std::erase_if(patterns, [&](const Pattern& one) { return !fits_file(one.file, name); });
  return patterns;
}

bool is_of_dataset(const Pattern& one) { return !one.dataset.empty(); }

// What is said of the file as a whole, and so of what is in it.
Options with_file(Options options, const std::vector<Pattern>& patterns) {
  for (const Pattern& one : patterns)
    if (!is_of_dataset(one)) options = with(std::move(options), one.options);
  return options;
}

}  // namespace

bool has_patterns(const Options& options) { return !value("rules", options).empty(); }

DatasetOptions::DatasetOptions(const Options& options)
    : chunk_cache(on("chunk_cache", options)),
      assume_cache(number("assume_cache", options)),
      compact(number("compact", options)),
      chunk(extent(value("chunk", options))),
      never_fill(value("fill", options) == "never") {
  require_consent(options);
  if (const std::string level = value("deflate", options); level != "default")
    deflate = static_cast<unsigned>(level.front() - '0');
}

TuneOptions::TuneOptions(const Options& given, const std::string& name)
    : TuneOptions(given, patterns_for(given, name)) {}

TuneOptions::TuneOptions(Options given, std::vector<Pattern> patterns)
    : given_(std::move(given)),
      patterns_(std::move(patterns)),
      all_(with_file(given_, patterns_)),
      depend_on_path_(std::ranges::any_of(patterns_, is_of_dataset)) {
  memory = number("memory", all_);
  sieve = number("sieve", all_);
  conversion_buffer = number("conversion_buffer", all_);
  metadata_block = number("metadata_block", all_);
  metadata_cache = number("metadata_cache", all_);
  page_buffer = number("page_buffer", all_);
  alignment = number("alignment", all_);
  collective_metadata = on("collective_metadata", all_);
  read_once = on("read_once", all_);
  check_ranks = on("check_ranks", all_);
  newest_format = value("libver", all_) == "latest";
  page = page_of(all_);
  hints = hints_of(all_);
  changes_layout_ = DatasetOptions(all_).change_layout();
  for (const Pattern& one : patterns_)
    changes_layout_ = DatasetOptions(with(all_, one.options)).change_layout() || changes_layout_;
}

DatasetOptions TuneOptions::of_dataset(const std::string& path) const {
  Options options = given_;
  for (const Pattern& one : patterns_)
    if (!is_of_dataset(one) || fits(one.dataset, path))
      options = with(std::move(options), one.options);
  return DatasetOptions(options);
}

std::string TuneOptions::text() const {
  std::string all;
  for (const Setting& setting : kSettings) all += value_of(setting, all_) + ";";
  for (const Pattern& one : patterns_) {
    all += one.dataset + ":";
    for (const auto& [option, text] : one.options) all.append(option).append(text + ";");
  }
  return all;
}

}  // namespace headrace::tune
