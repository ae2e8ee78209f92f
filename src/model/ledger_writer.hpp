// Writes a ledger while a program runs: buffered, with a bound on its memory, and never in the way.
#pragma once

#include <string>
#include <vector>

#include "model/ledger.hpp"

namespace headrace::model {

class LedgerWriter {
 public:
  // Nothing is written before the buffer is full or the ledger closed: files in which nothing was
  // done leave no ledger. `directory` is made if its parent exists.
  LedgerWriter(std::string directory, Header header);
  LedgerWriter(const LedgerWriter&) = delete;
  LedgerWriter& operator=(const LedgerWriter&) = delete;
  ~LedgerWriter();

  // Throws Error for what cannot be written; the ledger is given up then.
  void add(const Record& record);
  void close();

 private:
  void create();
  void spill();
  void write(const std::byte* bytes, std::size_t size);
  [[noreturn]] void fail(const std::string& what, int error_number);

  std::string directory_;
  Header header_;
  std::string path_;
  std::vector<Record> buffer_;
  std::uint64_t written_ = 0;
  int fd_ = -1;
  bool given_up_ = false;
};

}  // namespace headrace::model
