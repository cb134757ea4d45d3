package redesign

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/engine/tabular/redesign"
	"microrisk/operators"
	"microrisk/operators/tablefile"
	"microrisk/pipeline/session"
)

// Warning is what every output says.
const Warning = "Nothing of this may be published but the tables that are made with its recodes: it has true figures and rules."

// An Outcome is what came of a search.
type Outcome struct {
	Version       int         `json:"version"`
	Warning       string      `json:"warning"`
	Source        string      `json:"source"`
	Rules         []string    `json:"rules"`
	Variables     []Variable  `json:"variables"`
	Loss          string      `json:"loss"`
	Monotone      bool        `json:"monotone"` // what is merged of safe cells is safe
	Cells         int         `json:"cells"`    // that are not empty, totals among them
	Unsafe        int         `json:"unsafe"`
	AllCandidates int         `json:"single_merges"`
	Candidates    []Candidate `json:"candidates"`
	Redesigns     []Redesign  `json:"redesigns"` // the cheapest first
	Proven        int         `json:"proven"`    // how many of the first are the cheapest
	Whole         bool        `json:"whole"`     // there are no others
	Bound         int64       `json:"bound"`     // what others lose at least, where the search was stopped
	Searched      int         `json:"searched"`
	Fewest        *Left       `json:"fewest_left,omitempty"` // where nothing is safe

	files []recodeFile
}

// A Variable of the table.
type Variable struct {
	Name       string `json:"name"`
	Categories int    `json:"categories"` // finest ones that somebody is in
	Merges     string `json:"merges"`     // which categories may become one
}

// A Recode is a category that several become.
type Recode struct {
	Variable string   `json:"variable"`
	Code     string   `json:"code"`
	Of       []string `json:"of"` // codes of the table
}

// A Loss is what is lost.
type Loss struct {
	Categories   int    `json:"categories"`
	Cells        int    `json:"cells"`        // finest cells of merged rows and columns
	Contributors int64  `json:"contributors"` // to these
	Value        string `json:"value"`        // of these
	WithTotals   struct {
		Cells        int    `json:"cells"`
		Contributors int64  `json:"contributors"`
		Value        string `json:"value"`
	} `json:"with_totals"`
}

// A Candidate is a single merge.
type Candidate struct {
	Recode
	Unsafe int  `json:"unsafe"` // cells that are left
	Cells  int  `json:"cells"`  // of the table that it makes
	Helps  bool `json:"helps"`  // an unsafe cell becomes one with another
	Loss   Loss `json:"loss"`
}

// A Redesign leaves nothing unsafe.
type Redesign struct {
	Recodes []Recode          `json:"recodes"`
	Cells   int               `json:"cells"`
	Loss    Loss              `json:"loss"`
	Proven  bool              `json:"proven"`          // none before it in the list is missing
	Files   map[string]string `json:"files,omitempty"` // recodes, by variable

	Texts map[string][]byte `json:"-"` // what these files say, whether they are written or not
}

// All names the codes that become one, as far as the code of the one does not.
func (r Recode) All() string {
	if of := strings.Join(r.Of, "+"); of == r.Code {
		return strings.Join(r.Of, " + ")
	}
	return fmt.Sprintf("%s (of %s)", r.Code, strings.Join(r.Of, ", "))
}

// A Left is a redesign that leaves something unsafe.
type Left struct {
	Unsafe  int      `json:"unsafe"`
	Recodes []Recode `json:"recodes"`
}

// begin is an outcome without figures.
func (r *redesigning) begin() *Outcome {
	o := &Outcome{Version: 1, Warning: Warning, Source: r.Source.Path, Loss: r.Loss, Monotone: r.problem.Monotone}
	if r.Source.Records != nil {
		o.Source = strings.Join(r.Source.Records.Source.Path, ", ")
	}
	for i := range r.Config.Rules {
		o.Rules = append(o.Rules, r.Config.Rules[i].String())
	}
	same := r.problem.Same()
	for v, x := range r.variables {
		how := byNone
		if slices.ContainsFunc(r.problem.Moves(same, v, -1), func(m redesign.Move) bool { _, ok := r.problem.Apply(same, m); return ok }) {
			how = x.how
		}
		o.Variables = append(o.Variables, Variable{x.Tree.Name, r.problem.Left(same, v), how})
	}
	return o
}

func (r *redesigning) loss(d redesign.Design, c redesign.Cost) Loss {
	l := Loss{Categories: c.Categories, Cells: c.Cells, Contributors: c.Contributors, Value: r.table.Text(c.Value)}
	all := r.problem.WithTotals(d)
	l.WithTotals.Cells, l.WithTotals.Contributors, l.WithTotals.Value = all.Cells, all.Contributors, r.table.Text(all.Value)
	return l
}

// told are the recodes of a design, of the codes of the table.
func (r *redesigning) told(d redesign.Design) []Recode {
	list := []Recode{}
	for v := range r.variables {
		x := &r.variables[v]
		for _, group := range r.problem.Groups(d, v) {
			made := Recode{Variable: x.Tree.Name, Code: r.label(v, group)}
			if x.Tree.Depth() > 1 {
				made.Code = x.Tree.Nodes[d[v][group[0]]].Code.Label
			}
			for _, n := range group {
				made.Of = append(made.Of, x.Tree.Nodes[n].Code.Label)
			}
			list = append(list, made)
		}
	}
	return list
}

func (r *redesigning) candidate(c redesign.Candidate) Candidate {
	return Candidate{Recode: r.told(c.Design)[0], Unsafe: c.Unsafe, Cells: c.Cells, Helps: c.Helps, Loss: r.loss(c.Design, c.Cost)}
}

// A recodeFile is one that is written.
type recodeFile struct {
	path string
	text []byte
}

func (r *redesigning) redesign(safe redesign.Safe, proven bool, out *Outcome) (Redesign, error) {
	x := Redesign{Recodes: r.told(safe.Design), Cells: safe.Cells, Loss: r.loss(safe.Design, safe.Cost), Proven: proven}
	x.Texts = make(map[string][]byte)
	var names []string
	for v := range r.variables {
		if list := r.recodes(safe.Design, v); len(list) > 0 {
			text, err := tablefile.FormatRecodes(list)
			if err != nil {
				return x, err
			}
			name := r.variables[v].Tree.Name
			x.Texts[name], names = text, append(names, name)
		}
	}
	if r.Out == "" {
		return x, nil
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return !slices.ContainsFunc(x.Recodes, func(made Recode) bool { return made.Variable == name })
	})
	x.Files = FilesOf(r.Out, len(out.Redesigns)+1, names)
	for _, name := range names {
		out.files = append(out.files, recodeFile{x.Files[name], x.Texts[name]})
	}
	return x, nil
}

// FilesOf are the files of the recodes of some variables, of the redesign of a number.
func FilesOf(folder string, number int, variables []string) map[string]string {
	list := make(map[string]string)
	taken := make(map[string]bool)
	for _, name := range variables {
		file := fileName(name)
		for taken[strings.ToLower(file)] {
			file += "_"
		}
		taken[strings.ToLower(file)] = true
		list[name] = filepath.Join(folder, fmt.Sprint(number), file+".grc")
	}
	return list
}

// fileName is a variable's, as far as it can be the name of a file.
func fileName(variable string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, c) || c < ' ' || c == '.' {
			return '_'
		}
		return c
	}, variable)
}

// Part is an operators.Parted's.
func (o *Outcome) Part(name string) any {
	for _, f := range o.files {
		if f.path == name {
			return f
		}
	}
	return o
}

// Document is a Documented's.
func (f recodeFile) Document() ([]byte, error) { return f.text, nil }

// Document is a Documented's.
func (o *Outcome) Document() ([]byte, error) {
	text, err := json.MarshalIndent(o, "", "  ")
	return append(text, '\n'), err
}

// write writes the recodes and the document.
func (o *Outcome) write(ctx context.Context, s *Spec, reads []session.Reading, with session.Options) error {
	var list []operators.SideFile
	var paths, inputs []string
	for _, f := range o.files {
		list = append(list, operators.SideFile{Path: f.path, What: "the recodes", Kind: operators.MadeDocument, Part: f.path})
	}
	if s.JSON != "" {
		list = append(list, operators.SideFile{Path: s.JSON, What: "the document", Kind: operators.MadeDocument, Begins: "{\n"})
	}
	for _, f := range list {
		paths = append(paths, f.Path)
	}
	for _, r := range reads {
		inputs = append(inputs, r.Path)
	}
	if err := session.CheckPaths(append(reads, with.Reads...), paths); err != nil {
		return err
	}
	with.Sweep(paths...)
	return session.WriteParts(ctx, list, o, with, inputs)
}
