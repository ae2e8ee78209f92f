#include "vol/file/link_files.hpp"

#include "hdf5/quiet_errors.hpp"

namespace headrace::vol {

void LinkFiles::replace(const DriverSeat& seat, const AccessLists& lists) {
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const hid_t list = lists.at(i);
    if (list <= 0 || h5.is_default_list(list)) continue;
    const PrivateErrors own;  // an attribute access list, say, is none for links
    const hid_t file_list = h5.Pget_elink_fapl(list);
    if (file_list <= 0) continue;  // the default: that of the file with the link
    Replaced& entry = replaced_.at(i);
    entry.original = Id<Kind::plist>(file_list);
    const Id<Kind::plist> ours = with_driver(file_list, seat);
    if (!ours) continue;
    if (h5.Pset_elink_fapl(list, ours.get()) < 0)
      throw Error("the file access list for external links cannot be set");
    entry.list = list;
  }
}

LinkFiles::~LinkFiles() {
  for (const Replaced& entry : replaced_) {
    if (entry.list == kDefaultPlist) continue;
    const NestedCalls nested;
    h5.Pset_elink_fapl(entry.list, entry.original.get());
  }
}

}  // namespace headrace::vol
