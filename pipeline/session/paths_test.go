package session

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators"
)

func TestNothingThatIsReadIsWritten(t *testing.T) {
	emptyFiles(t, "in.csv", "spec.yaml", "secret", "other.csv", "ev/plots.parquet", "ev/roc-0.1.svg", "real/data.csv")
	require.NoError(t, os.Symlink("in.csv", "link.csv"))
	require.NoError(t, os.Link("in.csv", "hard.csv"))
	require.NoError(t, os.Symlink("real", "folder"))
	require.NoError(t, os.Symlink("new.csv", "dangling.csv"))
	reads := []Reading{{"the input", "in.csv"}, {"the spec", "spec.yaml"}, {"the secret", "secret"}, {"the input", "real/data.csv"}, {"the model", "gone"}}
	for name, c := range map[string]struct {
		writes []string
		want   string // "": it can be written
	}{
		"new":             {[]string{"out.csv", "new/folder/summary.json"}, ""},
		"replaced":        {[]string{"other.csv"}, ""},
		"the input":       {[]string{"out.csv", "./in.csv"}, "the output ./in.csv is the input in.csv"},
		"a link":          {[]string{"link.csv"}, "the output link.csv is the input in.csv"},
		"a hard link":     {[]string{"hard.csv"}, "the output hard.csv is the input in.csv"},
		"a linked folder": {[]string{"folder/data.csv"}, "the output folder/data.csv is the input real/data.csv"},
		"the spec":        {[]string{"spec.yaml"}, "the output spec.yaml is the spec spec.yaml"},
		"the secret":      {[]string{filepath.Join("real", "..", "secret")}, "is the secret secret"},
		"twice":           {[]string{"a.csv", "./a.csv"}, "are one file"},
		"twice by links":  {[]string{"folder/a.csv", "real/a.csv"}, "are one file"},
		"twice, dangling": {[]string{"dangling.csv", "new.csv"}, "are one file"},
		"in new folders":  {[]string{"new/a.csv", "new/../new/a.csv"}, "are one file"},
		"a folder":        {[]string{"ev"}, "it is a folder"},
		"below a file":    {[]string{"in.csv/out.csv"}, "the folder in.csv is a file"},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckPaths(reads, c.writes)
			if c.want == "" {
				require.NoError(t, err)
				require.NoDirExists(t, "new", "nothing is made by looking")
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestFoldersAreMade(t *testing.T) {
	emptyFiles(t, "a/x")
	tidy, err := MakeFolders([]string{"a/b/c/out.csv", "a/d/out.csv", "out.csv"})
	require.NoError(t, err)
	require.DirExists(t, "a/b/c")
	require.NoError(t, os.WriteFile("a/d/out.csv", nil, 0o600))
	tidy()
	require.NoDirExists(t, "a/b", "folders of outputs that did not come")
	require.FileExists(t, "a/d/out.csv")
	require.FileExists(t, "a/x")
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no devices as files")
	}
	emptyFiles(t, "small")
	text, err := ReadRegular("small", 1<<10)
	require.NoError(t, err)
	require.LessOrEqual(t, len(text), 1<<10)
	_, err = ReadRegular("/dev/zero", 1<<10)
	require.ErrorContains(t, err, "it is not a regular file")
	_, err = ReadRegular(".", 1<<10)
	require.ErrorContains(t, err, "it is a folder")
	require.NoError(t, os.WriteFile("large", make([]byte, 11), 0o600))
	_, err = ReadRegular("large", 10)
	require.ErrorContains(t, err, "more than 10 bytes")
	_, err = ReadRegular("large", 11)
	require.NoError(t, err)
}

func TestSecretsAreTheirOwners(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes")
	}
	emptyFiles(t)
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o660: false, 0o620: false} {
		require.NoError(t, os.WriteFile("secret", []byte("0123456789abcdef"), 0o600))
		require.NoError(t, os.Chmod("secret", mode))
		b := &Companions{files: operators.Files{Secrets: map[string][]byte{}}}
		if err := b.secret("secret", Options{}); ok {
			require.NoError(t, err, mode)
		} else {
			require.ErrorContains(t, err, "chmod 600", mode)
			require.NoError(t, b.secret("secret", Options{InsecureSecret: true}))
		}
		require.NoError(t, os.Chmod("secret", 0o600))
	}
}
