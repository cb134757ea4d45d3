/* Calls the library from R: R CMD SHLIB microrisk_r.c; microrisk.R says how it is used. */
#include <dlfcn.h>
#include <stdlib.h>

#include <R.h>
#include <Rinternals.h>

#include "../shared/microrisk.h"

typedef int32_t (*call_t)(const char*, const char*, void*, void*, microrisk_progress, void*, char**);
static call_t call;
static void (*let)(char*);

static void look(void* unused) {
  (void)unused;
  R_CheckUserInterrupt();
}

/* Ends the call when the user has interrupted. */
static int32_t heed(void* host, const char* stage, int64_t done, int64_t total) {
  (void)host, (void)stage, (void)done, (void)total;
  return R_ToplevelExec(look, NULL) ? 0 : 1;
}

SEXP microrisk_r_load(SEXP path) {
  void* lib = dlopen(CHAR(STRING_ELT(path, 0)), RTLD_NOW);
  if (!lib) Rf_error("%s", dlerror());
  *(void**)&call = dlsym(lib, "microrisk_call");
  *(void**)&let = dlsym(lib, "microrisk_free");
  if (!call || !let) Rf_error("%s is not the library of microrisk", CHAR(STRING_ELT(path, 0)));
  return R_NilValue;
}

static void* pointer(SEXP x) { return TYPEOF(x) == EXTPTRSXP ? R_ExternalPtrAddr(x) : NULL; }

/* verb and request are texts; in and out are pointers to streams, or NULL. The value is the answer, a text. */
SEXP microrisk_r_call(SEXP verb, SEXP request, SEXP in, SEXP out) {
  if (!call) Rf_error("the library is not loaded: call microrisk_load first");
  char* answer = NULL;
  call(CHAR(STRING_ELT(verb, 0)), CHAR(STRING_ELT(request, 0)), pointer(in), pointer(out), heed, NULL, &answer);
  SEXP text = PROTECT(Rf_ScalarString(Rf_mkCharCE(answer, CE_UTF8)));
  let(answer);
  UNPROTECT(1);
  return text;
}
