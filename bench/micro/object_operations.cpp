// Datasets and attributes of eight bytes.
#include <array>
#include <cstdint>
#include <vector>

#include "operation.hpp"

namespace micro {
namespace {

constexpr std::int64_t kValue = 42;

Handle scalar() { return {H5Screate(H5S_SCALAR), H5Sclose}; }

Handle create_dataset(hid_t group, const char* name) {
  return {
      H5Dcreate2(group, name, H5T_NATIVE_INT64, scalar(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose};
}

void write(hid_t dataset, std::int64_t value) {
  check(H5Dwrite(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value));
}

std::int64_t read(hid_t dataset) {
  std::int64_t value = 0;
  check(H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value));
  return value;
}

class DatasetOpen : public Batch {
 public:
  explicit DatasetOpen(const Place& place) : group_(place.group) {
    write(create_dataset(group_, "d"), kValue);
  }
  void run(int /*call*/) override { check(H5Dclose(check(H5Dopen2(group_, "d", H5P_DEFAULT)))); }
  void verify(int /*calls*/) override {
    verify_that(read(Handle(H5Dopen2(group_, "d", H5P_DEFAULT), H5Dclose)) == kValue,
                "the dataset has its value");
  }

 private:
  hid_t group_;
};

class DatasetCreate : public Batch {
 public:
  explicit DatasetCreate(const Place& place) : group_(place.group), space_(scalar()) {
    for (int i = 0; i < place.limit; ++i) names_.push_back(std::to_string(i));
  }
  void run(int call) override {
    check(H5Dclose(
        check(H5Dcreate2(group_, names_[static_cast<std::size_t>(call)].c_str(), H5T_NATIVE_INT64,
                         space_, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))));
  }
  void verify(int calls) override {
    H5G_info_t info;
    check(H5Gget_info(group_, &info));
    verify_that(info.nlinks == static_cast<hsize_t>(calls), "all datasets exist");
  }

 private:
  hid_t group_;
  Handle space_;
  std::vector<std::string> names_;
};

class DatasetWrite : public Batch {
 public:
  explicit DatasetWrite(const Place& place)
      : group_(place.group), dataset_(create_dataset(group_, "d")) {}
  void run(int call) override { write(dataset_, kValue + call); }
  void verify(int calls) override {
    verify_that(read(Handle(H5Dopen2(group_, "d", H5P_DEFAULT), H5Dclose)) == kValue + calls - 1,
                "the last value written is read back");
  }

 private:
  hid_t group_;
  Handle dataset_;
};

class DatasetRead : public Batch {
 public:
  explicit DatasetRead(const Place& place) : dataset_(create_dataset(place.group, "d")) {
    write(dataset_, kValue);
  }
  void run(int /*call*/) override { sum_ += read(dataset_); }
  void verify(int calls) override {
    verify_that(sum_ == kValue * calls, "every read gave the value");
  }

 private:
  Handle dataset_;
  std::int64_t sum_ = 0;
};

Handle create_attribute(hid_t object, const char* name, hid_t space) {
  return {H5Acreate2(object, name, H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose};
}

class AttributeRead : public Batch {
 public:
  explicit AttributeRead(const Place& place)
      : attribute_(create_attribute(place.group, "a", scalar())) {
    check(H5Awrite(attribute_, H5T_NATIVE_INT64, &kValue));
  }
  void run(int /*call*/) override {
    std::int64_t value = 0;
    check(H5Aread(attribute_, H5T_NATIVE_INT64, &value));
    sum_ += value;
  }
  void verify(int calls) override {
    verify_that(sum_ == kValue * calls, "every read gave the value");
  }

 private:
  Handle attribute_;
  std::int64_t sum_ = 0;
};

// The same past HDF5's sieve buffer, which otherwise spares the file driver nearly every call.
template <typename Buffered>
class Unbuffered : public Batch {
 public:
  explicit Unbuffered(const Place& place)
      : file_(create(place.folder + "/unbuffered.h5")),
        batch_(Place{place.folder, file_, place.limit}) {}
  void run(int call) override { batch_.run(call); }
  void verify(int calls) override { batch_.verify(calls); }

 private:
  static Handle create(const std::string& name) {
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    check(H5Pset_sieve_buf_size(access, 0));
    return {H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose};
  }
  Handle file_;
  Buffered batch_;
};

// Eight attributes an object: looking for a name costs more the more there are.
class AttributeCreate : public Batch {
 public:
  explicit AttributeCreate(const Place& place) : space_(scalar()) {
    for (int i = 0; i * kEach < place.limit; ++i)
      objects_.emplace_back(
          H5Gcreate2(place.group, std::to_string(i).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
          H5Gclose);
  }
  void run(int call) override {
    const hid_t object = objects_[static_cast<std::size_t>(call / kEach)];
    create_attribute(object, kNames[static_cast<std::size_t>(call % kEach)], space_);
  }
  void verify(int calls) override {
    hsize_t found = 0;
    for (const Handle& object : objects_) {
      H5O_info2_t info;
      check(H5Oget_info3(object, &info, H5O_INFO_NUM_ATTRS));
      found += info.num_attrs;
    }
    verify_that(found == static_cast<hsize_t>(calls), "all attributes exist");
  }

 private:
  static constexpr int kEach = 8;
  static constexpr std::array<const char*, kEach> kNames{"a", "b", "c", "d", "e", "f", "g", "h"};
  Handle space_;
  std::vector<Handle> objects_;
};

constexpr std::array kOperations{
    Operation{"dataset open+close", 1, &prepare<DatasetOpen>},
    Operation{"dataset create+close", 1, &prepare<DatasetCreate>},
    Operation{"dataset write 8 B", 1, &prepare<DatasetWrite>},
    Operation{"dataset read 8 B", 1, &prepare<DatasetRead>},
    Operation{"dataset write 8 B, unbuffered", 1, &prepare<Unbuffered<DatasetWrite>>},
    Operation{"dataset read 8 B, unbuffered", 1, &prepare<Unbuffered<DatasetRead>>},
    Operation{"attribute read", 1, &prepare<AttributeRead>},
    Operation{"attribute create+close", 1, &prepare<AttributeCreate>},
};

}  // namespace

std::span<const Operation> object_operations() { return kOperations; }

}  // namespace micro
