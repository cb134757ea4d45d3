package protectrecords

import (
	"math"

	"microrisk/engine/recoding"
)

// An Outcome is what a protection found.
type Outcome struct {
	Key       []string   `json:"key"`
	Records   int64      `json:"records"`
	Target    string     `json:"target"`
	Suppress  string     `json:"suppress"`
	Fit       string     `json:"fit,omitempty"` // of suppressed cells
	Loss      string     `json:"loss"`
	Variables []Variable `json:"variables"`
	Before    Measures   `json:"before"`
	Best      []Release  `json:"best"` // the best first; none: nothing that was tried is safe
	Nearest   *Release   `json:"nearest,omitempty"`
	Bound     *float64   `json:"bound"` // no safe recoding loses less; null where it is not known
	Gap       *float64   `json:"gap"`   // of the best from the bound, relatively
	Proven    bool       `json:"proven"`
	Nodes     float64    `json:"recodings"` // that there are
	Checked   int        `json:"checked"`
	Pruned    bool       `json:"pruned_by_risk"` // what is safe was inferred from other recodings
	Stopped   string     `json:"stopped,omitempty"`
	Warnings  []string   `json:"warnings"`
}

// A Variable is one of the key, with its levels.
type Variable struct {
	Name     string   `json:"name"`
	Levels   []string `json:"levels"`     // in words
	Groups   []int    `json:"categories"` // at each level
	Proposed string   `json:"proposed,omitempty"`
}

// A Level is one that was chosen.
type Level struct {
	Variable   string  `json:"variable"`
	Level      int     `json:"level"`
	Words      string  `json:"words"`
	Before     int     `json:"categories_before"`
	Categories int     `json:"categories"`
	Loss       float64 `json:"loss"` // share of the information of its cells
}

// A Release is a recoding that is safe, or the nearest to it.
type Release struct {
	Levels     []Level          `json:"levels"`
	Loss       float64          `json:"loss"`
	Measures   Measures         `json:"measures"` // before anything is suppressed
	Suppressed int64            `json:"suppressed_records"`
	Cells      map[string]int64 `json:"suppressed_cells,omitempty"` // by variable
	Changed    int64            `json:"changed_records,omitempty"`
	CellsGap   *float64         `json:"cells_gap,omitempty"` // of their cost from a bound, relatively
	Recounted  *Recounted       `json:"recounted,omitempty"`
	Node       recoding.Node    `json:"-"`
}

// Recounted is how rows with suppressed cells do under each meaning of safe, counted by other means than the search.
type Recounted struct {
	Rows        int64 `json:"rows"`           // without suppressed records
	NotClass    int64 `json:"not_class"`      // that fewer than k rows are identical to
	NotOwn      int64 `json:"not_own"`        // whose shown values fewer than k records have
	NotWildcard int64 `json:"not_wildcard"`   // that fewer than k rows are compatible with
	Persons     int64 `json:"persons_few"`    // whom fewer than k rows of the release fit
	Alone       int64 `json:"persons_single"` // whom just one fits
}

// Measures are the figures of a file by the key.
type Measures struct {
	Classes       int64    `json:"classes"`
	SampleUniques int64    `json:"sample_uniques"`
	Doubles       int64    `json:"doubles"`
	Unsafe        int64    `json:"unsafe_records"` // by k, distinct or entropy
	Largest       int64    `json:"largest_class"`
	MeanRisk      float64  `json:"mean_risk"` // mean of 1/f
	DIS           *float64 `json:"dis,omitempty"`
	Expected      *float64 `json:"expected_reidentifications,omitempty"` // by the models of the file as it is, categories merged
	Greatest      *float64 `json:"greatest_correct_match,omitempty"`
	PUSU          *float64 `json:"pu_su,omitempty"`
}

// A Point is one of the frontier of risk and loss.
type Point struct {
	What   string  `json:"what"`
	Risk   float64 `json:"risk"`
	Loss   float64 `json:"loss"`
	Levels []Level `json:"levels"`
	Proven bool    `json:"proven"`
}

// levels are those of a node.
func (p *Search) levels(n recoding.Node) []Level {
	var list []Level
	for v, level := range n {
		h := p.Levels[v]
		list = append(list, Level{Variable: h.Variable, Level: int(level), Words: h.Describe(int(level)), Before: h.Groups(0), Categories: h.Groups(int(level)),
			Loss: recoding.Cells{}.Variable(p.Lattice, v, level)})
	}
	return list
}

// outcome is what a search found.
func (p *Search) outcome(rule recoding.Rule, f *recoding.Found) *Outcome {
	out := &Outcome{
		Records:  p.Lattice.Records,
		Target:   rule.Name,
		Suppress: p.Suppress,
		Loss:     p.Ask.Loss,
		Proven:   f.Proven && len(f.Best) > 0,
		Nodes:    f.Nodes,
		Checked:  f.Checked,
		Pruned:   f.Pruned,
		Stopped:  f.Stopped,
		Warnings: []string{},
		Best:     []Release{},
	}
	for _, h := range p.Levels {
		out.Key = append(out.Key, h.Variable)
		x := Variable{Name: h.Variable, Proposed: h.Proposed}
		for k := range h.Levels {
			x.Levels, x.Groups = append(x.Levels, h.Describe(k)), append(x.Groups, h.Groups(k))
		}
		out.Variables = append(out.Variables, x)
	}
	if now, err := p.Lattice.Outcome(make(recoding.Node, len(p.Levels)), rule.Safe); err == nil {
		out.Before = p.measures(now, rule.Safe)
	}
	for _, r := range f.Best {
		out.Best = append(out.Best, p.release(r.Outcome, r.Loss[0], rule))
	}
	if len(f.Best) == 0 && f.Nearest != nil {
		r := p.release(f.Nearest, p.loss.Of(p.Lattice, f.Nearest)[0], rule)
		out.Nearest = &r
	}
	if len(f.Bound) > 0 && !math.IsNaN(f.Bound[0]) {
		out.Bound = &f.Bound[0]
	}
	if gap := f.Gap(); !math.IsNaN(gap) && !math.IsInf(gap, 0) {
		out.Gap = &gap
	}
	return out
}

func (p *Search) release(o *recoding.Outcome, loss float64, rule recoding.Rule) Release {
	return Release{Levels: p.levels(o.Node), Loss: loss, Measures: p.measures(o, rule.Safe), Suppressed: o.Suppressed, Node: o.Node}
}
