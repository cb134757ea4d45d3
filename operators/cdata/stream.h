// Arrow's C data and C stream interfaces, and calls of their functions, which Go cannot call by itself.
#ifndef MICRORISK_STREAM_H
#define MICRORISK_STREAM_H

#include <stdint.h>
#include <stdlib.h>

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};
#endif

static inline int microrisk_stream_schema(struct ArrowArrayStream* s, struct ArrowSchema* out) { return s->get_schema(s, out); }
static inline int microrisk_stream_next(struct ArrowArrayStream* s, struct ArrowArray* out) { return s->get_next(s, out); }
static inline const char* microrisk_stream_error(struct ArrowArrayStream* s) { return s->get_last_error ? s->get_last_error(s) : NULL; }
static inline void microrisk_stream_release(struct ArrowArrayStream* s) { if (s->release) s->release(s); }
static inline void microrisk_schema_release(struct ArrowSchema* s) { if (s->release) s->release(s); }
static inline void microrisk_array_release(struct ArrowArray* a) { if (a->release) a->release(a); }

#endif
