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

/* What LAPACK does, for matrices that are regular; a, b and x by columns. */
static inline void dgetrf(int m, int n, double *a, int lda, int32_t *p, int32_t *info) {
  *info = 0;
  for (int k = 0; k < n; k++) {
    int r = k;
    for (int i = k + 1; i < m; i++) if (fabs(a[i + k * lda]) > fabs(a[r + k * lda])) r = i;
    p[k] = r + 1;
    if (a[r + k * lda] == 0) { if (!*info) *info = k + 1; continue; }
    for (int j = 0; j < n; j++) { double t = a[k + j * lda]; a[k + j * lda] = a[r + j * lda]; a[r + j * lda] = t; }
    for (int i = k + 1; i < m; i++) {
      a[i + k * lda] /= a[k + k * lda];
      for (int j = k + 1; j < n; j++) a[i + j * lda] -= a[i + k * lda] * a[k + j * lda];
    }
  }
}
static inline void dtrtrs(char uplo, char trans, char diag, int n, int m, double *a, int lda, double *x, int ldx, int32_t *info) {
  *info = 0;
  for (int c = 0; c < m; c++) for (int s = 0; s < n; s++) {
    int down = (uplo == 'L') == (trans == 'N'), i = down ? s : n - 1 - s;
    double sum = x[i + c * ldx];
    for (int j = down ? 0 : i + 1; j < (down ? i : n); j++) sum -= (trans == 'N' ? a[i + j * lda] : a[j + i * lda]) * x[j + c * ldx];
    x[i + c * ldx] = diag == 'U' ? sum : sum / a[i + i * lda];
  }
}
static inline void dgetrs(char trans, int n, int m, double *a, int lda, int32_t *p, double *x, int ldx, int32_t *info) {
  if (trans != 'N') abort();
  for (int c = 0; c < m; c++) for (int k = 0; k < n; k++) {
    double t = x[k + c * ldx]; x[k + c * ldx] = x[p[k] - 1 + c * ldx]; x[p[k] - 1 + c * ldx] = t;
  }
  dtrtrs('L', 'N', 'U', n, m, a, lda, x, ldx, info);
  dtrtrs('U', 'N', 'N', n, m, a, lda, x, ldx, info);
}
static inline void dgetri(int n, double *a, int lda, int32_t *p, double *work, int lwork, int32_t *info) {
  double *x = calloc((size_t)n * n, sizeof(double));
  for (int i = 0; i < n; i++) x[i + i * n] = 1;
  memset(work, 0, lwork * sizeof(double));
  dgetrs('N', n, n, a, lda, p, x, n, info);
  for (int j = 0; j < n; j++) memcpy(a + j * lda, x + j * n, n * sizeof(double));
  free(x);
}
static inline void dtrtri(char uplo, char diag, int n, double *a, int lda, int32_t *info) {
  double *x = calloc((size_t)n * n, sizeof(double));
  for (int i = 0; i < n; i++) x[i + i * n] = 1;
  dtrtrs(uplo, 'N', diag, n, n, a, lda, x, n, info);
  for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) if ((uplo == 'L') == (i > j) || i == j) a[i + j * lda] = x[i + j * n];
  free(x);
}
static inline void dpotrf(char uplo, int n, double *a, int lda, int32_t *info) {
  if (uplo != 'U') abort();
  *info = 0;
  for (int j = 0; j < n; j++) for (int i = 0; i <= j; i++) {
    double sum = a[i + j * lda];
    for (int k = 0; k < i; k++) sum -= a[k + i * lda] * a[k + j * lda];
    if (i == j && sum <= 0) { *info = j + 1; return; }
    a[i + j * lda] = i == j ? sqrt(sum) : sum / a[i + i * lda];
  }
}
