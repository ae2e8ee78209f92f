// Objects of this connector's, of containers and of native files alike, as HDF5 would call it for
// them. The program's thread only; what fails throws Error with HDF5's cause.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hdf5/id.hpp"

namespace headrace::object {

inline H5VL_loc_params_t itself(H5I_type_t type) { return {type, H5VL_OBJECT_BY_SELF, {}}; }
// `name` outlives the result.
H5VL_loc_params_t by_name(H5I_type_t type, const char* name);

struct NamedInfo {
  std::string name;
  H5L_info2_t link;
};

// An object, attribute or file, closed with this where it was opened here.
class Held {
 public:
  Held() = default;
  // One of the caller's.
  Held(const H5VL_class_t& connector, void* object, H5I_type_t type)
      : connector_(&connector), object_(object), type_(type) {}
  Held(Held&& other) noexcept { *this = std::move(other); }
  Held& operator=(Held&& other) noexcept;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held();

  [[nodiscard]] void* get() const { return object_; }
  [[nodiscard]] H5I_type_t type() const { return type_; }
  [[nodiscard]] const H5VL_class_t& connector() const { return *connector_; }
  [[nodiscard]] H5VL_loc_params_t here() const { return itself(type_); }
  // Somebody else closes it.
  void release() { is_owned_ = false; }

  // What a path leads to. Throws.
  [[nodiscard]] Held open(const std::string& path) const;
  [[nodiscard]] Held open(H5O_token_t token) const;
  [[nodiscard]] Held open_attribute(const std::string& name) const;
  [[nodiscard]] bool exists(const std::string& path) const;
  // Whether there is a link of that path, wherever it leads; not where a group on the way is
  // missing.
  [[nodiscard]] bool has_link(const std::string& path) const;
  [[nodiscard]] H5O_info2_t info() const;
  // Whether a group has neither links nor attributes.
  [[nodiscard]] bool is_empty_group() const;
  // The creation list of a group, dataset or committed type.
  [[nodiscard]] Id<Kind::plist> creation() const;
  // Of a dataset or attribute; of a committed type a copy that is none.
  [[nodiscard]] Id<Kind::datatype> datatype() const;
  [[nodiscard]] Id<Kind::dataspace> dataspace() const;
  // Its links or attributes, as they were created where that is known; of an object of the file
  // that HDF5 was called for.
  [[nodiscard]] std::vector<NamedInfo> links(bool in_order) const;
  [[nodiscard]] std::vector<std::string> attributes(bool in_order) const;
  [[nodiscard]] H5L_info2_t link_info(const std::string& name) const;
  [[nodiscard]] std::string link_value(const std::string& name, std::size_t size) const;
  [[nodiscard]] std::string comment() const;
  void set_comment(const std::string& comment) const;

  // Makes something in a group.
  [[nodiscard]] Held new_group(const std::string& name, hid_t lcpl, hid_t creation) const;
  [[nodiscard]] Held new_dataset(const std::string& name, hid_t lcpl, hid_t type, hid_t space,
                                 hid_t creation) const;
  // Without a name.
  [[nodiscard]] Held new_type(hid_t type, hid_t creation) const;
  [[nodiscard]] Held new_attribute(const std::string& name, hid_t type, hid_t space,
                                   hid_t creation) const;
  void link(const std::string& name, hid_t lcpl, H5VL_link_create_args_t args) const;
  void unlink(const std::string& name) const;

 private:
  Held(const H5VL_class_t& connector, void* object, H5I_type_t type, bool owned);
  [[nodiscard]] Held made(void* object, H5I_type_t type, const std::string& what) const;

  const H5VL_class_t* connector_ = nullptr;
  void* object_ = nullptr;
  H5I_type_t type_ = H5I_BADID;
  bool is_owned_ = false;
};

}  // namespace headrace::object
