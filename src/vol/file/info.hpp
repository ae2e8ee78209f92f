// The connector info that HDF5 keeps in file access property lists: the connector below, its info
// and this layer's options, read from a connection string.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings/settings.hpp"
#include "vol/object.hpp"

namespace headrace::vol {

// The info of the connector below, owned; freed through that connector.
class UnderInfo {
 public:
  UnderInfo() = default;
  UnderInfo(UnderRef connector, void* info) : connector_(std::move(connector)), info_(info) {}
  UnderInfo(UnderInfo&& other) noexcept;
  UnderInfo& operator=(UnderInfo&&) = delete;
  UnderInfo(const UnderInfo&) = delete;
  UnderInfo& operator=(const UnderInfo&) = delete;
  ~UnderInfo();
  [[nodiscard]] UnderInfo copy() const;
  [[nodiscard]] void* get() const { return info_; }

 private:
  UnderRef connector_;
  void* info_ = nullptr;
};

struct Info {
  UnderRef connector;
  UnderInfo under;
  Options options;  // without under_vol and under_info
  // What was wrong with the string. Refusing a string from HDF5_VOL_CONNECTOR makes library
  // initialisation fail, after which h5py crashes; so it is accepted, and every file open and
  // create fails with this text.
  std::string error;

  [[nodiscard]] std::unique_ptr<Info> copy() const;
};

// What a connector says of itself to this file.
struct Layer {
  std::string_view name;
  std::span<const Setting> settings;
  DriverSeat (*seat)(const Options& options);  // may throw Error
  H5VL_class_value_t value;
  bool repeats;  // whether it may be below itself
};

// Parses a connection string. Malformed input ends up in Info::error. `text` may be null.
std::unique_ptr<Info> parse_info(const char* text, const Layer& layer);

// The connection string of `info`, allocated by malloc() as HDF5 expects.
char* format_info(const Info& info);

// The values of the connectors below, as text, down to the last one. Throws Error.
std::vector<std::string> connectors_below(const Info& info);

// 0 when both lead to the same connectors with the same options, else -1 or 1.
int compare_info(const Info& a, const Info& b);

// The info of a file access property list that the connector is called with: its own, or when it
// has none that of an empty string, which leads to the native connector. Throws Info::error when
// there is one. Good as long as the list has it: HDF5 would copy it where it can be looked at.
class InfoOfList {
 public:
  InfoOfList(hid_t fapl, const Layer& layer);
  const Info& operator*() const { return *info_; }
  const Info* operator->() const { return info_; }

 private:
  std::unique_ptr<Info> own_;
  const Info* info_ = nullptr;
};
inline InfoOfList info_of(hid_t fapl, const Layer& layer) { return {fapl, layer}; }

}  // namespace headrace::vol
