/* microrisk.h: disclosure risk of record batches in memory.
 *
 *   go build -buildmode=c-shared -o libmicrorisk.so ./pipeline/library/shared
 *
 * Records go in and come out by Arrow's C stream interface; what is asked and what came of it are texts in JSON, as pipeline/README.md says. A call
 * takes over the stream that it is given and releases it, whatever comes of it; what it gives back is released by the caller, after which nothing of
 * the call is left. Calls from several threads at a time do not disturb each other. The library cannot be unloaded (dlclose does nothing), and a
 * process that has loaded it must not go on after fork without exec.
 */
#ifndef MICRORISK_H
#define MICRORISK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream;
#endif

/* Called on the thread of the call, about ten times a second and with what is being done: stage is NULL where there is nothing new, total 0 where it is
 * not known. Anything but 0 ends the call, which then gives back MICRORISK_INTERRUPTED. */
typedef int32_t (*microrisk_progress)(void* host, const char* stage, int64_t done, int64_t total);

enum {
  MICRORISK_DONE = 0,
  MICRORISK_FAILED = 1,
  MICRORISK_MISASKED = 2,  /* the request or the spec is wrong */
  MICRORISK_BREACHED = 3,  /* a limit of the spec was passed; the records are made nevertheless */
  MICRORISK_INTERRUPTED = 130
};

#ifndef MICRORISK_BUILD
/* Does what verb (assess, explain, inspect) and request say with the records of in. out, which may be NULL, becomes the stream of the records that are
 * made; its release is NULL where there are none. answer becomes a text for microrisk_free. progress may be NULL. */
int32_t microrisk_call(const char* verb, const char* request, struct ArrowArrayStream* in, struct ArrowArrayStream* out,
                       microrisk_progress progress, void* host, char** answer);

void microrisk_free(char* text);

/* The version of the program, for microrisk_free. */
char* microrisk_version(void);
#endif

#ifdef __cplusplus
}
#endif
#endif
