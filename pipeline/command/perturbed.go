package command

import (
	"strconv"
	"strings"

	"microrisk/pipeline"
	"microrisk/schemas"
)

// perturbedOf reads tables with schemes of their own: FILE=SCHEME, and NAME=VALUE behind colons.
func perturbedOf(list []string) (tables []pipeline.PerturbedTable, err error) {
	for _, text := range list {
		at := strings.Index(text, "=")
		if at <= 0 || at == len(text)-1 {
			return nil, usage("--perturbed is %q; it is FILE=SCHEME, or FILE=SCHEME:base=3", text)
		}
		parts := strings.Split(text[at+1:], ":")
		p := schemas.Perturbation{Scheme: parts[0]}
		for _, part := range parts[1:] {
			name, value, _ := strings.Cut(part, "=")
			whole, failed := strconv.ParseInt(value, 10, 64)
			switch name {
			case "base":
				p.Base = whole
			case "last":
				p.Last = whole
			case "value":
				p.Value = whole
			case "tie":
				p.Tie, failed = value, nil
			case "probability":
				var x float64
				x, failed = strconv.ParseFloat(value, 64)
				p.Probability = &x
			default:
				return nil, usage("--perturbed %s: there is no %q of a scheme; it is base, tie, probability, last or value", text, name)
			}
			if failed != nil {
				return nil, usage("--perturbed %s: %s is %q; it must be a number", text, name, value)
			}
		}
		tables = append(tables, pipeline.PerturbedTable{Path: text[:at], Scheme: p})
	}
	return tables, nil
}
