package released

import (
	"fmt"

	"microrisk/engine/perturb"
	"microrisk/operators"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A PerturbedTable is a file of a published table that was perturbed in a way of its own.
type PerturbedTable struct {
	Path   string
	Scheme schemas.Perturbation
}

// Kernel of the table. What is wrong with the scheme is an error for which IsSpec is true.
func (p *PerturbedTable) Kernel() (perturb.Kernel, error) {
	if err := p.Scheme.Check(); err != nil {
		return nil, session.Wrong(fmt.Errorf("%s: %w", p.Path, err))
	}
	k, err := operators.Kernel(&p.Scheme)
	if err != nil {
		return nil, session.Wrong(fmt.Errorf("%s: %w", p.Path, err))
	}
	return k, nil
}

// PathsOf are the files of tables perturbed in ways of their own.
func PathsOf(list []PerturbedTable) (paths []string) {
	for _, p := range list {
		paths = append(paths, p.Path)
	}
	return paths
}
