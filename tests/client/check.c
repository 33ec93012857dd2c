/* Reads lines "input bytes report", and prints how many reports of the client are others. With an
 * argument, also that many draws from the system, as counts of reports: a "chi" line. */
#include <stdio.h>
#include <stdlib.h>
#include "mechdesign_table.h"

static unsigned char bytes[1 << 16];
static size_t left, used;

static int played(void *state, unsigned char *out, size_t count) {
  (void)state;
  if (used + count > left) return 1;
  memcpy(out, bytes + used, count);
  used += count;
  return 0;
}

static unsigned digit(char letter) {
  return (unsigned)(letter <= '9' ? letter - '0' : letter - 'a' + 10);
}

static char hex[1 << 17], wanted[1 << 17], found[1 << 17];

int main(int arguments, char **argument) {
  FILE *file = fopen(argument[1], "r");
  unsigned input;
  unsigned long lines = 0, wrong = 0;
  if (!file) return 2;
  while (fscanf(file, "%u %131071s %131071s", &input, hex, wanted) == 3) {
    unsigned char set[1 << 15];
    uint32_t report = 0, again = 0;
    for (left = used = 0; hex[2 * left]; left++)
      bytes[left] = (unsigned char)(digit(hex[2 * left]) << 4 | digit(hex[2 * left + 1]));
    lines++;
    if (md_channel.outputs == 0) {
      if (md_draw_set(&md_channel, input, played, NULL, set)) return 3;
      for (size_t i = 0; i < (md_channel.inputs + 7) / 8; i++) sprintf(found + 2 * i, "%02x", set[i]);
    } else {
      if (md_draw(&md_channel, input, played, NULL, &report)) return 3;
      sprintf(found, "%lu", (unsigned long)report);
    }
    wrong += strcmp(found, wanted) != 0 || used != left;
    used = 0;
    if (md_channel.thresholds) {
      if (md_draw_constant_time(&md_channel, input, played, NULL, &again)) return 3;
      wrong += again != report;
    }
  }
  fclose(file);
  printf("%lu %lu\n", lines, wrong);
  if (arguments > 2) {
    unsigned long *counts = calloc(md_channel.outputs, sizeof *counts);
    for (long n = atol(argument[2]); n > 0; n--) {
      uint32_t report;
      if (md_draw(&md_channel, 0, md_system_random, NULL, &report)) return 3;
      counts[report]++;
    }
    for (uint32_t y = 0; y < md_channel.outputs; y++) printf("%lu ", counts[y]);
    free(counts);
  }
  return 0;
}
