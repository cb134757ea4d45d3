package s3

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"microrisk/operators/files"
	"microrisk/operators/objects"
)

// Bounds of a multipart upload. Only its last part may be smaller than the least.
const (
	leastPart   = 5 << 20
	usualPart   = 8 << 20
	largestCopy = 1 << 30
	partsAtOnce = 4
	doubleAfter = 1000 // parts, so that 10,000 hold what an object may
)

// An upload is an object that is being written, in parts. It is there when it is committed, in place of the object that was there when
// it began; if that is another one by then, it fails.
type upload struct {
	ctx    context.Context
	bucket *bucket
	name   string
	key    string
	id     string
	record string // the file that tells a later run of it

	// condition of its commit; neither if that is not known
	ifMatch, ifNoneMatch *string

	buffer []byte
	from   *objects.Input // whose stretch is to be copied after buffer
	open   files.Stretch
	number int32
	slots  chan struct{}
	wait   sync.WaitGroup

	mu    sync.Mutex
	parts map[int32]types.CompletedPart
	err   error
	whole bool
	ended bool
}

var _ files.Copier = (*upload)(nil)
var _ files.Completer = (*upload)(nil)

// Create is a Writer's.
func (b *bucket) Create(ctx context.Context, name, key string) (files.Output, error) {
	u := &upload{ctx: ctx, bucket: b, name: name, key: key, slots: make(chan struct{}, partsAtOnce), parts: map[int32]types.CompletedPart{}}
	head, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &key})
	switch {
	case err == nil:
		u.ifMatch = head.ETag
	case status(err) == http.StatusNotFound:
		u.ifNoneMatch = aws.String("*")
	}
	out, err := b.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return nil, b.Reason(err)
	}
	u.id = aws.ToString(out.UploadId)
	u.record = remember(left{Bucket: b.name, Key: key, ID: u.id})
	return u, nil
}

func status(err error) int {
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

// Name is an Output's.
func (u *upload) Name() string { return u.name }

// partSize is that of the next part.
func (u *upload) partSize() int { return usualPart << (u.number / doubleAfter) }

// Write is an Output's.
func (u *upload) Write(p []byte) (int, error) {
	if err := u.settle(); err != nil {
		return 0, err
	}
	return u.append(p)
}

func (u *upload) append(p []byte) (n int, err error) {
	for len(p) > 0 {
		if u.buffer == nil {
			u.buffer = make([]byte, 0, u.partSize())
		}
		k := min(len(p), max(u.partSize()-len(u.buffer), 1))
		u.buffer = append(u.buffer, p[:k]...)
		n, p = n+k, p[k:]
		if len(u.buffer) >= u.partSize() {
			if err := u.flush(); err != nil {
				return n, err
			}
		}
	}
	return n, u.failure()
}

// flush sends the buffer as a part.
func (u *upload) flush() error {
	if len(u.buffer) == 0 {
		return u.failure()
	}
	data := u.buffer
	u.buffer = nil
	u.part(func(ctx context.Context, number int32) (*string, error) {
		out, err := u.bucket.client.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: &u.bucket.name, Key: &u.key, UploadId: &u.id, PartNumber: &number, Body: bytes.NewReader(data),
		})
		if err != nil {
			return nil, err
		}
		return out.ETag, nil
	})
	return u.failure()
}

// part sends the next part beside others.
func (u *upload) part(send func(ctx context.Context, number int32) (*string, error)) {
	u.number++
	number := u.number
	u.slots <- struct{}{}
	u.wait.Go(func() {
		defer func() { <-u.slots }()
		if u.failure() != nil {
			return
		}
		tag, err := send(u.ctx, number)
		u.mu.Lock()
		defer u.mu.Unlock()
		if err != nil {
			if u.err == nil {
				u.err = u.bucket.Reason(err)
			}
			return
		}
		u.parts[number] = types.CompletedPart{PartNumber: &number, ETag: tag}
	})
}

func (u *upload) failure() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err == nil {
		return u.ctx.Err()
	}
	return u.err
}

// Complete is a Completer's: all parts are there.
func (u *upload) Complete() error {
	if u.whole || u.ended {
		return nil
	}
	err := u.settle()
	if err == nil && len(u.buffer) == 0 && u.number == 0 {
		u.part(func(ctx context.Context, number int32) (*string, error) { // an upload has a part
			out, err := u.bucket.client.UploadPart(ctx, &s3.UploadPartInput{Bucket: &u.bucket.name, Key: &u.key, UploadId: &u.id,
				PartNumber: &number, Body: bytes.NewReader(nil)})
			if err != nil {
				return nil, err
			}
			return out.ETag, nil
		})
	}
	if err == nil {
		err = u.flush()
	}
	u.wait.Wait()
	if err == nil {
		err = u.failure()
	}
	if err != nil {
		return files.CannotWrite(u.name, err)
	}
	u.whole = true
	return nil
}

// Commit is an Output's.
func (u *upload) Commit() error {
	if u.ended {
		return nil
	}
	if err := u.Complete(); err != nil {
		return err
	}
	list := make([]types.CompletedPart, u.number)
	for i := range list {
		list[i] = u.parts[int32(i)+1]
	}
	_, err := u.bucket.client.CompleteMultipartUpload(u.ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &u.bucket.name, Key: &u.key, UploadId: &u.id, MultipartUpload: &types.CompletedMultipartUpload{Parts: list},
		IfMatch: u.ifMatch, IfNoneMatch: u.ifNoneMatch,
	})
	if err != nil {
		reason := u.bucket.Reason(err)
		if reason == objects.ErrReplaced || reason == objects.ErrNone { // it is another one, or gone
			return objects.ErrMeanwhile(u.name)
		}
		return files.CannotWrite(u.name, reason)
	}
	u.ended = true
	forget(u.record)
	return nil
}

// abortTime is how long the end of an upload may take, whatever became of the run.
const abortTime = 20 * time.Second

// Abort is an Output's.
func (u *upload) Abort() {
	if u.ended {
		return
	}
	u.ended = true
	u.mu.Lock()
	if u.err == nil {
		u.err = errors.New("the upload was aborted")
	}
	u.mu.Unlock()
	u.wait.Wait()
	if u.bucket.abort(u.key, u.id) {
		forget(u.record)
	}
}

// abort ends an upload; false if it may still be there. A part that the server was just taking may outlive the end: then it is ended again.
func (b *bucket) abort(key, id string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), abortTime)
	defer cancel()
	gone := func(err error) bool { return code(err) == "NoSuchUpload" || status(err) == http.StatusNotFound }
	for range abortTries {
		_, err := b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &b.name, Key: &key, UploadId: &id})
		if err != nil && !gone(err) {
			return false
		}
		if _, err = b.client.ListParts(ctx, &s3.ListPartsInput{Bucket: &b.name, Key: &key, UploadId: &id}); err != nil {
			return true // it is gone, or cannot be looked for
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(abortPause):
		}
	}
	return false
}

// How often an upload is ended, and how long after a time that was not enough.
const (
	abortTries = 5
	abortPause = 100 * time.Millisecond
)
