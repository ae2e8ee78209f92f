// A driver that tells an observer of each request, and passes it on unchanged, over sec2 and over
// mpio.
//
// Observer: a class whose `Call(Observer&, RequestKind, bool together)` is one call that a thread
// makes: for each of its pieces `piece(int type, offset, length, span)`, then `start()`, the call
// below, and `end(bool good)`. None of these may throw. Threads may make calls at the same time.
// The driver's `open` puts the file's observer into its ObservedFile, after open() here.
#pragma once

#include "vfd/observed_storage.hpp"
#include "vfd/pass_through.hpp"
#include "vfd/requests.hpp"

namespace headrace::vfd {

template <typename Observer>
struct ObservedFile : File {
  std::unique_ptr<Observer> observer;

  static ObservedFile& from(H5FD_t* file) { return *reinterpret_cast<ObservedFile*>(file); }
};

template <typename D, Over over, typename Observer>
struct Observing : PassThrough<D, over, ObservedFile<Observer>> {
  using Below = PassThrough<D, over, ObservedFile<Observer>>;
  using Opened = ObservedFile<Observer>;

  // For kOverrides: the callbacks below, and those that the driver shadows itself. HDF5 decides by
  // the callbacks that a class has, so that over sec2 has none for vectors.
  template <Callback... more>
  static constexpr auto overrides_with() {
    if constexpr (over == Over::sec2)
      return std::array{Callback::read, Callback::write, Callback::flush, Callback::truncate,
                        more...};
    else
      return std::array{Callback::read,           Callback::write,           Callback::flush,
                        Callback::truncate,       Callback::read_vector,     Callback::write_vector,
                        Callback::read_selection, Callback::write_selection, more...};
  }

  static std::unique_ptr<engine::io::File> storage(H5FD_t* file, const char* name) {
    return observed(*Opened::from(file).observer, Below::storage(file, name));
  }

  static herr_t read(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t address, std::size_t size,
                     void* buffer) {
    return observe(file, RequestKind::read, Block{type, address, size},
                   [&] { return Below::read(file, type, dxpl, address, size, buffer); });
  }
  static herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t address, std::size_t size,
                      const void* buffer) {
    return observe(file, RequestKind::write, Block{type, address, size},
                   [&] { return Below::write(file, type, dxpl, address, size, buffer); });
  }
  static herr_t flush(H5FD_t* file, hid_t dxpl, hbool_t closing) {
    return observe(file, RequestKind::flush, NoPiece{},
                   [&] { return Below::flush(file, dxpl, closing); });
  }
  static herr_t truncate(H5FD_t* file, hid_t dxpl, hbool_t closing) {
    return observe(file, RequestKind::truncate, NoPiece{},
                   [&] { return Below::truncate(file, dxpl, closing); });
  }

  static herr_t observed_read_vector(H5FD_t* file, hid_t dxpl, std::uint32_t count,
                                     H5FD_mem_t types[], haddr_t addresses[], std::size_t sizes[],
                                     void* buffers[]) {
    return observe(file, RequestKind::read, Vector{count, types, addresses, sizes}, [&] {
      return Below::read_vector(file, dxpl, count, types, addresses, sizes, buffers);
    });
  }
  static herr_t observed_write_vector(H5FD_t* file, hid_t dxpl, std::uint32_t count,
                                      H5FD_mem_t types[], haddr_t addresses[], std::size_t sizes[],
                                      const void* buffers[]) {
    return observe(file, RequestKind::write, Vector{count, types, addresses, sizes}, [&] {
      return Below::write_vector(file, dxpl, count, types, addresses, sizes, buffers);
    });
  }
  static herr_t observed_read_selection(H5FD_t* file, H5FD_mem_t type, hid_t dxpl,
                                        std::size_t count, hid_t memory[], hid_t spaces[],
                                        haddr_t offsets[], std::size_t elements[],
                                        void* buffers[]) {
    return observe(file, RequestKind::read, Selections{type, count, spaces, offsets, elements},
                   [&] {
                     return Below::read_selection(file, type, dxpl, count, memory, spaces, offsets,
                                                  elements, buffers);
                   });
  }
  static herr_t observed_write_selection(H5FD_t* file, H5FD_mem_t type, hid_t dxpl,
                                         std::size_t count, hid_t memory[], hid_t spaces[],
                                         haddr_t offsets[], std::size_t elements[],
                                         const void* buffers[]) {
    return observe(file, RequestKind::write, Selections{type, count, spaces, offsets, elements},
                   [&] {
                     return Below::write_selection(file, type, dxpl, count, memory, spaces, offsets,
                                                   elements, buffers);
                   });
  }

  static constexpr bool kMpio = over == Over::mpio;
  static constexpr signature::read_vector read_vector = kMpio ? &observed_read_vector : nullptr;
  static constexpr signature::write_vector write_vector = kMpio ? &observed_write_vector : nullptr;
  static constexpr signature::read_selection read_selection =
      kMpio ? &observed_read_selection : nullptr;
  static constexpr signature::write_selection write_selection =
      kMpio ? &observed_write_selection : nullptr;

 private:
  template <typename Arguments, typename Pass>
  static herr_t observe(H5FD_t* file, RequestKind kind, const Arguments& arguments, Pass pass) {
    const bool together = made_together(kind, over);
    typename Observer::Call call(*Opened::from(file).observer, kind, together);
    for_each_piece(arguments, together, [&](const Piece& piece) {
      call.piece(piece.type, piece.offset, piece.length, piece.span);
    });
    call.start();
    const herr_t result = pass();
    call.end(result >= 0);
    return result;
  }
};

}  // namespace headrace::vfd
