package schemas

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// settings has a field of each plain type.
type settings struct {
	word    string
	whole   int64
	maybe   *int
	part    *float64
	numbers []float64
	names   []string
	on      bool
}

func (s *settings) fields() Table {
	return Table{What: "it", Fields: []Field{
		{Name: "word", To: &s.word, Words: []string{"one", "two"}, Default: "one", Flag: &Flag{Name: "word"}},
		{Name: "whole", To: &s.whole, Range: Within(2, 9), Default: int64(3), Flag: &Flag{Name: "whole"}},
		{Name: "maybe", To: &s.maybe, Range: AtLeast(0), Flag: &Flag{Name: "maybe"}},
		{Name: "part", To: &s.part, Range: (&Range{Most: 1, Above: true, Below: true}).Saying("it must be between 0 and 1"), Default: 0.5},
		{Name: "numbers", To: &s.numbers, Range: Positive(), Single: true, Default: []float64{1}, Flag: &Flag{Name: "numbers"}},
		{Name: "names", To: &s.names},
		{Name: "on", To: &s.on, Flag: &Flag{Name: "on"}},
	}}
}

func TestSettle(t *testing.T) {
	var s settings
	require.NoError(t, Settle("it", s.fields()))
	half := 0.5
	assert.Equal(t, settings{word: "one", whole: 3, part: &half, numbers: []float64{1}}, s)
	for want, change := range map[string]func(s *settings){
		`it: word "tow" is unknown; did you mean two? (it is one of one, two)`: func(s *settings) { s.word = "tow" },
		"it: whole is 1; it must be at least 2":                                func(s *settings) { s.whole = 1 },
		"it: whole is 10; it must be at most 9":                                func(s *settings) { s.whole = 10 },
		"it: maybe is -1; it must be at least 0":                               func(s *settings) { n := -1; s.maybe = &n },
		"it: part is 0; it must be between 0 and 1":                            func(s *settings) { s.part = new(float64) },
		"it: part is NaN; it must be between 0 and 1":                          func(s *settings) { x := math.NaN(); s.part = &x },
		"it: numbers is 0; it must be above 0":                                 func(s *settings) { s.numbers = []float64{1, 0} },
		"it: numbers 2 is listed twice":                                        func(s *settings) { s.numbers = []float64{2, 2} },
		`it: "a" is listed twice`:                                              func(s *settings) { s.names = []string{"a", "a"} },
	} {
		var s settings
		change(&s)
		assert.EqualError(t, Settle("it", s.fields()), want)
	}
}

func TestFlagsSayFields(t *testing.T) {
	var s settings
	say := func(name string, texts ...string) error {
		for _, f := range s.fields().Flags() {
			if f.Flag.Name == name {
				return f.Say(texts)
			}
		}
		t.Fatalf("there is no flag %s", name)
		return nil
	}
	require.NoError(t, say("word", "two"))
	require.NoError(t, say("whole", "4"))
	require.NoError(t, say("maybe", "0"))
	require.NoError(t, say("numbers", "1", "0.5"))
	require.NoError(t, say("on", "true"))
	zero := 0
	assert.Equal(t, settings{word: "two", whole: 4, maybe: &zero, numbers: []float64{1, 0.5}, on: true}, s)
	assert.EqualError(t, say("whole", "many"), `is "many"; it must be a whole number`)
	assert.EqualError(t, say("whole", "10"), "is 10; it must be at most 9")
	assert.EqualError(t, say("maybe", "99999999999"), `is "99999999999"; it must be a whole number`)
	assert.EqualError(t, say("numbers", "1", "x"), `is "x"; it must be a number`)
}

// A table is written as it would be read.
func TestTableIsWritten(t *testing.T) {
	n := 0
	s := settings{word: "two", maybe: &n, numbers: []float64{2}, names: []string{"a"}}
	assert.Equal(t, Ordered{{"word", "two"}, {"maybe", 0}, {"numbers", 2.0}, {"names", []any{"a"}}}, s.fields().Write())
	assert.JSONEq(t, `{"type": "object", "additionalProperties": false, "properties": {
		"word": {"enum": ["one", "two"], "default": "one"}, "whole": {"type": "integer", "minimum": 2, "maximum": 9, "default": 3},
		"maybe": {"type": "integer", "minimum": 0}, "part": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "default": 0.5},
		"numbers": {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "array", "minItems": 1, "uniqueItems": true, "items": {"type": "number", "exclusiveMinimum": 0}}], "default": 1},
		"names": {"type": "array", "uniqueItems": true, "items": {"$ref": "#/$defs/text"}}, "on": {"type": "boolean"}}}`, lineJSON(s.fields().Schema()))
}

func TestReferenceStaysBetweenItsMarks(t *testing.T) {
	once := WithReference([]byte("# Words\n"), nil, nil)
	assert.Contains(t, string(once), "# Words\n\n"+referenceBegins+"## The options of the operators\n\n")
	with := append(once, "After.\n"...)
	assert.Equal(t, string(with), string(WithReference(with, nil, nil)))
}

// More seconds than a duration has are the longest, and no time in the past.
func TestSeconds(t *testing.T) {
	assert.EqualValues(t, 1_500_000_000, Seconds(1.5))
	assert.EqualValues(t, math.MaxInt64, Seconds(1e10))
	assert.EqualValues(t, math.MaxInt64, Seconds(math.Inf(1)))
	assert.EqualValues(t, math.MaxInt64, Seconds(math.MaxFloat64))
}
