#include "symbols.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Most systems relocate the pointers of the dynamic section when they load an object, a few leave
 * offsets in it. */
static const void* at(ElfW(Addr) base, ElfW(Addr) value) {
  return (const void*)(value < base ? base + value : value);
}

struct SymbolTable headrace_symbol_table(ElfW(Addr) base, const ElfW(Dyn) * dynamic) {
  struct SymbolTable table = {.base = base};
  for (; dynamic != NULL && dynamic->d_tag != DT_NULL; ++dynamic) {
    const void* const target = at(base, dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_SYMTAB) table.symbols = target;
    if (dynamic->d_tag == DT_STRTAB) table.strings = target;
    if (dynamic->d_tag == DT_GNU_HASH) table.gnu_hash = target;
    if (dynamic->d_tag == DT_HASH) table.sysv_hash = target;
  }
  return table;
}

static const void* defined(const struct SymbolTable* table, ElfW(Word) index, const char* name) {
  const ElfW(Sym)* const symbol = &table->symbols[index];
  if (symbol->st_shndx == SHN_UNDEF || strcmp(table->strings + symbol->st_name, name) != 0)
    return NULL;
  return (const void*)(table->base + symbol->st_value);
}

static const void* find_gnu(const struct SymbolTable* table, const char* name) {
  uint32_t hash = 5381;
  for (const char* c = name; *c != '\0'; ++c) hash = hash * 33 + (unsigned char)*c;
  const uint32_t buckets = table->gnu_hash[0];
  const uint32_t first = table->gnu_hash[1];
  const uint32_t filter_words = table->gnu_hash[2];
  if (buckets == 0) return NULL;
  const uint32_t* const bucket =
      table->gnu_hash + 4 + (size_t)filter_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* const chain = bucket + buckets;
  uint32_t index = bucket[hash % buckets];
  if (index < first) return NULL;
  for (;; ++index) {
    const uint32_t entry = chain[index - first];
    if ((entry | 1U) == (hash | 1U)) {
      const void* const found = defined(table, index, name);
      if (found != NULL) return found;
    }
    if ((entry & 1U) != 0) return NULL;
  }
}

static const void* find_sysv(const struct SymbolTable* table, const char* name) {
  uint32_t hash = 0;
  for (const char* c = name; *c != '\0'; ++c) {
    hash = (hash << 4) + (unsigned char)*c;
    hash = (hash ^ ((hash & 0xf0000000U) >> 24)) & 0x0fffffffU;
  }
  const ElfW(Word) buckets = table->sysv_hash[0];
  const ElfW(Word)* const bucket = table->sysv_hash + 2;
  const ElfW(Word)* const chain = bucket + buckets;
  if (buckets == 0) return NULL;
  for (ElfW(Word) index = bucket[hash % buckets]; index != STN_UNDEF; index = chain[index]) {
    const void* const found = defined(table, index, name);
    if (found != NULL) return found;
  }
  return NULL;
}

const void* headrace_find_symbol(const struct SymbolTable* table, const char* name) {
  if (table->symbols == NULL || table->strings == NULL) return NULL;
  if (table->gnu_hash != NULL) return find_gnu(table, name);
  if (table->sysv_hash != NULL) return find_sysv(table, name);
  return NULL;
}
