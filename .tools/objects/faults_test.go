package objects

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"
)

// memoryServer is a front of gofakes3, which knows no conditions and no copies of parts.
func memoryServer(t *testing.T) (*front, *testBucket) {
	backend := s3mem.New()
	back := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(back.Close)
	f := newFront(t, back.URL)
	s3Environment(t, f.URL)
	bucket := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	bucket = "mem-" + bucket[:min(len(bucket), 50)]
	require.NoError(t, backend.CreateBucket(bucket))
	return f, &testBucket{t, s3Client(t), bucket}
}

func answer(w http.ResponseWriter, status int, code string) bool {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>%s, and the secret %s</Message></Error>", code, code, secretKey)
	return true
}

// cut breaks the connection after some bytes of a body.
type cut struct {
	http.ResponseWriter
	left int
}

func (c *cut) Write(p []byte) (int, error) {
	if len(p) > c.left {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		c.ResponseWriter.(interface{ Flush() }).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

func isRange(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.Header.Get("Range"), "bytes=") && !strings.HasPrefix(r.Header.Get("Range"), "bytes=-")
}

func isPart(r *http.Request) bool {
	return r.Method == http.MethodPut && r.URL.Query().Has("partNumber")
}

func isEnd(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("uploadId") }

// What passes by itself is only slower.
func TestFaultsThatPass(t *testing.T) {
	file := wide()
	want := annotated(t, file)
	for name, spoil := range map[string]func(f *front) func(w http.ResponseWriter, r *http.Request, n int) bool{
		"none": func(*front) func(http.ResponseWriter, *http.Request, int) bool { return nil },
		"slow": func(*front) func(http.ResponseWriter, *http.Request, int) bool {
			return func(http.ResponseWriter, *http.Request, int) bool {
				time.Sleep(30 * time.Millisecond)
				return false
			}
		},
		"503": func(*front) func(http.ResponseWriter, *http.Request, int) bool {
			var seen sync.Map
			return func(w http.ResponseWriter, r *http.Request, _ int) bool { // every request once
				_, again := seen.LoadOrStore(r.Method+r.URL.String()+r.Header.Get("Range"), true)
				return !again && answer(w, http.StatusServiceUnavailable, "SlowDown")
			}
		},
		"reset": func(f *front) func(http.ResponseWriter, *http.Request, int) bool {
			return func(w http.ResponseWriter, r *http.Request, n int) bool {
				if isRange(r) && n%2 == 0 {
					f.proxy.ServeHTTP(&cut{w, 5000}, r)
					return true
				}
				return false
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, b := memoryServer(t)
			in := b.put("in.parquet", file)
			f.take()
			f.spoiling(spoil(f))
			status, said := run(t, "assess", in, "--key", keys, "--fraction", "0.1", "--quiet", "--out", b.path("out.parquet"))
			require.Zero(t, status, said)
			f.spoiling(nil)
			list := f.take()
			got, sent := bodies(list)
			t.Logf("got %d, sent %d in %d requests", got, sent, len(list))
			require.LessOrEqual(t, got, int64(len(file))+256<<10+100_000, "what came before a break is not read again")
			sameRows(t, want, b.get("out.parquet"))
			require.Empty(t, b.uploads())
		})
	}
}

// What does not pass ends the run with one line, and leaves nothing.
func TestFaultsThatStay(t *testing.T) {
	file := wide()
	f, b := s3Server(t)
	in := b.put("in.parquet", file)
	b.put("some/a.parquet", file)
	all := func(code string, status int, is func(*http.Request) bool) func(http.ResponseWriter, *http.Request, int) bool {
		return func(w http.ResponseWriter, r *http.Request, _ int) bool { return is(r) && answer(w, status, code) }
	}
	isList := func(r *http.Request) bool { return r.URL.Query().Get("list-type") == "2" }
	isRead := func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "in.parquet")
	}
	isWrite := func(r *http.Request) bool { return r.Method == http.MethodPost || r.Method == http.MethodPut }
	lastPart := func(r *http.Request) bool {
		return isPart(r) && r.Header.Get("X-Amz-Copy-Source") == "" && strings.HasSuffix(r.URL.Path, "out.parquet")
	}
	isCopy := func(r *http.Request) bool { return r.Header.Get("X-Amz-Copy-Source") != "" }
	for name, c := range map[string]struct {
		in    string
		spoil func(http.ResponseWriter, *http.Request, int) bool
		said  string
	}{
		"no right to list":     {b.path("some/"), all("AccessDenied", 403, isList), "access is denied"},
		"no right to read":     {in, all("AccessDenied", 403, isRead), "access is denied"},
		"no right to write":    {in, all("AccessDenied", 403, isWrite), "access is denied"},
		"an expired token":     {in, all("ExpiredToken", 400, isRead), "the credentials have expired"},
		"another region":       {in, all("AuthorizationHeaderMalformed", 400, isRead), "set AWS_REGION"},
		"ranges fail":          {in, all("InternalError", 500, isRange), "the store says InternalError"},
		"the last part fails":  {in, all("InternalError", 500, lastPart), "cannot write " + b.path("out.parquet") + ": the store says InternalError"},
		"copies fail":          {in, all("InternalError", 500, isCopy), "the store says InternalError"},
		"the end fails":        {in, all("InternalError", 500, isEnd), "cannot write " + b.path("out.parquet") + ": the store says InternalError"},
		"somebody aborts":      {in, all("NoSuchUpload", 404, lastPart), "its upload was ended by something else"},
		"replaced in the run":  {in, once(isRange, func() { b.put("in.parquet", file[1:]) }), "it was replaced while it was read"},
		"replaced by less":     {in, once(isRange, func() { b.put("in.parquet", file[:9]) }), "it was replaced while it was read"},
		"replaced then copied": {in, once(isCopy, func() { b.put("in.parquet", file[1:]) }), "it was replaced while it was read"},
		"deleted in the run":   {in, all("NoSuchKey", 404, isRange), "it was replaced while it was read"},
		"written meanwhile":    {in, once(isEnd, func() { b.put("out.parquet", []byte("another")) }), "something else wrote it during this run"},
	} {
		t.Run(name, func(t *testing.T) {
			b.put("in.parquet", file)
			f.spoiling(c.spoil)
			out := b.path("out.parquet")
			status, said := run(t, "assess", c.in, "--key", keys, "--fraction", "0.1", "--quiet", "--out", out, "--summary", b.path("risk.json"))
			f.spoiling(nil)
			require.Equal(t, 1, status, said)
			require.Contains(t, said, c.said)
			require.Equal(t, 1, strings.Count(strings.TrimSpace(said), "\n")+1, said)
			require.NotContains(t, said, secretKey)
			if name == "written meanwhile" {
				require.Equal(t, "another", string(b.get("out.parquet")))
				b.remove("out.parquet")
			}
			require.Equal(t, []string{"in.parquet", "some/a.parquet"}, b.keys())
			require.Empty(t, b.uploads())
			require.Empty(t, records(t))
		})
	}
	t.Run("a wrong region", func(t *testing.T) {
		t.Setenv("AWS_REGION", "eu-west-1")
		other := copied(t, b, "region", file)
		status, said := run(t, "assess", other.path("in.parquet"), "--key", keys, "--quiet", "--out", other.path("out.parquet"))
		require.Equal(t, 1, status)
		require.Contains(t, said, "set AWS_REGION")
	})
	t.Run("no credentials", func(t *testing.T) {
		other := copied(t, b, "none", file)
		for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
			t.Setenv(name, "")
		}
		t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
		status, said := run(t, "assess", other.path("in.parquet"), "--key", keys, "--quiet", "--out", other.path("out.parquet"))
		require.Equal(t, 1, status)
		require.Contains(t, said, "no credentials were found")
	})
	t.Run("wrong credentials", func(t *testing.T) {
		other := copied(t, b, "keys", file)
		t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
		status, said := run(t, "assess", other.path("in.parquet"), "--key", keys, "--quiet", "--out", other.path("out.parquet"))
		require.Equal(t, 1, status)
		require.Contains(t, said, "the credentials that were found are wrong")
	})
}

// once does something before the first request of a kind.
func once(is func(*http.Request) bool, do func()) func(http.ResponseWriter, *http.Request, int) bool {
	var done atomic.Bool
	return func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		if is(r) && done.CompareAndSwap(false, true) {
			do()
		}
		return false
	}
}

// records are the files that tell of uploads under way.
func records(t *testing.T) (names []string) {
	entries, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".upload") {
			names = append(names, e.Name())
		}
	}
	return names
}

// Of two runs to one object one comes to its end.
func TestTwoRunsToOneObject(t *testing.T) {
	f, b := s3Server(t)
	in := b.put("in.parquet", wide())
	var arrived sync.WaitGroup
	arrived.Add(2)
	f.spoiling(func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		if isEnd(r) {
			arrived.Done()
			arrived.Wait()
		}
		return false
	})
	var statuses [2]int
	var said [2]string
	var group sync.WaitGroup
	for i := range statuses {
		group.Go(func() {
			statuses[i], said[i] = run(t, "assess", in, "--key", keys, "--fraction", "0.1", "--quiet", "--out", b.path("out.parquet"))
		})
	}
	group.Wait()
	f.spoiling(nil)
	require.ElementsMatch(t, []int{0, 1}, statuses[:], said)
	require.Contains(t, said[0]+said[1], "something else wrote it during this run")
	require.Equal(t, []string{"in.parquet", "out.parquet"}, b.keys())
	sameRows(t, annotated(t, wide()), b.get("out.parquet"))
	require.Empty(t, b.uploads())
}

// A run that is interrupted ends its upload, and one that is killed has it ended by the next.
func TestEndedRuns(t *testing.T) {
	f, b := s3Server(t)
	in := b.put("in.parquet", wide())
	start := func() (*exec.Cmd, *bytes.Buffer) {
		c := exec.Command(program, "assess", in, "--key", keys, "--fraction", "0.1", "--quiet", "--out", b.path("out.parquet"))
		c.Env = append(os.Environ(), asCommand+"=1")
		var said bytes.Buffer
		c.Stderr = &said
		require.NoError(t, c.Start())
		return c, &said
	}
	for name, signal := range map[string]os.Signal{"interrupted": syscall.SIGINT, "terminated": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			reached, goOn := make(chan bool, 1), make(chan bool)
			f.spoiling(func(_ http.ResponseWriter, r *http.Request, _ int) bool {
				if isPart(r) || isEnd(r) {
					select {
					case reached <- true:
					default:
					}
					<-goOn
				}
				return false
			})
			c, said := start()
			<-reached
			require.NoError(t, c.Process.Signal(signal))
			_ = c.Wait()
			close(goOn)
			f.spoiling(nil)
			require.Equal(t, []string{"in.parquet"}, b.keys())
			if signal != syscall.SIGKILL {
				require.Equal(t, 1, c.ProcessState.ExitCode())
				require.Contains(t, said.String(), "interrupted")
				require.Empty(t, b.uploads())
				require.Empty(t, records(t))
				return
			}
			require.Equal(t, []string{"out.parquet"}, b.uploads())
			require.Len(t, records(t), 1)
			c, said = start()
			require.NoError(t, c.Wait(), said)
			require.Contains(t, said.String(), "removed what a run which was killed left: an upload to "+b.path("out.parquet"))
			require.Equal(t, []string{"in.parquet", "out.parquet"}, b.keys())
			require.Empty(t, b.uploads())
			require.Empty(t, records(t))
			b.remove("out.parquet")
		})
	}
}
