package schemas

// Nested is the form of a mapping with a field table of its own.
func Nested(t Table) Form { return nested{t} }

type nested struct{ t Table }

func (x nested) Read(d *Decoder, n *Node, path string, f *Field) {
	if x.t.What == "" {
		x.t.What = f.what()
	}
	d.Mapping(n, path, x.t)
}

func (x nested) Write(*Field) (any, bool) {
	o := x.t.Write()
	return o, len(o) > 0
}

func (x nested) Schema(*Field) Ordered                   { return x.t.Schema() }
func (x nested) Check(c *Checker, path string, _ *Field) { c.Table(path, x.t) }
func (x nested) shape() Table                            { return x.t }
func (x nested) table() (t Table, there bool)            { return x.t, true }

// Maybe is the form of a mapping that may be left unsaid: *to is nil then.
func Maybe[T any](to **T, fields func(*T) Table) Form { return maybe[T]{to, fields} }

type maybe[T any] struct {
	to     **T
	fields func(*T) Table
}

func (x maybe[T]) Read(d *Decoder, n *Node, path string, f *Field) {
	*x.to = new(T)
	nested{x.fields(*x.to)}.Read(d, n, path, f)
}

func (x maybe[T]) Write(f *Field) (any, bool) {
	if *x.to == nil {
		return nil, false
	}
	return nested{x.fields(*x.to)}.Write(f)
}

func (x maybe[T]) Schema(f *Field) Ordered { return nested{x.fields(new(T))}.Schema(f) }

func (x maybe[T]) Check(c *Checker, path string, f *Field) {
	if *x.to != nil {
		nested{x.fields(*x.to)}.Check(c, path, f)
	}
}

func (x maybe[T]) shape() Table { return x.fields(new(T)) }

func (x maybe[T]) table() (Table, bool) {
	if *x.to == nil {
		return Table{}, false
	}
	return x.fields(*x.to), true
}
