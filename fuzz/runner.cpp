// Runs a fuzz target on mutations of its corpus: fuzz_NAME ROUNDS CORPUS-FILE, one input a line.
// With LONG=1 in the environment there are ten times as many rounds, under a sanitizer forty times.
// The seed is printed and can be given as a third argument to repeat a failure.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "support/rounds.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::string mutate(std::string input, const std::vector<std::string>& corpus,
                   std::mt19937& random) {
  const auto pick = [&](std::size_t bound) { return random() % bound; };
  for (std::size_t edits = 1 + pick(6); edits > 0; --edits) {
    const std::size_t at = pick(input.size() + 1);
    switch (pick(4)) {
      case 0:
        input.insert(at, 1, static_cast<char>(pick(256)));
        break;
      case 1:
        if (at < input.size()) input.erase(at, 1 + pick(4));
        break;
      case 2:
        if (at < input.size()) input[at] = "{};=%01aZ"[pick(9)];
        break;
      default:
        input.insert(at, corpus[pick(corpus.size())]);
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return EXIT_FAILURE;
  std::vector<std::string> corpus;
  std::ifstream file(argv[2]);
  for (std::string line; std::getline(file, line);) corpus.push_back(line);
  if (corpus.empty()) {
    std::cerr << "no corpus in " << argv[2] << '\n';
    return EXIT_FAILURE;
  }
  const unsigned seed =
      argc > 3 ? static_cast<unsigned>(std::stoul(argv[3])) : std::random_device()();
  std::cout << "seed " << seed << '\n' << std::flush;
  std::mt19937 random(seed);
  const unsigned more = headrace::test::is_long() ? 10 : 1;
  for (unsigned round = more * headrace::test::rounds(std::stoul(argv[1])); round > 0; --round) {
    const std::string input = mutate(corpus[random() % corpus.size()], corpus, random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  }
  return EXIT_SUCCESS;
}
