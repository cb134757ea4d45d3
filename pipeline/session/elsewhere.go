package session

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"microrisk/operators/files"
	"microrisk/schemas"
)

// withoutQuery is an address without what follows its path.
func withoutQuery(p string) string {
	if scheme := schemas.Scheme(p); scheme == "https" || scheme == "http" {
		if i := strings.IndexAny(p, "?#"); i >= 0 {
			return p[:i]
		}
	}
	return p
}

// addElsewhere appends what a path in a store names: an object, those that fit a pattern, or those of a folder, whose name ends with /.
func (in *Inputs) addElsewhere(store files.Store, name, format string) error {
	ctx := context.Background()
	asked := schemas.Scheme(name) == "https" || schemas.Scheme(name) == "http" // there ? begins what is asked of the server, and nothing is listed
	patterned := !asked && strings.ContainsAny(name, "*?[")
	if patterned {
		if f, err := store.Open(ctx, name); err == nil {
			f.Close()
			patterned = false
		}
	}
	switch {
	case patterned:
		return in.addPattern(ctx, store, name)
	case strings.HasSuffix(name, "/") || bucketAlone(name):
		return in.addPrefix(ctx, store, strings.TrimSuffix(name, "/")+"/", format)
	}
	in.Paths = append(in.Paths, name)
	return nil
}

// bucketAlone tells whether a path ends with the first name after its scheme.
func bucketAlone(name string) bool {
	_, rest, _ := strings.Cut(name, "://")
	return !strings.Contains(rest, "/")
}

// list is a Store's List. Its errors say what could not be read.
func list(ctx context.Context, store files.Store, prefix string) ([]string, error) {
	all, err := store.List(ctx, prefix)
	if err != nil {
		return nil, files.CannotRead(prefix, err)
	}
	return all, nil
}

// addPattern appends the objects that fit a pattern: as in the names of files, no sign but / fits a /.
func (in *Inputs) addPattern(ctx context.Context, store files.Store, pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil {
		return Wrong(fmt.Errorf("%s is no pattern: %w", pattern, err))
	}
	all, err := list(ctx, store, pattern[:strings.IndexAny(pattern, "*?[\\")])
	if err != nil {
		return err
	}
	before := len(in.Paths)
	for _, name := range all {
		if fits, _ := path.Match(pattern, name); fits && !strings.HasSuffix(name, "/") {
			in.Paths = append(in.Paths, name)
		}
	}
	if len(in.Paths) == before {
		return fmt.Errorf("no object fits the pattern %s", pattern)
	}
	return nil
}

// addPrefix appends the data files of a folder, as addFolder does.
func (in *Inputs) addPrefix(ctx context.Context, store files.Store, folder, format string) error {
	all, err := list(ctx, store, folder)
	if err != nil {
		return err
	}
	before := len(in.Paths)
	for _, name := range all {
		way := strings.Split(name[len(folder):], "/")
		base, within := way[len(way)-1], way[:len(way)-1]
		if err := refuseLogOf(folder, way); err != nil {
			return err
		}
		if slices.ContainsFunc(within, func(f string) bool { return !isPartition(f) }) || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
			continue
		}
		if kind := KindOf(base); kind == "" || format != "" && kind != format {
			continue
		}
		if strings.ContainsAny(name[len(folder):], "\n\r") {
			return fmt.Errorf("cannot read %q: rename it, or name it by itself: lists of files have one on a line", name)
		}
		in.Paths = append(in.Paths, name)
	}
	if len(in.Paths) == before {
		return fmt.Errorf("the folder %s has no data files; they are known by the endings .parquet, .arrow and .csv", folder)
	}
	return nil
}

// refuseLogOf refuses a folder in which there is an object of a table format's log.
func refuseLogOf(folder string, way []string) error {
	for _, f := range tableFormats {
		log := strings.Split(f.log, "/")
		if len(way) < len(log) {
			continue
		}
		if fits, _ := path.Match(strings.Join(log, "/"), strings.Join(way[:len(log)], "/")); fits {
			return Wrong(fmt.Errorf("cannot read %s: it is %s, whose files are not all of its current version (%s says which): "+
				"write its rows to a file by its own reader, and read that", folder, f.name, strings.Join(way[:len(log)], "/")))
		}
	}
	return nil
}

// readElsewhere is ReadRegular in a store.
func readElsewhere(ctx context.Context, name string, most int64) ([]byte, error) {
	store, err := files.StoreOf(name)
	if err != nil {
		return nil, err
	}
	in, err := store.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if in.Size() > most {
		return nil, fmt.Errorf("it has more than %d bytes", most)
	}
	text := make([]byte, in.Size())
	if n, err := in.ReadAt(text, 0); n < len(text) {
		return nil, err
	}
	return text, nil
}
