package beam

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"microrisk/operators"
	"microrisk/operators/files"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
)

// A manifest is what a run is of: runs with the same one give the same bytes, so that one may go on where another was broken off.
type manifest struct {
	Form     int             `json:"form"`
	Program  string          `json:"program"`
	Spec     json.RawMessage `json:"spec"`
	Inputs   []stamp         `json:"inputs"`
	Beside   []stamp         `json:"beside"` // what operators read besides
	Seed     uint64          `json:"seed"`
	Memory   int64           `json:"memory"` // 0: what each machine has
	Batch    int             `json:"batch"`
	Insecure bool            `json:"insecure_secret"`
	Spread   bool            `json:"spread"`
	Several  bool            `json:"several"` // an output for each input
	Shards   int             `json:"shards"`
	Elements [][]int         `json:"elements"` // parts
}

// A stamp tells a file from what it was before.
type stamp struct {
	Path    string    `json:"path"`
	Size    int64     `json:"size"`
	Time    time.Time `json:"time"`              // of its last change; none elsewhere than on a machine
	Version string    `json:"version,omitempty"` // there
}

func stampOf(ctx context.Context, path string) (stamp, error) {
	if !files.Elsewhere(path) {
		info, err := os.Stat(files.Plain(path))
		if err != nil {
			return stamp{}, files.CannotRead(path, err)
		}
		return stamp{Path: path, Size: info.Size(), Time: info.ModTime().UTC()}, nil
	}
	in, err := files.Open(ctx, path)
	if err != nil {
		return stamp{}, err
	}
	defer in.Close()
	s := stamp{Path: path, Size: in.Size()}
	if v, ok := in.(files.Versioned); ok {
		s.Version = v.Version()
	}
	return s, nil
}

// seen refuses inputs that are not those that the driver saw.
func (m *manifest) seen(ctx context.Context) error {
	for _, was := range slices.Concat(m.Inputs, m.Beside) {
		if is, err := stampOf(ctx, was.Path); err != nil {
			return err
		} else if is != was {
			return fmt.Errorf("%s is not the file that the driver saw: workers must read the same files", was.Path)
		}
	}
	return nil
}

func (r *Runner) manifest(ctx context.Context, j *session.Job, driver *operators.Apart) (*manifest, error) {
	spec, err := j.Bare().JSON()
	if err != nil {
		return nil, err
	}
	m := &manifest{Form: 1, Program: pipeline.Version(), Spec: spec, Seed: j.Options.Seed, Batch: j.Options.Batch, Insecure: j.Options.InsecureSecret,
		Spread: j.Options.Spread, Several: len(j.Outputs.Paths) > 1, Shards: r.Shards}
	if j.Options.MemoryGiven {
		m.Memory = j.Options.Memory
	}
	for _, path := range j.Source.Inputs() {
		s, err := stampOf(ctx, path)
		if err != nil {
			return nil, err
		}
		m.Inputs = append(m.Inputs, s)
	}
	for _, read := range session.ReadBesides(j.Spec) {
		s, err := stampOf(ctx, read.Path)
		if err != nil {
			return nil, err
		}
		m.Beside = append(m.Beside, s)
	}
	var rows int64
	for i, p := range driver.Parts() {
		if i == 0 || rows >= r.Rows || p.Input() != driver.Parts()[i-1].Input() {
			m.Elements = append(m.Elements, nil)
			rows = 0
		}
		last := &m.Elements[len(m.Elements)-1]
		*last = append(*last, i)
		rows += p.Rows()
	}
	if m.Elements == nil {
		m.Elements = [][]int{{}}
	}
	return m, nil
}

func (m *manifest) bytes() []byte {
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		panic(err) // it has numbers and texts only
	}
	return b
}

func (m *manifest) id() string {
	sum := sha256.Sum256(m.bytes())
	return hex.EncodeToString(sum[:8])
}

// open makes the folder of the run, or finds it.
func (d *drive) open(ctx context.Context) error {
	if err := d.folder.make(); err != nil {
		return err
	}
	there, err := d.folder.has(ctx, manifestName)
	if err != nil {
		return err
	}
	if !there {
		return d.folder.put(ctx, manifestName, d.manifest.bytes())
	}
	b, err := d.folder.get(ctx, manifestName)
	if err != nil {
		return err
	}
	if !bytes.Equal(b, d.manifest.bytes()) {
		return fmt.Errorf("%s is of another run: remove the folder, or name another --store", d.folder.path(manifestName))
	}
	d.job.Options.Logger.Info("going on with a broken run", "folder", string(d.folder))
	return nil
}
