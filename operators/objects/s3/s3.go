// Package s3 makes s3://bucket/name a path: of Amazon S3, or of a server that speaks as it does.
//
// Credentials, region and endpoint are those of the AWS command line: its environment variables (AWS_PROFILE, AWS_REGION,
// AWS_ENDPOINT_URL and others), its files, and the roles of machines.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"microrisk/operators/objects"
)

func init() { objects.RegisterWritable("s3", open, sweep) }

type bucket struct {
	*objects.Blobs
	client *s3.Client
	name   string

	mu     sync.Mutex
	copies *bool // whether the server has copies of parts; nil before the first
}

func (b *bucket) copiesUntried() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.copies == nil
}

func (b *bucket) copiesNothing() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.copies != nil && !*b.copies
}

func (b *bucket) copiesAre(there bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.copies = &there
}

// open is the bucket of a name. Nothing is asked of the server.
func open(ctx context.Context, name string) (objects.Bucket, error) {
	if err := checkAddress(); err != nil {
		return nil, err
	}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{}))
	var profile config.SharedConfigProfileNotExistError
	if errors.As(err, &profile) {
		return nil, objects.Finally("there is no profile %s in the configuration of the AWS command line (AWS_PROFILE)", profile.Profile)
	}
	if err != nil {
		return nil, objects.Short(err)
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	cfg.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired // ranges have none
	elsewhere := os.Getenv("AWS_ENDPOINT_URL") != "" || os.Getenv("AWS_ENDPOINT_URL_S3") != ""
	if elsewhere && os.Getenv("AWS_REQUEST_CHECKSUM_CALCULATION") == "" {
		cfg.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired // not every server knows the newer ones
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = elsewhere })
	b, err := s3blob.OpenBucket(ctx, client, name, nil)
	if err != nil {
		return nil, err
	}
	return &bucket{Blobs: &objects.Blobs{Bucket: b, Only: only, Version: versionOf}, client: client, name: name}, nil
}

// checkAddress says what is wrong with the address of a server.
func checkAddress() error {
	for _, name := range []string{"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"} {
		if at := os.Getenv(name); at != "" && !strings.HasPrefix(at, "http://") && !strings.HasPrefix(at, "https://") {
			return objects.Finally("%s is %s: an address begins with http:// or https://", name, at)
		}
	}
	return nil
}

func only(as func(any) bool, version string) error {
	var in *s3.GetObjectInput
	if !as(&in) {
		return errors.ErrUnsupported
	}
	in.IfMatch = aws.String(version)
	return nil
}

func versionOf(r *blob.Reader) string {
	var out s3.GetObjectOutput
	if !r.As(&out) {
		return ""
	}
	return aws.ToString(out.ETag)
}

// Begin is a Bucket's.
func (b *bucket) Begin(ctx context.Context, key string, n int64, last bool) (*objects.Begun, error) {
	part := fmt.Sprintf("bytes=0-%d", n-1)
	if last {
		part = fmt.Sprintf("bytes=-%d", n)
	}
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key, Range: &part})
	if code(err) == "InvalidRange" { // it is empty
		head, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &key})
		if err != nil {
			return nil, err
		}
		return &objects.Begun{Version: aws.ToString(head.ETag)}, nil
	}
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	begun := &objects.Begun{Version: aws.ToString(out.ETag)}
	if begun.Data, err = io.ReadAll(out.Body); err != nil {
		return nil, err
	}
	begun.Size = int64(len(begun.Data))
	if _, size, ok := strings.Cut(aws.ToString(out.ContentRange), "/"); ok {
		if begun.Size, err = strconv.ParseInt(size, 10, 64); err != nil {
			return nil, objects.Finally("the server does not tell its size")
		}
	}
	if last {
		begun.From = begun.Size - int64(len(begun.Data))
	}
	return begun, nil
}

func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// reasons are what codes mean. Errors that are not among them may pass.
var reasons = map[string]string{
	"AccessDenied":                       "access is denied: the credentials that were found do not allow it",
	"Forbidden":                          "access is denied: the credentials that were found do not allow it",
	"AllAccessDisabled":                  "access is denied to everybody",
	"AccountProblem":                     "there is a problem with the account of the credentials",
	"InvalidAccessKeyId":                 "the credentials that were found are not known there",
	"SignatureDoesNotMatch":              "the credentials that were found are wrong",
	"ExpiredToken":                       "the credentials have expired: sign in again",
	"ExpiredTokenException":              "the credentials have expired: sign in again",
	"TokenRefreshRequired":               "the credentials have expired: sign in again",
	"InvalidToken":                       "the token of the credentials is not valid",
	"RequestTimeTooSkewed":               "the clock of this machine is wrong",
	"InvalidBucketName":                  "that is no name of a bucket",
	"KeyTooLongError":                    "its name is too long",
	"InvalidObjectState":                 "it is archived: restore it first",
	"NoSuchUpload":                       "its upload was ended by something else",
	"XMinioStorageFull":                  "there is no room",
	"QuotaExceeded":                      "there is no room",
	"EntityTooLarge":                     "it is too large for the store",
	"AuthorizationHeaderMalformed":       "the region is wrong: set AWS_REGION to that of the bucket",
	"PermanentRedirect":                  "the region is wrong: set AWS_REGION to that of the bucket",
	"IllegalLocationConstraintException": "the region is wrong: set AWS_REGION to that of the bucket",
}

// Reason is a Bucket's.
func (b *bucket) Reason(err error) error {
	if err == nil || errors.Is(err, objects.ErrNone) || errors.Is(err, objects.ErrReplaced) {
		return err
	}
	if strings.Contains(err.Error(), "get credentials") || strings.Contains(err.Error(), "get identity") {
		return objects.Finally("no credentials were found: sign in (aws configure, aws sso login), or set AWS_PROFILE")
	}
	what := code(err)
	if text, known := reasons[what]; known {
		if region := regionOf(err); region != "" && strings.HasPrefix(text, "the region") {
			text = fmt.Sprintf("the bucket is in the region %s: set AWS_REGION to that", region)
		}
		return objects.Finally("%s", text)
	}
	switch what {
	case "NoSuchBucket":
		return objects.Finally("there is no bucket %s", b.name)
	case "NoSuchKey", "NotFound":
		return objects.ErrNone
	case "PreconditionFailed", "ConditionalRequestConflict", "InvalidRange": // the last if it has become smaller
		return objects.ErrReplaced
	}
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) {
		switch response.HTTPStatusCode() {
		case http.StatusNotFound:
			return objects.ErrNone
		case http.StatusPreconditionFailed:
			return objects.ErrReplaced
		case http.StatusForbidden, http.StatusUnauthorized:
			return objects.Finally("%s", reasons["AccessDenied"])
		case http.StatusMovedPermanently, http.StatusBadRequest:
			if region := regionOf(err); region != "" {
				return objects.Finally("the bucket is in the region %s: set AWS_REGION to that", region)
			}
		}
	}
	if what != "" {
		return objects.Short(fmt.Errorf("the store says %s", what)) // and more, which may have what is nobody's business
	}
	return objects.Short(innermost(err))
}

func regionOf(err error) string {
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) && response.Response != nil {
		return response.Response.Header.Get("x-amz-bucket-region")
	}
	return ""
}

// innermost is what an error of the library is about, without its requests.
func innermost(err error) error {
	var send *smithyhttp.RequestSendError
	if errors.As(err, &send) {
		var address *url.Error
		if errors.As(send.Err, &address) {
			return fmt.Errorf("the store does not answer: %w", address.Err)
		}
		return fmt.Errorf("the store does not answer: %w", send.Err)
	}
	var operation *smithy.OperationError
	if errors.As(err, &operation) {
		return operation.Err
	}
	return err
}
