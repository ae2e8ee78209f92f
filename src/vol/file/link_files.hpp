// Files that the native connector opens on its own, behind external links.
#pragma once

#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>

#include "vol/file/file_access.hpp"

namespace headrace::vol {

// The link access list that a location is reached with, or 0.
inline hid_t list_of(const H5VL_loc_params_t* loc) {
  if (loc == nullptr) return kDefaultPlist;
  if (loc->type == H5VL_OBJECT_BY_NAME) return loc->loc_data.loc_by_name.lapl_id;
  if (loc->type == H5VL_OBJECT_BY_IDX) return loc->loc_data.loc_by_idx.lapl_id;
  return kDefaultPlist;
}

using AccessLists = std::array<hid_t, 3>;  // 0 where there are fewer

// Those among the arguments of a callback: its location's, and the one before the transfer list.
template <typename... Rest>
AccessLists access_lists(Rest... rest) {
  AccessLists lists{};
  const std::tuple<Rest...> args(rest...);
  constexpr std::size_t kCount = sizeof...(Rest);
  if constexpr (kCount > 0)
    if constexpr (std::is_same_v<std::tuple_element_t<0, std::tuple<Rest...>>,
                                 const H5VL_loc_params_t*>)
      lists[0] = list_of(std::get<0>(args));
  if constexpr (kCount > 2)
    if constexpr (std::is_same_v<std::tuple_element_t<kCount - 3, std::tuple<Rest...>>, hid_t> &&
                  std::is_same_v<std::tuple_element_t<kCount - 2, std::tuple<Rest...>>, hid_t>)
      lists[1] = std::get<kCount - 3>(args);
  return lists;
}

// A link access list may name the file access list for the targets of external links. When that
// says sec2 or mpio and our driver has taken its place in the files that are open, the native
// connector would take a file that it has open for another one, and open it twice: data would be
// lost. For the lifetime of a LinkFiles our driver stands in such lists too. They are changed in
// place, because HDF5 reads the program's list and not the one it hands to connectors.
class LinkFiles {
 public:
  LinkFiles(const UnderConnector& connector, const AccessLists& lists) {
    if (!connector.seat().serial.empty()) replace(connector.seat(), lists);
  }
  LinkFiles(const LinkFiles&) = delete;
  LinkFiles& operator=(const LinkFiles&) = delete;
  LinkFiles(LinkFiles&&) = delete;
  LinkFiles& operator=(LinkFiles&&) = delete;
  ~LinkFiles();

 private:
  struct Replaced {
    hid_t list = kDefaultPlist;
    Id<Kind::plist> original;
  };
  void replace(const DriverSeat& seat, const AccessLists& lists);

  std::array<Replaced, std::tuple_size_v<AccessLists>> replaced_;
};

}  // namespace headrace::vol
