#include "layers/object/connector/source_files.hpp"

#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/report/printable.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/object/connector/across.hpp"
#include "vol/terminal/mixed.hpp"

namespace headrace::object {
namespace {

namespace fs = std::filesystem;

template <vol::Callback callback>
auto own() {
  return vol::Route<callback>::direct(own_class());
}

constexpr H5VL_loc_params_t kItself{H5I_FILE, H5VL_OBJECT_BY_SELF, {}};

void require(bool done, const char* what) {
  if (!done) throw Error(std::string(what) + ": " + root_cause());
}

// The access list of the file of a virtual dataset, for its sources.
Id<Kind::plist> source_access(const File& file, H5F_close_degree_t degree) {
  Id<Kind::plist> list(h5.Pcopy(file.access.get()));
  require(list && h5.Pset_fclose_degree(list.get(), degree) >= 0,
          "HDF5 makes no access list for the sources of a virtual dataset");
  return list;
}

// A file that is opened with H5F_CLOSE_WEAK, so that what the program has open of it stays open; or
// as the program has it open.
struct OpenFile {
  OpenFile(const File& of, const fs::path& path, unsigned flags) {
    last_opened = nullptr;
    const PrivateErrors own;
    id = Id<Kind::file>(h5.Fopen(path.c_str(), flags, source_access(of, H5F_CLOSE_WEAK).get()));
    if (!id) {
      is_weak = false;
      id = Id<Kind::file>(h5.Fopen(path.c_str(), flags, of.access.get()));
    }
    object = last_opened;
    if (!id || object == nullptr)
      throw Error("source file " + printable(path.string()) + " cannot be opened: " + root_cause());
  }
  Id<Kind::file> id;
  void* object = nullptr;
  bool is_weak = true;
};

class SourceDataset final : public Source {
 public:
  // `object`: a dataset of our class.
  SourceDataset(void* object, std::shared_ptr<vol::FileHandle> through)
      : object_(object), through_(std::move(through)) {}
  SourceDataset(const SourceDataset&) = delete;
  SourceDataset& operator=(const SourceDataset&) = delete;
  // What was written is told where it fails, at the latest when the virtual dataset's file is
  // closed.
  ~SourceDataset() override {
    const PrivateErrors own_errors;
    if (is_written_) {
      const std::exception_ptr failed = error_of([this] { flush(); });
      if (failed != nullptr) through_->file->defer(failed);
    }
    own<vol::Callback::dataset_close>()(object_, h5.transfer_list.get(), nullptr);
  }

  Id<Kind::dataspace> space() override {
    H5VL_dataset_get_args_t args{H5VL_DATASET_GET_SPACE, {}};
    args.args.get_space.space_id = kInvalidId;
    require(own<vol::Callback::dataset_get>()(object_, &args, h5.transfer_list.get(), nullptr) >= 0,
            "the extent of a source dataset cannot be read");
    return Id<Kind::dataspace>(args.args.get_space.space_id);
  }
  void read(hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl, void* buffer) override {
    const LibraryContext apart;  // HDF5 keeps properties of the first transfer in a context
    require(own<vol::Callback::dataset_read>()(1, &object_, &mem_type, &mem_space, &file_space,
                                               dxpl, &buffer, nullptr) >= 0,
            "a source dataset cannot be read");
  }
  void write(hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
             const void* buffer) override {
    const LibraryContext apart;
    is_written_ = true;
    require(own<vol::Callback::dataset_write>()(1, &object_, &mem_type, &mem_space, &file_space,
                                                dxpl, &buffer, nullptr) >= 0,
            "a source dataset cannot be written");
  }
  // HDF5 finds cycles of its own.
  [[nodiscard]] bool is_virtual() const override {
    return vol::is_own(object_) && vol::as<Open>(object_).dataset->sources != nullptr;
  }
  void flush() override {
    H5VL_dataset_specific_args_t args{H5VL_DATASET_FLUSH, {}};
    args.args.flush.dset_id = kInvalidId;
    require(own<vol::Callback::dataset_specific>()(object_, &args, h5.transfer_list.get(),
                                                   nullptr) >= 0,
            "a source dataset cannot be flushed");
  }
  // One of a native file needs an id for that: it is read anew when it is opened again.
  void refresh() override {
    if (vol::is_own(object_)) object::refresh(object_);
  }
  // Closes the file after the dataset.
  void keep(Id<Kind::file> file) { file_ = std::move(file); }

 private:
  Id<Kind::file> file_;  // goes after the dataset, which the destructor closes
  void* object_;
  std::shared_ptr<vol::FileHandle> through_;  // the virtual dataset's
  bool is_written_ = false;
};

bool exists(void* file, const char* name) {
  const PrivateErrors own_errors;
  H5VL_loc_params_t where{H5I_FILE, H5VL_OBJECT_BY_NAME, {}};
  where.loc_data.loc_by_name = {name, h5.default_lists[0].get()};
  bool found = false;
  H5VL_object_specific_args_t args{H5VL_OBJECT_EXISTS, {}};
  args.args.exists.exists = &found;
  return own<vol::Callback::object_specific>()(file, &where, &args, h5.transfer_list.get(),
                                               nullptr) >= 0 &&
         found;
}

class SourceFiles final : public Sources {
 public:
  SourceFiles(std::shared_ptr<vol::FileHandle> through, hid_t dapl)
      : through_(std::move(through)), dapl_(h5.Pcopy(dapl)), prefix_(prefix_of(dapl)) {}

  std::shared_ptr<Source> open(const std::string& file, const std::string& dataset) override {
    if (file == ".") {
      const Open itself(H5I_FILE, through_, {this->file().container.root(), "/"});
      return opened(const_cast<Open*>(&itself), dataset);
    }
    const auto place = place_of(file);
    if (!place) return nullptr;
    unsigned flags = through_->intent();
    // What may not be written can be read.
    if (::access(place->c_str(), W_OK) != 0) flags &= ~kReadWrite;
    OpenFile there = opened_file(*place, flags);
    const std::shared_ptr<SourceDataset> source = opened(there.object, dataset);
    if (source != nullptr && !there.is_weak) source->keep(std::move(there.id));
    return source;
  }

 private:
  // One that may not be opened for writing, as a copied stub, is read.
  [[nodiscard]] OpenFile opened_file(const fs::path& path, unsigned flags) const {
    if ((flags & kReadWrite) == 0) return {file(), path, flags};
    try {
      return {file(), path, flags};
    } catch (const Error&) {
      std::optional<OpenFile> read;
      const unsigned reads = flags & ~kReadWrite;
      if (error_of([&] { read.emplace(file(), path, reads); }) != nullptr) throw;
      return *std::move(read);
    }
  }
  [[nodiscard]] File& file() const { return static_cast<File&>(*through_->file); }

  // Null where the file has none of that name.
  std::shared_ptr<SourceDataset> opened(void* file, const std::string& dataset) {
    if (!exists(file, dataset.c_str())) return nullptr;
    void* const object = own<vol::Callback::dataset_open>()(
        file, &kItself, dataset.c_str(), dapl_.get(), h5.transfer_list.get(), nullptr);
    require(object != nullptr, "a source dataset cannot be opened");
    return std::make_shared<SourceDataset>(object, through_);
  }

  // By the environment or the program's list.
  [[nodiscard]] std::string prefix_of(hid_t dapl) const {
    const char* const set = std::getenv("HDF5_VDS_PREFIX");
    std::string prefix = set == nullptr ? "" : set;
    std::array<char, PATH_MAX> text{};
    if (prefix.empty() && h5.Pget_virtual_prefix(dapl, text.data(), text.size()) > 0)
      prefix = text.data();
    constexpr std::string_view kOrigin = "${ORIGIN}";
    if (prefix == ".") return {};
    if (!prefix.starts_with(kOrigin)) return prefix;
    return file().folder + prefix.substr(kOrigin.size());
  }

  // As HDF5 looks for it; none where it is nowhere.
  [[nodiscard]] std::optional<fs::path> place_of(const std::string& name) const {
    std::error_code ignored;
    fs::path path(name);
    if (path.is_absolute()) {
      if (fs::exists(path, ignored)) return path;
      path = path.filename();
    }
    std::vector<fs::path> folders;
    if (const char* const set = std::getenv("HDF5_VDS_PREFIX"); set != nullptr) {
      std::istringstream all(set);
      for (std::string one; std::getline(all, one, ':');)
        if (!one.empty()) folders.emplace_back(one);
    }
    if (!prefix_.empty()) folders.emplace_back(prefix_);
    folders.emplace_back(file().folder);
    folders.emplace_back();
    folders.push_back(
        fs::weakly_canonical(file().folder / fs::path(file().path).filename(), ignored)
            .parent_path());
    for (const fs::path& folder : folders)
      if (fs::exists(folder / path, ignored)) return folder / path;
    return std::nullopt;
  }

  std::shared_ptr<vol::FileHandle> through_;
  Id<Kind::plist> dapl_;
  std::string prefix_;
};

}  // namespace

void find_sources(const Open& dataset) {
  VirtualDataset* const sources = dataset.dataset->sources;
  if (sources == nullptr || sources->has_sources()) return;
  const hid_t dapl = dataset.access ? dataset.access.get() : h5.dataset_access_list();
  sources->look_through(std::make_unique<SourceFiles>(dataset.opening(), dapl), dapl);
}

void flush_sources(const File& file) {
  std::set<VirtualDataset*> all;
  for (const vol::TerminalObject* one : file.objects())
    if (const auto* const open = dynamic_cast<const Open*>(one);
        open != nullptr && open->dataset != nullptr && open->dataset->sources != nullptr)
      all.insert(open->dataset->sources);
  for (VirtualDataset* one : all) one->flush();
}

}  // namespace headrace::object
