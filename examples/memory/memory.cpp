// Keeps files in memory, by name, until the process ends: a connector with nothing below it. What
// files are made of is the layer object's; here are the names, and a store in memory.
#include <filesystem>

#include "base/unique_id.hpp"
#include "layers/object/connector/across.hpp"
#include "plugin/layer_entry.hpp"
#include "store/memory/memory_store.hpp"

namespace {

using namespace headrace;
using object::File;
using objects::Container;

constexpr unsigned kTruncate = 2;  // H5F_ACC_TRUNC

// All of this process. Leaked on purpose: HDF5 ends its connectors after C++ statics are destroyed.
struct Files {
  std::shared_ptr<store::Store> store = std::make_shared<store::MemoryStore>();
  std::map<std::string, std::string> containers;  // by the absolute path of the file

  [[nodiscard]] const std::string* find(const char* name) const {
    const auto found = containers.find(absolute(name));
    return found == containers.end() ? nullptr : &found->second;
  }
  // What is open of it stays.
  void remove(const char* name) {
    Container::remove(*store, *find(name));
    containers.erase(absolute(name));
  }
  static std::string absolute(const char* name) {
    return std::filesystem::absolute(name).lexically_normal();
  }
};

Files& files() {
  static auto& all = *new Files();
  return all;
}

void require_closed(const char* name, const char* what) {
  if (object::open_file(*files().store, *files().find(name)) != nullptr)
    throw Error(std::string("unable to ") + what + " a file which is already open: " + name);
}

struct Connector : object::AcrossFiles {
  using Inherited = AcrossFiles;
  static constexpr const char* kName = "headrace_memory";
  static constexpr H5VL_class_value_t kValue = 7292;
  static constexpr std::array kOverrides{Callback::file_create, Callback::file_open,
                                         Callback::file_specific};

  static void* file_create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t /*dxpl*/,
                           void** /*req*/) {
    if (files().find(name) != nullptr) {
      if ((flags & kTruncate) == 0)
        throw Error(std::string("unable to create file: name = '") + name + "'", EEXIST);
      require_closed(name, "truncate");
      files().remove(name);
    }
    const std::string id = new_unique_id();
    Container::make(*files().store, id, root_header(fcpl));
    files().containers[Files::absolute(name)] = id;
    return opened(file_in(files().store, id, name, object::kReadWrite, fapl), flags);
  }

  static void* file_open(const char* name, unsigned flags, hid_t fapl, hid_t /*dxpl*/,
                         void** /*req*/) {
    const std::string* const id = files().find(name);
    if (id == nullptr)
      throw Error(std::string("unable to open file: name = '") + name + "'", ENOENT);
    return object::last_opened = opened(file_in(files().store, *id, name, flags, fapl), flags);
  }

  static herr_t file_specific(void* self, H5VL_file_specific_args_t* args, hid_t dxpl, void** req) {
    auto& in = args->args;
    if (args->op_type == H5VL_FILE_IS_ACCESSIBLE) {
      *in.is_accessible.accessible = files().find(in.is_accessible.filename) != nullptr;
      return 0;
    }
    if (args->op_type != H5VL_FILE_DELETE) return AcrossFiles::file_specific(self, args, dxpl, req);
    if (files().find(in.del.filename) == nullptr)
      throw Error(std::string("no file in memory: ") + in.del.filename, ENOENT);
    require_closed(in.del.filename, "delete");
    files().remove(in.del.filename);
    return 0;
  }
};

}  // namespace

const char* const headrace::object::kConnectorName = Connector::kName;

const H5VL_class_t& headrace::object::own_class() { return vol::class_of<Connector>(); }

std::span<const headrace::LayerEntry> headrace::layers() {
  static const std::array kLayers{LayerEntry{"memory",
                                             "keeps files in memory until the process ends",
                                             {},
                                             connector<Connector>("libheadrace_memory.so"),
                                             {},
                                             {}}};
  return kLayers;
}
