package command

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"microrisk/engine/budget"
	"microrisk/operators"
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

// fieldsOf are the fields of an error and of those that it wraps, as slog takes them: where it is, then what kind of error with its figures.
func fieldsOf(err error) []any {
	var (
		fields   []any
		operator *operators.OperatorError
		unknown  *operators.UnknownColumnError
		fault    *operators.Fault
		memory   *budget.MemoryError
		work     *budget.WorkError
		said     *schemas.ContradictionError
		breach   breachError
	)
	switch {
	case errors.As(err, &operator):
		fields = append(fields, "operator", operator.Operator)
	case errors.As(err, &unknown):
		fields = append(fields, "operator", unknown.Operator)
	}
	where := whereOf(err)
	fields = append(fields, where...)
	switch {
	case errors.As(err, &fault):
		return append(fields, "error", "fault", "stack", fault.Stack)
	case errors.As(err, &memory):
		return append(fields, "error", "memory", "what", memory.What, "needs_bytes", memory.Needs, "limit_bytes", memory.Limit)
	case errors.As(err, &work):
		return append(fields, "error", "work", "what", work.What, "needs_hours", work.Needs.Hours(), "limit_hours", work.Limit.Hours())
	case errors.As(err, &said):
		fields = append(fields, "error", "contradiction", "said", said.Said)
		if said.Column != "" {
			fields = append(fields, "column", said.Column)
		}
		return fields
	case errors.As(err, &unknown):
		return append(fields, "error", "spec", "column", unknown.Column)
	case errors.As(err, &breach):
		return append(fields, "limit", breach.Limit, "operator", breach.Operator, "value", breach.Value, "allowed", breach.Allowed,
			"records", breach.Records, "dropped", breach.Dropped)
	case len(where) > 0:
		return append(fields, "error", "input")
	}
	return fields
}

// whereOf are the places in inputs that an error and those that it wraps are about, from the outermost to the innermost.
func whereOf(err error) (fields []any) {
	seen := map[string]bool{}
	add := func(name string, value any) {
		if !seen[name] {
			seen[name] = true
			fields = append(fields, name, value)
		}
	}
	var e *schemas.InputError
	for ; errors.As(err, &e); err = e.Err {
		if e.File != "" {
			add("file", e.File)
		}
		if e.Unit != "" {
			add(strings.ReplaceAll(e.Unit, " ", "_"), e.Number)
		}
		if e.Column != nil {
			add("column", *e.Column)
		}
	}
	return fields
}
