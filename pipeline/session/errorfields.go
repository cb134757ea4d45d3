package session

import (
	"errors"
	"strings"

	"microrisk/engine/budget"
	"microrisk/operators"
	"microrisk/schemas"
)

// ErrorFields are the fields of an error and of those that it wraps, as slog takes them: where it is, then what kind of error with its figures.
func ErrorFields(err error) []any {
	var (
		fields   []any
		operator *operators.OperatorError
		unknown  *operators.UnknownColumnError
		fault    *operators.Fault
		memory   *budget.MemoryError
		work     *budget.WorkError
		said     *schemas.ContradictionError
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
