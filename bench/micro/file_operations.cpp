// Files, groups and links.
#include <array>

#include "operation.hpp"

namespace micro {
namespace {

constexpr int kLinks = 1000;

Handle create_group(hid_t parent, const char* name) {
  return {H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose};
}

class GroupOpen : public Batch {
 public:
  explicit GroupOpen(const Place& place) : parent_(place.group) {
    create_group(create_group(parent_, "g"), "inside");
  }
  void run(int /*call*/) override { check(H5Gclose(check(H5Gopen2(parent_, "g", H5P_DEFAULT)))); }
  void verify(int /*calls*/) override {
    verify_that(H5Lexists(parent_, "g/inside", H5P_DEFAULT) > 0, "the group has its member");
  }

 private:
  hid_t parent_;
};

class Iterate : public Batch {
 public:
  explicit Iterate(const Place& place) : group_(place.group) {
    const Handle target = create_group(group_, "0");
    for (int i = 1; i < kLinks; ++i)
      check(
          H5Lcreate_hard(target, ".", group_, std::to_string(i).c_str(), H5P_DEFAULT, H5P_DEFAULT));
  }
  void run(int /*call*/) override {
    check(H5Literate2(group_, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, &count, &seen_));
  }
  void verify(int calls) override {
    verify_that(seen_ == kLinks * calls, "every link was seen each time");
  }

 private:
  static herr_t count(hid_t /*group*/, const char* /*name*/, const H5L_info2_t* /*info*/,
                      void* seen) {
    ++*static_cast<int*>(seen);
    return 0;
  }
  hid_t group_;
  int seen_ = 0;
};

class FileOpen : public Batch {
 public:
  explicit FileOpen(const Place& place) : name_(place.folder + "/opened.h5") {
    const Handle file(H5Fcreate(name_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    create_group(file, "inside");
  }
  void run(int /*call*/) override { check(H5Fclose(open())); }
  void verify(int /*calls*/) override {
    const Handle file(open(), H5Fclose);
    verify_that(H5Lexists(file, "inside", H5P_DEFAULT) > 0, "the file has its content");
  }

 private:
  hid_t open() { return check(H5Fopen(name_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)); }
  std::string name_;
};

constexpr std::array kOperations{
    Operation{"group open+close", 1, &prepare<GroupOpen>},
    Operation{"iteration, per link", kLinks, &prepare<Iterate>},
    Operation{"file open+close", 1, &prepare<FileOpen>},
};

}  // namespace

std::span<const Operation> file_operations() { return kOperations; }

}  // namespace micro
