package beam

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/stretchr/testify/require"
)

// A prism of its own, a second process that MICRORISK_PRISM names, gives the same bytes; see the task cluster.
func TestStandalone(t *testing.T) {
	program := os.Getenv("MICRORISK_PRISM")
	if program == "" {
		t.Skip("set MICRORISK_PRISM to the program prism, as the task cluster does")
	}
	port := freePort(t)
	prism := exec.Command(program, "--job_port", fmt.Sprint(port), "--serve_http=false")
	prism.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	require.NoError(t, prism.Start())
	defer func() {
		_ = prism.Process.Kill()
		_ = prism.Wait()
	}()
	endpoint := fmt.Sprintf("localhost:%d", port)
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", endpoint)
		if err == nil {
			c.Close()
		}
		return err == nil
	}, 30*time.Second, 50*time.Millisecond)
	for flag, value := range map[*string]string{runners.Runner: "universal", jobopts.Endpoint: endpoint, jobopts.EnvironmentType: "LOOPBACK"} {
		before := *flag
		*flag = value
		defer func() { *flag = before }()
	}
	dir := t.TempDir()
	residents(t, 2500, 400, filepath.Join(dir, "one.parquet"), filepath.Join(dir, "two.parquet"))
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			text := func(to string) string { return specOf(spec, "'"+filepath.Join(dir, "*.parquet")+"'", to) }
			same(t, text, &Runner{Rows: 900, Shards: 3, Store: t.TempDir()})
		})
	}
}

func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
