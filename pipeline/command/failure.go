package command

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"microrisk/operators"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// words are those of who described the run.
func (c *console) words() func(part any) string {
	if c.flags {
		return advice.OfFlags
	}
	return advice.OfSpec
}

// fail writes an error, one line for each thing that is wrong.
func (c *console) fail(err error) {
	c.finish()
	if c.logs == "json" {
		c.failJSON(err)
		return
	}
	for line := range strings.Lines(c.oneLine(advice.Say(err, c.words()))) {
		fmt.Fprintf(c.Err, "microrisk: %s\n", strings.TrimRight(line, "\n"))
	}
	var fault *operators.Fault
	if errors.As(err, &fault) {
		fmt.Fprintf(c.Err, "\n%s", fault.Stack)
	}
}

// oneLine writes what the command line named with line breaks, and what is in such folders, in quotes: each error is one line.
func (c *console) oneLine(text string) string {
	for _, arg := range c.args {
		for _, part := range []string{arg, arg[strings.IndexByte(arg, '=')+1:]} {
			if strings.ContainsAny(part, "\n\r") {
				text = strings.ReplaceAll(text, part, strconv.Quote(part))
			}
		}
	}
	return text
}

// failJSON writes an error as JSON lines, with the fields of all errors that it wraps.
func (c *console) failJSON(err error) {
	log, say := slog.New(slog.NewJSONHandler(c.Err, nil)), c.words()
	var spec *schemas.SpecError
	if errors.As(err, &spec) && spec.Error() == err.Error() {
		for _, p := range spec.Problems {
			if p.Line > 0 {
				log.Error(say(p.Message), "error", "spec", "file", spec.Name, "line", p.Line, "column", p.Column, "field", p.Path)
			} else {
				log.Error(say(p.Message), "error", "spec", "field", p.Path)
			}
		}
		return
	}
	text, fields := strings.TrimRight(advice.Say(err, say), "\n"), fieldsOf(err)
	if len(fields) > 0 {
		log.Error(text, fields...)
		return
	}
	for line := range strings.Lines(text) {
		log.Error(strings.TrimRight(line, "\n"))
	}
}

// fieldsOf are the fields of an error, as slog takes them: also those of a limit that was passed.
func fieldsOf(err error) []any {
	var breach breachError
	if errors.As(err, &breach) {
		return append(session.ErrorFields(err), "limit", breach.Limit, "operator", breach.Operator, "value", breach.Value, "allowed", breach.Allowed,
			"records", breach.Records, "dropped", breach.Dropped)
	}
	return session.ErrorFields(err)
}
