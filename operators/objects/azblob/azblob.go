// Package azblob makes azblob://container/name a path, of Azure Blob Storage.
//
// The account and credentials are those of AZURE_STORAGE_ACCOUNT, AZURE_STORAGE_KEY, AZURE_STORAGE_CONNECTION_STRING or
// AZURE_STORAGE_SAS_TOKEN, else of Azure's default chain: AZURE_CLIENT_ID and so on, managed identities, az login.
package azblob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	azblobblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	azblobcontainer "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"

	"microrisk/operators/files"
	"microrisk/operators/objects"
)

func init() { objects.RegisterWritable("azblob", open, nil) }

type container struct {
	*objects.Blobs
	client *azblobcontainer.Client
	name   string
}

func open(ctx context.Context, name string) (objects.Bucket, error) {
	address, err := azureblob.NewServiceURL(azureblob.NewDefaultServiceURLOptions())
	if err != nil {
		return nil, errors.New("no account was found: set AZURE_STORAGE_ACCOUNT, or AZURE_STORAGE_CONNECTION_STRING")
	}
	client, err := azureblob.NewDefaultClient(address, azureblob.ContainerName(name))
	if err != nil {
		return nil, objects.Short(err)
	}
	b, err := azureblob.OpenBucket(ctx, client, nil)
	if err != nil {
		return nil, objects.Short(err)
	}
	return &container{&objects.Blobs{Bucket: b, Only: only}, client, name}, nil
}

func matches(version string) *azblobblob.AccessConditions {
	tag := azcore.ETag(version)
	return &azblobblob.AccessConditions{ModifiedAccessConditions: &azblobblob.ModifiedAccessConditions{IfMatch: &tag}}
}

func only(as func(any) bool, version string) error {
	var o *azblobblob.DownloadStreamOptions
	if !as(&o) {
		return errors.ErrUnsupported
	}
	o.AccessConditions = matches(version)
	return nil
}

// Begin is a Bucket's. The store has no ranges from the end: the size is asked for first.
func (c *container) Begin(ctx context.Context, key string, n int64, last bool) (*objects.Begun, error) {
	attrs, err := c.Attributes(ctx, key)
	if err != nil {
		return nil, err
	}
	begun := &objects.Begun{Size: attrs.Size, Version: attrs.ETag}
	if last {
		begun.From = max(begun.Size-n, 0)
	}
	to := min(begun.From+n, begun.Size)
	if to == begun.From {
		return begun, nil
	}
	r, err := c.Range(ctx, key, begun.Version, begun.From, to)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	begun.Data, err = io.ReadAll(r)
	return begun, err
}

// Create is a Writer's. The object takes the place of the one that is there now, and of no other.
func (c *container) Create(ctx context.Context, name, key string) (files.Output, error) {
	var now *azblobblob.AccessConditions
	attrs, err := c.Attributes(ctx, key)
	switch reason := c.Reason(err); {
	case err == nil:
		now = matches(attrs.ETag)
	case errors.Is(reason, objects.ErrNone):
		any := azcore.ETagAny
		now = &azblobblob.AccessConditions{ModifiedAccessConditions: &azblobblob.ModifiedAccessConditions{IfNoneMatch: &any}}
	default:
		return nil, reason
	}
	if !escaped(key) {
		return c.upload(ctx, name, key, now), nil
	}
	return c.Stream(ctx, c, name, key, &blob.WriterOptions{BeforeWrite: func(as func(any) bool) error {
		var o *azblob.UploadStreamOptions
		if !as(&o) {
			return errors.ErrUnsupported
		}
		o.AccessConditions = now
		return nil
	}})
}

// Reason is a Bucket's.
func (c *container) Reason(err error) error {
	if err == nil || errors.Is(err, objects.ErrNone) || errors.Is(err, objects.ErrReplaced) {
		return err
	}
	switch {
	case bloberror.HasCode(err, bloberror.ContainerNotFound, bloberror.ContainerBeingDeleted):
		return objects.Finally("there is no container %s", c.name)
	case bloberror.HasCode(err, bloberror.BlobNotFound, bloberror.ResourceNotFound):
		return objects.ErrNone
	case bloberror.HasCode(err, bloberror.ConditionNotMet, bloberror.BlobAlreadyExists, bloberror.TargetConditionNotMet, bloberror.InvalidBlockList):
		return objects.ErrReplaced
	}
	var response *azcore.ResponseError
	if errors.As(err, &response) {
		switch s := response.StatusCode; {
		case s == http.StatusNotFound:
			return objects.ErrNone
		case s == http.StatusPreconditionFailed || s == http.StatusConflict:
			return objects.ErrReplaced
		case s == http.StatusUnauthorized:
			return objects.Finally("the credentials have expired or are wrong: sign in again")
		case s == http.StatusForbidden:
			return objects.Finally("access is denied: the credentials that were found do not allow it, or have expired")
		default:
			return objects.Short(fmt.Errorf("the store says %d %s", s, response.ErrorCode))
		}
	}
	if strings.Contains(err.Error(), "DefaultAzureCredential") {
		return objects.Finally("no credentials were found: sign in (az login), or set AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN")
	}
	return c.Blobs.Reason(err)
}
