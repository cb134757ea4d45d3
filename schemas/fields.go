package schemas

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// planned are operators that the spec's language has and this version does not run.
var planned = map[string]string{
	"tau":  "the operator tau is not part of this version; it runs ",
	"pram": "the operator pram is not part of this version; it runs ",
}

// operatorNames are those that there are.
func operatorNames() string {
	fields := operatorFields(&Operator{})
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	slices.Sort(names)
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func text(what string, to *string) func(*decoder, ast.Node, string) {
	return func(d *decoder, n ast.Node, path string) { *to, _ = d.name(n, path, what) }
}

func optionalText(what string, to **string) func(*decoder, ast.Node, string) {
	return func(d *decoder, n ast.Node, path string) {
		if v, ok := d.name(n, path, what); ok {
			*to = &v
		}
	}
}

func boolean(what string, to *bool) func(*decoder, ast.Node, string) {
	return func(d *decoder, n ast.Node, path string) { *to = d.bool(n, path, what) }
}

func number(what string, to *float64) func(*decoder, ast.Node, string) {
	return func(d *decoder, n ast.Node, path string) { *to = d.number(n, path, what) }
}

func optionalNumber(what string, to **float64) func(*decoder, ast.Node, string) {
	return func(d *decoder, n ast.Node, path string) {
		v := d.number(n, path, what)
		*to = &v
	}
}

func texts(what string, to *[]string) func(*decoder, ast.Node, string) {
	return func(d *decoder, n ast.Node, path string) { *to = d.texts(n, path, what) }
}

// oneOrMore reads a text or a list of them.
func oneOrMore(what string, to *[]string) func(*decoder, ast.Node, string) {
	return func(d *decoder, n ast.Node, path string) {
		if v, ok := scalarText(n); ok {
			*to = []string{v}
			return
		}
		*to = d.texts(n, path, what)
	}
}

func specFields(s *Spec, version *int64) []field {
	return []field{
		{"version", func(d *decoder, n ast.Node, path string) { *version = d.integer(n, path, "version") }},
		{"source", func(d *decoder, n ast.Node, path string) { d.mapping(n, path, "source", sourceFields(&s.Source)) }},
		{"sampling", func(d *decoder, n ast.Node, path string) {
			s.Sampling = &Sampling{}
			d.mapping(n, path, "sampling", samplingFields(s.Sampling))
		}},
		{"key", func(d *decoder, n ast.Node, path string) {
			s.Key = &Key{}
			d.mapping(n, path, "key", keyFields(s.Key))
		}},
		{"operators", func(d *decoder, n ast.Node, path string) {
			d.items(n, path, "operators", func(_ int, item ast.Node, at string) {
				s.Operators = append(s.Operators, d.operator(item, at))
			})
		}},
		{"sink", func(d *decoder, n ast.Node, path string) { d.mapping(n, path, "sink", sinkFields(&s.Sink)) }},
		{"summary", text("summary", &s.Summary)},
		{"limits", func(d *decoder, n ast.Node, path string) {
			s.Limits = map[string]Limit{}
			d.entries(n, path, "limits", func(name string, value ast.Node, at string) { s.Limits[name] = d.limit(name, value, at) })
		}},
		{"id", text("id", &s.ID)},
		{"allow_empty", boolean("allow_empty", &s.AllowEmpty)},
	}
}

// limit reads a number, or a mapping of max and of.
func (d *decoder) limit(name string, n ast.Node, path string) (l Limit) {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		d.mapping(n, path, "the limit "+name, []field{{"max", number("max", &l.Max)}, {"of", text("of", &l.Of)}})
		if !d.has(path + ".max") {
			d.problemAt(path, fmt.Sprintf("the limit %s has no max; write %s: {max: 10, of: modelled}, or a number", name, name))
		}
	default:
		l.Max = d.number(n, path, "the limit "+name)
	}
	return l
}

func sourceFields(s *Source) []field {
	return []field{
		{"path", oneOrMore("source.path", &s.Path)},
		{"table", text("source.table", &s.Table)},
		{"count", text("source.count", &s.Count)},
		{"format", text("source.format", &s.Format)},
		{"types", func(d *decoder, n ast.Node, path string) {
			s.Types = map[string]string{}
			d.entries(n, path, "source.types", func(column string, value ast.Node, at string) {
				s.Types[column], _ = d.name(value, at, "the type of "+column)
			})
		}},
		{"delimiter", text("source.delimiter", &s.Delimiter)},
	}
}

func sinkFields(s *Sink) []field {
	return []field{
		{"path", text("sink.path", &s.Path)},
		{"format", text("sink.format", &s.Format)},
		{"compression", text("sink.compression", &s.Compression)},
		{"footer", text("sink.footer", &s.Footer)},
	}
}

func samplingFields(s *Sampling) []field {
	return []field{
		{"fraction", func(d *decoder, n ast.Node, path string) {
			s.Fraction = d.number(n, path, "the sampling fraction")
			if !d.failed(path) && !(s.Fraction > 0 && s.Fraction <= 1) {
				d.problemAt(path, fraction(s.Fraction))
			}
		}},
		{"population_size", func(d *decoder, n ast.Node, path string) {
			s.PopulationSize = d.integer(n, path, "population_size")
			if !d.failed(path) && s.PopulationSize <= 0 {
				d.problemAt(path, populationSize(s.PopulationSize))
			}
		}},
		{"weight", func(d *decoder, n ast.Node, path string) {
			switch n.(type) {
			case *ast.MappingNode, *ast.MappingValueNode:
				d.mapping(n, path, "weight", []field{{"column", text("the weight's column", &s.Weight)}, {"zero", text("zero", &s.ZeroWeight)}})
			default:
				s.Weight, _ = d.name(n, path, "sampling.weight")
			}
		}},
	}
}

func fraction(v float64) string {
	return fmt.Sprintf("the sampling fraction is %v; it must be above 0 and at most 1", v)
}

func populationSize(v int64) string {
	return fmt.Sprintf("population_size is %d; it must be at least the number of records", v)
}

func keyFields(k *Key) []field {
	return []field{
		{"variables", func(d *decoder, n ast.Node, path string) {
			d.items(n, path, "key.variables", func(_ int, item ast.Node, at string) {
				v := KeyVariable{}
				if name, ok := scalarText(item); ok {
					v.Name = name
				} else {
					d.mapping(item, at, "a key variable", keyVariableFields(&v))
					if !d.has(at+".name") && !d.failed(at) {
						d.problemAt(at, "a key variable has no name; name the column")
					}
				}
				k.Variables = append(k.Variables, v)
			})
		}},
		{"missing", text("key.missing", &k.Missing)},
		{"missing_codes", texts("missing_codes", &k.MissingCodes)},
	}
}

func keyVariableFields(v *KeyVariable) []field {
	return []field{
		{"name", text("a key variable's name", &v.Name)},
		{"missing", text("missing", &v.Missing)},
		{"missing_codes", texts("missing_codes", &v.MissingCodes)},
		{"levels", texts("levels", &v.Levels)},
	}
}

// operator reads an item of operators: a name, or a mapping of one name to the operator's fields.
func (d *decoder) operator(n ast.Node, path string) (o Operator) {
	const what = "an operator"
	if name, isText := scalarText(n); isText {
		switch name {
		case "suda":
			return Operator{Suda: &Suda{}}
		case "frequency":
			return Operator{Frequency: &FrequencyOperator{}}
		case "mc3":
			return Operator{MC3: &MC3{}}
		case "kanonymity":
			return Operator{KAnonymity: &KAnonymity{}}
		case "individual":
			return Operator{Individual: &Individual{}}
		default:
			reason := Planned(name)
			if reason == "" {
				reason = fmt.Sprintf("%q is no operator that can stand alone; write suda, frequency, mc3, kanonymity or individual, or a mapping such as recode: {...}", name)
			}
			d.problemAt(path, reason)
			return o
		}
	}
	d.mapping(n, path, what, operatorFields(&o))
	set := 0
	for _, is := range []bool{o.Recode != nil, o.Select != nil, o.Suda != nil, o.Frequency != nil, o.MC3 != nil, o.SAP != nil, o.Tabulate != nil,
		o.KAnonymity != nil, o.LDiversity != nil, o.Individual != nil} {
		if is {
			set++
		}
	}
	if set > 1 {
		d.problemAt(path, "an item of operators has one operator; begin each with a dash of its own")
	}
	return o
}

func operatorFields(o *Operator) []field {
	return []field{
		{"recode", func(d *decoder, n ast.Node, path string) {
			o.Recode = []Recode{}
			d.entries(n, path, "recode", func(name string, value ast.Node, at string) {
				r := Recode{Name: name}
				d.mapping(value, at, "a recode", recodeFields(&r))
				o.Recode = append(o.Recode, r)
			})
		}},
		{"select", func(d *decoder, n ast.Node, path string) {
			o.Select = &Select{}
			d.mapping(n, path, "select", selectFields(o.Select))
		}},
		{"kanonymity", func(d *decoder, n ast.Node, path string) {
			o.KAnonymity = &KAnonymity{}
			if !isNull(n) {
				d.mapping(n, path, "kanonymity", kAnonymityFields(o.KAnonymity))
			}
		}},
		{"ldiversity", func(d *decoder, n ast.Node, path string) {
			o.LDiversity = &LDiversity{}
			d.mapping(n, path, "ldiversity", lDiversityFields(o.LDiversity))
		}},
		{"individual", func(d *decoder, n ast.Node, path string) {
			o.Individual = &Individual{}
			if !isNull(n) {
				d.mapping(n, path, "individual", individualFields(o.Individual))
			}
		}},
		{"suda", func(d *decoder, n ast.Node, path string) {
			o.Suda = &Suda{}
			if !isNull(n) {
				d.mapping(n, path, "suda", sudaFields(o.Suda))
			}
		}},
		{"frequency", func(d *decoder, n ast.Node, path string) {
			o.Frequency = &FrequencyOperator{}
			if !isNull(n) {
				d.mapping(n, path, "frequency", frequencyFields(o.Frequency))
			}
		}},
		{"mc3", func(d *decoder, n ast.Node, path string) {
			o.MC3 = &MC3{}
			if !isNull(n) {
				d.mapping(n, path, "mc3", mc3Fields(o.MC3))
			}
		}},
		{"sap", func(d *decoder, n ast.Node, path string) {
			o.SAP = &SAP{}
			d.mapping(n, path, "sap", sapFields(o.SAP))
		}},
		{"tabulate", func(d *decoder, n ast.Node, path string) {
			o.Tabulate = &Tabulate{}
			d.mapping(n, path, "tabulate", tabulateFields(o.Tabulate))
		}},
	}
}

func recodeFields(r *Recode) []field {
	return []field{
		{"from", text("from", &r.From)},
		{"map", func(d *decoder, n ast.Node, path string) {
			r.Map = map[string]string{}
			d.entries(n, path, "map", func(old string, value ast.Node, at string) {
				if isNull(value) {
					r.Map[old] = ""
					return
				}
				r.Map[old], _ = d.name(value, at, "a new value of map")
			})
		}},
		{"other", func(d *decoder, n ast.Node, path string) {
			var missing string
			r.Other = &missing
			if !isNull(n) {
				*r.Other, _ = d.name(n, path, "other")
			}
		}},
		{"truncate", func(d *decoder, n ast.Node, path string) {
			r.Truncate = int(d.integer(n, path, "truncate"))
			if !d.failed(path) && r.Truncate < 1 {
				d.problemAt(path, fmt.Sprintf("truncate is %d; it must keep at least 1 character", r.Truncate))
			}
		}},
		{"width", func(d *decoder, n ast.Node, path string) {
			r.Width = d.number(n, path, "width")
			if !d.failed(path) && !(r.Width > 0) {
				d.problemAt(path, fmt.Sprintf("width is %v; it must be above 0", r.Width))
			}
		}},
		{"origin", number("origin", &r.Origin)},
		{"cuts", func(d *decoder, n ast.Node, path string) {
			r.Cuts = []float64{}
			d.items(n, path, "cuts", func(_ int, item ast.Node, at string) {
				r.Cuts = append(r.Cuts, d.number(item, at, "a cut point"))
			})
		}},
		{"bottom", optionalNumber("bottom", &r.Bottom)},
		{"top", optionalNumber("top", &r.Top)},
		{"replace", boolean("replace", &r.Replace)},
		{"keep", func(d *decoder, n ast.Node, path string) {
			keep := d.bool(n, path, "keep")
			r.Keep = &keep
		}},
	}
}

func selectFields(s *Select) []field {
	return []field{
		{"rows", func(d *decoder, n ast.Node, path string) {
			d.entries(n, path, "select.rows", func(column string, value ast.Node, at string) {
				c := Condition{Column: column}
				if v, ok := scalarText(value); ok {
					c.Values = []string{v}
				} else if _, isList := value.(*ast.SequenceNode); isList {
					c.Values = d.texts(value, at, "select.rows."+column)
				} else {
					d.mapping(value, at, "a range of select.rows", conditionFields(&c))
				}
				s.Rows = append(s.Rows, c)
			})
		}},
		{"columns", texts("select.columns", &s.Columns)},
		{"keep_rows", boolean("keep_rows", &s.KeepRows)},
	}
}

func conditionFields(c *Condition) []field {
	return []field{{"min", optionalText("min", &c.Min)}, {"max", optionalText("max", &c.Max)}}
}

func frequencyFields(f *FrequencyOperator) []field {
	return []field{
		{"prefix", text("prefix", &f.Prefix)},
		{"key", ownKey(&f.Key)},
		{"missing", text("missing", &f.Missing)},
		{"replace", boolean("replace", &f.Replace)},
	}
}

// ownKey reads a key that an operator has for itself.
func ownKey(k **Key) func(d *decoder, n ast.Node, path string) {
	return func(d *decoder, n ast.Node, path string) {
		*k = &Key{}
		d.mapping(n, path, "key", keyFields(*k))
	}
}

func sudaFields(s *Suda) []field {
	return []field{
		{"prefix", text("prefix", &s.Prefix)},
		{"key", ownKey(&s.Key)},
		{"missing", text("missing", &s.Missing)},
		{"score", text("score", &s.Score)},
		{"max_size", func(d *decoder, n ast.Node, path string) { s.MaxSize = int(d.integer(n, path, "max_size")) }},
		{"threshold", func(d *decoder, n ast.Node, path string) {
			s.Threshold = d.integer(n, path, "threshold")
			if !d.failed(path) && s.Threshold < 1 {
				d.problemAt(path, fmt.Sprintf("threshold is %d; it must be at least 1", s.Threshold))
			}
		}},
		{"contributions", boolean("contributions", &s.Contributions)},
		{"msus", boolean("msus", &s.MSUs)},
		{"force", boolean("force", &s.Force)},
		{"replace", boolean("replace", &s.Replace)},
	}
}

// Planned tells that an operator is known by name and not run by this version; "" for all others.
func Planned(operator string) string {
	if reason := planned[operator]; reason != "" {
		return reason + operatorNames()
	}
	return ""
}
