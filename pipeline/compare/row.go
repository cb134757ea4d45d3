package compare

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
	"microrisk/operators/protect"
	"microrisk/schemas/advice"
)

// What came of a run.
const (
	StatusOK         = "ok"
	StatusLimit      = "time_limit" // a limit was reached: with the best that was found, if something was
	StatusInfeasible = "infeasible" // no pattern is safe
	StatusUnsafe     = "unsafe"     // it did not pass the audit
	StatusError      = "error"
)

// A Row is a run of a method. What is not known, or makes no sense of the method, is nil. Sums and changes are of all cells, totals among
// them, unless they say interior: the finest cells.
type Row struct {
	ID           int64  `json:"table_id"` // from 1
	Source       string `json:"source"`
	Table        string `json:"table"` // variables, joined by x
	Dims         int64  `json:"dims"`
	Redesigned   int64  `json:"redesigned_vars"` // variables with recodes
	Design       string `json:"design_class"`
	Hierarchical bool   `json:"hierarchical"`
	Cells        int64  `json:"n_cells"` // not empty, totals among them
	Zeros        int64  `json:"n_zero"`  // finest combinations without anybody
	Records      int64  `json:"n_records"`

	Method    string `json:"method"`
	Variant   string `json:"variant"` // its parameters, "" for the usual ones
	Series    string `json:"series"`  // the method with its parameters, but n and base
	Scheme    string `json:"scheme"`  // of perturbation
	Rules     string `json:"rules"`
	N         *int64 `json:"n"`
	Base      *int64 `json:"base"`
	Weights   string `json:"weight_scheme"` // what hiding a cell costs
	Replicate int64  `json:"replicate"`

	Status  string  `json:"status"`
	Note    string  `json:"note"`
	Seconds float64 `json:"seconds"`

	Unsafe         *int64   `json:"n_unsafe"`
	Primary        *int64   `json:"n_primary"` // unsafe cells that are hidden
	Secondary      *int64   `json:"n_secondary"`
	Hidden         *int64   `json:"n_hidden"`
	Changed        *int64   `json:"n_changed"`
	HiddenShare    *float64 `json:"hidden_share"`
	ChangedShare   *float64 `json:"changed_share"`
	Suppressed     *int64   `json:"suppressed_contributors"` // of hidden finest cells
	SafeRedesigned *bool    `json:"safe_after_redesign"`

	LossOf            string   `json:"loss_of"` // hidden or changed cells: of what the next sums are
	LossUnity         *float64 `json:"loss_unity"`
	LossFrequency     *float64 `json:"loss_frequency"`
	LossValue         *float64 `json:"loss_value"`
	InteriorUnity     *float64 `json:"loss_unity_interior"`
	InteriorFrequency *float64 `json:"loss_frequency_interior"`
	InteriorValue     *float64 `json:"loss_value_interior"`
	Additive          *bool    `json:"additive"`
	Imbalance         *float64 `json:"max_imbalance"`
	MaxChange         *float64 `json:"max_abs_change"`
	MeanChange        *float64 `json:"mean_abs_change"`

	Model        string   `json:"model"`
	DTrue        *float64 `json:"d_true"`
	DFTrue       *int64   `json:"df_true"`
	DOmitted     *float64 `json:"d_omitted"` // the same for all treatments where no finest cell is hidden
	DZero        *float64 `json:"d_zero"`
	DImputed     *float64 `json:"d_imputed"`
	DFOmitted    *int64   `json:"df_omitted"`
	DFZero       *int64   `json:"df_zero"`
	DFImputed    *int64   `json:"df_imputed"`
	LossOmitted  *float64 `json:"loss_pct_omitted"`
	LossZero     *float64 `json:"loss_pct_zero"`
	LossImputed  *float64 `json:"loss_pct_imputed"`
	Converged    *bool    `json:"converged"`
	HiddenInside *int64   `json:"n_hidden_interior"`

	Audit          string   `json:"audit"`
	Slack          *float64 `json:"audit_min_slack"` // how much wider the worst interval is than it must be; below 0: narrower
	Underprotected *int64   `json:"n_underprotected"`
	Recoverable    *int64   `json:"n_exactly_recoverable"`
	Cost           *float64 `json:"cost"` // of what was hidden for others, or of rounding
	Proven         *bool    `json:"proven_optimal"`
	LowerBound     *float64 `json:"lower_bound"`
	Gap            *float64 `json:"gap"`

	SAP []protect.SAPFigure `json:"sap"`

	notes []error // that Note is made of
}

// note adds what went wrong to the note.
func (r *Row) note(err error) {
	r.notes = append(r.notes, err)
	r.Note = r.Said(advice.OfSpec)
}

// Said is the note as its reader has words for it: a part of package advice.
func (r *Row) Said(words func(part any) string) string {
	if r.notes == nil {
		return r.Note
	}
	texts := make([]string, len(r.notes))
	for i, err := range r.notes {
		texts[i] = strings.ReplaceAll(advice.Say(err, words), "\n", "; ")
	}
	return strings.Join(texts, "; ")
}

// whole, number and truth are values that are there.
func whole[T int | int64 | int32](v T) *int64 { x := int64(v); return &x }

func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// rows are the runs as a file.
type rows []*Row

// Tables is a Tabled's: a column for each field, and sap_N_before, sap_N_after and sap_N_most for each number of people known: means over the
// areas, and the largest after.
func (list rows) Tables(mem memory.Allocator) arrow.Record {
	c := &operators.Columns{Mem: mem, Rows: len(list)}
	t := reflect.TypeFor[Row]()
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			continue
		}
		name := strings.Split(t.Field(i).Tag.Get("json"), ",")[0]
		field := func(row int) any { return reflect.ValueOf(list[row]).Elem().Field(i).Interface() }
		switch reflect.Zero(t.Field(i).Type).Interface().(type) {
		case string:
			c.Texts(name, func(row int) string { return field(row).(string) })
		case int64:
			c.Wholes(name, func(row int) int64 { return field(row).(int64) })
		case float64:
			c.Numbers(name, func(row int) float64 { return field(row).(float64) })
		case bool:
			c.Truths(name, func(row int) bool { return field(row).(bool) })
		case *int64:
			c.WholesOrNull(name, func(row int) (int64, bool) {
				if v := field(row).(*int64); v != nil {
					return *v, true
				}
				return 0, false
			})
		case *float64:
			c.NumbersOrNull(name, func(row int) float64 { return orNaN(field(row).(*float64)) })
		case *bool:
			c.TruthsOrNull(name, func(row int) *bool { return field(row).(*bool) })
		}
	}
	list.sap(c)
	return c.Record()
}

func (list rows) sap(c *operators.Columns) {
	var known []protect.SAPFigure // the numbers, which all runs that have figures share
	for _, r := range list {
		if r.SAP != nil {
			known = r.SAP
		}
	}
	for k, f := range known {
		for _, x := range []struct {
			name string
			of   func(protect.SAPFigure) float64
		}{{"before", func(f protect.SAPFigure) float64 { return f.MeanBefore }}, {"after", func(f protect.SAPFigure) float64 { return f.MeanAfter }},
			{"most", func(f protect.SAPFigure) float64 { return f.MostAfter }}} {
			c.NumbersOrNull(fmt.Sprintf("sap_%d_%s", f.Known, x.name), func(row int) float64 {
				if k >= len(list[row].SAP) {
					return math.NaN()
				}
				return x.of(list[row].SAP[k])
			})
		}
	}
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
