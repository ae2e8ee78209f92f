// What the functions that iterate have in common.
#pragma once

#include <algorithm>

#include "file.hpp"

namespace memory {

// Links or attributes, which are kept in order of creation, in the order of an index.
template <typename Entry, typename Project>
std::vector<Entry> ordered(std::vector<Entry> entries, H5_index_t index, H5_iter_order_t order,
                           Project name) {
  if (index == H5_INDEX_NAME) std::ranges::sort(entries, {}, name);
  if (order == H5_ITER_DEC) std::ranges::reverse(entries);
  return entries;
}

std::vector<Link> ordered(const Group& group, H5_index_t index, H5_iter_order_t order);
std::vector<std::shared_ptr<Attribute>> ordered(const Node& node, H5_index_t index,
                                                H5_iter_order_t order);

// The id of an object for a function of the program's, closed at the end.
class ProgramsId {
 public:
  ProgramsId(const void* through, const Place& place);
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
  herr_t result = 0;
  while (result == 0 && at < entries.size()) result = op(entries[at++]);
  return result;
}

H5L_info2_t info_of(const Link& link);
H5A_info_t info_of(const vol::TerminalObject& object, const Attribute& attribute);
H5O_info2_t info_of(const File& file, const Node& node);
H5O_token_t token_of(const Node& node);

herr_t iterate_links(void* self, const Place& place, const H5VL_link_iterate_args_t& args);
herr_t iterate_attributes(void* self, const Place& place, const H5VL_attr_iterate_args_t& args);
herr_t visit_objects(void* self, const Place& place, const H5VL_object_visit_args_t& args);

}  // namespace memory
