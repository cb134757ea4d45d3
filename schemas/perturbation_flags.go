package schemas

import (
	"fmt"
	"slices"
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

// parameters are those of the scheme, by the names of their fields and flags, in a fixed order.
func (p *Perturbation) parameters() []Member {
	var list []Member
	add := func(name, value string, said bool) {
		if said {
			list = append(list, Member{name, value})
		}
	}
	whole := func(v int64) string { return strconv.FormatInt(v, 10) }
	number := func(name string, v *float64) {
		if v != nil {
			add(name, strconv.FormatFloat(*v, 'g', -1, 64), true)
		}
	}
	add("base", whole(p.Base), p.Base != 0)
	add("tie", p.Tie, p.Tie != "")
	number("probability", p.Probability)
	add("last", whole(p.Last), p.Last != 0)
	add("value", whole(p.Value), p.Last != 0)
	number("sd", p.SD)
	number("proportional", p.Proportional)
	number("reach", p.Reach)
	add("negative", p.Negative, p.Negative != "")
	number("change", p.Change)
	add("reading", p.Reading, p.Reading != "")
	return list
}

// matrixText are the rows of the matrix, as a flag says them.
func (p *Perturbation) matrixText() string {
	var rows []string
	for _, row := range p.Matrix {
		var parts []string
		for _, o := range row {
			parts = append(parts, fmt.Sprintf("%d:%s", o.Count, strconv.FormatFloat(o.Probability, 'g', -1, 64)))
		}
		rows = append(rows, strings.Join(parts, ","))
	}
	return strings.Join(rows, ";")
}

// Args are the flags that say the perturbation.
func (p *Perturbation) Args() []string {
	var args []string
	add := func(flag, value string) {
		if value != "" {
			args = append(args, "--"+flag, value)
		}
	}
	add("scheme", p.Scheme)
	for _, x := range p.parameters() {
		add(x.Key, x.Value.(string))
	}
	add("matrix", p.matrixText())
	add("secret", p.Secret)
	return args
}

// Text is the scheme in one word, as ParseScheme reads it: SCHEME, SCHEME:base=3:tie=up, or matrix:0:1;0:0.5,2:0.5. The secret, and whose
// noise it is, are not in it.
func (p *Perturbation) Text() string {
	if p.Scheme == "matrix" {
		return p.Scheme + ":" + p.matrixText()
	}
	text := p.Scheme
	for _, x := range p.parameters() {
		text += ":" + x.Key + "=" + x.Value.(string)
	}
	return text
}

// ParseScheme reads what Text writes. Whether it is right, Check tells.
func ParseScheme(text string) (*Perturbation, error) {
	scheme, rest, more := strings.Cut(text, ":")
	p := &Perturbation{Scheme: scheme}
	switch {
	case !slices.Contains(Schemes, scheme):
		return nil, fmt.Errorf("is %q; it is SCHEME, or SCHEME:base=3, where the scheme is %s", text, oneOfWords(Schemes))
	case !more:
		return p, nil
	case scheme == "matrix":
		return p, p.sayMatrix([]string{rest})
	}
	for part := range strings.SplitSeq(rest, ":") {
		if err := p.parameter(part); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
	}
	return p, nil
}

// parameter reads NAME=VALUE.
func (p *Perturbation) parameter(text string) error {
	name, value, _ := strings.Cut(text, "=")
	wholes := map[string]*int64{"base": &p.Base, "last": &p.Last, "value": &p.Value}
	numbers := map[string]**float64{"probability": &p.Probability, "sd": &p.SD, "proportional": &p.Proportional, "reach": &p.Reach, "change": &p.Change}
	words := map[string]*string{"tie": &p.Tie, "negative": &p.Negative, "reading": &p.Reading}
	var failed error
	if to, is := wholes[name]; is {
		*to, failed = strconv.ParseInt(value, 10, 64)
	} else if to, is := numbers[name]; is {
		var x float64
		x, failed = strconv.ParseFloat(value, 64)
		*to = &x
	} else if to, is := words[name]; is {
		*to = value
	} else {
		return fmt.Errorf("there is no %q of a scheme; it is base, tie, probability, last, value, sd, proportional, reach, negative, change or reading", name)
	}
	if failed != nil {
		return fmt.Errorf("%s is %q; it must be a number", name, value)
	}
	return nil
}

// SchemeBehind parts what a flag names from the scheme behind its last equals sign that a scheme follows.
func SchemeBehind(what, text string) (string, *Perturbation, error) {
	at := -1
	for _, scheme := range Schemes {
		if scheme == "matrix" {
			continue // its probabilities are no word
		}
		for from := len(text); from >= 0; {
			if from = strings.LastIndex(text[:from], "="+scheme); from < 0 {
				break
			}
			if rest := text[from+1+len(scheme):]; rest == "" || rest[0] == ':' {
				at = max(at, from)
				break
			}
		}
	}
	if at <= 0 {
		words := slices.DeleteFunc(slices.Clone(Schemes), func(s string) bool { return s == "matrix" })
		return "", nil, fmt.Errorf("is %q; it is %s=SCHEME, or %s=SCHEME:base=3, where the scheme is %s", text, what, what, oneOfWords(words))
	}
	p, err := ParseScheme(text[at+1:])
	if err != nil {
		return "", nil, err
	}
	return text[:at], p, nil
}
