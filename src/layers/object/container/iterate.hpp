// What the functions that iterate have in common.
#pragma once

#include <algorithm>
#include <optional>

#include "layers/object/container/opened.hpp"
#include "objects/links.hpp"

namespace headrace::object {

// All links of a group, or attributes of an object, in the order of an index. Throws Error where
// links have no such order.
std::vector<objects::NamedLink> links_of(File& file, const objects::Object& group, H5_index_t index,
                                         H5_iter_order_t order);
// One of them by its index; none where there are not so many.
std::optional<objects::NamedLink> link_of(File& file, const objects::Object& group,
                                          H5_index_t index, H5_iter_order_t order, hsize_t n);
std::vector<objects::Attribute> attributes_of(const objects::Object& object, H5_index_t index,
                                              H5_iter_order_t order);
// One of them by its index, until the object changes; null where there are not so many.
const objects::Attribute* attribute_at(const objects::Object& object, H5_index_t index,
                                       H5_iter_order_t order, hsize_t n);

// The id of an object for a function of the program's, closed at the end.
class ProgramsId {
 public:
  ProgramsId(const void* through, const Found& found);
  ProgramsId(const ProgramsId&) = delete;
  ProgramsId& operator=(const ProgramsId&) = delete;
  ~ProgramsId() { h5.Idec_ref(id_); }
  [[nodiscard]] hid_t get() const { return id_; }

 private:
  hid_t id_;
};

// Calls `op` for each entry from *index on (null: from the first) until it returns another value
// than 0, which is the result; counts in *index.
template <typename Entries, typename Op>
herr_t for_each(const Entries& entries, hsize_t* index, Op op) {
  hsize_t own = 0;
  hsize_t& at = index == nullptr ? own : *index;
  if (at > 0 && at >= entries.size()) throw Error("there are not so many to begin with");
  herr_t result = 0;
  while (result == 0 && at < entries.size()) result = op(entries[at++]);
  return result;
}

H5L_info2_t info_of(const objects::Object& group, const objects::Link& link);
H5A_info_t info_of(const File& file, const objects::Object& object,
                   const objects::Attribute& attribute);
H5O_info2_t info_of(const File& file, const objects::Object& object);

herr_t iterate_links(void* self, const Found& found, const H5VL_link_iterate_args_t& args);
herr_t iterate_attributes(void* self, const Found& found, const H5VL_attr_iterate_args_t& args);
herr_t visit_objects(void* self, const Found& found, const H5VL_object_visit_args_t& args);

}  // namespace headrace::object
