package schemas

import (
	"fmt"
	"strconv"
	"strings"
)

// small is how a flag sets last or value.
func small(to *int64, least int64) func(texts []string) error {
	return func(texts []string) error {
		f := Field{To: to, Flag: &Flag{}, Range: AtLeast(float64(least))}
		return f.Say(texts)
	}
}

// sayMatrix reads the rows of a matrix of probabilities.
func (p *Perturbation) sayMatrix(texts []string) error {
	p.Matrix = nil
	for line := range strings.SplitSeq(texts[0], ";") {
		row := []Outcome{}
		for part := range strings.SplitSeq(line, ",") {
			count, probability, ok := strings.Cut(strings.TrimSpace(part), ":")
			n, err1 := strconv.ParseInt(strings.TrimSpace(count), 10, 64)
			v, err2 := strconv.ParseFloat(strings.TrimSpace(probability), 64)
			if !ok || err1 != nil || err2 != nil || n < 0 {
				return fmt.Errorf("%q is no COUNT:PROBABILITY; write such as '0:1; 0:0.5,2:0.5'", strings.TrimSpace(part))
			}
			row = append(row, Outcome{Count: n, Probability: v})
		}
		p.Matrix = append(p.Matrix, row)
	}
	return nil
}

// Args are the flags that say the perturbation.
func (p *Perturbation) Args() []string {
	var args []string
	add := func(flag, value string) {
		if value != "" && value != "0" {
			args = append(args, "--"+flag, value)
		}
	}
	add("scheme", p.Scheme)
	add("base", strconv.FormatInt(p.Base, 10))
	add("tie", p.Tie)
	if p.Probability != nil {
		add("probability", strconv.FormatFloat(*p.Probability, 'g', -1, 64))
	}
	if p.Last != 0 {
		args = append(args, "--last", strconv.FormatInt(p.Last, 10), "--value", strconv.FormatInt(p.Value, 10))
	}
	var rows []string
	for _, row := range p.Matrix {
		var parts []string
		for _, o := range row {
			parts = append(parts, fmt.Sprintf("%d:%s", o.Count, strconv.FormatFloat(o.Probability, 'g', -1, 64)))
		}
		rows = append(rows, strings.Join(parts, ","))
	}
	add("matrix", strings.Join(rows, ";"))
	add("secret", p.Secret)
	return args
}

// SchemeBehind parts what a flag names from the scheme behind its last equals sign that a scheme follows.
func SchemeBehind(what, text string) (string, *Perturbation, error) {
	at := -1
	for i, scheme := range Schemes {
		if scheme == "matrix" {
			continue // its probabilities are no word
		}
		for from := len(text); from >= 0; {
			if from = strings.LastIndex(text[:from], "="+Schemes[i]); from < 0 {
				break
			}
			if rest := text[from+1+len(scheme):]; rest == "" || rest[0] == ':' {
				at = max(at, from)
				break
			}
		}
	}
	if at <= 0 {
		return "", nil, fmt.Errorf(
			"is %q; it is %s=SCHEME, or %s=SCHEME:base=3, where the scheme is none, conventional, random, barnard or small",
			text,
			what,
			what,
		)
	}
	parts := strings.Split(text[at+1:], ":")
	p := &Perturbation{Scheme: parts[0]}
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
			return "", nil, fmt.Errorf("%s: there is no %q of a scheme; it is base, tie, probability, last or value", text, name)
		}
		if failed != nil {
			return "", nil, fmt.Errorf("%s: %s is %q; it must be a number", text, name, value)
		}
	}
	return text[:at], p, nil
}
