// Package objects tests the object stores against real servers that it starts: versitygw, an S3 over a folder, and fake-gcs-server.
package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"

	_ "microrisk/operators/objects/s3"
	"microrisk/pipeline/command"
)

// A request is what a server was asked, and how much it answered.
type request struct {
	method, path, query, part string
	sent, got                 int64 // bytes of bodies, from the program and to it
	copies                    string
}

// A front stands before a server: it counts what is asked, and can spoil answers.
type front struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*request
	proxy    http.Handler
	// spoil answers a request itself if it gives true.
	spoil func(w http.ResponseWriter, r *http.Request, n int) bool
}

type counting struct {
	http.ResponseWriter
	n *int64
	f *front
}

func (c counting) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.f.mu.Lock()
	*c.n += int64(n)
	c.f.mu.Unlock()
	return n, err
}

func (c counting) Flush() { c.ResponseWriter.(http.Flusher).Flush() }

// freePort is one that nobody listens at.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func newFront(t testing.TB, back string) *front {
	u, err := url.Parse(back)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		host := r.In.Host
		r.SetURL(u)
		r.Out.Host = host // what is signed
	}, ErrorLog: log.New(io.Discard, "", 0)}
	f := &front{proxy: proxy}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := &request{method: r.Method, path: r.URL.Path, query: r.URL.RawQuery, part: r.Header.Get("Range"), sent: max(r.ContentLength, 0),
			copies: r.Header.Get("X-Amz-Copy-Source-Range")}
		f.mu.Lock()
		f.requests = append(f.requests, q)
		n, spoil := len(f.requests), f.spoil
		f.mu.Unlock()
		c := counting{w, &q.got, f}
		if spoil != nil && spoil(c, r, n) {
			return
		}
		proxy.ServeHTTP(c, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// take is what was asked since it was last called.
func (f *front) take() []*request {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.requests
	f.requests = nil
	return list
}

func (f *front) spoiling(spoil func(w http.ResponseWriter, r *http.Request, n int) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spoil = spoil
}

// told is a list of requests as a table.
func told(list []*request) string {
	var b strings.Builder
	for _, r := range list {
		fmt.Fprintf(&b, "%s %s?%s %s got %d sent %d %s\n", r.method, r.path, r.query, r.part, r.got, r.sent, r.copies)
	}
	return b.String()
}

var gateway struct {
	sync.Once
	address, folder, side string
	err                   error
}

const (
	accessKey = "tests"
	secretKey = "0123456789abcdef"
)

// asCommand makes the test program the command, for tests that kill it.
const asCommand = "MICRORISK_TEST_AS_COMMAND"

var program, _ = os.Executable()

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(command.Main(os.Args))
	}
	status := m.Run()
	if gateway.folder != "" {
		os.RemoveAll(filepath.Dir(gateway.folder))
	}
	os.Exit(status)
}

// s3Server is a front of versitygw over a folder, of which there is one a process, and a new bucket.
func s3Server(t testing.TB) (*front, *testBucket) {
	t.Helper()
	g := &gateway
	g.Do(func() {
		base, err := os.MkdirTemp("", "microrisk-versitygw")
		if err != nil {
			g.err = err
			return
		}
		g.folder, g.side = filepath.Join(base, "data"), filepath.Join(base, "side")
		if g.err = errors.Join(os.Mkdir(g.folder, 0o755), os.Mkdir(g.side, 0o755)); g.err != nil {
			return
		}
		port, err := freePort()
		if err != nil {
			g.err = err
			return
		}
		g.address = fmt.Sprintf("127.0.0.1:%d", port)
		sidecar, err := meta.NewSideCar(g.side)
		if err != nil {
			g.err = err
			return
		}
		be, err := posix.New(g.folder, sidecar, posix.PosixOpts{SideCarDir: g.side, CopyObjectThreshold: 5 << 30})
		if err != nil {
			g.err = err
			return
		}
		go func() {
			_ = embedgw.RunVersityGW(context.Background(), be, &embedgw.Config{RootUserAccess: accessKey, RootUserSecret: secretKey,
				Ports: []string{g.address}, MaxConnections: 1000, MaxRequests: 1000, MultipartMaxParts: 10000, Quiet: true})
		}()
		for range 100 {
			c, err := net.Dial("tcp", g.address)
			if err == nil {
				c.Close()
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		g.err = fmt.Errorf("versitygw does not answer")
	})
	require.NoError(t, g.err)
	f := newFront(t, "http://"+g.address)
	bucket := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	bucket = bucket[:min(len(bucket), 60)]
	s3Environment(t, f.URL)
	c := s3Client(t)
	_, err := c.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket})
	require.NoError(t, err)
	f.take()
	return f, &testBucket{t, c, bucket}
}

// A testBucket is a bucket as its owner has it.
type testBucket struct {
	t    testing.TB
	c    *s3.Client
	name string
}

func s3Client(t testing.TB) *s3.Client {
	cfg, err := config.LoadDefaultConfig(t.Context())
	require.NoError(t, err)
	return s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
}

// put puts an object and takes no note of it.
func (b *testBucket) put(key string, data []byte) string {
	b.t.Helper()
	_, err := b.c.PutObject(b.t.Context(), &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: bytes.NewReader(data)})
	require.NoError(b.t, err)
	return b.path(key)
}

func (b *testBucket) path(key string) string { return "s3://" + b.name + "/" + key }

func (b *testBucket) get(key string) []byte {
	b.t.Helper()
	out, err := b.c.GetObject(b.t.Context(), &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	require.NoError(b.t, err)
	defer out.Body.Close()
	data, err := io.ReadAll(out.Body)
	require.NoError(b.t, err)
	return data
}

func (b *testBucket) remove(key string) {
	b.t.Helper()
	_, err := b.c.DeleteObject(b.t.Context(), &s3.DeleteObjectInput{Bucket: &b.name, Key: &key})
	require.NoError(b.t, err)
}

// keys are all objects.
func (b *testBucket) keys() (keys []string) {
	b.t.Helper()
	out, err := b.c.ListObjectsV2(b.t.Context(), &s3.ListObjectsV2Input{Bucket: &b.name})
	require.NoError(b.t, err)
	for _, o := range out.Contents {
		keys = append(keys, *o.Key)
	}
	return keys
}

// uploads are the keys of uploads that have not ended.
func (b *testBucket) uploads() (keys []string) {
	b.t.Helper()
	out, err := b.c.ListMultipartUploads(b.t.Context(), &s3.ListMultipartUploadsInput{Bucket: &b.name})
	require.NoError(b.t, err)
	for _, o := range out.Uploads {
		keys = append(keys, *o.Key)
	}
	return keys
}

func s3Environment(t testing.TB, address string) {
	t.Setenv("AWS_ENDPOINT_URL", address)
	t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
	t.Setenv("TMPDIR", t.TempDir())
}

// run runs a command line and gives its exit status and what it told.
func run(t testing.TB, args ...string) (status int, said string) {
	t.Helper()
	var out, err bytes.Buffer
	status = command.Run(t.Context(), append([]string{"microrisk"}, args...), command.Streams{In: strings.NewReader(""), Out: &out, Err: &err})
	return status, out.String() + err.String()
}
