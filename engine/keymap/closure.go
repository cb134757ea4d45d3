package keymap

import (
	"context"
	"fmt"

	"microrisk/engine/budget"
)

// Limits bound how much harmonizations may take.
type Limits struct {
	Nodes  int           // harmonizations of a variable
	Budget budget.Budget // of memory: two bytes a harmonization and sink
}

// What is allowed unless something else is said.
const (
	MaxNodes = 200_000 // harmonizations of a variable that an analysis goes through
	MaxDrawn = 5_000   // that a graph is made of
)

// A NodesError says that a variable has more harmonizations than are allowed.
type NodesError struct {
	Variable        string
	Categorizations int
	Sinks           int
	Most            int
}

func (e *NodesError) Error() string {
	return fmt.Sprintf(
		"%s: its %d categorizations of %d smallest categories have more than %d harmonizations: match fewer forms at once, or allow more (max_nodes)",
		e.Variable,
		e.Categorizations,
		e.Sinks,
		e.Most,
	)
}

// Closure are the harmonizations of all non-empty sets of the categorizations of a variable, which are among them, each once. It takes
// a join for each categorization and harmonization, and is refused before it holds more than the limits allow.
func Closure(ctx context.Context, variable string, observed []Partition, l Limits) ([]Partition, error) {
	c := closing{variable: variable, seen: make(map[Partition]struct{}), limits: l}
	distinct := make(map[Partition]struct{})
	for _, p := range observed {
		distinct[p] = struct{}{}
	}
	c.categorizations = len(distinct)
	for _, p := range observed {
		if err := c.close(ctx, sized{p, p.Size()}); err != nil {
			return nil, err
		}
	}
	out := make([]Partition, len(c.nodes))
	for i, x := range c.nodes {
		out[i] = x.p
	}
	return out, nil
}

// closing holds a set of partitions that is closed under joins.
type closing struct {
	variable        string
	categorizations int
	limits          Limits
	nodes           []sized
	seen            map[Partition]struct{}
	join            joiner
}

// close adds a partition, and all its joins with what is there.
func (c *closing) close(ctx context.Context, u sized) error {
	if _, ok := c.seen[u.p]; ok {
		return nil
	}
	there := len(c.nodes)
	if err := c.add(u); err != nil {
		return err
	}
	if u.p == Any {
		return nil
	}
	for i, x := range c.nodes[:there] {
		if i&255 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if x.p == Any {
			continue
		}
		n := c.join.unite(x, u)
		if n == x.n || n == u.n {
			continue
		}
		labels := c.join.labels(x, n)
		if _, ok := c.seen[Partition(labels)]; !ok {
			if err := c.add(sized{Partition(labels), n}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *closing) add(x sized) error {
	n := len(c.nodes) + 1
	if n > c.limits.Nodes {
		return &NodesError{c.variable, c.categorizations, x.p.Sinks(), c.limits.Nodes}
	}
	if needs := int64(n) * int64(len(x.p)); c.limits.Budget.Bytes > 0 && needs > c.limits.Budget.Bytes {
		what := fmt.Sprintf("%s: harmonizing %d categorizations of %d smallest categories", c.variable, c.categorizations, x.p.Sinks())
		return c.limits.Budget.Memory(what, needs, "match fewer forms at once")
	}
	c.seen[x.p] = struct{}{}
	c.nodes = append(c.nodes, x)
	return nil
}
