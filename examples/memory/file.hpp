// Files in memory: a tree of groups, datasets and attributes, kept by name until the process ends.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hdf5/error_stack.hpp"
#include "vol/terminal/object.hpp"

namespace memory {

using namespace headrace;

// The elements of a dataset or attribute. `bytes` are those of the type as a file has it, in which
// strings and sequences of variable length are the numbers of blobs; empty while nothing has been
// written.
struct Values {
  Id<Kind::datatype> type;  // as the program gave it
  Id<Kind::dataspace> space;
  std::vector<std::byte> bytes;
};

struct Attribute {
  std::string name;
  std::int64_t order;  // of creation
  Id<Kind::plist> acpl;
  Values values;
};

struct Group;

// What links lead to.
struct Node {
  explicit Node(std::uint64_t its_number) : number(its_number) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;

  std::uint64_t number;  // in the file; its token
  unsigned links = 0;
  std::vector<std::shared_ptr<Attribute>> attributes;  // in order of creation
  std::int64_t made = 0;                               // attributes or links, for their order
  Id<Kind::plist> creation;                            // property list
};

struct Dataset : Node {
  using Node::Node;
  Id<Kind::plist> access;
  Values values;
};

// A hard link to a node, or without one a soft link.
struct Link {
  std::string name;
  std::int64_t order;
  std::shared_ptr<Node> node;
  std::string target;
};

struct Group : Node {
  using Node::Node;
  Link* find(const std::string& name);
  void add(const std::string& name, std::shared_ptr<Node> node, std::string target = {});
  void remove(const std::string& name);
  std::vector<Link> entries;  // in order of creation
};

struct File : vol::TerminalFile {
  File(std::string its_name, hid_t fcpl);
  std::uint64_t next_number() { return ++numbers_; }

  std::string name;  // as it was created
  unsigned long fileno;
  Id<Kind::plist> creation;
  std::shared_ptr<Group> root;
  std::map<std::uint64_t, std::vector<std::byte>> blobs;

 private:
  std::uint64_t numbers_ = 0;
};

// The files of the process by absolute path.
std::map<std::string, std::shared_ptr<File>>& files();
std::string absolute(const char* name);

// A file (its root group), group or dataset that HDF5 holds.
struct Open : vol::TerminalObject {
  Open(H5I_type_t type, std::shared_ptr<vol::FileHandle> opening, std::shared_ptr<Node> what,
       std::string at)
      : TerminalObject(type, std::move(opening)), node(std::move(what)), path(std::move(at)) {}
  std::shared_ptr<Node> node;
  std::string path;
};

struct OpenAttribute : vol::TerminalObject {
  OpenAttribute(const Open& of, std::shared_ptr<Attribute> what)
      : TerminalObject(H5I_ATTR, of.opening()),
        node(of.node),
        path(of.path),
        attribute(std::move(what)) {}
  std::shared_ptr<Node> node;
  std::string path;
  std::shared_ptr<Attribute> attribute;
};

inline File& file_of(const vol::TerminalObject& object) {
  return static_cast<File&>(object.file());
}
// Throws Error where the object was opened in a file to be read only.
void require_writable(const vol::TerminalObject& object);

// Where a path leads; without a node where nothing is there.
struct Place {
  std::shared_ptr<Node> node;
  std::string path;
};
// From the location: a file, group, dataset, or the owner of an attribute.
Place place_of(const void* object);
Place find(const void* object, const std::string& path);
// Where a node is: `path` if that leads to it, else some path, or none.
std::string path_of(const File& file, const Node& node, const std::string& path);
// What HDF5 calls a location. Throws Error where nothing is there.
Place resolve(const void* object, const H5VL_loc_params_t* where);
// The group that holds the last part of a path, and that part; groups on the way are made with the
// property of `lcpl`.
struct Parent {
  std::shared_ptr<Group> group;
  std::string path;
  std::string name;
};
Parent parent_of(const void* object, const std::string& path, hid_t lcpl = kInvalidId);
std::string joined(const std::string& group, const std::string& name);

// The object for HDF5, of the type that the node is of.
H5I_type_t type_of(const Node& node);
void* open(const void* through, const Place& place);

// Copies to the buffer what fits of the text, as HDF5 returns names.
void return_name(const std::string& text, char* buffer, std::size_t size, std::size_t* length);

template <Kind kind, typename Copy>
hid_t copied(const Id<kind>& id, Copy copy) {
  const hid_t result = copy(id.get());
  if (result < 0) throw Error("HDF5 does not copy: " + root_cause());
  return result;
}

}  // namespace memory
