#include "layers/stripe/driver/placement.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "base/report/printable.hpp"
#include "layers/stripe/settings.hpp"

namespace headrace::stripe {
namespace {

constexpr std::uint64_t kDefaultStripe = std::uint64_t{32} << 20U;
constexpr std::uint64_t kMostFiles = 1'000'000;
constexpr std::uint64_t kMostStripe = std::uint64_t{1} << 62U;

// Empty where it is not set. HDF5 reads these at each open, too.
std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::uint64_t number_from(const char* name, std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size() || number < 1)
    throw Error(std::string(name) + "=" + printable(text) + " is no number above 0");
  return number;
}

std::uint64_t number_from(const char* name) {
  const std::string_view text = environment(name);
  return text.empty() ? 0 : number_from(name, text);
}

// H5FD_SUBFILING_IOC_SELECTION_CRITERIA is KIND:NUMBER, with the kinds of HDF5's
// H5FD_subfiling_ioc_select_t. A number alone is for the kind in the access list of HDF5's own
// driver, whose default, one for each node, takes none.
void read_criteria(Placement& placement) {
  constexpr const char* kName = "H5FD_SUBFILING_IOC_SELECTION_CRITERIA";
  const std::string_view text = environment(kName);
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view kind = text.substr(0, colon);
  const std::string_view number = text.substr(colon + 1);
  if (kind == "1") {
    placement.per = Placement::Per::rank;
    placement.every = number_from(kName, number);
    placement.files = 1;
  } else if (kind == "3") {
    placement.per = Placement::Per::total;
    placement.files = number_from(kName, number);
  } else if (kind != "0") {
    throw Error(std::string(kName) + "=" + printable(text) +
                " is neither 0 (one subfile for each node), 1:N (for every Nth rank) nor 3:N (in "
                "all)");
  }
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(':'));
    if (!part.empty()) parts.emplace_back(part);
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return parts;
}

}  // namespace

Placement::Placement(const Options& options)
    : stripe(headrace::number_of(kSettings, "size", options)),
      files(headrace::number_of(kSettings, "files", options)),
      folders{value_of(kSettings, "config_dir", options),
              split(value_of(kSettings, "dirs", options)),
              {}},
      local(is_on(kSettings, "local", options)),
      threads(static_cast<unsigned>(
          std::min<std::uint64_t>(headrace::number_of(kSettings, "threads", options), 1024))),
      sync(is_on(kSettings, "sync", options)),
      checksums(is_on(kSettings, "checksums", options)) {
  if (value_of(kSettings, "aggregate", options) == "node")
    aggregate =
        std::max<std::uint64_t>(headrace::number_of(kSettings, "aggregate_size", options), 1);
  const std::string when = value_of(kSettings, "fuse", options);
  if (when == "close") fuse = Fuse::close;
  if (when == "background") fuse = Fuse::background;
  const std::string counted = value_of(kSettings, "per", options);
  if (counted == "rank") per = Per::rank;
  if (counted == "total") per = Per::total;
  if (files == 0 && per == Per::node) {
    read_criteria(*this);
    if (per == Per::node) files = number_from("H5FD_SUBFILING_IOC_PER_NODE");
  }
  if (stripe == 0) stripe = number_from("H5FD_SUBFILING_STRIPE_SIZE");
  if (stripe == 0) stripe = kDefaultStripe;
  if (stripe > kMostStripe) throw Error("stripe: size is too large");
  if (folders.subfiles.empty())
    if (const auto prefix = environment("H5FD_SUBFILING_SUBFILE_PREFIX"); !prefix.empty())
      folders.subfiles.emplace_back(prefix);
  if (folders.config.empty()) folders.config = environment("H5FD_SUBFILING_CONFIG_FILE_PREFIX");
}

engine::StripeLayout Placement::layout(Communicator& ranks) const {
  std::uint64_t groups = 1;
  const auto size = static_cast<std::uint64_t>(ranks.size());
  if (per == Per::rank) groups = (size + every - 1) / every;
  if (per == Per::node) {
    const std::vector<int> nodes = nodes_of(ranks);
    groups = std::set<int>(nodes.begin(), nodes.end()).size();
  }
  const std::uint64_t each_folder = files > 0 ? 0 : folders.subfiles.size() * (local ? groups : 1);
  const std::uint64_t count =
      std::max<std::uint64_t>(groups * std::max<std::uint64_t>(files, 1), each_folder);
  if (count > kMostFiles)
    throw Error("stripe: " + std::to_string(count) + " subfiles are more than " +
                std::to_string(kMostFiles));
  return {stripe, static_cast<std::uint32_t>(count)};
}

}  // namespace headrace::stripe
