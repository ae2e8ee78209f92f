#include "vfd/file.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "base/settings/connection_string.hpp"
#include "hdf5/access_list.hpp"
#include "hdf5/driver_config.hpp"
#include "hdf5/filters/wheel_filters.hpp"
#include "hdf5/lent_property.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::vfd {
namespace {

constexpr std::array<std::string_view, 2> kUnderKeys{"under", "under_config"};

hid_t driver_below(Over over) {
  if (over == Over::sec2) return h5.sec2_driver();
  if (h5.mpio_driver == nullptr)
    throw Error(library.path + " is not parallel: it has no mpio driver");
  return h5.mpio_driver();
}

// Two files with different drivers of ours in between are one file all the same: opened twice, with
// two sets of caches, they would lose data.
const H5FD_t* below_ours(const H5FD_t* file) {
  do file = File::under_of(file);
  while (std::string_view(file->cls->name).starts_with("headrace_"));
  return file;
}

// What a driver keeps of a file it would find in both places of the chain.
void require_once(const Options& options, const Layer& layer) {
  const std::vector<std::string> below = values_down(options, "under", "under_config");
  if (std::ranges::find(below, layer.name) != below.end())
    throw Error("file driver " + std::string(layer.name) +
                " is below itself (under=): it may be in the chain once");
}

}  // namespace

namespace {

Options options_in(const std::string& config, const Layer& layer) {
  Options options = parse_connection_string(config);
  check_options(options, layer.settings, kUnderKeys, layer.name);
  return options;
}

// The same, where all that may be wrong is to be found.
Options checked_options_in(const std::string& config, const Layer& layer) {
  require_environment();
  Options options = options_in(config, layer);
  if (!layer.repeats) require_once(options, layer);
  return options;
}

bool has_default_below(const Options& options, const Layer& layer) {
  const auto under = options.find("under");
  return under == options.end() || under->second == (layer.over == Over::sec2 ? "sec2" : "mpio");
}

[[noreturn]] void fail_to_load(const std::string& driver) {
  throw Error("file driver " + driver + " (under=) cannot be loaded");
}

// Of a driver that is not the default; null is none.
const char* config_below(const Options& options) {
  const auto config = options.find("under_config");
  return config == options.end() ? nullptr : config->second.c_str();
}

Id<Kind::plist> under_fapl(hid_t fapl, const Options& options, const Layer& layer) {
  Id<Kind::plist> copy = copy_access_list(fapl);
  if (has_default_below(options, layer)) {
    // By id, so that the communicator and hints of an mpio list stay.
    if (h5.Pset_driver(copy.get(), driver_below(layer.over), nullptr) < 0)
      throw Error("the driver below cannot be set");
    return copy;
  }
  const std::string& under = options.find("under")->second;
  const PrivateErrors own;  // h5py shows the first record only: ours tells more
  if (set_driver(copy.get(), under, config_below(options)) < 0) fail_to_load(under);
  return copy;
}

// As a list has the driver below.
LentProperty::Value value_below(const Options& options, const Layer& layer) {
  if (has_default_below(options, layer)) return driver_value(driver_below(layer.over), nullptr);
  const std::string& under = options.find("under")->second;
  const hid_t driver = driver_named(under);
  if (driver < 0) fail_to_load(under);
  return driver_value(driver, config_below(options));
}

H5FD_t* open_below(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr,
                   const Options& options, const Layer& layer) {
  if (layer.over == Over::sec2 && LentProperty::possible()) {
    LentProperty driver;
    if (driver.lend(fapl, LentProperty::kDriver, value_below(options, layer)))
      return h5.FDopen(name, flags, fapl, maxaddr);
  }
  return h5.FDopen(name, flags, under_fapl(fapl, options, layer).get(), maxaddr);
}

}  // namespace

Options options_of(hid_t fapl, const Layer& layer) {
  return options_in(driver_config(fapl), layer);
}

Options options_of(const File& file, const Layer& layer) { return options_in(file.config, layer); }

Id<Kind::plist> under_fapl(hid_t fapl, const Layer& layer) {
  return under_fapl(fapl, checked_options_in(driver_config(fapl), layer), layer);
}

H5FD_t* open_under(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr,
                   const std::string& config, const Layer& layer) {
  restore_wheel_filters();
  H5FD_t* under = open_below(name, flags, fapl, maxaddr, checked_options_in(config, layer), layer);
  if (under == nullptr) return nullptr;
  // family, multi and split keep their layout in the superblock or place bytes by their kind.
  const H5FD_class_t& cls = *under->cls;
  if (cls.sb_encode == nullptr && cls.get_type_map == nullptr && cls.alloc == nullptr) return under;
  const std::string refused = cls.name;
  h5.FDclose(under);
  throw Error("file driver " + refused + " cannot be below " + std::string(layer.name));
}

void* mpi_file_of(H5FD_t* under, hid_t fapl) {
  void* handle = nullptr;
  if (under->cls->get_handle == nullptr || under->cls->get_handle(under, fapl, &handle) < 0)
    return nullptr;
  return handle == nullptr ? nullptr : *static_cast<void**>(handle);
}

Rank rank_below(H5FD_t* under) {
  Rank place;
  void* rank = &place.rank;
  void* ranks = &place.ranks;
  if (const auto control = under->cls->ctl; control != nullptr) {
    // Drivers that do not know a code ignore it.
    control(under, H5FD_CTL_GET_MPI_RANK_OPCODE, 0, nullptr, &rank);
    control(under, H5FD_CTL_GET_MPI_SIZE_OPCODE, 0, nullptr, &ranks);
  }
  return place;
}

std::optional<Rank> rank_in(H5FD_t* under) {
  if (!report_wanted()) return std::nullopt;
  const Rank place = rank_below(under);
  return place.rank < 0 || place.ranks < 0 ? std::nullopt : std::optional(place);
}

int compare_under(const H5FD_t* a, const H5FD_t* b) {
  const H5FD_t* under_a = below_ours(a);
  const H5FD_t* under_b = below_ours(b);
  if (under_a->cls == under_b->cls && under_a->cls->cmp != nullptr)
    return under_a->cls->cmp(under_a, under_b);
  return std::less<>()(under_a, under_b) ? -1 : static_cast<int>(under_a != under_b);
}

herr_t query_under(const H5FD_t* under, unsigned long* flags) {
  *flags = 0;
  return under->cls->query == nullptr ? 0 : under->cls->query(under, flags);
}

herr_t query_default(Over over, unsigned long* flags) {
  return h5.FDdriver_query(driver_below(over), flags);
}

}  // namespace headrace::vfd
