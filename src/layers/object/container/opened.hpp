// What HDF5 holds of a container: files, objects and attributes that a program has opened, and
// where the locations lead that HDF5 gives.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "hdf5/error_stack.hpp"
#include "layers/object/container/file.hpp"
#include "objects/paths.hpp"

namespace headrace::object {

inline constexpr unsigned kMostSoftLinks = 16;  // HDF5's default

// An object, and a path to it; empty of one that has no name.
using Found = objects::Start;

// A file (its root group), group, dataset, committed type or map that HDF5 holds.
struct Open : vol::TerminalObject {
  Open(H5I_type_t type, std::shared_ptr<vol::FileHandle> opening, Found what)
      : TerminalObject(type, std::move(opening)), found(std::move(what)) {}
  Found found;
  std::shared_ptr<Dataset> dataset;  // of a dataset
  Id<Kind::plist> access;            // list, of a dataset or map
};

struct OpenAttribute : vol::TerminalObject {
  OpenAttribute(std::shared_ptr<vol::FileHandle> opening, Found of, std::string its_name)
      : TerminalObject(H5I_ATTR, std::move(opening)),
        owner(std::move(of)),
        name(std::move(its_name)) {}
  Found owner;
  std::string name;
  std::optional<objects::Attribute> deleted;  // what it was, once it is no more
};

inline File& file_of(const vol::TerminalObject& object) {
  return static_cast<File&>(object.file());
}
inline File& file_of(const void* object) { return file_of(vol::TerminalObject::from(object)); }
// Throws Error where the object was opened in a file to be read only.
void require_writable(const void* object);

// An object that HDF5 holds, or the owner of an attribute. Throws Outside of a file that is
// mounted: as natively, its ids mean the root that it is mounted below.
Found found_in(const void* object);
// What is thrown where a path leads out of the file.
struct Outside : Error {
  // By an external link.
  Outside(objects::Link its_link, std::string its_path, std::string its_rest)
      : Error("the path leads through the external link " + its_path +
                  ", which this call cannot follow",
              ErrorKind::unsupported),
        link(std::move(its_link)),
        path(std::move(its_path)),
        rest(std::move(its_rest)) {}
  // By a mount; from that one's root group on.
  Outside(Opening to, std::string its_rest, bool same)
      : Error("the path leads to another file by a mount, which this call cannot follow",
              ErrorKind::unsupported),
        rest(std::move(its_rest)),
        opening(std::move(to)),
        is_same_path(same) {}
  objects::Link link;
  std::string path;           // of the link
  std::string rest;           // of the way, behind it
  Opening opening;            // of the other file, by a mount
  bool is_same_path = false;  // all that has to change is the object that it begins at
  bool is_object = false;     // the path leads to the object that a location means by its index
};
// What a path leads to from there; a null object where nothing is there. Throws Outside.
Found find(const void* object, const std::string& path);
// What HDF5 calls a location. Throws Error where nothing is there, and Outside.
Found resolve(const void* object, const H5VL_loc_params_t& where);
// What a path leads to from a place in the file of an opening. Throws Outside.
Found find_from(const Opening& opening, const Found& start, const std::string& path);
// A path that leads to the object: `path` if that does, else some path, or none.
std::string path_of(File& file, const objects::Object& object, const std::string& path);

// Throws Error where one of the property lists is none.
void require_lists(std::initializer_list<hid_t> lists);

// The group that holds the last part of a path, and that part.
struct Parent {
  objects::Handle group;
  std::string path;
  std::string name;
};
// Groups on the way are made with the property of `lcpl`.
Parent parent_of(const void* object, const std::string& path, hid_t lcpl = kInvalidId);
// Of the link that a location means.
Parent link_at(const void* object, const H5VL_loc_params_t& where, hid_t lcpl = kInvalidId);
// Throws Error where there is none.
objects::Link existing_link(File& file, const Parent& at);

H5I_type_t type_of(const objects::Object& object);
// Throws Error where it is none.
void require_group(const Found& found);
// The object for HDF5.
void* handed(const void* through, Found found);

// Makes an object and, where it gets a name, the first link to it; returns it for HDF5.
void* created(const void* through, const H5VL_loc_params_t& where, const char* name, hid_t lcpl,
              objects::Header header);
// What an open is asked for: something of that name, or without one what the location means.
Found named_from(const void* through, const H5VL_loc_params_t& where, const char* name);
// Whether names that are made with the list are UTF-8.
bool is_utf8(hid_t list);
// H5Oflush and its like, or H5Orefresh.
void flush(const void* object);
void refresh(const void* object);
// A type that a program gives, for a header: of a committed one of the file that one's id.
std::string stored_type(const void* through, hid_t type);
// The committed type that a header names; null where there is none, or it is gone.
objects::Handle committed_of(File& file, const std::string& stored);
// The type in a header as HDF5 gets it: an id, also of a committed one.
hid_t told_type(const void* through, const std::string& stored);

H5O_token_t token_of(objects::ObjectId object);

// Copies to the buffer what fits of the text, as HDF5 returns names.
void return_name(const std::string& text, char* buffer, std::size_t size, std::size_t* length);

template <Kind kind, typename Copy>
hid_t copied(const Id<kind>& id, Copy copy) {
  const hid_t result = copy(id.get());
  if (result < 0) throw Error("HDF5 does not copy: " + root_cause());
  return result;
}

}  // namespace headrace::object
