package beam

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"microrisk/operators/files"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// here tells whether the workers are in this process.
func here() bool {
	switch name := strings.ToLower(*runners.Runner); {
	case jobopts.IsLoopback():
		return true
	case *jobopts.EnvironmentType != "":
		return false
	default:
		return name == "" || strings.HasPrefix(name, "prism") && *jobopts.Endpoint == ""
	}
}

// known are Beam's runners of jobs, by the names that it knows them by; true: they have a job server.
var known = map[string]bool{"": false, "prism": false, "PrismRunner": false, "dataflow": false, "DataflowRunner": false, "universal": true,
	"portable": true, "PortableRunner": true, "flink": true, "FlinkRunner": true, "spark": true, "SparkRunner": true}

// checkFlags says what Beam would end the process for.
func checkFlags() error {
	server, ok := known[*runners.Runner]
	switch {
	case !ok && schemas.Nearest(*runners.Runner, slices.Collect(maps.Keys(known))) != "":
		return fmt.Errorf("there is no runner %q; did you mean %s?", *runners.Runner, schemas.Nearest(*runners.Runner, slices.Collect(maps.Keys(known))))
	case !ok:
		return fmt.Errorf("there is no runner %q; there are prism, universal, flink, spark and dataflow", *runners.Runner)
	case server && *jobopts.Endpoint == "":
		return fmt.Errorf("--runner %s needs the address of its job server (--endpoint HOST:PORT)", *runners.Runner)
	case *jobopts.Async:
		return fmt.Errorf("the driver waits for its jobs: leave --async out")
	}
	return nil
}

// answers says whether nobody listens where a job server should be: Beam would wait for it.
func answers(ctx context.Context) error {
	if !known[*runners.Runner] {
		return nil
	}
	c, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", *jobopts.Endpoint)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return fmt.Errorf("the job server %s (--endpoint) does not answer: %w", *jobopts.Endpoint, err)
	}
	return c.Close()
}

const patience = 10 * time.Second

// checkStore says what is wrong with the folder that is shared, as far as its path tells.
func (r *Runner) checkStore() error {
	if r.Store == "" {
		return nil
	}
	if strings.HasSuffix(r.Store, "://") {
		return fmt.Errorf("--store %s names no bucket", r.Store)
	}
	return files.Writable(r.Store)
}

// Check is a session.Runner's.
func (r *Runner) Check(j *session.Job) error {
	err := j.Apartable()
	if err == nil {
		err = checkFlags()
	}
	if err == nil {
		err = r.checkStore()
	}
	if err != nil {
		return fmt.Errorf("on a cluster: %w", err)
	}
	if here() {
		return nil
	}
	if r.Store == "" {
		return fmt.Errorf("on a cluster: workers in other processes need a folder that all share: name it (--store)")
	}
	paths := append([]string{r.Store}, j.Source.Inputs()...)
	for _, read := range session.ReadBesides(j.Spec) {
		paths = append(paths, read.Path)
	}
	for _, path := range paths {
		if !files.Elsewhere(path) && !filepath.IsAbs(files.Plain(path)) {
			return fmt.Errorf("on a cluster: %s means another file to each worker: give the whole path, from / on", path)
		}
	}
	return nil
}
