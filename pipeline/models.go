package pipeline

import (
	"fmt"
	"io"
	"os"

	"microrisk/operators"
	"microrisk/operators/files"
	"microrisk/schemas"
)

// readModels reads the saved models that a spec names, by their path.
func readModels(s *schemas.Spec) (map[string]*schemas.Model, error) {
	models := map[string]*schemas.Model{}
	for _, o := range s.Operators {
		if o.MC3 == nil || o.MC3.ModelIn == "" || models[o.MC3.ModelIn] != nil {
			continue
		}
		path := o.MC3.ModelIn
		text, err := ReadRegular(path, largestModel)
		if err != nil {
			return nil, wrong(fmt.Errorf("the model %s cannot be read: %w", path, err))
		}
		if models[path], err = schemas.DecodeModel(path, text); err != nil {
			return nil, wrong(err)
		}
	}
	return models, nil
}

// largestModel is the most bytes that a saved model has.
const largestModel = 64 << 20

// modelsOut are the files that models are saved to.
func modelsOut(s *schemas.Spec) []string {
	var paths []string
	for _, o := range s.Operators {
		if o.MC3 != nil && o.MC3.ModelOut != "" {
			paths = append(paths, o.MC3.ModelOut)
		}
	}
	return paths
}

// A modelFiles are the files of fitted models, by the prefix of the operator.
type modelFiles map[string]files.Output

func openModels(s *schemas.Spec, inputs []string) (modelFiles, error) {
	models := modelFiles{}
	for _, o := range s.Operators {
		if o.MC3 == nil || o.MC3.ModelOut == "" {
			continue
		}
		if err := replaceable(o.MC3.ModelOut); err != nil {
			models.Abort()
			return nil, err
		}
		f, err := files.Create(o.MC3.ModelOut, inputs...)
		if err != nil {
			models.Abort()
			return nil, err
		}
		models[o.MC3.ColumnPrefix()] = f
	}
	return models, nil
}

// replaceable refuses to put a model in place of a file that is none.
func replaceable(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil // it is told when it is written
	}
	f, err := os.Open(path)
	if err != nil {
		return nil // there is none, or what else is wrong is told when it is written
	}
	defer f.Close()
	head := make([]byte, len(modelStart))
	if n, _ := io.ReadFull(f, head); n > 0 && string(head[:n]) != modelStart[:n] {
		return wrong(fmt.Errorf("%s exists and is no saved model; give the model another name", path))
	}
	return nil
}

// modelStart is what every saved model begins with.
const modelStart = `{"microrisk_model":`

// Abort leaves nothing behind of files that were not committed.
func (m modelFiles) Abort() {
	for _, f := range m {
		f.Abort()
	}
}

// write puts the fitted models into their files, complete but for their names.
func (m modelFiles) write(r *operators.Report) ([]files.Output, error) {
	var written []files.Output
	for _, o := range r.Operators {
		f := m[o.Name]
		if f == nil || o.Model == nil {
			continue
		}
		text, err := o.Model.Marshal()
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(text); err != nil {
			return nil, fmt.Errorf("writing the model: %w", pathReason(err))
		}
		written = append(written, f)
	}
	return written, nil
}
