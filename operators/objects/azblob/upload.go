package azblob

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	azblobblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"golang.org/x/sync/errgroup"

	"microrisk/operators/files"
	"microrisk/operators/objects"
)

// Blocks of an upload, of which a blob has at most 50,000.
const (
	usualBlock   = 8 << 20
	blocksAtOnce = 4
	doubleAfter  = 10_000
)

// An upload is a blob that is being written, in blocks, which nobody sees before the list of them is committed. Those of an upload that is
// aborted are gone after a week.
type upload struct {
	ctx       context.Context // of the run
	container *container
	client    *blockblob.Client
	name      string
	now       *azblobblob.AccessConditions

	blocks context.Context // ends with the first block that fails
	cancel context.CancelFunc
	group  *errgroup.Group
	of     string // whose blocks they are, among those of other uploads to this blob
	ids    []string
	buffer []byte
	whole  bool
	ended  bool
}

var _ files.Completer = (*upload)(nil)

// escaped tells whether gocloud.dev, by which blobs are read, gives a key another name.
func escaped(key string) bool {
	return strings.ContainsFunc(key, func(r rune) bool { return r < 32 || strings.ContainsRune("\"#%?\\\x7f", r) }) ||
		strings.Contains(key, "__0x") || strings.Contains(key, "../") || strings.HasSuffix(key, "/")
}

func (c *container) upload(ctx context.Context, name, key string, now *azblobblob.AccessConditions) *upload {
	u := &upload{ctx: ctx, container: c, client: c.client.NewBlockBlobClient(key), name: name, now: now, of: rand.Text()}
	ctx, u.cancel = context.WithCancel(ctx)
	u.group, u.blocks = errgroup.WithContext(ctx)
	u.group.SetLimit(blocksAtOnce)
	return u
}

// Name is an Output's.
func (u *upload) Name() string { return u.name }

// Write is an Output's.
func (u *upload) Write(p []byte) (n int, err error) {
	size := usualBlock << (len(u.ids) / doubleAfter)
	for len(p) > 0 {
		if u.buffer == nil {
			u.buffer = make([]byte, 0, size)
		}
		k := min(len(p), cap(u.buffer)-len(u.buffer))
		u.buffer = append(u.buffer, p[:k]...)
		n, p = n+k, p[k:]
		if len(u.buffer) == cap(u.buffer) {
			u.flush()
		}
	}
	if u.blocks.Err() != nil {
		return n, u.failure()
	}
	return n, nil
}

// flush sends the buffer as a block beside others.
func (u *upload) flush() {
	data, id := u.buffer, base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s%06d", u.of, len(u.ids)))
	u.buffer, u.ids = nil, append(u.ids, id)
	u.group.Go(func() error {
		_, err := u.client.StageBlock(u.blocks, id, streaming.NopCloser(bytes.NewReader(data)), nil)
		return err
	})
}

// failure waits for all blocks, and is what was wrong with one.
func (u *upload) failure() error {
	err := u.group.Wait()
	switch {
	case u.ctx.Err() != nil:
		return context.Cause(u.ctx)
	case err != nil:
		return u.container.Reason(err)
	}
	return nil
}

// Complete is a Completer's: all blocks are there.
func (u *upload) Complete() error {
	if u.whole || u.ended {
		return nil
	}
	if len(u.buffer) > 0 {
		u.flush()
	}
	if err := u.failure(); err != nil {
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
	defer u.cancel()
	kind := "application/octet-stream"
	_, err := u.client.CommitBlockList(u.ctx, u.ids, &blockblob.CommitBlockListOptions{AccessConditions: u.now,
		HTTPHeaders: &azblobblob.HTTPHeaders{BlobContentType: &kind}})
	switch reason := u.container.Reason(err); {
	case err == nil:
		u.ended = true
		return nil
	case errors.Is(reason, objects.ErrReplaced):
		return objects.ErrMeanwhile(u.name)
	default:
		return files.CannotWrite(u.name, reason)
	}
}

// Abort is an Output's.
func (u *upload) Abort() {
	if u.ended {
		return
	}
	u.ended = true
	u.cancel()
	_ = u.group.Wait()
}
