#include "comm/agreement.hpp"

#include <array>
#include <span>

#include "base/error.hpp"

namespace headrace {

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& caught) {
    return caught.what();
  } catch (...) {
    return "unknown error";
  }
}

void agree(Communicator& ranks, const std::exception_ptr& error) {
  if (ranks.size() == 1) {
    if (error != nullptr) std::rethrow_exception(error);
    return;
  }
  const int none = ranks.size();
  const auto first =
      static_cast<int>(ranks.reduce(error != nullptr ? ranks.rank() : none, Reduction::min));
  if (first == none) return;
  std::array<char, 1024> text{};
  if (first == ranks.rank()) text_of(error).copy(text.data(), text.size() - 1);
  ranks.broadcast(std::as_writable_bytes(std::span(text)), first);
  throw Error("rank " + std::to_string(first) + ": " + text.data());
}

void share(Communicator& ranks, std::string& text) {
  std::uint64_t size = text.size();
  ranks.broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  text.resize(size);
  ranks.broadcast(std::as_writable_bytes(std::span(text)), 0);
}

}  // namespace headrace
