package contingency

import (
	"context"
	"hash/fnv"
)

// Shards divides a table in memory into n tables by the labels of its classes: a class falls into the same one whatever table it was
// counted in, so that [Combine] can add up shard by shard what was counted apart, and then all shards. Each has the categories that are
// observed in it; those of a variable for which whole is true are in all. Errors: a table on disk, a context that ends.
func (t *Table) Shards(ctx context.Context, n int, whole []bool) ([]*Table, error) {
	labels := make([][]uint64, len(t.Variables))
	for v, variable := range t.Variables {
		labels[v] = make([]uint64, len(variable.Categories)+1) // that of missing is 0
		for c, label := range variable.Categories {
			h := fnv.New64a()
			h.Write([]byte(label))
			labels[v][c] = h.Sum64() | 1
		}
	}
	classes := make([][]int, n)
	if t.disk == nil {
		for i := range t.classes {
			if i%checkedEntries == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			hash := uint64(14695981039346656037)
			for v := range labels {
				hash = (hash ^ labels[v][t.Code(i, v)]) * 0x9e3779b97f4a7c15
				hash ^= hash >> 32
			}
			at := hash % uint64(n)
			classes[at] = append(classes[at], i)
		}
	}
	variables := make([]int, len(t.Variables))
	for v := range variables {
		variables[v] = v
	}
	shards := make([]*Table, n)
	for s := range shards {
		var err error
		if shards[s], err = t.Part(ctx, classes[s], variables, whole); err != nil {
			return nil, err
		}
	}
	return shards, nil
}
