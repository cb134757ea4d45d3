package s3

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"microrisk/engine/scratch"
)

// A left upload is one that a process which was killed could not end: a file in the folder of temporary files tells of each that is under
// way. It names the process, so that those of living ones are let alone, and has nothing of credentials.
type left struct{ Bucket, Key, ID string }

const recordEnding = ".upload"

// remember writes the file of an upload; "" if that cannot be.
func remember(l left) string {
	text, err := json.Marshal(l)
	if err != nil {
		return ""
	}
	name := filepath.Join(scratch.TempDir(), scratch.Name()+recordEnding)
	if os.WriteFile(name, text, 0o600) != nil {
		os.Remove(name) // a full disk has room for an empty file
		return ""
	}
	return name
}

func forget(record string) {
	if record != "" {
		os.Remove(record)
	}
}

// sweep ends the uploads that dead processes left.
func sweep(ctx context.Context) (gone []string) {
	records, _ := filepath.Glob(filepath.Join(scratch.TempDir(), ".microrisk-*"+recordEnding))
	for _, r := range records {
		if !scratch.Dead(strings.TrimSuffix(filepath.Base(r), recordEnding)) {
			continue
		}
		text, err := os.ReadFile(r)
		if err != nil {
			continue
		}
		var l left
		if json.Unmarshal(text, &l) != nil || l.ID == "" { // its process died as it wrote
			os.Remove(r)
			continue
		}
		b, err := open(ctx, l.Bucket)
		if err != nil {
			continue
		}
		if b.(*bucket).abort(l.Key, l.ID) && os.Remove(r) == nil {
			gone = append(gone, fmt.Sprintf("an upload to s3://%s/%s", l.Bucket, l.Key))
		}
	}
	return gone
}
