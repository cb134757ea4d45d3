package operators

import (
	"context"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/program"
	"microrisk/schemas"
)

// A Config is what a spec says of an operator that can be run.
type Config interface {
	schemas.Config
	// Operators are what is bound for it, in order; with has what the spec says besides, and what was read from the files that the
	// config names.
	Operators(with Setup) []Operator
}

// A Setup is what operators of a spec are made with.
type Setup struct {
	Key      schemas.Key       // the spec's; none has no variables
	Sampling *schemas.Sampling // nil: nothing is said
	Files    Files
	// Solver finds what solves integer programs, by one of the words auto, embedded, cbc and glpsol, and says what it is; nil: there is the
	// embedded one alone.
	Solver func(asked string) (program.Solver, string, error)
}

// Register makes a kind of operator known to specs: the descriptor says what the spec knows of it, and its configs say how it is run. It is
// called by init of the operator's package.
func Register(k schemas.Kind) {
	if k.New != nil {
		if _, runs := k.New().(Config); !runs {
			panic("the operator " + k.Name + " cannot be run: its config has no method Operators")
		}
	}
	schemas.Register(k)
}

// A SideFile is a file that an operator reads or writes besides inputs and outputs.
type SideFile struct {
	Path string
	What string // for messages: "the secret"
	Kind SideKind
	// Variables are the columns of a file of published counts, besides the counts.
	Variables []string
	// Begins is what a document begins with: a file that begins otherwise is not replaced by one. Most is how many bytes one that is read
	// may have.
	Begins string
	Most   int64
	Read   func(text []byte) (any, error) // makes of the text what Files has of a document
	// Outline makes what Files has of a document in YAML, and Open of a file of columns; memory is what the run may take.
	Outline func(root *schemas.Node) (any, error)
	Open    func(ctx context.Context, from Source, memory int64) (any, error)
	Part    string // of a Parted: which of its files it is
}

// A SideKind tells what a side file is.
type SideKind int

// Kinds of side files.
const (
	Secret       SideKind = iota // bytes that only their owner can read
	Document                     // text that is read
	Outline                      // text in YAML that is read
	Opened                       // a file of columns that is read: its kind is that of its name
	Counts                       // published counts
	MadeDocument                 // text that is written: the Fitted is a Documented
	MadeTable                    // a table that is written: the Fitted is a Tabled
)

// Written tells whether the file is made.
func (f SideFile) Written() bool { return f.Kind == MadeDocument || f.Kind == MadeTable }

// Key is what published counts are found by in Files: two operators may read the same file by different variables.
func (f SideFile) Key() string { return strings.Join(append([]string{f.Path}, f.Variables...), "\x00") }

// A Filing config names side files.
type Filing interface{ Files() []SideFile }

// Files are what was read from an operator's side files, by path.
type Files struct {
	Secrets   map[string][]byte
	Documents map[string]any
	Counts    map[string]*Published
}

// A Documented is a Fitted that makes a text for a file of its own.
type Documented interface{ Document() ([]byte, error) }

// A Parted is a Fitted that makes several files: Part is the Tabled or the Documented of one.
type Parted interface{ Part(name string) any }

// A Tabled is a Fitted that makes a file of its own besides the columns: one row a table. The record is the caller's to release.
type Tabled interface {
	Tables(mem memory.Allocator) arrow.Record
}

// A Footed is a Tabled with metadata for its file, by their keys, if files of its kind have such.
type Footed interface{ Footer() map[string]string }
