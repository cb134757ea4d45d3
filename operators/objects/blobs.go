package objects

import (
	"context"
	"errors"
	"io"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"microrisk/operators/files"
)

// Blobs is what buckets of gocloud.dev/blob have in common.
type Blobs struct {
	*blob.Bucket
	// Only makes a read one of a version; as is that of blob.ReaderOptions.BeforeRead.
	Only func(as func(any) bool, version string) error
	// Version is that of what a reader reads, for stores that may not heed what Only asked for; nil if all do.
	Version func(r *blob.Reader) string
}

// Range is a Bucket's.
func (b *Blobs) Range(ctx context.Context, key, version string, from, to int64) (io.ReadCloser, error) {
	r, err := b.NewRangeReader(ctx, key, from, to-from, &blob.ReaderOptions{BeforeRead: func(as func(any) bool) error { return b.Only(as, version) }})
	if err != nil {
		return nil, err
	}
	if b.Version != nil && b.Version(r) != version {
		r.Close()
		return nil, ErrReplaced
	}
	return r, nil
}

// List is a Bucket's.
func (b *Blobs) List(ctx context.Context, prefix string) ([]string, error) {
	var keys []string
	all := b.Bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		o, err := all.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return keys, nil
		case err != nil:
			return nil, err
		case !o.IsDir:
			keys = append(keys, o.Key)
		}
	}
}

// Reason is a Bucket's, by the codes of gocloud.dev.
func (b *Blobs) Reason(err error) error {
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		return ErrNone
	case gcerrors.FailedPrecondition:
		return ErrReplaced
	case gcerrors.PermissionDenied:
		return Finally("access is denied: the credentials that were found do not allow it")
	}
	return Short(err)
}

// Short is an error in one line without what an address has after its path, where signatures are.
func Short(err error) error {
	if err == nil || errors.Is(err, ErrNone) || errors.Is(err, ErrReplaced) {
		return err
	}
	var final *Final
	if errors.As(err, &final) {
		return err
	}
	words := strings.Fields(err.Error())
	for i, w := range words {
		if scheme, rest, ok := strings.Cut(w, "://"); ok {
			if at := strings.IndexAny(rest, "?"); at >= 0 {
				words[i] = scheme + "://" + rest[:at]
			}
		}
	}
	text := strings.Join(words, " ")
	if len(text) > longest {
		text = text[:longest] + "..."
	}
	return errors.New(text)
}

const longest = 300

// A streamed Output is written by a blob.Writer: nothing of it is there before it is closed.
type streamed struct {
	*blob.Writer
	bucket Bucket
	name   string
	cancel context.CancelFunc
	ended  bool
}

// Stream starts an object that is written by gocloud.dev's writer.
func (b *Blobs) Stream(ctx context.Context, bucket Bucket, name, key string, o *blob.WriterOptions) (files.Output, error) {
	ctx, cancel := context.WithCancel(ctx)
	if o.ContentType == "" {
		o.ContentType = "application/octet-stream"
	}
	w, err := b.NewWriter(ctx, key, o)
	if err != nil {
		cancel()
		return nil, bucket.Reason(err)
	}
	return &streamed{Writer: w, bucket: bucket, name: name, cancel: cancel}, nil
}

func (s *streamed) Name() string { return s.name }

// Write is an Output's.
func (s *streamed) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	if err != nil {
		err = s.bucket.Reason(err)
	}
	return n, err
}

// Commit is an Output's.
func (s *streamed) Commit() error {
	if s.ended {
		return nil
	}
	s.ended = true
	defer s.cancel()
	err := s.Close()
	switch {
	case err == nil:
		return nil
	case errors.Is(s.bucket.Reason(err), ErrReplaced):
		return ErrMeanwhile(s.name)
	}
	return files.CannotWrite(s.name, s.bucket.Reason(err))
}

// ErrMeanwhile says that somebody else wrote an object during the run.
func ErrMeanwhile(name string) error {
	return files.CannotWrite(name, errors.New("something else wrote it during this run, and its object is left as it is"))
}

// Abort is an Output's.
func (s *streamed) Abort() {
	if s.ended {
		return
	}
	s.ended = true
	s.cancel()
	s.Close()
}
