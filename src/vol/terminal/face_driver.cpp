#include "vol/terminal/face_driver.hpp"

#include <functional>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"

namespace headrace::vol {
namespace {

constexpr H5FD_class_value_t kValue = 7219;
constexpr haddr_t kEnd = HADDR_MAX;  // tokens are addresses

struct Access {
  FaceMemory* memory;
};

struct FaceFile {
  H5FD_t pub;  // HDF5's part, the first
  std::shared_ptr<FaceMemory> memory;
};

FaceFile& from(H5FD_t* file) { return *reinterpret_cast<FaceFile*>(file); }
const FaceFile& from(const H5FD_t* file) { return *reinterpret_cast<const FaceFile*>(file); }

H5FD_t* open_file(const char* /*name*/, unsigned /*flags*/, hid_t fapl, haddr_t /*most*/) {
  const auto* const access = static_cast<const Access*>(h5.Pget_driver_info(fapl));
  if (access == nullptr) return nullptr;
  return &(new FaceFile{{}, access->memory->shared_from_this()})->pub;
}

herr_t close_file(H5FD_t* file) {
  delete &from(file);
  return 0;
}

int compare(const H5FD_t* one, const H5FD_t* other) {
  const std::less<> before;
  const FaceMemory* const first = from(one).memory.get();
  const FaceMemory* const second = from(other).memory.get();
  return static_cast<int>(before(second, first)) - static_cast<int>(before(first, second));
}

herr_t query(const H5FD_t* /*file*/, unsigned long* flags) {
  *flags = 0;
  return 0;
}

// HDF5 makes a file where it is empty.
haddr_t end_of(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return from(file).memory->is_empty() ? 0 : kEnd;
}
herr_t set_end(H5FD_t* /*file*/, H5FD_mem_t /*type*/, haddr_t /*end*/) { return 0; }

haddr_t allocate(H5FD_t* file, H5FD_mem_t type, hid_t /*dxpl*/, hsize_t size) try {
  return from(file).memory->allocate(type, size);
} catch (...) {
  push_current_exception("alloc");
  return HADDR_UNDEF;
}

herr_t release(H5FD_t* /*file*/, H5FD_mem_t /*type*/, hid_t /*dxpl*/, haddr_t /*address*/,
               hsize_t /*size*/) {
  return 0;
}

void require(bool done, haddr_t address) {
  if (!done) throw Error("there is no object with the token " + std::to_string(address));
}

herr_t read_bytes(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*dxpl*/, haddr_t address,
                  std::size_t size, void* buffer) try {
  require(from(file).memory->read(address, {static_cast<char*>(buffer), size}), address);
  return 0;
} catch (...) {
  push_current_exception("read");
  return -1;
}

herr_t write_bytes(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*dxpl*/, haddr_t address,
                   std::size_t size, const void* buffer) try {
  require(from(file).memory->write(address, {static_cast<const char*>(buffer), size}), address);
  return 0;
} catch (...) {
  push_current_exception("write");
  return -1;
}

constexpr H5FD_class_t make_class() {
  H5FD_class_t made{};
  made.version = H5FD_CLASS_VERSION;
  made.value = kValue;
  made.name = "headrace_faces";
  made.maxaddr = kEnd;
  made.fc_degree = H5F_CLOSE_WEAK;
  made.fapl_size = sizeof(Access);
  made.open = open_file;
  made.close = close_file;
  made.cmp = compare;
  made.query = query;
  made.alloc = allocate;
  made.free = release;
  made.get_eoa = end_of;
  made.set_eoa = set_end;
  made.get_eof = end_of;
  made.read = read_bytes;
  made.write = write_bytes;
  return made;
}

// HDF5 forgets it when it ends, and may begin anew.
hid_t driver() {
  static constexpr H5FD_class_t kClass = make_class();
  static hid_t known = kInvalidId;
  if (known < 0 || h5.Iget_type(known) != H5I_VFL) known = h5.FDregister(&kClass);
  if (known < 0) throw Error("HDF5 takes no driver: " + root_cause());
  return known;
}

}  // namespace

void set_face_driver(hid_t access_list, FaceMemory& memory) {
  const Access access{&memory};
  if (h5.Pset_driver(access_list, driver(), &access) < 0)
    throw Error("HDF5 does not take a driver: " + root_cause());
}

}  // namespace headrace::vol
