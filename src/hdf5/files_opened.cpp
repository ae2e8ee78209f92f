#include "hdf5/files_opened.hpp"

namespace headrace {
namespace {

// H5I_class_t and H5I_type_info_t of the library's H5Iprivate.h and H5Ipkg.h, as they begin in 1.14
// and 2.x.
struct IdClass {
  H5I_type_t type;
};
struct IdType {
  const IdClass* cls;
  unsigned uses;
  std::uint64_t held;
  std::uint64_t next;  // number of the next id: they are counted
};

}  // namespace

std::uint64_t files_opened() {
  if (h5.id_types == nullptr) return 0;
  const auto* const type = static_cast<const IdType* const*>(h5.id_types)[H5I_FILE];
  return type == nullptr || type->cls == nullptr || type->cls->type != H5I_FILE ? 0 : type->next;
}

}  // namespace headrace
