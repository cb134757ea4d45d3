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
	endpoint := standalone(t)
	set(t, map[*string]string{runners.Runner: "universal", jobopts.Endpoint: endpoint, jobopts.EnvironmentType: "LOOPBACK"})
	dir := t.TempDir()
	residents(t, 2500, 400, filepath.Join(dir, "one.parquet"), filepath.Join(dir, "two.parquet"))
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			text := func(to string) string { return specOf(spec, "'"+filepath.Join(dir, "*.parquet")+"'", to) }
			same(t, text, &Runner{Rows: 900, Shards: 3, Store: t.TempDir()})
		})
	}
}

// Workers in processes of their own, which MICRORISK_BOOT (the SDK's program for containers) starts from MICRORISK_BEAM, know no more than the
// store.
func TestProcesses(t *testing.T) {
	boot, worker := os.Getenv("MICRORISK_BOOT"), os.Getenv("MICRORISK_BEAM")
	if boot == "" || worker == "" {
		t.Skip("set MICRORISK_BOOT and MICRORISK_BEAM, as the task cluster does")
	}
	endpoint := standalone(t)
	dir := t.TempDir()
	// Prism quotes what it hands over, and a shell must take the quotes off.
	script := filepath.Join(dir, "boot.sh")
	text := fmt.Sprintf("#!/bin/sh\neval exec '%s' \"$@\" --semi_persist_dir='%s'\n", boot, dir)
	require.NoError(t, os.WriteFile(script, []byte(text), 0o700))
	set(t, map[*string]string{runners.Runner: "universal", jobopts.Endpoint: endpoint, jobopts.EnvironmentType: "PROCESS",
		jobopts.EnvironmentConfig: fmt.Sprintf(`{"command": %q}`, script), jobopts.WorkerBinary: worker})
	residents(t, 2500, 400, filepath.Join(dir, "one.parquet"), filepath.Join(dir, "two.parquet"))
	for _, name := range []string{"sets", "several stages", "kept rows"} {
		t.Run(name, func(t *testing.T) {
			text := func(to string) string { return specOf(specs[name], "'"+filepath.Join(dir, "*.parquet")+"'", to) }
			same(t, text, &Runner{Rows: 900, Shards: 3, Store: t.TempDir()})
		})
	}
}

// standalone starts a prism, and gives its endpoint.
func standalone(t *testing.T) string {
	program := os.Getenv("MICRORISK_PRISM")
	if program == "" {
		t.Skip("set MICRORISK_PRISM to the program prism, as the task cluster does")
	}
	port := freePort(t)
	prism := exec.Command(program, "--job_port", fmt.Sprint(port), "--serve_http=false")
	prism.Dir = t.TempDir() // workers that it starts leave their options in its folder
	prism.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	require.NoError(t, prism.Start())
	t.Cleanup(func() {
		_ = prism.Process.Kill()
		_ = prism.Wait()
	})
	endpoint := fmt.Sprintf("localhost:%d", port)
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", endpoint)
		if err == nil {
			c.Close()
		}
		return err == nil
	}, 30*time.Second, 50*time.Millisecond)
	return endpoint
}

// set sets flags for a test.
func set(t *testing.T, flags map[*string]string) {
	for flag, value := range flags {
		before := *flag
		*flag = value
		t.Cleanup(func() { *flag = before })
	}
}

func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
