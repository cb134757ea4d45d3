// Package web makes https://host/name a path that is read: of any server that serves ranges and says when a file changed.
//
// An address stands in logs and summaries, so one with a password or a signature in it is refused.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"microrisk/operators/objects"
)

func init() { objects.Register("https", open) }

// Client makes the requests.
var Client = &http.Client{}

type host struct{ name string }

func open(_ context.Context, name string) (objects.Bucket, error) {
	if strings.Contains(name, "@") {
		return nil, errors.New("it has a password in it, which would stand in logs and summaries")
	}
	return &host{name}, nil
}

// signatures are what addresses have that are good for whoever knows them.
var signatures = []string{"x-amz-signature", "x-goog-signature", "signature", "sig", "token", "access_token", "x-amz-security-token"}

func (h *host) request(ctx context.Context, key, part, version string) (*http.Response, error) {
	u, err := url.Parse("https://" + h.name + "/" + key)
	if err != nil {
		return nil, objects.Finally("it is no address: a %% in it begins a sign in hexadecimal digits, and %%25 is a %% itself")
	}
	for name := range u.Query() {
		for _, s := range signatures {
			if strings.EqualFold(name, s) {
				return nil, objects.Finally("it has a signature in it, which would stand in logs and summaries: name the object by s3://, gs:// or azblob://")
			}
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Range", "bytes="+part)
	r.Header.Set("Accept-Encoding", "identity")
	if strings.HasPrefix(version, `"`) {
		r.Header.Set("If-Match", version)
	}
	return Client.Do(r)
}

// versionOf is what tells one version of a file from another.
func versionOf(r *http.Response) string {
	if tag := r.Header.Get("ETag"); tag != "" {
		return tag
	}
	return r.Header.Get("Last-Modified")
}

// largestWhole is the most bytes of a file that are taken from a server without ranges.
const largestWhole = 64 << 20

// Begin is a Bucket's.
func (h *host) Begin(ctx context.Context, key string, n int64, last bool) (*objects.Begun, error) {
	part := fmt.Sprintf("0-%d", n-1)
	if last {
		part = fmt.Sprintf("-%d", n)
	}
	r, err := h.request(ctx, key, part, "")
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	begun := &objects.Begun{Version: versionOf(r)}
	switch r.StatusCode {
	case http.StatusRequestedRangeNotSatisfiable:
		return begun, nil
	case http.StatusOK:
		if r.ContentLength > largestWhole {
			return nil, objects.Finally("the server does not serve parts of files, and this one has %d bytes: copy it to this machine", r.ContentLength)
		}
		begun.Data, err = io.ReadAll(io.LimitReader(r.Body, largestWhole+1))
		begun.Size = int64(len(begun.Data))
		if err == nil && begun.Size > largestWhole {
			err = objects.Finally("the server does not serve parts of files, and this one is large: copy it to this machine")
		}
		return begun, err
	case http.StatusPartialContent:
	default:
		return nil, &statusError{r.StatusCode}
	}
	if begun.From, begun.Size, err = rangeOf(r); err != nil {
		return nil, err
	}
	if begun.Version == "" {
		return nil, objects.Finally("the server does not tell when the file changed (ETag, Last-Modified): copy it to this machine")
	}
	begun.Data, err = io.ReadAll(io.LimitReader(r.Body, n))
	return begun, err
}

// rangeOf is where a part begins, and the size of the whole.
func rangeOf(r *http.Response) (from, size int64, err error) {
	said := strings.TrimPrefix(r.Header.Get("Content-Range"), "bytes ")
	part, whole, _ := strings.Cut(said, "/")
	begin, _, _ := strings.Cut(part, "-")
	from, errFrom := strconv.ParseInt(begin, 10, 64)
	size, errSize := strconv.ParseInt(whole, 10, 64)
	if errors.Join(errFrom, errSize) != nil || from < 0 || size < from {
		return 0, 0, objects.Finally("the server does not tell the size of the file")
	}
	return from, size, nil
}

// Range is a Bucket's.
func (h *host) Range(ctx context.Context, key, version string, from, to int64) (io.ReadCloser, error) {
	r, err := h.request(ctx, key, fmt.Sprintf("%d-%d", from, to-1), version)
	if err != nil {
		return nil, err
	}
	switch {
	case r.StatusCode == http.StatusPartialContent && versionOf(r) == version:
		at, _, err := rangeOf(r)
		if err == nil && at == from {
			return r.Body, nil
		}
		err = objects.Finally("the server sent another part than was asked for")
		r.Body.Close()
		return nil, err
	case r.StatusCode == http.StatusPartialContent || r.StatusCode == http.StatusOK || r.StatusCode == http.StatusPreconditionFailed ||
		r.StatusCode == http.StatusRequestedRangeNotSatisfiable: // it has become smaller
		r.Body.Close()
		return nil, objects.ErrReplaced
	}
	r.Body.Close()
	return nil, &statusError{r.StatusCode}
}

type statusError struct{ status int }

func (e *statusError) Error() string {
	return fmt.Sprintf("the server says %d %s", e.status, http.StatusText(e.status))
}

// List is a Bucket's.
func (h *host) List(context.Context, string) ([]string, error) {
	return nil, objects.Finally("https:// has no lists of files: name each")
}

// Reason is a Bucket's.
func (h *host) Reason(err error) error {
	var status *statusError
	var address *url.Error
	switch {
	case errors.As(err, &status):
		switch s := status.status; {
		case s == http.StatusNotFound || s == http.StatusGone:
			return objects.ErrNone
		case s == http.StatusUnauthorized || s == http.StatusForbidden:
			return objects.Finally("access is denied: the server wants to know who asks, and https:// takes no credentials")
		case s < 500 && s != http.StatusTooManyRequests && s != http.StatusRequestTimeout:
			return objects.Finally("%s", status)
		}
	case errors.As(err, &address):
		return objects.Short(fmt.Errorf("the server does not answer: %w", address.Err))
	}
	return objects.Short(err)
}
