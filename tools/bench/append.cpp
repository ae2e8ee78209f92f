#include "append.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace headrace::bench {

void append_sample(const std::string& path, const std::string& line) {
  const std::string text = line + '\n';
  const bool print = path.empty();
  const int fd =
      print ? STDOUT_FILENO : ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) throw Error(path + ": cannot be opened: " + std::strerror(errno), errno);
  const ssize_t written = ::write(fd, text.data(), text.size());
  const int error = errno;
  if (!print) ::close(fd);
  if (written == static_cast<ssize_t>(text.size())) return;
  throw Error((print ? std::string("standard output") : path) + ": cannot be written: " +
                  (written < 0 ? std::strerror(error) : "only a part of a line fitted"),
              error);
}

}  // namespace headrace::bench
