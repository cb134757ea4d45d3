package pipeline

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersion(t *testing.T) {
	info := &debug.BuildInfo{
		Main:     debug.Module{Path: "microrisk", Version: "v1.2.3"},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}},
	}
	require.Equal(t, "microrisk v1.2.3 revision abc with changes", versionOf(info, true))
	require.Equal(t, "microrisk unknown", versionOf(nil, false))
	host := &debug.BuildInfo{Main: debug.Module{Path: "host", Version: "v9"}, Deps: []*debug.Module{{Path: "microrisk", Version: "v1.2.3"}}}
	require.Equal(t, "microrisk v1.2.3", versionOf(host, true))
}
