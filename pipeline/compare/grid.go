package compare

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

// A variant is a method with its parameters.
type variant struct {
	label   string // what tells it apart from others of its method: "base 3, n 5"
	rest    string // that without rules, base and scheme
	config  protect.Config
	asked   bool     // by name; others are left out where they do not fit the table
	ignored []string // what the grid says of it, and its method does not look at
}

// largestGrid is the most bytes that a grid may have.
const largestGrid = 1 << 20

// variants are all that is to be compared, those of flags before those of the grid.
func (s *Spec) variants() ([]variant, error) {
	var list []variant
	if s.Methods != nil || s.Grid == "" {
		list = s.crossed()
	}
	if s.Grid == "" {
		return list, nil
	}
	text, err := session.ReadRegular(s.Grid, largestGrid)
	if err != nil {
		return nil, session.Wrong(fmt.Errorf("the grid %s cannot be read: %w", s.Grid, err))
	}
	root, err := specfile.ParseOther(s.Grid, "the grid", text, largestGrid)
	if err != nil {
		return nil, session.Wrong(err)
	}
	first := len(list)
	err = schemas.DecodePart(s.Grid, func(d *schemas.Decoder) {
		d.Items(root, "", "the grid", func(_ int, item *schemas.Node, at string) {
			shared := s.base()
			v := variant{config: shared.For(""), asked: true}
			before := said(&v.config)
			d.Mapping(item, at, varied(&v.config))
			after := said(&v.config)
			v.label = difference(before, after)
			for _, name := range []string{"method", "rules", "base", "perturb"} {
				after[name] = before[name]
			}
			v.rest = difference(before, after)
			for _, e := range item.Entries { // what is shared is left out where a method does not look at it, what the grid says is not
				if !protect.Looks(v.config.Method, e.Key) {
					v.ignored = append(v.ignored, e.Key)
				}
			}
			list = append(list, v)
		})
	}, func(c *schemas.Checker, decoded bool) {
		for i := first; i < len(list); i++ {
			at := fmt.Sprintf("[%d]", i-first)
			c.Table(at, varied(&list[i].config))
			if m := list[i].config.Method; decoded && slices.Contains(protect.Methods, m) {
				for _, field := range list[i].ignored {
					text, args := list[i].config.Belongs(field)
					c.Add(at+"."+field, text, args...)
				}
				list[i].config = list[i].config.For(m)
			}
			if decoded && list[i].config.Method == "" {
				c.Add(at, "a method of the grid is not named; such as {method: rounding, base: 5}")
			}
		}
		if decoded && len(list) == first {
			c.Add("", "the grid has no methods")
		}
	})
	return list, err
}

// base is the config that all variants begin from.
func (s *Spec) base() protect.Config {
	c := s.Config
	c.Rules = slices.Clone(c.Rules)
	c.SAP = protect.SAP{} // it is found apart
	return c
}

// crossed are the methods that flags name, each with all values of its parameters.
func (s *Spec) crossed() []variant {
	var list []variant
	methods := s.Methods
	if methods == nil {
		methods = slices.DeleteFunc(slices.Clone(protect.Methods), func(m string) bool { return s.Config.Lacks(m) })
	}
	bases, least := s.Bases, s.Least
	if bases == nil {
		bases = []int64{s.Config.Base}
	}
	if least == nil {
		least = []int64{0}
	}
	for _, method := range methods {
		for _, n := range least {
			for k, base := range bases {
				if k > 0 && !protect.Based(method) {
					break
				}
				shared := s.base()
				v := variant{config: shared.For(method), asked: s.Methods != nil}
				if protect.Based(method) {
					v.config.Base = base
				}
				var words []string
				if protect.Based(method) {
					words = append(words, fmt.Sprintf("base %d", base))
				}
				if n > 0 {
					words = append(words, fmt.Sprintf("n %d", n))
					for i := range v.config.Rules {
						if v.config.Rules[i].Rule == protect.RuleFrequency {
							v.config.Rules[i].N = new(int(n))
						}
					}
				}
				v.label = strings.Join(words, ", ")
				list = append(list, v)
			}
		}
	}
	return list
}

// said is what a config says of how it protects, field by field.
func said(c *protect.Config) map[string]string {
	list := make(map[string]string)
	for _, m := range varied(c).Without("method").Write() {
		text := fmt.Sprint(m.Value)
		if m.Key == "rules" {
			var words []string
			for i := range c.Rules {
				words = append(words, c.Rules[i].String())
			}
			text = strings.Join(words, "; ")
		}
		if m.Key == "perturb" {
			text = c.Perturb.Text()
		}
		list[m.Key] = text
	}
	return list
}

// difference says what a config says otherwise than another one, in the order of their fields.
func difference(before, after map[string]string) string {
	var words []string
	for _, f := range varied(&protect.Config{}).Fields {
		if text := after[f.Name]; text != before[f.Name] {
			words = append(words, strings.ReplaceAll(f.Name, "_", " ")+" "+text)
		}
	}
	return strings.Join(words, ", ")
}
