package session

import (
	"context"
	"fmt"
	"io"

	"microrisk/engine/scratch"
	"microrisk/operators/files"
	"microrisk/schemas"
)

// A SummaryFile is where the summary document goes; the zero value is nowhere.
type SummaryFile struct {
	File files.Output
	to   io.Writer
}

// OpenSummary makes the file of the summary that the spec asks for.
func (j *Job) OpenSummary(ctx context.Context) (SummaryFile, error) {
	switch j.Spec.Summary {
	case "":
		return SummaryFile{}, nil
	case "-":
		return SummaryFile{to: j.Options.Stdout}, nil
	}
	f, err := files.Create(ctx, j.Spec.Summary, j.Source.Inputs()...)
	if err != nil {
		return SummaryFile{}, err
	}
	return SummaryFile{File: f, to: f}, nil
}

// Abort leaves nothing behind of a summary that was not committed.
func (s SummaryFile) Abort() {
	if s.File != nil {
		s.File.Abort()
	}
}

// Write writes the document; a file is not in place before Commit.
func (s SummaryFile) Write(document *schemas.Summary) error {
	text, err := document.MarshalIndent()
	if err == nil {
		_, err = s.to.Write(text)
	}
	if err != nil {
		return fmt.Errorf("writing the summary: %w", scratch.Reason(err))
	}
	return nil
}

// Commit puts files in place; a summary for standard output follows.
func (s SummaryFile) Commit(document *schemas.Summary, side ...files.Output) error {
	if err := files.Commit(side...); err != nil || s.to == nil || s.File != nil {
		return err
	}
	return s.Write(document)
}
