// Keeps files in memory, by name, until the process ends: a connector with nothing below it.
// Groups, attributes and contiguous datasets; what it does not have it refuses by an error.
#include <cstring>

#include "connector.hpp"
#include "plugin/layer_entry.hpp"

namespace memory {
namespace {

constexpr unsigned kTruncate = 2;   // H5F_ACC_TRUNC
constexpr unsigned kReadWrite = 1;  // H5F_ACC_RDWR

void* opened(const std::shared_ptr<File>& file, unsigned flags) {
  auto opening = std::make_shared<vol::FileHandle>(file, flags, file->creation.get());
  return vol::handed(std::make_unique<Open>(H5I_FILE, std::move(opening), file->root, "/"));
}

std::uint64_t blob_number(const void* id) {
  std::uint64_t number = 0;
  std::memcpy(&number, id, sizeof number);
  return number;
}

}  // namespace

void* Connector::file_create(const char* name, unsigned flags, hid_t fcpl, hid_t /*fapl*/,
                             hid_t /*dxpl*/, void** /*req*/) {
  const std::string path = absolute(name);
  if (const auto found = files().find(path); found != files().end()) {
    if ((flags & kTruncate) == 0)
      throw Error("unable to create file: name = '" + path + "'", EEXIST);
    if (!found->second->objects().empty())
      throw Error("unable to truncate a file which is already open: " + path);
    files().erase(found);
  }
  auto file = std::make_shared<File>(name, fcpl);
  void* const object = opened(file, flags | kReadWrite);
  files().insert_or_assign(path, std::move(file));
  return object;
}

void* Connector::file_open(const char* name, unsigned flags, hid_t /*fapl*/, hid_t /*dxpl*/,
                           void** /*req*/) {
  const auto found = files().find(absolute(name));
  if (found == files().end())
    throw Error(std::string("unable to open file: name = '") + name + "'", ENOENT);
  return opened(found->second, flags);
}

herr_t Connector::file_get(void* self, H5VL_file_get_args_t* args, hid_t dxpl, void** req) {
  const File& file = file_of(vol::TerminalObject::from(self));
  auto& out = args->args;
  switch (args->op_type) {
    case H5VL_FILE_GET_CONT_INFO:
      out.get_cont_info.info->token_size = sizeof(std::uint64_t);
      out.get_cont_info.info->blob_id_size = sizeof(std::uint64_t);
      return 0;
    case H5VL_FILE_GET_FAPL:
      out.get_fapl.fapl_id = h5.Pcopy(h5.access_list.get());
      return 0;
    case H5VL_FILE_GET_FCPL:
      out.get_fcpl.fcpl_id = copied(file.creation, h5.Pcopy);
      return 0;
    case H5VL_FILE_GET_FILENO:
      *out.get_fileno.fileno = file.fileno;
      return 0;
    case H5VL_FILE_GET_NAME:
      return_name(file.name, out.get_name.buf, out.get_name.buf_size, out.get_name.file_name_len);
      return 0;
    default:
      return Terminal::file_get(self, args, dxpl, req);
  }
}

herr_t Connector::file_specific(void* self, H5VL_file_specific_args_t* args, hid_t dxpl,
                                void** req) {
  auto& in = args->args;
  switch (args->op_type) {
    case H5VL_FILE_FLUSH:
      return 0;
    case H5VL_FILE_REOPEN: {
      const vol::TerminalObject& object = vol::TerminalObject::from(self);
      *in.reopen.file = opened(std::static_pointer_cast<File>(object.opening()->file),
                               object.opening()->intent());
      return 0;
    }
    case H5VL_FILE_IS_ACCESSIBLE:
      *in.is_accessible.accessible = files().contains(absolute(in.is_accessible.filename));
      return 0;
    case H5VL_FILE_DELETE:
      if (files().erase(absolute(in.del.filename)) == 0)
        throw Error(std::string("no file in memory: ") + in.del.filename, ENOENT);
      return 0;
    default:
      return Terminal::file_specific(self, args, dxpl, req);
  }
}

herr_t Connector::blob_put(void* self, const void* data, std::size_t size, void* id,
                           void* /*context*/) {
  File& file = file_of(vol::TerminalObject::from(self));
  const std::uint64_t number = file.next_number();
  const auto* const bytes = static_cast<const std::byte*>(data);
  file.blobs[number].assign(bytes, bytes + size);
  std::memcpy(id, &number, sizeof number);
  return 0;
}

herr_t Connector::blob_get(void* self, const void* id, void* data, std::size_t size,
                           void* /*context*/) {
  const auto& blobs = file_of(vol::TerminalObject::from(self)).blobs;
  const auto found = blobs.find(blob_number(id));
  if (found == blobs.end() || found->second.size() < size) throw Error("a blob is missing");
  if (size > 0) std::memcpy(data, found->second.data(), size);
  return 0;
}

herr_t Connector::blob_specific(void* self, void* id, H5VL_blob_specific_args_t* args) {
  const std::uint64_t none = 0;
  if (args->op_type == H5VL_BLOB_ISNULL)
    *args->args.is_null.isnull = blob_number(id) == none;
  else if (args->op_type == H5VL_BLOB_SETNULL)
    std::memcpy(id, &none, sizeof none);
  else
    file_of(vol::TerminalObject::from(self)).blobs.erase(blob_number(id));
  return 0;
}

}  // namespace memory

std::span<const headrace::LayerEntry> headrace::layers() {
  static const std::array kLayers{LayerEntry{"memory",
                                             "keeps files in memory until the process ends",
                                             {},
                                             connector<memory::Connector>("libheadrace_memory.so"),
                                             {},
                                             {}}};
  return kLayers;
}
