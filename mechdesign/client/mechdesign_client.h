/* mechdesign client for C99: draws private reports with exactly the certified probabilities.
 *
 *     #include "mechdesign_table.h"                        (which includes this header)
 *     uint32_t report;
 *     if (md_draw(&md_channel, input, md_system_random, NULL, &report) == MD_OK)
 *       send(md_channel.digest, report);
 *
 * Inputs and reports are numbered from 0; their labels are in the table, NULL if they are the
 * numbers themselves. Unary encoding reports a set of inputs: md_draw_set.
 *
 * All probabilities are multiples of 2^-62, and every draw is integer arithmetic on random
 * little-endian 64-bit words. Draw once for each answer and keep the report: a second draw of the
 * same answer leaks more.
 */
#ifndef MECHDESIGN_CLIENT_H
#define MECHDESIGN_CLIENT_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Fills a buffer with unpredictable random bytes; returns 0, or another value for failure. */
typedef int (*md_random)(void *state, unsigned char *bytes, size_t count);

enum { MD_OK = 0, MD_NO_RANDOM = 1, MD_WRONG_INPUT = 2, MD_UNSUPPORTED = 3 };

typedef enum {
  MD_CHANNEL,
  MD_LIP_RANDOMIZED_RESPONSE,
  MD_RANDOMIZED_RESPONSE,
  MD_HADAMARD_RESPONSE,
  MD_PROJECTIVE_GEOMETRY_RESPONSE,
  MD_OPTIMIZED_UNARY_ENCODING,
  MD_SYMMETRIC_UNARY_ENCODING
} md_kind;

typedef struct {
  int version;                 /* of this format: 1 */
  const char *digest;          /* SHA-256 of what is drawn from; send it with every report */
  md_kind kind;
  uint32_t inputs, outputs;    /* how many; outputs is 0 where reports are sets */
  const char *const *input_labels, *const *output_labels;
  const uint64_t *thresholds;  /* the alias table, 2^cell_bits cells for each row */
  const uint16_t *aliases;
  uint32_t cells, cell_bits;
  uint64_t own, other, held, size, copies, digits, others, field, dimension; /* of a mechanism */
} md_table;

#define MD_BITS 62
#define MD_WHOLE ((uint64_t)1 << MD_BITS) /* masses sum to this */
#define MD_COORDINATES 32                 /* at least those of a projective space of 2^23 points */

#ifndef MD_NO_SYSTEM_RANDOM
#if defined(_WIN32)
#include <windows.h>
#include <bcrypt.h> /* link with bcrypt */
static inline int md_system_random(void *state, unsigned char *bytes, size_t count) {
  (void)state;
  return BCryptGenRandom(NULL, bytes, (ULONG)count, BCRYPT_USE_SYSTEM_PREFERRED_RNG) != 0;
}
#elif defined(__linux__)
#include <errno.h>
#include <sys/random.h>
static inline int md_system_random(void *state, unsigned char *bytes, size_t count) {
  (void)state;
  for (size_t done = 0; done < count;) {
    const long got = (long)getrandom(bytes + done, count - done, 0);
    if (got < 0 && errno != EINTR) return 1;
    if (got > 0) done += (size_t)got;
  }
  return 0;
}
#else
#include <stdlib.h> /* macOS and the BSDs; elsewhere define MD_NO_SYSTEM_RANDOM, give your own */
static inline int md_system_random(void *state, unsigned char *bytes, size_t count) {
  (void)state;
  arc4random_buf(bytes, count);
  return 0;
}
#endif
#endif

static inline int md_word(md_random random, void *state, uint64_t *word) {
  unsigned char bytes[8];
  if (random(state, bytes, sizeof bytes)) return MD_NO_RANDOM;
  *word = 0;
  for (int i = 7; i >= 0; i--) *word = *word << 8 | bytes[i];
  return MD_OK;
}

/* A uniform number below bound, by rejection of the incomplete last multiple, below 2^-31 of all
 * words. */
static inline int md_below(md_random random, void *state, uint64_t bound, uint64_t *number) {
  const uint64_t rounds = MD_WHOLE / bound * bound;
  uint64_t word;
  do {
    if (md_word(random, state, &word)) return MD_NO_RANDOM;
  } while (word >> 2 >= rounds);
  *number = (word >> 2) % bound;
  return MD_OK;
}

/* The alias table: the first bits of a word select a cell of the row, and the others are compared
 * with its threshold: below it the report is the cell, else the alias. If all is 1, every cell of
 * the table is read, and no branch or address depends on the input or the word. */
static inline uint32_t md_look_up(const md_table *t, uint32_t row, uint64_t word, int all) {
  const uint32_t bits = t->cell_bits;
  const uint32_t cell = bits ? (uint32_t)(word >> (64 - bits)) : 0, place = (row << bits) + cell;
  const uint64_t rest = (word >> 2) & (((uint64_t)1 << (MD_BITS - bits)) - 1);
  uint64_t threshold = 0, alias = 0;
  if (all) {
    for (uint32_t i = 0; i < t->cells; i++) {
      const uint64_t here = (((uint64_t)(i ^ place)) - 1) >> 63; /* 1 where i is the place */
      threshold |= t->thresholds[i] & (0 - here);
      alias |= t->aliases[i] & (0 - here);
    }
  } else {
    threshold = t->thresholds[place];
    alias = t->aliases[place];
  }
  const uint64_t below = 0 - ((rest - threshold) >> 63); /* both are below 2^62 */
  return (uint32_t)((cell & below) | (alias & ~below));
}

/* The others come first, `other` each, from the next input on; the rest is the truth's. */
static inline uint32_t md_randomized_response(const md_table *t, uint32_t input, uint64_t word) {
  uint64_t step = (word >> 2) / t->other;
  if (step > t->inputs - 1) step = t->inputs - 1;
  return (uint32_t)((input + 1 + step) % t->inputs);
}

/* A number of a block, and one of 2 copies halves; where it is in the other half of its block, one
 * of its bits is flipped. */
static inline uint32_t md_hadamard_response(const md_table *t, uint32_t input, uint64_t word) {
  const uint64_t copies = t->copies ? t->copies : 1, block = t->size / copies, half = block / 2;
  const uint64_t own = t->held / half;
  const uint64_t other = (MD_WHOLE - t->held) / (2 * copies - 1) / half, row = input / copies + 1;
  unsigned digits = 0;
  while (((uint64_t)1 << digits) < block) digits++;
  uint64_t number = word & (block - 1), parity = number & row;
  const uint64_t chance = (word >> digits) & (((uint64_t)1 << (MD_BITS + 1 - digits)) - 1);
  const uint64_t steps = chance < own ? 0 : (chance - own) / other + 1;
  const uint64_t place = (2 * (input % copies) + steps) % (2 * copies);
  for (unsigned shift = 32; shift; shift /= 2) parity ^= parity >> shift;
  if ((parity ^ place) & 1) number ^= row & (~row + 1);
  return (uint32_t)(number + place / 2 * block);
}

/* The coordinates of a point: those with m behind the leading 1 come after those with fewer. */
static inline void md_vector(uint64_t point, uint64_t q, uint64_t dimension, uint64_t *vector) {
  uint64_t power = 1;
  for (; point >= power; power *= q) point -= power;
  for (point += power; dimension-- > 0; point /= q) vector[dimension] = point % q;
}

/* The number of the point of a nonzero vector with any leading coordinate. */
static inline uint32_t md_point(const uint64_t *vector, uint64_t q, uint64_t dimension) {
  uint64_t lead = 0, inverse = 1, number = 0, before = 0;
  while (vector[lead] == 0) lead++;
  for (uint64_t base = vector[lead], e = q - 2; e; e /= 2, base = base * base % q)
    if (e & 1) inverse = inverse * base % q;
  for (uint64_t i = lead + 1; i < dimension; i++) {
    number = number * q + vector[i] * inverse % q;
    before = before * q + 1;
  }
  return (uint32_t)(before + number);
}

/* All coordinates of the report but one are uniform; that one makes the product with the input 0
 * with probability held / 2^62, else 1. */
static inline int md_projective(const md_table *t, uint32_t input, md_random random, void *state,
                                uint32_t *report) {
  const uint64_t q = t->field, n = t->dimension;
  uint64_t word, point, number, inside = 0, outside = 1, lead = 0;
  uint64_t x[MD_COORDINATES], rest[MD_COORDINATES], y[MD_COORDINATES];
  if (n < 2 || n > MD_COORDINATES) return MD_UNSUPPORTED;
  for (uint64_t i = 1; i < n; i++, outside *= q) inside += outside;
  if (md_word(random, state, &word) || md_below(random, state, inside, &point) ||
      md_below(random, state, outside, &number))
    return MD_NO_RANDOM;
  const int within = word >> 2 < t->held;
  if (within)
    md_vector(point, q, n - 1, rest);
  else
    for (uint64_t i = n - 1; i-- > 0; number /= q) rest[i] = number % q;
  md_vector(input, q, n, x);
  while (x[lead] == 0) lead++;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n; i++) {
    y[i] = i == lead ? 0 : rest[i - (i > lead)];
    sum = (sum + x[i] * y[i]) % q;
  }
  y[lead] = ((within ? 0 : 1) + q - sum) % q;
  *report = md_point(y, q, n);
  return MD_OK;
}

static inline int md_draw_number(const md_table *t, uint32_t input, md_random random, void *state,
                                 uint32_t *report, int all) {
  uint64_t word;
  if (input >= t->inputs) return MD_WRONG_INPUT;
  const int is_table = t->kind == MD_CHANNEL || t->kind == MD_LIP_RANDOMIZED_RESPONSE;
  if (t->version != 1 || t->outputs == 0 || (all && !is_table)) return MD_UNSUPPORTED;
  if (t->kind == MD_PROJECTIVE_GEOMETRY_RESPONSE)
    return md_projective(t, input, random, state, report);
  if (md_word(random, state, &word)) return MD_NO_RANDOM;
  if (t->kind == MD_CHANNEL) {
    *report = md_look_up(t, input, word, all);
  } else if (t->kind == MD_LIP_RANDOMIZED_RESPONSE) { /* one row; its last output is the truth */
    const uint32_t drawn = md_look_up(t, 0, word, all);
    const uint32_t truth = 0 - (uint32_t)(((uint64_t)(drawn ^ t->inputs) - 1) >> 63);
    *report = (drawn & ~truth) | (input & truth);
  } else if (t->kind == MD_RANDOMIZED_RESPONSE) {
    *report = md_randomized_response(t, input, word);
  } else {
    *report = md_hadamard_response(t, input, word);
  }
  return MD_OK;
}

/* Draws the number of a report. */
static inline int md_draw(const md_table *t, uint32_t input, md_random random, void *state,
                          uint32_t *report) {
  return md_draw_number(t, input, random, state, report, 0);
}

/* The same report in a time that does not depend on input or report, for tables: it reads all
 * t->cells cells, 10 bytes each. */
static inline int md_draw_constant_time(const md_table *t, uint32_t input, md_random random,
                                        void *state, uint32_t *report) {
  return md_draw_number(t, input, random, state, report, 1);
}

/* Draws a set of inputs, for unary encoding: bit x % 8 of byte x / 8 is 1 if input x is in it;
 * (inputs + 7) / 8 bytes. Each input gets a coin with the probability `others`; then the coin of
 * the true input is overwritten. The time does not depend on input or report. */
static inline int md_draw_set(const md_table *t, uint32_t input, md_random random, void *state,
                              unsigned char *set) {
  const size_t size = ((size_t)t->inputs + 7) / 8;
  uint64_t coin = t->others, digits = t->digits, word = 0;
  if (input >= t->inputs) return MD_WRONG_INPUT;
  if (t->version != 1 || t->outputs != 0 || coin == 0) return MD_UNSUPPORTED;
  for (; coin % 2 == 0; coin /= 2) digits--;
  memset(set, 0, size);
  for (uint64_t place = 0; place < digits; place++, coin /= 2) {
    for (size_t i = 0; i < size; i++) {
      if (i % 8 == 0 && md_word(random, state, &word)) return MD_NO_RANDOM;
      const unsigned char fair = (unsigned char)(word >> (8 * (i % 8)));
      set[i] = (unsigned char)(coin & 1 ? set[i] | fair : set[i] & fair);
    }
  }
  if (t->inputs % 8) set[size - 1] &= (unsigned char)((1u << t->inputs % 8) - 1);
  if (md_word(random, state, &word)) return MD_NO_RANDOM;
  const uint64_t own = ((word >> 2) - t->held) >> 63; /* 1 with probability held / 2^62 */
  for (size_t i = 0; i < size; i++) {
    const uint64_t here = ((uint64_t)(i ^ input / 8) - 1) >> 63;
    const unsigned bit = (unsigned)(here << input % 8);
    set[i] = (unsigned char)((set[i] & ~bit) | (bit & (0u - (unsigned)own)));
  }
  return MD_OK;
}
#endif
