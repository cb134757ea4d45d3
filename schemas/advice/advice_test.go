package advice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

var replace = Advice{Spec: "replace: true", Flags: "--replace"}

type transparent struct{ err error }

func (t transparent) Error() string { return t.err.Error() }
func (t transparent) Unwrap() error { return t.err }

func TestSay(t *testing.T) {
	inner := Errorf("%q is there: say %s", "a", replace)
	cases := map[string]struct {
		err         error
		spec, flags string
	}{
		"plain":          {errors.New("replace: true"), "replace: true", "replace: true"},
		"advice":         {inner, `"a" is there: say replace: true`, `"a" is there: say --replace`},
		"wrapped":        {Errorf("suda: %w", inner), `suda: "a" is there: say replace: true`, `suda: "a" is there: say --replace`},
		"as a value":     {Errorf("suda: %v", inner), `suda: "a" is there: say replace: true`, `suda: "a" is there: say --replace`},
		"transparent":    {Errorf("b: %w", transparent{inner}), `b: "a" is there: say replace: true`, `b: "a" is there: say --replace`},
		"by fmt":         {fmt.Errorf("suda: %w", inner), `suda: "a" is there: say replace: true`, `suda: "a" is there: say --replace`},
		"by fmt, before": {fmt.Errorf("%w (row 3)", inner), `"a" is there: say replace: true (row 3)`, `"a" is there: say --replace (row 3)`},
		"by fmt, twice": {
			fmt.Errorf("b: %w", fmt.Errorf("%w: %w", io.EOF, inner)),
			`b: EOF: "a" is there: say replace: true`,
			`b: EOF: "a" is there: say --replace`,
		},
		"by fmt, of the kinds in turn": {fmt.Errorf("c: %w", Errorf("say %s: %w", replace, fmt.Errorf("b: %w", inner))),
			`c: say replace: true: b: "a" is there: say replace: true`, `c: say --replace: b: "a" is there: say --replace`},
		"by fmt, after a name with its words": {fmt.Errorf("%q is there: say replace: true: %w", "a", inner),
			`"a" is there: say replace: true: "a" is there: say replace: true`, `"a" is there: say replace: true: "a" is there: say --replace`},
		"by fmt, of its own kind": {fmt.Errorf("b: %w", transparent{inner}), `b: "a" is there: say replace: true`, `b: "a" is there: say --replace`},
		"joined": {
			errors.Join(inner, io.EOF, Errorf("say %s", replace)),
			"\"a\" is there: say replace: true\nEOF\nsay replace: true",
			"\"a\" is there: say --replace\nEOF\nsay --replace",
		},
		"settled":   {fmt.Errorf("suda: %v", inner), `suda: "a" is there: say replace: true`, `suda: "a" is there: say replace: true`},
		"of a text": {Errorf("b: %s", Textf("say %s", replace)), "b: say replace: true", "b: say --replace"},
		"percent":   {Errorf("%d %% of %s", 5, replace), "5 % of replace: true", "5 % of --replace"},
		"values that look like advice": {Errorf("%s: %s", "replace: true.parquet", replace),
			"replace: true.parquet: replace: true", "replace: true.parquet: --replace"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.EqualError(t, c.err, c.spec)
			require.Equal(t, c.spec, Say(c.err, OfSpec))
			require.Equal(t, c.flags, Say(c.err, OfFlags))
		})
	}
}

func TestErrorfWraps(t *testing.T) {
	err := Errorf("a: %w, b: %w", transparent{io.EOF}, io.ErrClosedPipe)
	require.ErrorIs(t, err, io.EOF)
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.NotErrorIs(t, Errorf("a: %v", io.EOF), io.EOF)
}

// handler words for who typed flags.
type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if text, ok := Logged(ctx); ok {
		r.Message = text.Worded(OfFlags)
	}
	return h.Handler.Handle(ctx, r)
}

func TestLog(t *testing.T) {
	var b bytes.Buffer
	plain := slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	Log(slog.New(plain), slog.LevelWarn, Textf("say %s", replace))
	Log(slog.New(handler{plain}), slog.LevelWarn, Textf("say %s", replace))
	require.Equal(t, "level=WARN msg=\"say replace: true\"\nlevel=WARN msg=\"say --replace\"\n", b.String())
}

func ExampleErrorf() {
	name := Advice{Spec: "source: {format: ...}", Flags: "--format"}
	err := Errorf("x.parquet: %w", Errorf("no known ending: give %s", name))
	fmt.Println(err)
	fmt.Println(Say(err, OfFlags))
	// Output:
	// x.parquet: no known ending: give source: {format: ...}
	// x.parquet: no known ending: give --format
}
