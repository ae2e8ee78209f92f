// The elements of a dataset of a container: HDF5's reads and writes become chunks in its store.
//
// Every layout is chunks: those of the creation list, or blocks of rows of a contiguous dataset. A
// small dataset that cannot grow is one chunk, kept in the header.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layers/object/elements/chunks.hpp"
#include "layers/object/elements/codec.hpp"
#include "layers/object/elements/elsewhere.hpp"
#include "layers/object/elements/layout.hpp"
#include "objects/container.hpp"

namespace headrace::object {

// The creation list of a new dataset, with what filters have set for it. Throws Error, which names
// the dataset, for what cannot be made: HDF5 itself refuses it, or its elements would lie in other
// files.
Id<Kind::plist> require_supported(hid_t type, hid_t dcpl, hid_t space, const std::string& name);
// A dataset's list with what filters set for it that is not kept. Throws Error.
Id<Kind::plist> told_list(hid_t type, Id<Kind::plist> list, hid_t space);
// The other way: a list by which a program makes a dataset that tells of these filters, as far as
// there is one. Throws Error.
Id<Kind::plist> asked_list(hid_t type, Id<Kind::plist> told, hid_t space);

// A dataset's type as the program gave it, and its form in a container. They are made when they are
// needed: HDF5 counts the ids of types among what a program has open.
struct Types {
  std::function<Id<Kind::datatype>()> program;
  std::function<Id<Kind::datatype>()> file;
};

// Of one dataset; one object for all of its handles. The program's thread only, where callers keep
// HDF5's error stack; throws Error.
class Elements {
 public:
  // Called before chunks are stored: what they lead to is to be stored, and where the header says
  // anew what is cut off (`cuts`), the header.
  using BeforeChunks = std::function<void(bool cuts)>;
  // All outlive the object. `dcpl`: the dataset's creation list, as the header has it (see
  // fill.hpp).
  Elements(store::Store& store, objects::Container& container, objects::Handle dataset,
           const Types& types, Id<Kind::plist> dcpl, BeforeChunks before);
  // None of them is stored here.
  void lie_in(std::unique_ptr<Elsewhere> elsewhere) { elsewhere_ = std::move(elsewhere); }

  // As H5Dread and H5Dwrite.
  void read(hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl, void* buffer);
  void write(hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl, const void* buffer);
  void set_extent(const std::vector<std::uint64_t>& dims);
  // What is pending goes to the store.
  void flush();
  // Bytes pending.
  [[nodiscard]] std::size_t size() const { return chunks_->size(); }
  [[nodiscard]] std::uint64_t storage_size();
  [[nodiscard]] H5D_space_status_t status();
  // H5VL_NATIVE_DATASET_*; returns what the callback is to. A chunk's address lies in no file,
  // and 0 is the size of a chunk that is not stored.
  herr_t optional(H5VL_optional_args_t& args);
  // All that is stored of another dataset, which has the same bytes, list and extent.
  void copy_stored(Elements& from);
  // The header has changed: extent, epoch and cuts are taken anew.
  void reload();

 private:
  struct TypesNow;
  Elements(store::Store& store, objects::Container& container, objects::Handle dataset, Types types,
           Id<Kind::plist> dcpl, BeforeChunks before, const TypesNow& now);
  [[nodiscard]] const objects::Header& header() const { return dataset_->header(); }
  [[nodiscard]] Id<Kind::datatype> file_type() const {
    return is_flat_ ? types_.program() : types_.file();
  }
  // What a header says is cut off. Two writers may have cut a dataset from the same epoch on.
  struct CutOff {
    std::uint64_t epoch = 0;
    std::vector<objects::Cut> cuts;
  };
  [[nodiscard]] CutOff cut_off() const { return {header().epoch, header().cuts}; }
  [[nodiscard]] bool has_more_than(const CutOff& known) const {
    return header().epoch != known.epoch || header().cuts != known.cuts;
  }
  // Whether the header says what is cut off that no header in the store has said.
  [[nodiscard]] bool has_new_cuts() const { return has_more_than(said_); }
  // The chunks, where they are about to be stored.
  StoredChunks& storing();
  // The same, where whole ones are.
  StoredChunks& storing_whole();
  // The header may say that more is cut off than chunks_ knows: it was merged with another
  // writer's.
  void follow_header() {
    if (has_more_than(known_)) reload();
  }
  [[nodiscard]] bool is_early() const;
  // The array that a file selection's dataspace numbers.
  [[nodiscard]] vol::Chunked array_of(const Id<Kind::dataspace>& file) const;
  [[nodiscard]] std::vector<objects::StoredInfo> stored();

  // Those of optional().
  struct Told {
    unsigned* left_out;
    haddr_t* address;
    hsize_t* size;
  };
  herr_t chunk_call(H5VL_optional_args_t& args);
  [[nodiscard]] std::optional<Coordinates> chunk_with(const hsize_t* offset) const;
  [[nodiscard]] Coordinates chunk_at(const hsize_t* offset) const;
  [[nodiscard]] std::vector<hsize_t> offset_of(const Coordinates& at) const;
  [[nodiscard]] std::optional<objects::StoredInfo> info_of(const hsize_t* offset);
  // Programs take a chunk without an address for one that is not stored. No file is that large.
  [[nodiscard]] haddr_t address_of(const Coordinates& at) const;
  void tell(const Told& told, const objects::StoredInfo* chunk) const;
  void read_chunk(H5VL_optional_args_t& args);
  void write_chunk(H5VL_optional_args_t& args);
  herr_t visit_chunks(H5VL_optional_args_t& args);
  const std::vector<objects::StoredInfo>& listed();
  void tell_sequences(H5VL_optional_args_t& args);

  objects::Container& container_;
  objects::Handle dataset_;
  Types types_;
  Id<Kind::plist> dcpl_;
  bool is_flat_;  // else elements lead to blobs, which are stored before them
  Layout layout_;
  BeforeChunks before_;
  CutOff known_;  // by chunks_
  CutOff said_;   // by a header in the store
  std::unique_ptr<Filters> filters_;
  StoredChunks* stored_ = nullptr;  // chunks_, where they are in the store
  std::unique_ptr<Chunks> chunks_;
  // Chunks that are asked for one by one.
  std::optional<std::vector<objects::StoredInfo>> listed_;
  std::unique_ptr<Elsewhere> elsewhere_;
};

}  // namespace headrace::object
