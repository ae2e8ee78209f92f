// The folder of a case: NAME.partial while it is made, NAME when it is whole.
#pragma once

#include <cstdint>
#include <string>

namespace headrace::bench {

// Local functions: one rank calls them for all. All throw Error with the path and the cause.
class CaseFolder {
 public:
  // `is_whole`: an earlier run has made it.
  CaseFolder(const std::string& dir, const std::string& name, bool is_whole)
      : whole_(dir + '/' + name),
        partial_(whole_ + ".partial"),
        place_(is_whole ? whole_ : partial_) {}

  // Where the files are until finish().
  [[nodiscard]] const std::string& place() const { return place_; }

  // Makes it anew. Remains of an earlier run are removed; a folder that no run has made is not.
  void make() const;
  // The sizes of all files in it.
  [[nodiscard]] std::uint64_t bytes() const;
  // fsync of each file in it.
  void sync() const;
  // Waits until its file system has written what earlier work left, which would slow down what is
  // measured next.
  void settle() const;
  // Has the kernel forget the pages of its files. Whether it did: other users of a page, and file
  // systems without a page cache, can keep it.
  [[nodiscard]] bool drop_caches() const;
  // Everything was written and read well: takes away the name's ".partial".
  void finish() const;
  void remove() const;

 private:
  std::string whole_;
  std::string partial_;
  std::string place_;
};

}  // namespace headrace::bench
