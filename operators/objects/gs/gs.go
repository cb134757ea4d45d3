// Package gs makes gs://bucket/name a path, of Google Cloud Storage.
//
// Credentials are Google's application default ones: GOOGLE_APPLICATION_CREDENTIALS, those of gcloud, the account of a machine. With
// STORAGE_EMULATOR_HOST the server of that name is asked.
package gs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"

	"microrisk/operators/files"
	"microrisk/operators/objects"
)

func init() { objects.RegisterWritable("gs", open, nil) }

type bucket struct {
	*objects.Blobs
	handle *storage.BucketHandle
	name   string
}

func open(ctx context.Context, name string) (objects.Bucket, error) {
	var options []option.ClientOption
	if os.Getenv("STORAGE_EMULATOR_HOST") != "" {
		options = append(options, option.WithoutAuthentication())
	}
	client, err := storage.NewClient(ctx, options...)
	if err != nil {
		if strings.Contains(err.Error(), "find default credentials") {
			return nil, errors.New("no credentials were found: sign in (gcloud auth application-default login), or set GOOGLE_APPLICATION_CREDENTIALS")
		}
		return nil, objects.Short(err)
	}
	client.SetRetry(storage.WithMaxAttempts(3), storage.WithBackoff(gax.Backoff{Initial: 200 * time.Millisecond, Max: 2 * time.Second}))
	b, err := gcsblob.OpenBucket(ctx, nil, name, &gcsblob.Options{Client: client})
	if err != nil {
		return nil, objects.Short(err)
	}
	return &bucket{Blobs: &objects.Blobs{Bucket: b, Only: only}, handle: client.Bucket(name), name: name}, nil
}

func only(as func(any) bool, version string) error {
	var handle **storage.ObjectHandle
	generation, err := strconv.ParseInt(version, 10, 64)
	if err != nil || !as(&handle) {
		return errors.ErrUnsupported
	}
	*handle = (*handle).Generation(generation).ReadCompressed(true)
	return nil
}

// Begin is a Bucket's.
func (b *bucket) Begin(ctx context.Context, key string, n int64, last bool) (*objects.Begun, error) {
	object := b.handle.Object(key).ReadCompressed(true)
	from, length := int64(0), n
	if last {
		from, length = -n, -1
	}
	r, err := object.NewRangeReader(ctx, from, length)
	if err != nil && status(err) == http.StatusRequestedRangeNotSatisfiable { // it is empty
		attrs, err := object.Attrs(ctx)
		if err != nil {
			return nil, err
		}
		return &objects.Begun{Version: strconv.FormatInt(attrs.Generation, 10), Size: attrs.Size}, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	begun := &objects.Begun{Size: r.Attrs.Size, Version: strconv.FormatInt(r.Attrs.Generation, 10)}
	if begun.Data, err = io.ReadAll(r); err != nil {
		return nil, err
	}
	if last {
		begun.From = begun.Size - int64(len(begun.Data))
	}
	return begun, nil
}

func status(err error) int {
	var api *googleapi.Error
	if errors.As(err, &api) {
		return api.Code
	}
	return 0
}

// Create is a Writer's. The object takes the place of the one that is there now, and of no other.
func (b *bucket) Create(ctx context.Context, name, key string) (files.Output, error) {
	condition, err := b.now(ctx, key)
	if err != nil {
		return nil, err
	}
	return b.Stream(ctx, b, name, key, &blob.WriterOptions{BeforeWrite: func(as func(any) bool) error {
		var handle **storage.ObjectHandle
		if !as(&handle) {
			return errors.ErrUnsupported
		}
		if condition != nil {
			*handle = (*handle).If(*condition)
		}
		return nil
	}})
}

// now is the condition that an object is as it is now; nil if that cannot be known.
func (b *bucket) now(ctx context.Context, key string) (*storage.Conditions, error) {
	attrs, err := b.handle.Objects(ctx, &storage.Query{Prefix: key}).Next()
	switch {
	case errors.Is(err, iterator.Done) || err == nil && attrs.Name != key:
		return &storage.Conditions{DoesNotExist: true}, nil
	case err == nil:
		return &storage.Conditions{GenerationMatch: attrs.Generation}, nil
	case errors.Is(err, storage.ErrBucketNotExist) || status(err) == http.StatusNotFound:
		return nil, objects.Finally("there is no bucket %s", b.name)
	case status(err) == http.StatusForbidden:
		return nil, nil
	}
	return nil, b.Reason(err)
}

// List is a Bucket's.
func (b *bucket) List(ctx context.Context, prefix string) ([]string, error) {
	keys, err := b.Blobs.List(ctx, prefix)
	if err != nil && errors.Is(b.Reason(err), objects.ErrNone) {
		err = objects.Finally("there is no bucket %s", b.name)
	}
	return keys, err
}

// Reason is a Bucket's.
func (b *bucket) Reason(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, storage.ErrBucketNotExist):
		return objects.Finally("there is no bucket %s", b.name)
	case errors.Is(err, storage.ErrObjectNotExist):
		return objects.ErrNone
	}
	switch status(err) {
	case http.StatusUnauthorized:
		return objects.Finally("the credentials have expired or are wrong: sign in again")
	case http.StatusForbidden:
		return objects.Finally("access is denied: the credentials that were found do not allow it")
	case http.StatusPreconditionFailed:
		return objects.ErrReplaced
	case http.StatusNotFound:
		return objects.ErrNone
	case 0:
	default:
		return objects.Short(fmt.Errorf("the store says %d %s", status(err), http.StatusText(status(err))))
	}
	return b.Blobs.Reason(err)
}
