// Shared is microrisk as a C library, for a notebook or another program: microrisk.h says how it is called.
//
//	go build -buildmode=c-shared -o libmicrorisk.so ./pipeline/library/shared
package main

/*
#define MICRORISK_BUILD
#include "microrisk.h"
#include <stdlib.h>
#include <string.h>

// Five words: the stream of nothing.
static inline void microrisk_clear(void* stream) { memset(stream, 0, 5 * sizeof(void*)); }

static inline int32_t microrisk_tell(microrisk_progress f, void* host, const char* stage, int64_t done, int64_t total) {
  return f(host, stage, done, total);
}
*/
import "C"

import (
	"context"
	"encoding/json"
	"sync"
	"time"
	"unsafe"

	"microrisk/operators"
	_ "microrisk/operators/builtin"
	"microrisk/operators/cdata"
	"microrisk/pipeline"
	"microrisk/pipeline/library"
)

func main() {}

//export microrisk_version
func microrisk_version() *C.char { return C.CString(pipeline.Version()) }

//export microrisk_free
func microrisk_free(text *C.char) { C.free(unsafe.Pointer(text)) }

//export microrisk_call
func microrisk_call(verb, request *C.char, in, out unsafe.Pointer, progress C.microrisk_progress, host unsafe.Pointer, answer **C.char) C.int32_t {
	if out != nil {
		C.microrisk_clear(out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	news := &news{}
	done := make(chan *library.Answer, 1)
	asked, text := C.GoString(verb), []byte(C.GoString(request))
	records, err := taken(in)
	go func() { done <- call(ctx, asked, text, records, err, out, news) }()
	// The caller's function is called here, on its own thread.
	ticks := time.NewTicker(100 * time.Millisecond)
	defer ticks.Stop()
	for {
		select {
		case a := <-done:
			told, err := json.Marshal(a)
			if err != nil { // a figure that JSON has not
				a = &library.Answer{Status: library.Failed, Error: &library.Error{Kind: "fault", Message: err.Error()}}
				told, _ = json.Marshal(a)
				cdata.Release(out)
			}
			if answer != nil {
				*answer = C.CString(string(told))
			}
			return C.int32_t(a.Status)
		case <-ticks.C:
			if progress != nil && news.tell(progress, host) != 0 {
				cancel()
			}
		}
	}
}

// taken are the records of a stream; nil for none.
func taken(in unsafe.Pointer) (*operators.Records, error) {
	if in == nil {
		return nil, nil
	}
	return cdata.Import(in)
}

// call does what is asked, and makes the stream of what is made.
func call(ctx context.Context, verb string, request []byte, records *operators.Records, err error, out unsafe.Pointer, news *news) *library.Answer {
	if err != nil {
		return &library.Answer{Status: library.Failed, Error: &library.Error{Kind: "input", Message: err.Error()}}
	}
	var from operators.Source
	if records != nil {
		from = records
		defer records.Release()
	}
	made, answer := library.Do(ctx, verb, request, from, library.Options{Progress: news.take})
	if made == nil {
		return answer
	}
	defer made.Release()
	if out == nil {
		return answer
	}
	if err := cdata.Export(made.Schema, made.Records, out); err != nil {
		return &library.Answer{Status: library.Failed, Error: &library.Error{Kind: "other", Message: err.Error()}}
	}
	return answer
}

// news is what is being done, until the caller is told.
type news struct {
	mu          sync.Mutex
	stage       string
	done, total int64
	new         bool
}

func (n *news) take(stage string, done, total int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stage, n.done, n.total, n.new = stage, done, total, true
}

// tell tells the caller, who says whether the call ends.
func (n *news) tell(progress C.microrisk_progress, host unsafe.Pointer) C.int32_t {
	n.mu.Lock()
	stage, done, total, is := n.stage, n.done, n.total, n.new
	n.new = false
	n.mu.Unlock()
	if !is {
		return C.microrisk_tell(progress, host, nil, 0, 0)
	}
	text := C.CString(stage)
	defer C.free(unsafe.Pointer(text))
	return C.microrisk_tell(progress, host, text, C.int64_t(done), C.int64_t(total))
}
