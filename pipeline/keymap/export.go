package keymap

import (
	"context"
	"slices"

	"microrisk/engine/keymap"
	"microrisk/pipeline/keymap/repository"
	"microrisk/schemas"
)

// FormTable has the variables of a form with their codes.
func (e *Environment) FormTable(ctx context.Context, name string) (*Table, error) {
	f := e.Form(name)
	if f == nil {
		return nil, e.Unknown(repository.Forms, name)
	}
	names := make([]string, len(f.Variables))
	for i, x := range f.Variables {
		names[i] = x.Variable
	}
	variables, err := e.all(ctx, names)
	if err != nil {
		return nil, err
	}
	return FormTable(f, variables), nil
}

// all are variables by name, in that order.
func (e *Environment) all(ctx context.Context, names []string) ([]*Variable, error) {
	list := make([]*Variable, len(names))
	err := e.each(ctx, names, func(_ context.Context, i int, v *Variable) error {
		list[i] = v
		return nil
	})
	return list, err
}

// Export is the whole repository as one JSON document: its files, and of each variable the codes with their categories.
func (e *Environment) Export(ctx context.Context) ([]byte, error) {
	names := make([]string, len(e.Repository.Variables))
	for i, v := range e.Repository.Variables {
		names[i] = v.Name
	}
	variables, err := e.all(ctx, names)
	if err != nil {
		return nil, err
	}
	var harmonizations []any
	for _, v := range variables {
		graph, err := keymap.Harmonizations(ctx, v.Closure)
		if err != nil {
			return nil, err
		}
		var codes []any
		for i, p := range graph.Nodes {
			o := schemas.Ordered{{Key: "code", Value: v.Codes[p]}, {Key: "observed", Value: v.observed[p]}}
			if p != keymap.Any {
				o = append(o, schemas.Member{Key: "stable_id", Value: v.Graph.StableID(p)})
				var blocks []any
				for _, b := range v.Blocks(p) {
					blocks = append(blocks, schemas.Ordered{{Key: "label", Value: b.Label}, {Key: "categories", Value: texts(b.Sinks)}})
				}
				o = append(o, schemas.Member{Key: "blocks", Value: blocks})
			}
			var finer []string
			for _, c := range graph.Children[i] {
				finer = append(finer, v.Codes[graph.Nodes[c]])
			}
			codes = append(codes, append(o, schemas.Member{Key: "finer", Value: texts(finer)}))
		}
		harmonizations = append(harmonizations, schemas.Ordered{{Key: "variable", Value: v.Name}, {Key: "codes", Value: codes}})
	}
	root := schemas.Ordered{
		{Key: "config", Value: schemas.DocumentOrdered(&e.Config)},
		{Key: "variables", Value: documents(e.Repository.Variables)},
		{Key: "forms", Value: documents(e.Repository.Forms)},
		{Key: "groups", Value: documents(e.Repository.Groups)},
		{Key: "scenarios", Value: documents(e.Repository.Scenarios)},
		{Key: "harmonizations", Value: harmonizations},
	}
	return schemas.IndentedJSON(root)
}

func texts(list []string) []any {
	values := make([]any, len(list))
	for i, text := range list {
		values[i] = text
	}
	return slices.Clip(values)
}

func documents[T schemas.Document](list []T) []any {
	values := make([]any, len(list))
	for i, doc := range list {
		values[i] = schemas.DocumentOrdered(doc)
	}
	return values
}
