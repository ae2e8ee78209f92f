// A log that an earlier program has left, of a file that is open.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "connectors/log/dataset.hpp"
#include "connectors/log/marker.hpp"
#include "engine/log/layers.hpp"

namespace headrace::log_layout {

// A file, as a log finds it.
struct Place {
  Below below;
  std::string path;
  bool sync = false;         // whether data is to survive a power cut
  std::uint64_t budget = 0;  // memory for a log, in bytes
};

// What a log held is in the file: says so there, then removes the log. Throws Error.
void retire(const Place& place, const engine::log::Owner& owner);

class Stored {
 public:
  Stored(const Stored&) = delete;
  Stored& operator=(const Stored&) = delete;
  ~Stored();

  // The log that the file's marker names. Throws Error, with the cause, when that is not there, is
  // another file's, is damaged, or, unless we `recover`, of a program that did not close the file;
  // or, unless we `skip_missing`, has data of datasets that are not in the file.
  Stored(Place place, const engine::log::Owner& owner, const Options& options);

  // Writes all that the log holds to the datasets and retires it; with `verify` compares first.
  // Throws Error; then the log remains.
  void replay(const vol::UnderRef& connector, bool verify) const;

  [[nodiscard]] bool holds(const H5O_token_t& token) const;
  // What there is of a dataset; null when nothing is. Throws Error when that does not fit.
  [[nodiscard]] std::unique_ptr<engine::log::Layers> layers_of(const Dataset& dataset) const;

 private:
  void read(const std::string& path, bool recover);
  void find_datasets(bool skip_missing);
  void report(std::string_view name, std::uint64_t value) const;
  void replay(const vol::UnderRef& connector, std::uint32_t number, bool verify) const;

  Place place_;
  engine::log::Owner owner_;
  int descriptor_ = -1;
  std::unique_ptr<engine::log::Reader> reader_;
  std::vector<bool> missing_;  // of the log's datasets, those that are not in the file
};

}  // namespace headrace::log_layout
