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
		path, p, err := schemeBehind("perturbed", "FILE", text)
		if err != nil {
			return nil, err
		}
		tables = append(tables, pipeline.PerturbedTable{Path: path, Scheme: *p})
	}
	return tables, nil
}

// schemeBehind parts what a flag names from the scheme behind its last equals sign that a scheme follows.
func schemeBehind(flag, what, text string) (string, *schemas.Perturbation, error) {
	at := -1
	for i, scheme := range schemas.Schemes {
		if scheme == "matrix" {
			continue // its probabilities are no word
		}
		for from := len(text); from >= 0; {
			if from = strings.LastIndex(text[:from], "="+schemas.Schemes[i]); from < 0 {
				break
			}
			if rest := text[from+1+len(scheme):]; rest == "" || rest[0] == ':' {
				at = max(at, from)
				break
			}
		}
	}
	if at <= 0 {
		return "", nil, usage("--%s is %q; it is %s=SCHEME, or %s=SCHEME:base=3, where the scheme is none, conventional, random, barnard or small", flag, text, what, what)
	}
	parts := strings.Split(text[at+1:], ":")
	p := &schemas.Perturbation{Scheme: parts[0]}
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
			return "", nil, usage("--%s %s: there is no %q of a scheme; it is base, tie, probability, last or value", flag, text, name)
		}
		if failed != nil {
			return "", nil, usage("--%s %s: %s is %q; it must be a number", flag, text, name, value)
		}
	}
	return text[:at], p, nil
}
