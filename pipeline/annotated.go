package pipeline

import (
	"context"
	"encoding/json"
	"fmt"

	"microrisk/operators/parquetfile"
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
	source, err := parquetfile.Open(ctx, []string{path}, parquetfile.Options{})
	if err != nil {
		return nil, err
	}
	text := source.KeyValue(0, schemas.MetadataKey)
	if err := source.Close(); err != nil {
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
		return nil, session.Wrong(fmt.Errorf("name the key variables (--key AGE,SEX,...): the metadata of %s do not tell them, since rows or key variables were taken out when it was annotated, or it is one of several outputs", path))
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
	return specfile.Decode(path+" (its metadata)", whole)
}
