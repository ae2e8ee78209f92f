#include "layers/tune/connector/rules/file_access.hpp"

#include <algorithm>
#include <cstring>

#include "base/report/log.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::tune {
namespace {

using Value = std::vector<std::byte>;

constexpr std::size_t kLargestMetadataCache = std::size_t{128} << 20U;  // H5C__MAX_MAX_CACHE_SIZE

// Empty where this HDF5 has none of that size.
Value value_in(hid_t fapl, const char* property, std::size_t size) {
  std::size_t stored = 0;
  if (h5.Pget_size(fapl, property, &stored) < 0 || stored != size) return {};
  Value value(size);
  if (h5.Pget(fapl, property, value.data()) < 0) value.clear();
  return value;
}

template <typename T>
Value value_of(T number) {
  Value value(sizeof number);
  std::memcpy(value.data(), &number, sizeof number);
  return value;
}

class List {
 public:
  List(vol::FileAccess& access, FileState& state) : access_(access), state_(state) {}

  [[nodiscard]] hid_t fapl() const { return access_.under_fapl(); }
  // What the program has left as HDF5 has it; empty where it has not.
  [[nodiscard]] Value fallback(const char* property, std::size_t size) const {
    Value value = value_in(h5.access_list.get(), property, size);
    return value == value_in(fapl(), property, size) ? value : Value();
  }
  void set(const char* property, const Value& wanted, Value before) {
    if (before.empty() || before == wanted) return;
    if (h5.Pset(access_.own_fapl(), property, wanted.data()) < 0)
      throw Error(std::string("HDF5 does not take ") + property + " for " + state_.name);
    log(Level::info, std::string("tune: ") + property + " of " + state_.name + " is changed");
    ++statistics().lists;
    state_.changed.push_back({property, std::move(before)});
  }
  // A number that has no other property beside it.
  template <typename T>
  void set_number(const char* property, std::uint64_t wanted) {
    if (wanted > 0) set(property, value_of(static_cast<T>(wanted)), fallback(property, sizeof(T)));
  }

 private:
  vol::FileAccess& access_;
  FileState& state_;
};

// Objects smaller than that lie as they did: with a threshold of 0 a file of 2 MB took 4.7 GB. HDF5
// creates no file whose user block is no multiple of it.
void align(List& list, std::uint64_t alignment, hsize_t user_block) {
  if (alignment == 0 || user_block % alignment != 0) return;
  Value threshold = list.fallback("threshold", sizeof(hsize_t));
  Value multiple = list.fallback("align", sizeof(hsize_t));
  unsigned long features = 0;
  h5.FDdriver_query(h5.Pget_driver(list.fapl()), &features);
  if ((features & H5FD_FEAT_PAGED_AGGR) != 0) return;  // it cuts the file into parts of its own
  if (threshold.empty() || multiple.empty()) return;
  const Value wanted = value_of(static_cast<hsize_t>(alignment));
  list.set("threshold", wanted, std::move(threshold));
  list.set("align", wanted, std::move(multiple));
}

// A cache that grows by itself takes a while, in which it throws out what is needed again.
void begin_large(List& list, std::uint64_t bytes) {
  constexpr const char* kProperty = "mdc_initCacheCfg";
  if (bytes == 0) return;
  H5AC_cache_config_t config{};
  Value before = list.fallback(kProperty, sizeof config);
  if (before.empty()) return;
  std::memcpy(&config, before.data(), sizeof config);
  config.set_initial_size = true;
  config.initial_size = std::clamp<std::size_t>(bytes, config.min_size, kLargestMetadataCache);
  config.max_size = std::max(config.max_size, config.initial_size);
  list.set(kProperty, value_of(config), std::move(before));
}

// What the program's default has for the newest is the newest of this HDF5.
void use_newest(List& list) {
  Value newest = list.fallback("libver_high_bound", sizeof(H5F_libver_t));
  Value oldest = list.fallback("libver_low_bound", sizeof(H5F_libver_t));
  if (!newest.empty()) list.set("libver_low_bound", newest, std::move(oldest));
}

bool makes_newer_indexes(hid_t fapl) {
  H5F_libver_t oldest = H5F_LIBVER_LATEST;
  h5.Pget(fapl, "libver_low_bound", &oldest);
  return oldest >= H5F_LIBVER_V110;
}

}  // namespace

bool is_buffered_wrongly(const vol::Object& file) {
  constexpr unsigned kOf1_10 = 3;
  const PrivateErrors own;
  const auto ask = [&](H5VL_file_get_args_t& args) {
    return h5.VLfile_get(file.under, file.connector->id(), &args, h5.transfer_list.get(),
                         nullptr) >= 0;
  };
  std::size_t open = 0;
  H5VL_file_get_args_t count{H5VL_FILE_GET_OBJ_COUNT, {}};
  count.args.get_obj_count = {H5F_OBJ_ALL, &open};
  H5VL_file_get_args_t created{H5VL_FILE_GET_FCPL, {}};
  created.args.get_fcpl.fcpl_id = kInvalidId;
  if (!ask(count) || open > 0 || !ask(created)) return false;
  const Id<Kind::plist> list(created.args.get_fcpl.fcpl_id);
  unsigned superblock = 0;
  return h5.Pget(list.get(), "super_version", &superblock) >= 0 && superblock >= kOf1_10;
}

void change_access(vol::FileAccess& access, FileState& state, const FileForm& form) {
  const PrivateErrors own;
  List list(access, state);
  list.set_number<std::size_t>("sieve_buf_size", state.options.sieve);
  if (form.roomy) list.set_number<hsize_t>("meta_block_size", state.options.metadata_block);
  begin_large(list, state.options.metadata_cache);
  if (form.roomy) align(list, state.options.alignment, form.user_block);
  if (state.options.newest_format) use_newest(list);
  if (state.parallel && state.options.collective_metadata) {
    constexpr int kTogether = 1;  // H5P_USER_TRUE
    list.set_number<int>("collective_metadata_read", kTogether);
    list.set_number<bool>("collective_metadata_write", 1);
  }
  if (!state.parallel && form.pages && state.options.page_buffer >= form.page &&
      !(state.writes && makes_newer_indexes(access.under_fapl())))
    list.set_number<std::size_t>("page_buffer_size", state.options.page_buffer);
}

void restore_access(hid_t fapl, const FileState& state) {
  const PrivateErrors own;
  for (const Changed& one : state.changed) h5.Pset(fapl, one.property.c_str(), one.before.data());
}

Id<Kind::plist> transfer_list_with(std::uint64_t conversion_buffer) {
  const PrivateErrors own;
  Id<Kind::plist> list(h5.Pcopy(h5.transfer_list.get()));
  const std::size_t size = conversion_buffer;
  if (h5.Pset(list.get(), "max_temp_buf", &size) < 0)
    throw Error("HDF5 does not take a conversion buffer of " + std::to_string(size) + " bytes");
  ++statistics().lists;
  return list;
}

}  // namespace headrace::tune
