// What is mounted in a file, and where openings of it are mounted in others.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "objects/object.hpp"
#include "vol/terminal/object.hpp"

namespace headrace::object {

using Opening = std::shared_ptr<vol::FileHandle>;

// A mount goes with the opening that it was made through.
class Mounts {
 public:
  Mounts() = default;
  Mounts(const Mounts&) = delete;
  Mounts& operator=(const Mounts&) = delete;
  ~Mounts();

  [[nodiscard]] bool none() const { return children_.empty() && parents_.empty(); }
  // The opening whose root stands in for the group, or null. On its root another one may be
  // mounted.
  Opening child_at(objects::ObjectId group);
  // The one that an opening of this file is mounted in, or null.
  Opening parent_of(const Opening& opening);
  // And the one above all, where there is one; else null.
  static Opening top_of(const Opening& opening);
  // What the names of its objects begin with: the path of where it is mounted, or nothing.
  static std::string prefix_of(const Opening& opening);

  // In the file of `parent`, at a group that has the path. Throws Error.
  static void mount(const Opening& parent, objects::ObjectId group, const std::string& path,
                    const Opening& child);
  // What an opening is, or has at a group. Throws Error where that is nothing, or the flush fails.
  static void unmount(const Opening& child);
  void unmount_at(objects::ObjectId group);
  // What was mounted through an opening that ends. Throws Error where a flush fails.
  void unmount_all(const Opening& parent);
  // All that is mounted in the file. Throws Error.
  void flush();

 private:
  struct Child {
    Opening opening;
    std::weak_ptr<vol::FileHandle> parent;
  };
  struct Parent {
    std::weak_ptr<vol::FileHandle> opening;
    objects::ObjectId group;
    std::string path;
  };
  static Mounts& of(const Opening& opening);
  static void forget_ended_parent(const Opening& child);
  // Without what is mounted on it.
  Opening mounted_at(objects::ObjectId group);
  const Parent* parent_entry(const Opening& opening);

  std::map<objects::ObjectId, Child> children_;
  std::map<const vol::FileHandle*, Parent> parents_;
};

}  // namespace headrace::object
