package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"microrisk/operators/files"
	"microrisk/operators/objects"
)

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
