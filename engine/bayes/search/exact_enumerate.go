package search

import (
	"context"
	"math"

	"microrisk/engine/graph"
)

// logProduct is the log of the product of phi over the cliques of a decomposable graph by that over its separators.
func logProduct(g *graph.Graph, logPhi []float64) float64 {
	sum := 0.0
	t := g.JunctionTree()
	for i, c := range t.Cliques {
		sum += logPhi[c] - logPhi[t.Separators[i]]
	}
	return sum
}

// enumerated is the posterior by listing all decomposable graphs.
func (p *space) enumerated(ctx context.Context, logPhi []float64, singles float64) (*Result, error) {
	var edges []uint64
	var logs []float64
	top := math.Inf(-1)
	stopped := stopper(ctx)
	graph.EachDecomposable(p.k, func(g *graph.Graph) bool {
		x := logProduct(g, logPhi)
		logs = append(logs, x)
		edges = append(edges, edgesOf(g)[0])
		top = max(top, x)
		return len(logs)%1024 != 0 || !stopped()
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	total := 0.0
	for i, x := range logs {
		logs[i] = math.Exp(x - top)
		total += logs[i]
	}
	r := &Result{Method: Exact}
	p.weigh(r, len(logs), func(i int) []uint64 { return edges[i : i+1][:p.words] }, func(i int) float64 { return logs[i] }, true, top+singles)
	r.Diagnostics = noDiagnostics()
	r.Diagnostics.Graphs = int64(len(logs))
	r.Diagnostics.Unseen = 0
	r.Diagnostics.LogTotal = top + math.Log(total) + singles
	r.Diagnostics.Enumerated = true
	return r, nil
}
