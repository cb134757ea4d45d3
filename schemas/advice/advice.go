// Package advice has messages that tell what to do, worded for who reads them: who wrote a spec is told of its fields, who typed flags of
// flags. A message keeps its parts, and so does an error that wraps it, until it is shown:
//
//	replace := advice.Advice{Spec: "replace: true", Flags: "--replace"}
//	err := advice.Errorf("the column %q exists already: say %s", name, replace)
//	err.Error()                     // the column "age" exists already: say replace: true
//	advice.Say(err, advice.OfFlags) // the column "age" exists already: say --replace
package advice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// An Advice is a part of a message that depends on its reader.
type Advice struct {
	Spec  string // for who wrote a spec, or a program
	Flags string // for who typed flags
}

// String is in the words of a spec.
func (a Advice) String() string { return a.Spec }

// A worded message says its parts when it is shown.
type worded interface {
	// Worded is the message, its parts as say words them.
	Worded(say func(part any) string) string
}

// OfSpec words parts for who wrote a spec.
func OfSpec(part any) string { return say(part, OfSpec, false) }

// OfFlags words parts for who typed flags.
func OfFlags(part any) string { return say(part, OfFlags, true) }

func say(part any, words func(any) string, flags bool) string {
	switch p := part.(type) {
	case Advice:
		if flags {
			return p.Flags
		}
		return p.Spec
	case worded:
		return p.Worded(words)
	case error:
		return Say(p, words)
	}
	return fmt.Sprint(part)
}

// Say is the text of an error, in the words of [OfSpec] or [OfFlags]. An error says what it has of advice by a method
// Worded(say func(part any) string) string; in the text of any other, such as fmt.Errorf and errors.Join make, those that it wraps are
// worded where they stand.
func Say(err error, words func(part any) string) string {
	if w, ok := err.(worded); ok {
		return w.Worded(words)
	}
	var said strings.Builder
	rest := err.Error()
	list := wrapped(err)
	for i, inner := range list {
		plain := inner.Error()
		at := strings.Index(rest, plain)
		if i == len(list)-1 { // a name before it may have its words
			at = strings.LastIndex(rest, plain)
		}
		if at < 0 {
			continue
		}
		said.WriteString(rest[:at])
		said.WriteString(Say(inner, words))
		rest = rest[at+len(plain):]
	}
	return said.String() + rest
}

// wrapped are the errors that one wraps itself, in their order.
func wrapped(err error) []error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return several.Unwrap()
	}
	if inner := errors.Unwrap(err); inner != nil {
		return []error{inner}
	}
	return nil
}

// A Text is a message with its parts.
type Text struct {
	format string
	args   []any
}

// Textf makes a text as fmt.Sprintf does. An error among its arguments is worded with it.
func Textf(format string, args ...any) Text { return Text{format, args} }

// String is in the words of a spec.
func (t Text) String() string { return t.Worded(OfSpec) }

// Worded is the text with its parts as say words them.
func (t Text) Worded(say func(part any) string) string {
	args := make([]any, len(t.args))
	for i, a := range t.args {
		switch a.(type) {
		case error:
			args[i] = errors.New(say(a))
		case Advice, worded:
			args[i] = say(a)
		default:
			args[i] = a
		}
	}
	return fmt.Errorf(t.format, args...).Error()
}

// A textError is a text that is an error, and wraps those that its format wraps.
type textError struct {
	Text
	error
}

func (e *textError) Unwrap() error { return e.error }

// Errorf makes an error as fmt.Errorf does.
func Errorf(format string, args ...any) error {
	return &textError{Text{format, args}, fmt.Errorf(format, args...)}
}

type inContext struct{}

// Log logs a text: in the words of a spec, unless the logger's handler asks for its parts by [Logged].
func Log(logger *slog.Logger, level slog.Level, text Text) {
	logger.Log(context.WithValue(context.Background(), inContext{}, text), level, text.String())
}

// Logged is the text that Log logs, by the context that a handler is given.
func Logged(ctx context.Context) (Text, bool) {
	t, ok := ctx.Value(inContext{}).(Text)
	return t, ok
}
