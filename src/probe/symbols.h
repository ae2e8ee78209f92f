/* Finds exported symbols of loaded objects by reading their hash tables: takes no lock, calls
 * nothing of theirs and allocates nothing, so it works in a signal handler too. */
#pragma once

#include <link.h>

struct SymbolTable {
  ElfW(Addr) base;
  const ElfW(Sym) * symbols;
  const char* strings;
  const ElfW(Word) * gnu_hash; /* one of the two tables is there, or none */
  const ElfW(Word) * sysv_hash;
};

/* Reads the dynamic section of an object that was loaded at `base`. */
struct SymbolTable headrace_symbol_table(ElfW(Addr) base, const ElfW(Dyn) * dynamic);

/* The address of a symbol that the object itself defines; NULL when it defines none. */
const void* headrace_find_symbol(const struct SymbolTable* table, const char* name);
