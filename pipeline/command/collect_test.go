package command

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The collector waits at first, and after its first collection it is set as it is for long runs.
func TestCollectLate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	set := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	collectLate()
	require.Contains(t, []uint64{firstCollection, collectorPercent}, set())
	require.Eventually(t, func() bool { runtime.GC(); return set() == collectorPercent }, 10*time.Second, time.Millisecond)
}

// One command is made where it is called; all of them where they are listed, or a name is wrong.
func TestCommandsThatAreMade(t *testing.T) {
	for _, all := range [][]string{nil, {"microrisk"}, {"microrisk", "--help"}, {"microrisk", "--help", "run"}, {"microrisk", "help", "run"}, {"microrisk", "runs"},
		{"microrisk", "--workers", "2", "run"}} {
		require.Len(t, (&console{args: all}).app().Commands, 16, all)
	}
	for _, c := range (&console{}).app().Commands {
		one := (&console{args: []string{"microrisk", c.Name, "--help"}}).app().Commands
		require.Len(t, one, 1)
		require.Equal(t, c.Name, one[0].Name)
	}
	require.Contains(t, microrisk(t, "--help").out, "keymap")
	require.Contains(t, microrisk(t, "--help", "run").out, "microrisk run SPEC.yaml")
	require.Contains(t, microrisk(t, "runs", "s.yaml").err, "did you mean run?")
	require.Zero(t, microrisk(t, "--version").status)
}
