package schemas

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"microrisk/schemas/pattern"
)

var schemeForm = pattern.New(`^([a-zA-Z][a-zA-Z0-9+.-]+)://`)

// Scheme is what a path begins with that names no file of this machine: s3 of s3://bucket/name; "" for all others.
func Scheme(path string) string {
	if m := schemeForm().FindStringSubmatch(path); m != nil {
		return strings.ToLower(m[1])
	}
	return ""
}

// objectSchemes are those that the program with the object stores reads.
var objectSchemes = []string{"s3", "gs", "azblob", "https"}

var reached sync.Map

// Reach makes paths of a scheme good: something in this program reads them.
func Reach(scheme string) { reached.Store(scheme, nil) }

// Reachable says why nothing in this program reads or writes a path, nil for one of this machine.
func Reachable(path string) error {
	scheme := Scheme(path)
	if _, is := reached.Load(scheme); is || scheme == "" || scheme == "file" {
		return nil
	}
	if slices.Contains(objectSchemes, scheme) {
		return fmt.Errorf("%s: this program was built without object stores; the same command with them is built by "+
			"\"go build ./cmd/microrisk\" in the folder pipeline/objects (microrisk-beam: pipeline/beam/objects), or copy the data to a local file", path)
	}
	return fmt.Errorf("%s: paths of kind %s:// are not read or written; copy the data to a local file", path, scheme)
}
