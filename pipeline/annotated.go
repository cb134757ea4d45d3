package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"microrisk/operators/recode"
	"microrisk/operators/selection"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

// AnnotatedSpec is the spec by which a Parquet file was annotated, from its own metadata, with the file as its source. A file that was not
// annotated whole, or without a footer, is an error that says what to do.
func AnnotatedSpec(ctx context.Context, path string) (*schemas.Spec, error) {
	if session.KindOf(path) != session.ParquetKind {
		return nil, session.Wrong(fmt.Errorf("name the key variables (--key AGE,SEX,...): %s has no metadata that tell them", path))
	}
	text, err := session.MetadataOf(ctx, path, schemas.MetadataKey)
	if err != nil {
		return nil, err
	}
	if text == "" {
		return nil, session.Wrong(fmt.Errorf("name the key variables (--key AGE,SEX,...): %s was not annotated, or without a footer", path))
	}
	var document struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		return nil, fmt.Errorf("%s: the summary in its metadata cannot be read: %w", path, err)
	}
	if document.Spec["key"] == nil {
		return nil, session.Wrong(
			fmt.Errorf(
				"name the key variables (--key AGE,SEX,...): the metadata of %s do not tell them, since rows or key variables were taken out when it was annotated, or "+
					"it is one of several outputs",
				path,
			),
		)
	}
	if document.Spec["source"], err = json.Marshal(map[string]string{"path": path}); err != nil {
		return nil, err
	}
	delete(document.Spec, "sink")
	delete(document.Spec, "limits")
	delete(document.Spec, "summary")
	whole, err := json.Marshal(document.Spec)
	if err != nil {
		return nil, err
	}
	spec, err := specfile.Decode(path+" (its metadata)", whole)
	if err != nil {
		return nil, err
	}
	return spec, withoutMade(path, spec)
}

// withoutMade takes out the recodes whose columns are in the file already. What was made, or chosen, by a column whose place another one
// has taken since cannot be found again.
func withoutMade(path string, spec *schemas.Spec) error {
	replaced := map[string]bool{}
	gone := func(column string) error {
		return session.Wrong(
			fmt.Errorf(
				"name the key variables (--key AGE,SEX,...): when %s was annotated %s was looked at as it was before it was recoded, and the file has it recoded",
				path,
				column,
			),
		)
	}
	for i := len(spec.Operators) - 1; i >= 0; i-- {
		switch c := spec.Operators[i].Config.(type) {
		case *recode.Config:
			hidden := recode.Config{}
			for _, r := range slices.Backward(*c) {
				shown, from := r.Keep == nil || *r.Keep, cmp.Or(r.From, r.Name)
				switch {
				case !shown && replaced[from]:
					return gone(from)
				case !shown:
					hidden = append(hidden, r)
				case r.Replace:
					replaced[r.Name] = true
				}
			}
			slices.Reverse(hidden)
			if *c = hidden; len(hidden) == 0 {
				spec.Operators = slices.Delete(spec.Operators, i, i+1)
			}
		case *selection.Config:
			for _, condition := range c.Rows {
				if replaced[condition.Column] {
					return gone(condition.Column)
				}
			}
		}
	}
	return nil
}
