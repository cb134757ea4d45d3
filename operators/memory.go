package operators

import (
	"errors"
	"fmt"

	"microrisk/engine/budget"
	"microrisk/engine/contingency"
)

// bytesOfClass is about what a class takes in the memory: its key and its count.
const bytesOfClass = 20

// InMemory refuses what needs a table in memory, and so many bytes, where the table went to disk or the bytes are not there.
func (env Env) InMemory(t *contingency.Table, what string, needs int64, advice ...any) error {
	if t.OnDisk() {
		return env.Budget.Beyond(what, needs+bytesOfClass*int64(t.Classes()), advice...)
	}
	return env.Budget.Memory(what, needs, advice...)
}

// FewerVariables is what can be done about a key of too many classes.
const FewerVariables = "use fewer or coarser key variables"

// FrequenciesOnly is what can be had of a key of too many classes.
const FrequenciesOnly = "write frequencies only (frequency)"

// SearchBeyond is the error of a search that does not fit in memory; size is the advice that limits its sets.
func (env Env) SearchBeyond(t *contingency.Table, needs int64, size any) error {
	return env.Budget.Beyond(fmt.Sprintf("the search of %d key combinations", t.Classes()), needs, size, FewerVariables, FrequenciesOnly)
}

// SearchError is the error of a search, where it had what is left of the budget besides so many bytes that are held.
func (env Env) SearchError(t *contingency.Table, err error, held int64, size any) error {
	var short *budget.MemoryError
	if errors.As(err, &short) {
		return env.SearchBeyond(t, held+short.Needs, size)
	}
	return err
}
