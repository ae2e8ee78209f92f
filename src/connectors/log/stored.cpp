#include "connectors/log/stored.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/events.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "connectors/log/logged.hpp"
#include "connectors/log/opened.hpp"
#include "connectors/log/opening.hpp"
#include "connectors/log/replay.hpp"
#include "connectors/log/settings.hpp"
#include "connectors/log/sidecar.hpp"
#include "hdf5/error_stack.hpp"

namespace headrace::log_layout {
namespace {

using engine::log::Layers;
using engine::log::LoggedDataset;
using engine::log::Reader;

// Calls action(object) with the dataset of a log, and sees to it that all of it is in the file
// then.
template <typename Action>
void with_object(const Place& place, const vol::UnderRef& connector, const LoggedDataset& logged,
                 const Action& action) {
  H5O_token_t token{};
  static_assert(sizeof token == sizeof logged.token);
  std::memcpy(&token, logged.token.data(), sizeof token);
  H5VL_loc_params_t where{H5I_FILE, H5VL_OBJECT_BY_TOKEN, {}};
  where.loc_data.loc_by_token.token = &token;
  Opened opened(place.below, where);
  if (opened.under() == nullptr || opened.type() != H5I_DATASET)
    throw Error("dataset " + logged.name + " of the log is not in file " + place.path);
  vol::Object object{opened.under(), connector};
  try {
    action(object);
  } catch (const Error& error) {  // HDF5 does not know the name of what was opened by its token
    throw Error("replaying dataset " + logged.name + " of file " + place.path +
                " failed: " + error.what());
  }
  if (!opened.close())
    throw Error("dataset " + logged.name + " of file " + place.path +
                " could not be closed, and misses data: " + root_cause());
}

bool is_of(const LoggedDataset& logged, const H5O_token_t& token) {
  return std::memcmp(logged.token.data(), &token, logged.token.size()) == 0;
}

// Whether the dataset has the name that it had when it was logged, if it had one then.
bool is_there(const Place& place, const LoggedDataset& logged) {
  constexpr std::size_t kCutOff = 1023;  // the longest that vol::name_of() tells
  if (logged.name.empty() || logged.name.size() >= kCutOff) return true;
  H5VL_loc_params_t where{H5I_FILE, H5VL_OBJECT_BY_NAME, {}};
  where.loc_data.loc_by_name = {logged.name.c_str(), h5.default_lists.front().get()};
  const Opened opened(place.below, where);
  const auto number = number_of(place.below);
  return opened.under() != nullptr && opened.type() == H5I_DATASET && number &&
         opened.in_file(*number) && is_of(logged, opened.token());
}

// The first filter of a dataset that may give other values back than it was given; else empty.
std::string inexact_filter(const vol::Object& dataset) {
  // Deflate, shuffle, Fletcher32, SZIP, BZip2, LZF, Blosc, LZ4, Bitshuffle and Zstd.
  constexpr auto kExact =
      std::to_array<H5Z_filter_t>({1, 2, 3, 4, 307, 32000, 32001, 32004, 32008, 32015});
  const Id<Kind::plist> dcpl(vol::get(dataset, H5VL_DATASET_GET_DCPL).args.get_dcpl.dcpl_id);
  const int filters = h5.Pget_nfilters(dcpl.get());
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    std::array<char, 256> name{};
    const H5Z_filter_t id = h5.Pget_filter2(dcpl.get(), static_cast<unsigned>(i), &flags, &values,
                                            nullptr, name.size(), name.data(), nullptr);
    if (std::ranges::find(kExact, id) == kExact.end())
      return std::string(name.data()) + " (filter " + std::to_string(id) + ')';
  }
  return {};
}

}  // namespace

void retire(const Place& place, const engine::log::Owner& owner) {
  // Until all of the data is in the file the marker says that it is not.
  flush(place.below);
  if (place.sync) sync_file(place.path);
  // A program may have removed it, or put something else in its place.
  if (marks(place.below, owner)) remove_marker(place.below);
  flush(place.below);
  if (place.sync) sync_file(place.path);
  remove_log(place.path, owner);
}

Stored::Stored(Place place, const engine::log::Owner& owner, const Options& options)
    : place_(std::move(place)), owner_(owner) {
  const std::string path = log_path(place_.path, owner);
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0)
    throw Error("a part of its data is in log " + path + ", which cannot be opened", errno);
  try {
    read(path, is_on(kSettings, "recover", options));
    find_datasets(is_on(kSettings, "skip_missing", options));
  } catch (const std::exception& error) {
    ::close(descriptor_);
    // One text, as programs show the innermost cause only.
    throw Error("log " + path + " cannot be used: " + error.what());
  }
}

Stored::~Stored() { ::close(descriptor_); }

void Stored::read(const std::string& path, bool recover) {
  const std::uint64_t size = size_of(descriptor_);
  reader_ = std::make_unique<Reader>(engine::posix_device(descriptor_, path.c_str()), size);
  if (reader_->owner() != owner_) throw Error("it belongs to another file");
  if (const auto damage = reader_->damage()) throw Error(*damage);
  if (reader_->closed()) return;
  if (!recover)
    throw Error("the program that wrote file " + place_.path +
                " did not close it; `headrace recover` takes what its flushes cover");
  const std::uint64_t uncovered = size - reader_->covered();
  if (uncovered == 0) return;
  log(Level::warning, "log " + path + " ends with " + std::to_string(uncovered) +
                          " bytes that no flush of the program covers");
  report("uncovered_bytes", uncovered);
}

void Stored::report(std::string_view name, std::uint64_t value) const {
  const std::array<std::pair<std::string_view, std::uint64_t>, 1> told{{{name, value}}};
  report_statistics(Seat::vol, "headrace_log", place_.path, told);
}

// A dataset that was deleted may have another one in its place, which nothing but the name tells.
void Stored::find_datasets(bool skip_missing) {
  std::uint64_t missing = 0;
  for (const LoggedDataset& logged : reader_->index().datasets) {
    missing_.push_back(!is_there(place_, logged));
    if (!missing_.back()) continue;
    if (!skip_missing)
      throw Error("dataset " + printable(logged.name) + " of the log is not in file " +
                  place_.path +
                  " under that name any more. If it has another name now, give it back the old "
                  "one; if it was deleted, `headrace replay --skip-missing` drops what the log "
                  "holds of it");
    ++missing;
    log(Level::warning, "dataset " + printable(logged.name) + " of log " +
                            log_path(place_.path, owner_) + " is not in file " + place_.path);
  }
  if (missing > 0) report("missing_datasets", missing);
}

void Stored::replay(const vol::UnderRef& connector, bool verify) const {
  const auto datasets = static_cast<std::uint32_t>(reader_->index().datasets.size());
  for (std::uint32_t i = 0; i < datasets; ++i) {
    replay(connector, i, verify);
    report_replayed(Seat::vol, "headrace_log", place_.path,
                    printable(reader_->index().datasets[i].name));
  }
  retire(place_, owner_);
}

void Stored::replay(const vol::UnderRef& connector, std::uint32_t number, bool verify) const {
  if (missing_[number]) return;
  Layers layers;
  layers.add(*reader_, number);
  if (layers.empty()) return;
  const LoggedDataset& logged = reader_->index().datasets[number];
  const auto with_dataset = [&](const auto& action) {
    with_object(place_, connector, logged, [&](vol::Object& object) {
      const auto dataset = examine(object);
      if (dataset == nullptr || !vol::update_dims(*dataset, object))
        throw Error("dataset " + logged.name + " is none that is logged");
      require_fit(*dataset, logged, layers, place_.path);
      dataset->handle = &object;
      action(*dataset, layers);
      dataset->flush();  // others may have it open, so that closing it does not
    });
  };
  with_dataset(&log_layout::replay);
  if (!verify) return;
  flush(place_.below);
  with_dataset([&](Dataset& dataset, const Layers& held) {  // opened anew: it comes from the file
    const std::string filter = inexact_filter(*dataset.handle);
    if (filter.empty()) return log_layout::verify(dataset, held);
    report_unverified(Seat::vol, "headrace_log", place_.path, printable(logged.name), filter);
  });
}

bool Stored::holds(const H5O_token_t& token) const {
  const auto& datasets = reader_->index().datasets;
  for (std::size_t i = 0; i < datasets.size(); ++i)
    if (is_of(datasets[i], token) && !missing_[i]) return true;
  return false;
}

std::unique_ptr<Layers> Stored::layers_of(const Dataset& dataset) const {
  auto layers = std::make_unique<Layers>();
  const auto& datasets = reader_->index().datasets;
  for (std::uint32_t i = 0; i < datasets.size(); ++i) {
    if (!is_of(datasets[i], dataset.identity.token) || missing_[i]) continue;
    layers->add(*reader_, i);
    require_fit(dataset, datasets[i], *layers, place_.path);
  }
  return layers->empty() ? nullptr : std::move(layers);
}

}  // namespace headrace::log_layout
