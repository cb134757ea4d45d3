package objects

import (
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	_ "microrisk/operators/objects/azblob"
)

// azure is as much of Azure's blob storage as the program asks of it: there is no server of it that is a Go module.
type azure struct {
	name    string // of the only container
	mu      sync.Mutex
	blobs   map[string][]byte // by container/name
	version map[string]int
	blocks  map[string][]byte // by container/name and id
}

func (a *azure) put(name string, data []byte) {
	a.blobs[name], a.version[name] = data, a.version[name]+1
}

func (a *azure) tag(name string) string { return fmt.Sprintf(`"0x%d"`, a.version[name]) }

func fails(w http.ResponseWriter, status int, code string) {
	w.Header().Set("x-ms-error-code", code)
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>secret</Message></Error>", code)
}

// unmet tells whether a condition of the request does not hold.
func (a *azure) unmet(r *http.Request, name string) bool {
	_, there := a.blobs[name]
	match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	return match != "" && (!there || match != a.tag(name)) || none == "*" && there
}

func (a *azure) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := strings.TrimPrefix(r.URL.Path, "/account/")
	q := r.URL.Query()
	container, _, _ := strings.Cut(name, "/")
	if container != a.name {
		fails(w, http.StatusNotFound, "ContainerNotFound")
		return
	}
	data, there := a.blobs[name]
	switch {
	case q.Get("comp") == "list":
		a.list(w, container, q.Get("prefix"))
	case r.Method == http.MethodPut && q.Get("comp") == "block":
		body, _ := io.ReadAll(r.Body)
		a.blocks[name+" "+q.Get("blockid")] = body
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodPut && a.unmet(r, name):
		fails(w, http.StatusPreconditionFailed, "ConditionNotMet")
	case r.Method == http.MethodPut && q.Get("comp") == "blocklist":
		var list struct {
			Latest []string `xml:"Latest"`
		}
		_ = xml.NewDecoder(r.Body).Decode(&list)
		var whole []byte
		for _, id := range list.Latest {
			whole = append(whole, a.blocks[name+" "+id]...)
		}
		a.put(name, whole)
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodPut:
		body, _ := io.ReadAll(r.Body)
		a.put(name, body)
		w.WriteHeader(http.StatusCreated)
	case !there:
		fails(w, http.StatusNotFound, "BlobNotFound")
	case a.unmet(r, name):
		fails(w, http.StatusPreconditionFailed, "ConditionNotMet")
	default:
		a.read(w, r, name, data)
	}
}

func (a *azure) read(w http.ResponseWriter, r *http.Request, name string, data []byte) {
	h := w.Header()
	h.Set("ETag", a.tag(name))
	h.Set("Last-Modified", "Mon, 02 Nov 2026 10:00:00 GMT")
	h.Set("x-ms-blob-type", "BlockBlob")
	h.Set("x-ms-creation-time", "Mon, 02 Nov 2026 10:00:00 GMT")
	var from, to int
	if n, _ := fmt.Sscanf(r.Header.Get("x-ms-range"), "bytes=%d-%d", &from, &to); n == 2 {
		to = min(to, len(data)-1)
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, len(data)))
		h.Set("Content-Length", fmt.Sprint(to+1-from))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(data[from : to+1])
		return
	}
	h.Set("Content-Length", fmt.Sprint(len(data)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(data)
	}
}

func (a *azure) list(w http.ResponseWriter, container, prefix string) {
	var names []string
	for name := range a.blobs {
		if key := strings.TrimPrefix(name, container+"/"); strings.HasPrefix(key, prefix) {
			names = append(names, key)
		}
	}
	slices.Sort(names)
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprint(w, `<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs>`)
	for _, n := range names {
		fmt.Fprintf(w, "<Blob><Name>%s</Name><Properties><Content-Length>%d</Content-Length><Last-Modified>Mon, 02 Nov 2026 10:00:00 GMT</Last-Modified>"+
			"<Etag>%s</Etag></Properties></Blob>", html.EscapeString(n), len(a.blobs[container+"/"+n]), strings.Trim(a.tag(container+"/"+n), `"`))
	}
	fmt.Fprint(w, `</Blobs><NextMarker/></EnumerationResults>`)
}

// azureServer is a front of a container.
func azureServer(t *testing.T, name string) (*front, *azure) {
	a := &azure{name: name, blobs: map[string][]byte{}, version: map[string]int{}, blocks: map[string][]byte{}}
	back := httptest.NewServer(a)
	t.Cleanup(back.Close)
	f := newFront(t, back.URL)
	for name, value := range map[string]string{"ACCOUNT": "account", "KEY": "c2VjcmV0", "PROTOCOL": "http", "IS_LOCAL_EMULATOR": "true",
		"DOMAIN": strings.TrimPrefix(f.URL, "http://")} {
		t.Setenv("AZURE_STORAGE_"+name, value)
	}
	return f, a
}

func TestAzure(t *testing.T) {
	file := wide()
	f, a := azureServer(t, "census")
	a.put("census/in.parquet", file)
	a.put("census/some/a.csv", []byte("age,sex\n30,f\n40,m\n"))
	chunks, _ := keyBytes(t, file)
	status, said := run(t, "inspect", "azblob://census/in.parquet", "--key", keys, "--quiet")
	require.Zero(t, status, said)
	list := f.take()
	got, _ := bodies(list)
	t.Logf("count: got %d in %d requests", got, len(list))
	require.LessOrEqual(t, got, chunks+256<<10+8000, told(list))

	assess := func(in, out string, more ...string) (int, string) {
		return run(t, append([]string{"assess", "azblob://" + in, "--quiet", "--out", "azblob://" + out, "--fraction", "0.1"}, more...)...)
	}
	status, said = assess("census/in.parquet", "census/to/out 1.parquet", "--key", keys)
	require.Zero(t, status, said)
	sameRows(t, annotated(t, file), a.blobs["census/to/out 1.parquet"])
	status, said = assess("census/some/*.csv", "census/all.csv", "--key", "age,sex")
	require.Zero(t, status, said)
	require.Contains(t, string(a.blobs["census/all.csv"]), "30,f,")
	for _, odd := range []string{`50% a#b?c "d".csv`, "a__0x2f__b.csv", "a/../b.csv", "ü\u2028+&=.csv"} { // written by their names, and read by them
		status, said = assess("census/some/a.csv", "census/odd/"+odd, "--key", "age,sex")
		require.Zero(t, status, said)
		status, said = run(t, "inspect", "azblob://census/odd/"+odd, "--key", "age,sex", "--quiet")
		require.Zero(t, status, said)
	}
	require.Contains(t, a.blobs, "census/odd/ü\u2028+&=.csv")

	before := len(a.blobs)
	for name, c := range map[string]struct {
		in, out string
		spoil   func(http.ResponseWriter, *http.Request, int) bool
		said    string
	}{
		"gone":         {"census/gone.parquet", "census/x.parquet", nil, "there is no such object"},
		"no container": {"census/in.parquet", "nowhere/x.parquet", nil, "there is no container nowhere"},
		"nothing fits": {"census/*.arrow", "census/x.parquet", nil, "no object fits"},
		"no right": {"census/in.parquet", "census/x.parquet", func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if r.Method == http.MethodPut {
				fails(w, http.StatusForbidden, "AuthorizationPermissionMismatch")
			}
			return r.Method == http.MethodPut
		}, "access is denied"},
		"replaced": {"census/in.parquet", "census/x.parquet", once(func(r *http.Request) bool {
			return r.Method == http.MethodHead && strings.Contains(r.URL.Path, "x.parquet")
		},
			func() {
				a.mu.Lock()
				defer a.mu.Unlock()
				a.put("census/in.parquet", file)
			}), "it was replaced while it was read"},
		"written meanwhile": {"census/in.parquet", "census/all.csv.parquet", once(func(r *http.Request) bool { return r.URL.Query().Get("comp") == "blocklist" },
			func() {
				a.mu.Lock()
				defer a.mu.Unlock()
				a.put("census/all.csv.parquet", []byte("another"))
			}), "something else wrote it during this run"},
	} {
		t.Run(name, func(t *testing.T) {
			f.spoiling(c.spoil)
			status, said := assess(c.in, c.out, "--key", keys)
			f.spoiling(nil)
			require.Equal(t, 1, status, said)
			require.Contains(t, said, c.said)
			require.Equal(t, 1, strings.Count(strings.TrimSpace(said), "\n")+1, said)
			if name == "written meanwhile" {
				require.Equal(t, "another", string(a.blobs["census/all.csv.parquet"]))
				delete(a.blobs, "census/all.csv.parquet")
			}
			require.Len(t, a.blobs, before)
		})
	}
}
