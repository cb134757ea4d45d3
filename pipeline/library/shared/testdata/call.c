// Calls the library as a program in C does: two threads at once, every release once, and an end without a crash after dlclose.
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../../operators/cdata/stream.h"
#include "../microrisk.h"

static int32_t (*call)(const char*, const char*, struct ArrowArrayStream*, struct ArrowArrayStream*, microrisk_progress, void*, char**);
static void (*let)(char*);
static char* (*version)(void);

static atomic_int made, released, told;

#define CHECK(is)                                                  \
  if (!(is)) {                                                     \
    fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #is); \
    exit(1);                                                       \
  }

enum { ROWS = 1000 };

static void release_schema(struct ArrowSchema* s) {
  for (int64_t i = 0; i < s->n_children; i++) {
    if (s->children[i]->release) s->children[i]->release(s->children[i]);
    free(s->children[i]);
  }
  free(s->children);
  released++;
  s->release = NULL;
}

static void release_array(struct ArrowArray* a) {
  for (int64_t i = 0; i < a->n_children; i++) {
    if (a->children[i]->release) a->children[i]->release(a->children[i]);
    free(a->children[i]);
  }
  if (a->n_buffers == 2) free((void*)a->buffers[1]);
  free(a->buffers);
  free(a->children);
  released++;
  a->release = NULL;
}

static void schema(struct ArrowSchema* s, const char* format, const char* name, int children) {
  memset(s, 0, sizeof *s);
  s->format = format, s->name = name, s->n_children = children, s->release = release_schema;
  s->children = calloc(children + 1, sizeof *s->children);
  for (int i = 0; i < children; i++) {
    s->children[i] = calloc(1, sizeof *s);
    schema(s->children[i], "i", i ? "B" : "A", 0);
  }
  made++;
}

static void array(struct ArrowArray* a, int children) {
  memset(a, 0, sizeof *a);
  a->length = ROWS, a->release = release_array, a->n_children = children, a->n_buffers = children ? 1 : 2;
  a->buffers = calloc(2, sizeof *a->buffers);
  a->children = calloc(children + 1, sizeof *a->children);
  if (!children) {
    int32_t* values = malloc(ROWS * sizeof *values);
    for (int i = 0; i < ROWS; i++) values[i] = i * 7919 % 401;
    a->buffers[1] = values;
  }
  for (int i = 0; i < children; i++) {
    a->children[i] = calloc(1, sizeof *a);
    array(a->children[i], 0);
  }
  made++;
}

static int get_schema(struct ArrowArrayStream* s, struct ArrowSchema* out) {
  (void)s;
  schema(out, "+s", "", 2);
  return 0;
}

static int get_next(struct ArrowArrayStream* s, struct ArrowArray* out) {
  int* left = s->private_data;
  memset(out, 0, sizeof *out);
  if (*left > 0) {
    (*left)--;
    array(out, 2);
  }
  return 0;
}

static const char* get_last_error(struct ArrowArrayStream* s) {
  (void)s;
  return NULL;
}

static void release_stream(struct ArrowArrayStream* s) {
  free(s->private_data);
  released++;
  s->release = NULL;
}

static void stream(struct ArrowArrayStream* s, int batches) {
  int* left = malloc(sizeof *left);
  *left = batches;
  *s = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, left};
  made++;
}

static int32_t progress(void* host, const char* stage, int64_t done, int64_t total) {
  (void)stage, (void)done, (void)total;
  told++;
  return host ? 1 : 0;
}

static void* assess(void* unused) {
  (void)unused;
  for (int k = 0; k < 20; k++) {
    struct ArrowArrayStream in, out;
    char* answer = NULL;
    stream(&in, 3);
    int32_t status = call("assess", "{\"spec\": {\"key\": {\"variables\": [\"A\", \"B\"]}, \"operators\": [{\"suda\": {}}]}}", &in, &out, progress, NULL, &answer);
    CHECK(status == MICRORISK_DONE && strstr(answer, "\"rows\":3000"));
    CHECK(in.release == NULL && out.release != NULL);
    let(answer);
    struct ArrowSchema s;
    struct ArrowArray a;
    CHECK(out.get_schema(&out, &s) == 0 && s.n_children > 2);
    s.release(&s);
    int64_t rows = 0;
    for (;;) {
      CHECK(out.get_next(&out, &a) == 0);
      if (!a.release) break;
      rows += a.length;
      a.release(&a);
    }
    CHECK(rows == 3000);
    out.release(&out);
  }
  return NULL;
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  void* lib = dlopen(argv[1], RTLD_NOW);
  if (!lib) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  call = (int32_t(*)(const char*, const char*, struct ArrowArrayStream*, struct ArrowArrayStream*, microrisk_progress, void*, char**))dlsym(lib, "microrisk_call");
  let = (void (*)(char*))dlsym(lib, "microrisk_free");
  version = (char* (*)(void))dlsym(lib, "microrisk_version");
  CHECK(call && let && version);
  char* text = version();
  CHECK(strstr(text, "microrisk"));
  let(text);

  pthread_t threads[2];
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, assess, NULL) == 0);
  for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);

  struct ArrowArrayStream in, out;
  char* answer = NULL;
  stream(&in, 1); // a wrong request, without a stream for what is made
  CHECK(call("assess", "{", &in, NULL, NULL, NULL, &answer) == MICRORISK_MISASKED && strstr(answer, "\"kind\":\"spec\""));
  CHECK(in.release == NULL);
  let(answer);
  CHECK(call("inspect", "{}", &in, &out, NULL, NULL, &answer) == MICRORISK_FAILED && strstr(answer, "read before, or released"));
  CHECK(out.release == NULL);
  let(answer);
  CHECK(call("inspect", "{}", NULL, NULL, NULL, NULL, &answer) == MICRORISK_MISASKED);
  let(answer);
  stream(&in, 2000); // long enough to be interrupted
  int32_t status = call("assess", "{\"spec\": {\"key\": {\"variables\": [\"A\", \"B\"]}, \"operators\": [{\"suda\": {}}, {\"recode\": {\"C\": {\"from\": \"A\", \"width\": 3}}}, {\"sap\": {\"by\": [\"B\"], \"cells\": [\"C\"], \"release\": {\"scheme\": \"conventional\", \"base\": 3}, \"known\": [2]}}]}}", &in, &out, progress, &in, &answer);
  CHECK(status == MICRORISK_INTERRUPTED && out.release == NULL);
  let(answer);
  CHECK(told > 0);
  CHECK(made == released);
  CHECK(dlclose(lib) == 0);
  printf("ok: %d made and released\n", (int)made);
  return 0;
}
