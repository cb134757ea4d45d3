package schemas

import "github.com/goccy/go-yaml/ast"

// DecodeRecodes reads recodes from YAML by themselves: a mapping such as stands under recode: in a spec. name is the file's, for
// messages. The error is a *SpecError with all that is wrong, each with its line and column.
func DecodeRecodes(name string, text []byte) ([]Recode, error) {
	root, problem := parse(text)
	if problem != nil {
		return nil, &SpecError{name, []Problem{*problem}}
	}
	d := &decoder{places: places{}}
	var list []Recode
	d.entries(root, "", "a file of recodes", func(column string, value ast.Node, at string) {
		r := Recode{Name: column}
		d.mapping(value, at, "a recode", recodeFields(&r))
		list = append(list, r)
	})
	v := &validator{skip: d.failed}
	if len(list) == 0 && len(d.problems) == 0 {
		v.add("", "the file has no recodes; it maps columns to what they are made from, as in SEX: {replace: true, map: {m: M}}")
	}
	for i := range list {
		v.recode(list[i].Name, &list[i])
	}
	d.problems = append(d.problems, d.places.locate(v.problems)...)
	return list, asError(name, d.problems)
}
