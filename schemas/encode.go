package schemas

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// YAML is the spec as a person would write it: fields that are unset are left out, short lists and mappings stand on one line.
func (s *Spec) YAML() []byte {
	var b strings.Builder
	writeBlock(&b, s.ordered(), 0)
	return []byte(b.String())
}

func (s *Spec) ordered() ordered {
	root := ordered{{"version", Version}}
	root.add("source", sourceYAML(s.Source))
	if s.Sampling != nil {
		root.add("sampling", fieldsOf("fraction", s.Sampling.Fraction, "population_size", s.Sampling.PopulationSize, "weight", weightOf(s.Sampling)))
	}
	if s.Key != nil {
		root.add("key", keyYAML(s.Key))
	}
	var list []any
	for _, o := range s.Operators {
		list = append(list, operatorYAML(o))
	}
	root.add("operators", list)
	root.add("sink", fieldsOf("path", s.Sink.Path, "format", s.Sink.Format, "compression", s.Sink.Compression, "footer", s.Sink.Footer))
	root.add("summary", s.Summary)
	limits := ordered{}
	for _, name := range slices.Sorted(maps.Keys(s.Limits)) {
		l := s.Limits[name]
		if l.Of == "" {
			limits = append(limits, entry{name, l.Max})
			continue
		}
		limits = append(limits, entry{name, ordered{{"max", l.Max}, {"of", l.Of}}})
	}
	root.add("limits", limits)
	root.add("id", s.ID)
	root.add("allow_empty", s.AllowEmpty)
	return root
}

// JSON is the spec as JSON, with all that is set.
func (s *Spec) JSON() ([]byte, error) { return json.Marshal(s.ordered()) }

// MarshalJSON keeps the order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, e := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(e.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(e.value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// An ordered mapping; values are ordered, []any, string, bool, int, int64 or float64.
type ordered []entry

type entry struct {
	key   string
	value any
}

// add appends a field unless its value is the zero value of its type.
func (o *ordered) add(key string, value any) {
	switch v := value.(type) {
	case string:
		if v == "" {
			return
		}
	case bool:
		if !v {
			return
		}
	case int:
		if v == 0 {
			return
		}
	case int64:
		if v == 0 {
			return
		}
	case float64:
		if v == 0 {
			return
		}
	case []any:
		if v == nil {
			return
		}
	case ordered:
		if len(v) == 0 {
			return
		}
	}
	*o = append(*o, entry{key, value})
}

// weightOf is a column, or a mapping where more is said of it.
func weightOf(s *Sampling) any {
	if s.ZeroWeight == "" {
		return s.Weight
	}
	return fieldsOf("column", s.Weight, "zero", s.ZeroWeight)
}

// fieldsOf makes a mapping of names and values, unset ones left out.
func fieldsOf(pairs ...any) ordered {
	o := ordered{}
	for i := 0; i < len(pairs); i += 2 {
		o.add(pairs[i].(string), pairs[i+1])
	}
	return o
}

// listOf is nil for a nil slice.
func listOf[T any](values []T) []any {
	if values == nil {
		return nil
	}
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

// textsOf is a mapping of texts, sorted by key; nil stays unset.
func textsOf(m map[string]string) ordered {
	o := ordered{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		o = append(o, entry{k, m[k]})
	}
	return o
}

func sourceYAML(s Source) ordered {
	var path any = listOf(s.Path)
	if len(s.Path) == 1 {
		path = s.Path[0]
	}
	return fieldsOf("path", path, "table", s.Table, "count", s.Count, "format", s.Format, "types", textsOf(s.Types), "delimiter", s.Delimiter)
}

func keyYAML(k *Key) ordered {
	return fieldsOf("variables", variablesYAML(k.Variables), "missing", k.Missing, "missing_codes", listOf(k.MissingCodes))
}

func variablesYAML(list []KeyVariable) []any {
	var variables []any
	for _, v := range list {
		if v.Missing == "" && v.MissingCodes == nil && v.Levels == nil {
			variables = append(variables, v.Name)
			continue
		}
		variables = append(variables, fieldsOf("name", v.Name, "missing", v.Missing, "missing_codes", listOf(v.MissingCodes), "levels", listOf(v.Levels)))
	}
	return variables
}

func operatorYAML(o Operator) any {
	switch {
	case o.Recode != nil:
		recodes := ordered{}
		for _, r := range o.Recode {
			recodes = append(recodes, entry{r.Name, recodeYAML(r)})
		}
		return ordered{{"recode", recodes}}
	case o.Select != nil:
		rows := ordered{}
		for _, c := range o.Select.Rows {
			rows = append(rows, entry{c.Column, conditionYAML(c)})
		}
		return ordered{{"select", fieldsOf("rows", rows, "columns", listOf(o.Select.Columns), "keep_rows", o.Select.KeepRows)}}
	case o.Frequency != nil:
		f := o.Frequency
		return measureYAML("frequency", f, fieldsOf("missing", f.Missing, "replace", f.Replace))
	case o.Suda != nil:
		s := o.Suda
		return measureYAML("suda", s, fieldsOf("missing", s.Missing, "score", s.Score, "max_size", s.MaxSize, "threshold", s.Threshold,
			"contributions", s.Contributions, "msus", s.MSUs, "force", s.Force, "replace", s.Replace))
	case o.MC3 != nil:
		return measureYAML("mc3", o.MC3, mc3YAML(o.MC3))
	case o.SAP != nil:
		return ordered{{"sap", sapYAML(o.SAP)}}
	case o.Tabulate != nil:
		return ordered{{"tabulate", tabulateYAML(o.Tabulate)}}
	case o.KAnonymity != nil:
		return measureYAML("kanonymity", o.KAnonymity, kAnonymityYAML(o.KAnonymity))
	case o.LDiversity != nil:
		return measureYAML("ldiversity", o.LDiversity, lDiversityYAML(o.LDiversity))
	case o.Individual != nil:
		return measureYAML("individual", o.Individual, individualYAML(o.Individual))
	}
	return ordered{}
}

// measureYAML is an operator with a table: its name alone, or with what it says.
func measureYAML(name string, m Measure, rest ordered) any {
	fields := ordered{}
	if prefix := m.ColumnPrefix(); prefix != name {
		fields.add("prefix", prefix)
	}
	if k := m.OwnKey(); k != nil {
		fields.add("key", keyYAML(k))
	}
	if fields = append(fields, rest...); len(fields) == 0 {
		return name
	}
	return ordered{{name, fields}}
}

func mc3YAML(m *MC3) ordered {
	o := fieldsOf("missing", m.Missing)
	if len(m.PriorPrecision) == 1 {
		o = append(o, entry{"prior_precision", m.PriorPrecision[0]})
	} else {
		o.add("prior_precision", listOf(m.PriorPrecision))
	}
	o = append(o, fieldsOf("search", m.Search, "weights", m.Weights, "edge_penalty", m.EdgePenalty, "moves", m.Moves, "schedule", m.Schedule,
		"directions", m.Directions, "razor", m.Razor, "graph", m.Graph)...)
	for _, n := range []struct {
		name  string
		value *int
	}{{"burn_in", m.BurnIn}, {"iterations", m.Iterations}, {"thinning", m.Thinning}, {"chains", m.Chains}, {"temperatures", m.Temperatures},
		{"restarts", m.Restarts}, {"draws", m.Draws}, {"posterior_draws", m.PosteriorDraws}, {"cell_draws", m.CellDraws}} {
		if n.value != nil {
			o = append(o, entry{n.name, *n.value})
		}
	}
	if m.Window != nil {
		o = append(o, entry{"window", *m.Window})
	}
	return append(o, fieldsOf("estimator", m.Estimator, "set_match", m.SetMatch, "baselines", m.Baselines, "relative_risk", m.RelativeRisk,
		"ordinal", listOf(m.Ordinal), "model_out", m.ModelOut, "model_in", m.ModelIn, "replace", m.Replace)...)
}

func conditionYAML(c Condition) any {
	if c.Values != nil {
		return listOf(c.Values)
	}
	o := ordered{}
	if c.Min != nil {
		o = append(o, entry{"min", *c.Min})
	}
	if c.Max != nil {
		o = append(o, entry{"max", *c.Max})
	}
	return o
}

func recodeYAML(r Recode) ordered {
	o := fieldsOf("from", r.From)
	if r.Map != nil {
		o = append(o, entry{"map", textsOf(r.Map)})
	}
	if r.Other != nil {
		o = append(o, entry{"other", *r.Other})
	}
	o = append(o, fieldsOf("truncate", r.Truncate, "width", r.Width, "origin", r.Origin, "cuts", listOf(r.Cuts))...)
	if r.Bottom != nil {
		o = append(o, entry{"bottom", *r.Bottom})
	}
	if r.Top != nil {
		o = append(o, entry{"top", *r.Top})
	}
	o.add("replace", r.Replace)
	if r.Keep != nil {
		o = append(o, entry{"keep", *r.Keep})
	}
	return o
}

const lineWidth = 100

// writeBlock writes a mapping or a list a line an entry; entries that are short stand on their line in flow style.
func writeBlock(b *strings.Builder, value any, indent int) {
	pad := strings.Repeat("  ", indent)
	switch v := value.(type) {
	case ordered:
		for _, e := range v {
			b.WriteString(pad + scalarYAML(e.key) + ":")
			writeRest(b, e.value, indent, len(pad)+len(e.key)+2)
		}
	case []any:
		for _, x := range v {
			b.WriteString(pad + "-")
			if o, ok := x.(ordered); ok && len(o) == 1 {
				key := scalarYAML(o[0].key)
				b.WriteString(" " + key + ":")
				writeRest(b, o[0].value, indent+1, len(pad)+len(key)+4)
				continue
			}
			writeRest(b, x, indent, len(pad)+2)
		}
	}
}

func writeRest(b *strings.Builder, value any, indent, used int) {
	_, isList := value.([]any)
	open := isList && indent == 0 && slices.ContainsFunc(value.([]any), isMapping)
	if flow := flowYAML(value); len(flow)+used <= lineWidth && !open {
		b.WriteString(" " + flow + "\n")
		return
	}
	b.WriteString("\n")
	writeBlock(b, value, indent+1)
}

func isMapping(v any) bool { _, ok := v.(ordered); return ok }

func flowYAML(value any) string {
	var parts []string
	switch v := value.(type) {
	case ordered:
		for _, e := range v {
			parts = append(parts, scalarYAML(e.key)+": "+flowYAML(e.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, x := range v {
			parts = append(parts, flowYAML(x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return scalarYAML(value)
}

// plain texts mean themselves without quotes, wherever they stand.
var (
	plain    = regexp.MustCompile(`^[A-Za-z_./][A-Za-z0-9_./+-]*$`)
	reserved = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n|\.inf|\.nan)$`)
)

func scalarYAML(value any) string {
	switch v := value.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		if size := math.Abs(v); size >= 1e-9 && size < 1e15 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		if plain.MatchString(v) && !reserved.MatchString(v) && !strings.HasPrefix(v, "...") {
			return v
		}
		if !utf8.ValidString(v) {
			v = strings.ToValidUTF8(v, "\uFFFD")
		}
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			return strconv.Quote(v)
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	return ""
}
