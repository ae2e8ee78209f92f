#include "layers/stripe/connector/control.hpp"

#include <headrace/stripe.h>

#include <array>
#include <cstddef>

#include "base/error.hpp"
#include "layers/stripe/driver/striped_file.hpp"
#include "vol/operations.hpp"
#include "vol/own_question.hpp"

namespace headrace::stripe {
namespace {

StripedFile* driver_of(const vol::Object& file) {
  FileInquiry inquiry;
  vol::ask_driver(file);
  return inquiry.found == nullptr ? nullptr : *inquiry.found;
}

StripedFile& striped(const vol::Object& file) {
  StripedFile* const found = driver_of(file);
  if (found == nullptr) throw Error("the file is not in pieces");
  return *found;
}

void fuse(vol::Object& file, void* args) {
  headrace_fuse_t given{};
  vol::take_arguments(args, &given, sizeof given);
  constexpr std::array kWhen{Fuse::later, Fuse::close, Fuse::background};
  const auto when = static_cast<std::size_t>(given.when);
  if (when >= kWhen.size())
    throw Error("headrace_fuse: " + std::to_string(given.when) + " is none of its constants");
  striped(file).fuse_when_closed(kWhen.at(when));
}

void tell_subfiles(vol::Object& file, void* args) {
  const StripedFile::Pieces pieces = striped(file).pieces();
  const headrace_subfiles_t answer{sizeof answer, pieces.paths.size(), pieces.stripe,
                                   pieces.paths.data(), pieces.written.data()};
  vol::give_answer(args, &answer, sizeof answer);
}

std::span<vol::Operation> operations() {
  static std::array<vol::Operation, 2> operations{{
      {HEADRACE_OPERATION_FUSE, H5VL_SUBCLS_FILE, &fuse},
      {HEADRACE_OPERATION_SUBFILES, H5VL_SUBCLS_FILE, &tell_subfiles},
  }};
  return operations;
}

}  // namespace

void register_operations() { vol::register_operations(operations()); }

bool is_operation(H5VL_subclass_t kind, int operation) {
  return vol::find_operation(operations(), kind, operation) != nullptr;
}

bool is_striped(const vol::Object& file) { return driver_of(file) != nullptr; }

void operate_on_file(vol::Object& file, const H5VL_optional_args_t& args) {
  if (const auto* one = vol::find_operation(operations(), H5VL_SUBCLS_FILE, args.op_type))
    one->carry_out(file, args.args);
}

}  // namespace headrace::stripe
