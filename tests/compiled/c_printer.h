/* What the functions of c_printer.py call; main sets `backwards`. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern int backwards;
static inline void *fresh(size_t n) { return n ? memset(malloc(n), 0xff, n) : (char *)malloc(64) + 64; }
static inline void *taken(size_t n) { void *p = fresh(n); if (fread(p, 1, n, stdin) != n) abort(); return p; }
static inline void given(void *p, size_t n) { if (fwrite(p, 1, n, stdout) != n) abort(); }
static inline int64_t whole(int64_t a, int64_t n) { if (a < 0) abort(); return a / n; }
static inline int64_t rest(int64_t a, int64_t n) { if (a < 0) abort(); return a % n; }
static inline double max_(double a, double b) { return isnan(a) || isnan(b) ? NAN : a > b ? a : b; }
static inline double min_(double a, double b) { return isnan(a) || isnan(b) ? NAN : a < b ? a : b; }
