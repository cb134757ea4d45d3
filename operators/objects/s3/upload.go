package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"bytes"
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

// Copies is a Copier's: the server copies what it has itself.
func (u *upload) Copies(in files.Input) bool {
	from, ok := in.(*objects.Input)
	if !ok {
		return false
	}
	_, ok = from.Bucket().(*bucket)
	return ok
}

// Copy is a Copier's. Stretches that follow each other in an input are one.
func (u *upload) Copy(in files.Input, s files.Stretch) error {
	from, ok := in.(*objects.Input)
	if !ok {
		return errors.ErrUnsupported
	}
	if u.from == from && u.open.To == s.From {
		u.open.To = s.To
		return u.failure()
	}
	if err := u.settle(); err != nil {
		return err
	}
	u.from, u.open = from, s
	return u.failure()
}

// settle copies the stretch that is open. What stands before it in the buffer must make a part by itself: else bytes of the stretch are
// read to fill it up. What is too little to be copied is read too.
func (u *upload) settle() error {
	if u.from == nil {
		return nil
	}
	from, s := u.from, u.open
	u.from = nil
	fill := int64(0)
	if n := len(u.buffer); n > 0 {
		fill = max(leastPart-int64(n), 0)
	}
	if s.To-s.From-fill < leastPart || u.bucket.copiesNothing() {
		return u.stream(from, s)
	}
	if err := u.stream(from, files.Stretch{From: s.From, To: s.From + fill}); err != nil {
		return err
	}
	if err := u.flush(); err != nil {
		return err
	}
	s.From += fill
	pieces := (s.To - s.From + largestCopy - 1) / largestCopy
	for i := range pieces {
		piece := files.Stretch{From: s.From + (s.To-s.From)*i/pieces, To: s.From + (s.To-s.From)*(i+1)/pieces}
		if i == 0 && u.bucket.copiesUntried() { // whether the server can is seen by the first
			done, err := u.tryCopy(from, piece)
			if err != nil {
				return err
			}
			if !done {
				return u.stream(from, s)
			}
			continue
		}
		u.part(func(ctx context.Context, number int32) (*string, error) {
			tag, err := u.copyPart(ctx, number, from, piece)
			if err == nil && tag == nil {
				err = objects.Finally("the store does not tell what it copied")
			}
			return tag, err
		})
	}
	return u.failure()
}

// stream reads a stretch and appends it.
func (u *upload) stream(from *objects.Input, s files.Stretch) error {
	from.Expect(s)
	b := make([]byte, 1<<20)
	for at := s.From; at < s.To; {
		n, err := from.ReadAt(b[:min(int64(len(b)), s.To-at)], at)
		if _, failed := u.append(b[:n]); failed != nil {
			return failed
		}
		at += int64(n)
		if err != nil && at < s.To {
			return files.CannotRead(from.Name(), err)
		}
	}
	return nil
}

// tryCopy copies the first stretch of all; false if the server has no such copies.
func (u *upload) tryCopy(from *objects.Input, s files.Stretch) (bool, error) {
	u.number++
	number := u.number
	tag, err := u.copyPart(u.ctx, number, from, s)
	if err == nil && tag == nil { // the server took it for a part without bytes, which the next one replaces
		u.number--
		u.bucket.copiesAre(false)
		return false, nil
	}
	switch status(err) { // what else may be wrong shows when the bytes are sent
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusLengthRequired, http.StatusNotImplemented:
		u.number--
		u.bucket.copiesAre(false)
		return false, nil
	}
	if err != nil {
		return false, u.bucket.Reason(err)
	}
	u.bucket.copiesAre(true)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.parts[number] = types.CompletedPart{PartNumber: &number, ETag: tag}
	return true, nil
}

func (u *upload) copyPart(ctx context.Context, number int32, from *objects.Input, s files.Stretch) (*string, error) {
	source := from.Bucket().(*bucket)
	out, err := u.bucket.client.UploadPartCopy(ctx, &s3.UploadPartCopyInput{
		Bucket: &u.bucket.name, Key: &u.key, UploadId: &u.id, PartNumber: &number,
		CopySource:        aws.String(source.name + "/" + escaped(from.Key())),
		CopySourceRange:   aws.String(fmt.Sprintf("bytes=%d-%d", s.From, s.To-1)),
		CopySourceIfMatch: aws.String(from.Version()),
	})
	if err != nil {
		if source.Reason(err) == objects.ErrReplaced {
			err = files.CannotRead(from.Name(), objects.ErrReplaced)
		}
		return nil, err
	}
	if out.CopyPartResult == nil {
		return nil, nil
	}
	return out.CopyPartResult.ETag, nil
}

// escaped is a key as a part of an address.
func escaped(key string) string {
	parts := strings.Split(key, "/")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(url.QueryEscape(p), "+", "%20")
	}
	return strings.Join(parts, "/")
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

// abort ends an upload; false if it may still be there.
func (b *bucket) abort(key, id string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), abortTime)
	defer cancel()
	_, err := b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &b.name, Key: &key, UploadId: &id})
	return err == nil || code(err) == "NoSuchUpload" || status(err) == http.StatusNotFound
}
