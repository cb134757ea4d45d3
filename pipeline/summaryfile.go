package pipeline

import (
	"fmt"
	"io"
	"microrisk/operators/files"
	"microrisk/schemas"
)

// A summaryFile is where the summary document goes; the zero value is nowhere.
type summaryFile struct {
	file files.Output
	to   io.Writer
}

func (j *job) openSummary() (summaryFile, error) {
	switch j.spec.Summary {
	case "":
		return summaryFile{}, nil
	case "-":
		return summaryFile{to: j.options.Stdout}, nil
	}
	f, err := files.Create(j.spec.Summary, j.source.Inputs()...)
	if err != nil {
		return summaryFile{}, err
	}
	return summaryFile{file: f, to: f}, nil
}

// Abort leaves nothing behind of a summary that was not committed.
func (s summaryFile) Abort() {
	if s.file != nil {
		s.file.Abort()
	}
}

func (s summaryFile) write(document *schemas.Summary) error {
	text, err := document.MarshalIndent()
	if err == nil {
		_, err = s.to.Write(text)
	}
	if err != nil {
		return fmt.Errorf("writing the summary: %w", pathReason(err))
	}
	return nil
}

// commit puts files in place; a summary for standard output follows.
func (s summaryFile) commit(document *schemas.Summary, side ...files.Output) error {
	if err := files.Commit(side...); err != nil || s.to == nil || s.file != nil {
		return err
	}
	return s.write(document)
}
