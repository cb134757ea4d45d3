// Package profiles has the policies of offices by name: which cells of a table are unsafe, how they are protected, and what more is asked of
// sensitive topics. Policies are files of their own, since laws and practice change: those that come with the program are in policies, each
// with a version and the time since when it holds, and an office has its own beside them.
//
//	p, err := profiles.Load("isd")
//	err = p.Apply(&config, "suicides of young people")
//
// Source: Miller 2005, chapters 2, 3 and 5.
package profiles

import (
	"embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

//go:embed policies/*.yaml
var policies embed.FS

// A Profile is a policy.
type Profile struct {
	Version   int64 // of the policy
	Name      string
	Since     string // when it began to hold
	About     string
	Config    protect.Config // rules and method
	Sensitive Sensitive
}

// Sensitive is what more is asked of topics.
type Sensitive struct {
	Topics []string       // besides Topics, each with other words for it: alcohol|Korsakoff
	Config protect.Config // rules, besides those of the profile, and a method in place of its own, "" for none
}

// Topics are those that are sensitive everywhere: those of the draft policy of ISD Scotland, with what tells them by association.
var Topics = []string{
	"sexually transmitted|STD|STI|HIV|AIDS|Kaposi|syphilis|gonorrhoea|chlamydia|herpes",
	"abortion|termination of pregnancy",
	"pregnancy under 16|teenage pregnancy|teenage conception|conceptions under 16|pregnancies under 16",
	"suicide|parasuicide",
	"self-harm|self harm|self-inflicted|self-injury",
	"mental health|mental illness|psychiatric|depression|schizophrenia|dementia|psychosis",
	"alcohol|Korsakoff",
	"drugs|drug|overdose|methadone|heroin|addiction",
	"contraceptive|contraception",
}

// LeastSensitive is the number of contributors below which a cell of a sensitive topic is unsafe where no profile says more.
const LeastSensitive = 10

// policyFields are fields of protect, without the flags.
func policyFields(c *protect.Config) []schemas.Field {
	list := c.Fields().Only(protect.PolicyFields...).Fields
	for i := range list {
		list[i].Default, list[i].Flag = nil, nil
	}
	return list
}

// Fields is the field table.
func (p *Profile) Fields() schemas.Table {
	sensitive := func(s *Sensitive) schemas.Table {
		return schemas.Table{What: "sensitive", Doc: "What more is asked of sensitive topics.", Fields: append([]schemas.Field{
			{Name: "topics", To: &s.Topics, Doc: "Sensitive topics, besides those that always are, each with other words for it: alcohol|Korsakoff."},
		}, policyFields(&s.Config)...)}
	}
	return schemas.Table{
		What:     "the profile",
		Required: []string{"version", "name", "rules"},
		Doc:      "A policy: which cells of tables are unsafe, and how they are protected.",
		Fields: slices.Concat([]schemas.Field{
			{Name: "version", To: &p.Version, Range: schemas.AtLeast(1), Doc: "Version of the policy."},
			{Name: "name", To: &p.Name, Doc: "Its name."},
			{Name: "since", To: &p.Since, Doc: "Since when it holds, such as 2024-01-01."},
			{Name: "about", To: &p.About, Doc: "What it is for, in a sentence or two."},
		}, policyFields(&p.Config), []schemas.Field{{Name: "sensitive", To: schemas.Nested(sensitive(&p.Sensitive))}}),
	}
}

// Check tells what the field table cannot.
func (p *Profile) Check(c *schemas.Checker) {
	p.check(c, "", &p.Config)
	p.check(c, "sensitive.", &p.Sensitive.Config)
	if len(p.Config.Rules) == 0 {
		c.Add("rules", "no rule says which cells disclose; the usual one is {rule: min, n: 3}")
	}
	if strings.TrimSpace(p.Name) == "" || strings.ContainsAny(p.Name, "/\\ \n") {
		c.Add("name", "a name is one word, and is %q", p.Name)
	}
	for i, topic := range p.Sensitive.Topics {
		if slices.ContainsFunc(strings.Split(topic, "|"), func(word string) bool { return strings.TrimSpace(word) == "" }) {
			c.Add(fmt.Sprintf("sensitive.topics[%d]", i), "there is no word where one should be, in %q", topic)
		}
	}
}

func (p *Profile) check(c *schemas.Checker, path string, of *protect.Config) {
	for i := range of.Rules {
		if err := of.Rules[i].Check(); err != nil {
			c.Add(fmt.Sprintf("%srules[%d]", path, i), "%v", err)
		}
	}
	if of.Lacks(of.Method) {
		c.Add(path+"method", "the method %s needs to be told more: %s", of.Method, map[string]string{"perturbation": "perturb: {scheme: isd}",
			"multiplicative": "sd: 0.05", "hand": "overrides, which are of one table"}[of.Method])
	}
}

// largest is the most bytes that a profile may have.
const largest = 1 << 20

// Decode reads a profile. The error has all that is wrong with it, with lines.
func Decode(name string, text []byte) (*Profile, error) {
	p := &Profile{}
	return p, specfile.DecodeNamed(name, "the profile", text, largest, p)
}

// All are the profiles that come with the program, by name.
func All() ([]*Profile, error) {
	entries, err := policies.ReadDir("policies")
	if err != nil {
		return nil, err
	}
	var list []*Profile
	for _, e := range entries {
		text, err := policies.ReadFile("policies/" + e.Name())
		if err != nil {
			return nil, err
		}
		p, err := Decode(e.Name(), text)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// Text is the file of a profile that comes with the program.
func Text(name string) ([]byte, error) {
	if text, err := policies.ReadFile("policies/" + name + ".yaml"); err == nil {
		return text, nil
	}
	return nil, unknown(name)
}

func unknown(name string) error {
	var names []string
	all, err := All()
	if err != nil {
		return err
	}
	for _, p := range all {
		names = append(names, p.Name)
	}
	list := strings.Join(names, ", ") + ", or a file such as office.yaml"
	if n := schemas.Nearest(name, names); n != "" {
		return session.Wrong(fmt.Errorf("the profile %q is unknown; did you mean %s? (it is one of %s)", name, n, list))
	}
	return session.Wrong(fmt.Errorf("the profile %q is unknown; it is one of %s", name, list))
}

// IsFile tells whether a profile is named as a file.
func IsFile(name string) bool {
	return strings.ContainsAny(name, `/\`) || slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name)))
}

// Load is a profile by its name, or of a file. Errors are those for which session.IsSpec is true.
func Load(name string) (*Profile, error) {
	var text []byte
	var err error
	if !IsFile(name) {
		if text, err = Text(name); err != nil {
			return nil, err
		}
	} else if text, err = session.ReadRegular(name, largest+1); err != nil {
		return nil, session.Wrong(fmt.Errorf("the profile %s cannot be read: %w", name, err))
	}
	p, err := Decode(name, text)
	return p, session.Wrong(err)
}

// Called is the name of a profile with its version.
func (p *Profile) Called() string { return fmt.Sprintf("%s %d", p.Name, p.Version) }

// Topic is the sensitive topic that a text is about, "" for none.
func (p *Profile) Topic(text string) string {
	list := Topics
	if p != nil {
		list = slices.Concat(list, p.Sensitive.Topics)
	}
	said := " " + plain(text)
	for _, topic := range list {
		for word := range strings.SplitSeq(topic, "|") {
			if strings.Contains(said, " "+plain(word)) {
				name, _, _ := strings.Cut(topic, "|")
				return strings.TrimSpace(name)
			}
		}
	}
	return ""
}

// plain is a text of small letters and figures with blanks between words.
func plain(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) }), " ")
}

// Apply puts the policy into a config, and what is asked of sensitive topics if a text is about one: it gives that topic, and the rules that
// go beside others then. A nil profile has those alone.
func (p *Profile) Apply(c *protect.Config, text string) (topic string, rules []protect.Rule) {
	if p != nil {
		c.Profile = p.Called()
		c.Take(&p.Config)
	}
	if c.Topic = text; text != "" {
		topic = p.Topic(text)
	}
	if topic == "" {
		return "", nil
	}
	least := LeastSensitive
	rules = []protect.Rule{{Rule: protect.RuleFrequency, N: &least}}
	if p != nil {
		if p.Sensitive.Config.Rules != nil {
			rules = p.Sensitive.Config.Rules
		}
		own := p.Sensitive.Config
		own.Rules = nil
		if own.Method != "" {
			*c = c.For(own.Method)
		}
		c.Take(&own)
	}
	c.Rules = Stricter(c.Rules, rules)
	return topic, rules
}

// Stricter are rules with others beside them: a minimum that another one has in it is left out.
func Stricter(rules, more []protect.Rule) []protect.Rule {
	least := func(r *protect.Rule) int { // contributors that a cell needs at least; 0 for other rules
		if r.Rule != protect.RuleFrequency {
			return 0
		}
		n := 3
		if r.N != nil {
			n = *r.N
		}
		if r.Inclusive {
			n++
		}
		return n
	}
	list := slices.DeleteFunc(slices.Clone(rules), func(r protect.Rule) bool {
		return slices.ContainsFunc(more, func(other protect.Rule) bool { return least(&r) > 0 && least(&other) >= least(&r) && r.Range == nil })
	})
	for _, r := range more {
		if !slices.ContainsFunc(list, func(other protect.Rule) bool { return least(&r) > 0 && least(&other) >= least(&r) && r.Range == nil }) {
			list = append(list, r)
		}
	}
	return list
}
