// A dataset that logs hold something of, opened by its token in the file.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "layers/log/connector/file/dataset.hpp"
#include "layers/log/connector/opening/opened_object.hpp"
#include "layers/log/connector/replaying/earlier_logs.hpp"

namespace headrace::log_layout {

// All that the parts of logs hold; those must outlive it.
engine::log::LoggedWrites writes_in(std::span<const Part> parts);

class LoggedObject {
 public:
  // `writes`: those in the parts. Throws Error when the dataset is not in the file, is none that
  // can be logged, or has not the elements or the extent that a log says.
  LoggedObject(const OpenFile& place, const vol::UnderRef& connector, std::span<const Part> parts,
               engine::log::LoggedWrites writes);
  LoggedObject(const LoggedObject&) = delete;
  LoggedObject& operator=(const LoggedObject&) = delete;
  ~LoggedObject() = default;

  [[nodiscard]] const std::string& name() const { return name_; }  // "dataset D of file F"
  [[nodiscard]] vol::Object& object() { return object_; }
  [[nodiscard]] Dataset& dataset() { return *dataset_; }
  [[nodiscard]] const engine::log::LoggedWrites& writes() const { return writes_; }

  // Throws Error when HDF5 says that not all of it is in the file.
  void close();

 private:
  OpenedObject opened_;
  vol::Object object_;
  std::string name_;
  engine::log::LoggedWrites writes_;
  std::shared_ptr<Dataset> dataset_;
};

}  // namespace headrace::log_layout
