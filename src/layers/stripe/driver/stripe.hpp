// The driver that deals a file out to several, over sec2 and over mpio (docs/guide/stripe.md). What
// lies below opens the stub, which has the file's name, its lock and its communicator; an ordinary
// file that exists is left to it.
#pragma once

#include "base/call_scope.hpp"
#include "base/error.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/stripe/driver/striped_file.hpp"
#include "layers/stripe/settings.hpp"
#include "vfd/handle_question.hpp"
#include "vfd/pass_through.hpp"
#include "vfd/requests.hpp"
#include "vol/own_question.hpp"

namespace headrace::stripe {

struct OpenFile : vfd::File {
  OpenFile() : vfd::File{} {}
  std::unique_ptr<StripedFile> striped;  // null for an ordinary file

  static OpenFile& of(H5FD_t* file) { return *reinterpret_cast<OpenFile*>(file); }
  static const OpenFile& of(const H5FD_t* file) { return *reinterpret_cast<const OpenFile*>(file); }
};

// While a vector is transferred that was made of selections. HDF5 gives other vectors to all ranks
// together: metadata, chunks with filters, and the fill value of new chunks, after which it counts
// on MPI's collective writes to be over on all ranks.
struct SelectedPieces : CallScope<SelectedPieces> {};

template <vfd::Over over>
struct Driver : vfd::PassThrough<Driver<over>, over, OpenFile> {
  using Base = vfd::PassThrough<Driver<over>, over, OpenFile>;
  using Callback = vfd::Callback;
  static constexpr bool kMpi = over == vfd::Over::mpio;
  static constexpr const char* kName = kMpi ? "headrace_stripe_mpi" : "headrace_stripe";
  static constexpr H5FD_class_value_t kValue = kMpi ? 7215 : 7214;
  static constexpr std::span<const Setting> kSettings = stripe::kSettings;
  static constexpr auto kOverrides = [] {
    if constexpr (kMpi)
      return std::array{Callback::open,           Callback::close,        Callback::query,
                        Callback::get_eoa,        Callback::set_eoa,      Callback::get_eof,
                        Callback::get_handle,     Callback::read,         Callback::write,
                        Callback::flush,          Callback::truncate,     Callback::del,
                        Callback::read_vector,    Callback::write_vector, Callback::read_selection,
                        Callback::write_selection};
    else
      return std::array{Callback::open,       Callback::close,    Callback::query,
                        Callback::get_eoa,    Callback::set_eoa,  Callback::get_eof,
                        Callback::get_handle, Callback::read,     Callback::write,
                        Callback::flush,      Callback::truncate, Callback::del};
  }();

 private:
  static herr_t read_pieces(H5FD_t* file, hid_t dxpl, std::uint32_t count, H5FD_mem_t types[],
                            haddr_t addresses[], std::size_t sizes[], void* buffers[]) {
    const auto& striped = OpenFile::of(file).striped;
    if (striped == nullptr)
      return Base::read_vector(file, dxpl, count, types, addresses, sizes, buffers);
    const auto read = [&] {
      striped->settle();
      vfd::for_each_piece(vfd::Vector{count, types, addresses, sizes}, buffers,
                          [&](const vfd::Piece& piece, std::span<std::byte> bytes) {
                            striped->read(piece.offset, bytes);
                          });
    };
    if (SelectedPieces::current() != nullptr)
      read();
    else
      striped->transfer_together(read);
    return 0;
  }
  static herr_t write_pieces(H5FD_t* file, hid_t dxpl, std::uint32_t count, H5FD_mem_t types[],
                             haddr_t addresses[], std::size_t sizes[], const void* buffers[]) {
    const auto& striped = OpenFile::of(file).striped;
    if (striped == nullptr)
      return Base::write_vector(file, dxpl, count, types, addresses, sizes, buffers);
    const auto write = [&] {
      vfd::for_each_piece(vfd::Vector{count, types, addresses, sizes}, buffers,
                          [&](const vfd::Piece& piece, std::span<const std::byte> bytes) {
                            striped->write(piece.offset, bytes);
                          });
    };
    if (SelectedPieces::current() != nullptr)
      write();
    else
      striped->write_together(write);
    return 0;
  }

  // HDF5 makes vectors of them, of this rank alone, and adds the user block's size once more.
  template <auto of_library, auto below, typename Buffer>
  static herr_t selected(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, std::size_t count,
                         hid_t mem_spaces[], hid_t file_spaces[], haddr_t offsets[],
                         std::size_t element_sizes[], Buffer buffers[]) {
    if (OpenFile::of(file).striped == nullptr)
      return below(file, type, dxpl, count, mem_spaces, file_spaces, offsets, element_sizes,
                   buffers);
    if (h5.*of_library == nullptr)
      throw Error("over MPI the layer stripe needs HDF5 1.14.1 or newer: " + library.path);
    std::vector<haddr_t> relative(offsets, offsets + count);
    for (haddr_t& offset : relative) offset -= file->base_addr;
    const SelectedPieces scope;
    const NestedCalls nested;
    return (h5.*of_library)(file, type, kDefaultPlist, static_cast<std::uint32_t>(count),
                            mem_spaces, file_spaces, relative.data(), element_sizes, buffers);
  }
  static herr_t read_selected(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, std::size_t count,
                              hid_t mem_spaces[], hid_t file_spaces[], haddr_t offsets[],
                              std::size_t element_sizes[], void* buffers[]) {
    return selected<&Api::read_vector_from_selection, Base::read_selection>(
        file, type, dxpl, count, mem_spaces, file_spaces, offsets, element_sizes, buffers);
  }
  static herr_t write_selected(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, std::size_t count,
                               hid_t mem_spaces[], hid_t file_spaces[], haddr_t offsets[],
                               std::size_t element_sizes[], const void* buffers[]) {
    return selected<&Api::write_vector_from_selection, Base::write_selection>(
        file, type, dxpl, count, mem_spaces, file_spaces, offsets, element_sizes, buffers);
  }

  static void become_whole(H5FD_t* file) {
    OpenFile& mine = OpenFile::of(file);
    const std::string& stub = mine.striped->stub();
    std::unique_ptr<engine::io::File> storage = Base::storage(file, stub.c_str());
    if (storage == nullptr)
      throw Error("file " + stub + " has a driver that worker threads cannot read or write past");
    mine.striped->become_whole(std::move(storage));
    Base::set_eoa(file, H5FD_MEM_DEFAULT, mine.striped->eoa());
    mine.striped.reset();
    // The driver below has not seen how long its file has become. HDF5 truncates it with each
    // flush, and tells then what has failed.
    const PrivateErrors own;
    static_cast<void>(Base::truncate(file, kDefaultPlist, false));
  }

 public:
  static H5FD_t* open(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr) {
    if (kMpi && vfd::options_of(fapl, Base::layer()).count("seat") == 0)
      throw Error(
          "over MPI the layer stripe needs its connector, too (HDF5_VOL_CONNECTOR): without "
          "it HDF5 gives collective transfers to a driver in MPI's own types");
    FoundBefore before = find_before(name, fapl, Base::layer());
    H5FD_t* file = Base::open(name, flags, fapl, maxaddr);
    if (file == nullptr) return nullptr;
    try {
      auto& striped = OpenFile::of(file).striped;
      striped = StripedFile::open(name, flags, fapl, Base::layer(), std::move(before));
      if (!kMpi && striped != nullptr) striped->on_addresses_told([file] { become_whole(file); });
    } catch (...) {
      Base::close(file);
      throw;
    }
    return file;
  }

  // HDF5 forgets the file whatever is returned, so it is closed below in any case. The stub has the
  // file's lock until then, for which a process in the background waits.
  static herr_t close(H5FD_t* file) {
    OpenFile& mine = OpenFile::of(file);
    std::exception_ptr failed;
    if (mine.striped != nullptr) failed = error_of([&] { mine.striped->finish(); });
    mine.striped.reset();
    const herr_t result = Base::close(file);
    if (failed != nullptr) std::rethrow_exception(failed);
    return result;
  }

  // The default driver does not read pieces. Flags that hold in part stay (docs/decisions/0022):
  // opening a file for SWMR is refused by ourselves, and a descriptor is the stub's.
  static herr_t query(const H5FD_t* file, unsigned long* flags) {
    const herr_t result = Base::query(file, flags);
    if (file != nullptr && OpenFile::of(file).striped != nullptr)
      *flags &= ~static_cast<unsigned long>(H5FD_FEAT_DEFAULT_VFD_COMPATIBLE);
    return result;
  }

  static haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t type) {
    const auto& striped = OpenFile::of(file).striped;
    return striped == nullptr ? Base::get_eoa(file, type) : striped->eoa();
  }
  static herr_t set_eoa(H5FD_t* file, H5FD_mem_t type, haddr_t address) {
    const auto& striped = OpenFile::of(file).striped;
    if (striped == nullptr) return Base::set_eoa(file, type, address);
    striped->set_eoa(address);
    return 0;
  }
  static haddr_t get_eof(const H5FD_t* file, H5FD_mem_t type) {
    const auto& striped = OpenFile::of(file).striped;
    return striped == nullptr ? Base::get_eof(file, type) : striped->eof();
  }

  static herr_t get_handle(H5FD_t* file, hid_t fapl, void** handle) {
    FileInquiry* const inquiry = FileInquiry::current();
    const auto& striped = OpenFile::of(file).striped;
    if (inquiry == nullptr) {
      if (striped != nullptr && vol::OwnQuestion::current() == nullptr &&
          !vfd::is_hdf5s_question(fapl))
        striped->sync_always();
      return Base::get_handle(file, fapl, handle);
    }
    if (striped != nullptr) inquiry->found = striped->self;
    return 0;
  }

  static herr_t read(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t address, std::size_t size,
                     void* buffer) {
    const auto& striped = OpenFile::of(file).striped;
    if (striped == nullptr) return Base::read(file, type, dxpl, address, size, buffer);
    const std::span bytes(static_cast<std::byte*>(buffer), size);
    if (type != H5FD_MEM_DRAW) {
      striped->read_metadata(address, bytes);
      return 0;
    }
    striped->settle();
    striped->read(address, bytes);
    return 0;
  }
  static herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t address, std::size_t size,
                      const void* buffer) {
    const auto& striped = OpenFile::of(file).striped;
    if (striped == nullptr) return Base::write(file, type, dxpl, address, size, buffer);
    const std::span bytes(static_cast<const std::byte*>(buffer), size);
    if (type == H5FD_MEM_DRAW)
      striped->write(address, bytes);
    else
      striped->write_metadata(address, bytes);
    return 0;
  }

  static herr_t flush(H5FD_t* file, hid_t dxpl, bool closing) {
    const auto& striped = OpenFile::of(file).striped;
    if (striped == nullptr) return Base::flush(file, dxpl, closing);
    striped->flush();
    return 0;
  }
  static herr_t truncate(H5FD_t* file, hid_t dxpl, bool closing) {
    const auto& striped = OpenFile::of(file).striped;
    if (striped == nullptr) return Base::truncate(file, dxpl, closing);
    striped->truncate();
    return 0;
  }

  static herr_t del(const char* name, hid_t fapl) {
    remove_pieces_of(name, fapl, Base::layer());
    return Base::del(name, fapl);
  }

  static constexpr auto read_vector = [] {
    if constexpr (kMpi)
      return &read_pieces;
    else
      return vfd::signature::read_vector{};
  }();
  static constexpr auto write_vector = [] {
    if constexpr (kMpi)
      return &write_pieces;
    else
      return vfd::signature::write_vector{};
  }();
  static constexpr auto read_selection = [] {
    if constexpr (kMpi)
      return &read_selected;
    else
      return vfd::signature::read_selection{};
  }();
  static constexpr auto write_selection = [] {
    if constexpr (kMpi)
      return &write_selected;
    else
      return vfd::signature::write_selection{};
  }();

  static std::unique_ptr<engine::io::File> storage(H5FD_t* file, const char* name) {
    const auto& striped = OpenFile::of(file).striped;
    return striped == nullptr ? Base::storage(file, name) : striped->storage();
  }
};

}  // namespace headrace::stripe
