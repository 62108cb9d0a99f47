package protocol

import "errors"

// A Shape is the members of a JSON object that mean something to a decoder, bound once to where
// their values go:
//
//	ev.shape = ShapeOf(
//		Value("type", &ev.kind),
//		Object("delta", Value("text", &ev.text)),
//		Each("choices", &ev.choices, (*choice).fields))
//
// Read sets those that are there and makes all others nil. Everything else is checked against RFC
// 8259 and skipped. A value of the wrong type reads as one without members. Of a member that is
// there twice the last counts. The values borrow the data that was read.
type Shape struct {
	object *object
	known  templateCache
	scan   Scanner
}

// ShapeOf is the shape with these members.
func ShapeOf(fields ...Field) *Shape { return &Shape{object: objectOf(fields)} }

// A Field is a member of a Shape. Value, Object, Each and Other make one.
type Field struct {
	name  string
	or    []string // other names of it
	value *Raw
	in    *object
	list  list
	other bool // stands for all members that have no field of their own: value is the first one's name
}

// Value is a member whose value is wanted, whatever it is.
func Value(name string, to *Raw) Field { return Field{name: name, value: to} }

// Object is a member whose members are wanted.
func Object(name string, in ...Field) Field { return Field{name: name, in: objectOf(in)} }

// Other gives to the name of the first member of the object that has no field. The name is as it is
// written between its quotes.
func Other(to *Raw) Field { return Field{value: to, other: true} }

// Or is the same field, whose member may have one of these names instead.
func (f Field) Or(names ...string) Field {
	f.or = names
	return f
}

// Into is the same field, which also gives to the whole value.
func (f Field) Into(to *Raw) Field {
	f.value = to
	return f
}

// errNoObject is the error of data that is no JSON object.
var errNoObject = errors.New("not a JSON object")

// Read reads one JSON text, which must be an object. After an error the values mean nothing.
func (s *Shape) Read(data []byte) error {
	if s.known.read(data) {
		return nil
	}
	s.scan = Scan(data)
	s.scan.trace = s.known.startFrame()
	if s.scan.Kind() != '{' {
		return errNoObject
	}
	s.object.read(&s.scan)
	if err := s.scan.End(); err != nil {
		return err
	}
	s.known.addTemplate(data)
	return nil
}

// Read reads one JSON object without binding a Shape, for one that is not read again and again.
// After an error the values are those before it.
func Read(data []byte, fields ...Field) error {
	s := Scan(data)
	objectOf(fields).read(&s)
	return s.End()
}

// An object is the fields of one JSON object.
type object struct {
	marks []uint32 // of all names
	of    []*Field // the field of each
	other *Field   // for all other members, nil if there is none
}

func objectOf(fields []Field) *object {
	n := len(fields)
	for i := range fields {
		n += len(fields[i].or)
	}
	o := &object{marks: make([]uint32, 0, n), of: make([]*Field, 0, n)}
	for i := range fields {
		f := &fields[i]
		if f.other {
			o.other = f
			continue
		}
		o.add(f.name, f)
		for _, name := range f.or {
			o.add(name, f)
		}
	}
	return o
}

func (o *object) add(name string, f *Field) {
	o.marks, o.of = append(o.marks, markOf(name)), append(o.of, f)
}

// markOf is the length of a name and its ends, in which most names differ.
func markOf[T string | []byte](name T) uint32 {
	n := len(name)
	if n == 0 {
		return 0
	}
	return uint32(n)<<16 | uint32(name[0])<<8 | uint32(name[n-1])
}

func (f *Field) is(name []byte) bool {
	for _, other := range f.or {
		if other == string(name) {
			return true
		}
	}
	return f.name == string(name)
}

// fieldOf is the field of the member with that name, nil if there is none.
func (o *object) fieldOf(name []byte) *Field {
	mark := markOf(name)
	for i, m := range o.marks {
		if m == mark && o.of[i].is(name) {
			return o.of[i]
		}
	}
	return o.other
}

// read reads the next value of s if that is an object.
func (o *object) read(s *Scanner) {
	for ok := s.Object(); ok; ok = s.Member() {
		f := o.fieldOf(s.Key())
		if f == nil {
			continue
		}
		if f.other {
			if *f.value == nil {
				s.setName(f.value)
			}
			continue
		}
		start, end := s.i, 0
		switch {
		case f.list != nil:
			f.list.read(s)
		case f.in != nil:
			f.in.read(s)
		}
		if s.i == start {
			end = s.skipValue()
		} else {
			end = s.valueEnd()
		}
		if f.value != nil && s.err == nil {
			s.setValue(f.value, start, end)
		}
	}
}

// setValue gives to the bytes from start to end.
func (s *Scanner) setValue(to *Raw, start, end int) {
	*to = Raw(s.data[start:end:end])
	s.trace.addValue(to, start, end)
}

// setName gives to the name of the current member.
func (s *Scanner) setName(to *Raw) {
	*to = Raw(s.key)
	start := s.keyAt
	s.trace.addValue(to, start, start+len(s.key))
	if string(s.data[start:start+len(s.key)]) != string(s.key) {
		s.trace.skipFrame() // the name has escapes, so a frame like it may have another name
	}
}

// Elements are the objects of an array. Their values are reused by the next Read.
type Elements[T any] struct {
	all    []*T
	shapes []*object
	n      int
	given  bool
}

// list is the Elements of anything.
type list interface{ read(*Scanner) }

// boundList knows how the elements of Elements are read.
type boundList[T any] struct {
	*Elements[T]
	fields func(*T) []Field
}

// Each is a member that is an array of objects. fields gives the fields of one element.
func Each[T any](name string, to *Elements[T], fields func(*T) []Field) Field {
	return Field{name: name, list: boundList[T]{to, fields}}
}

// Len is how many elements were read.
func (l *Elements[T]) Len() int { return l.n }

// At is element i, 0 ≤ i < Len().
func (l *Elements[T]) At(i int) *T { return l.all[i] }

// IsPresent reports whether the array was there, empty or not.
func (l *Elements[T]) IsPresent() bool { return l.given }

func (l boundList[T]) read(s *Scanner) {
	if s.Kind() != '[' {
		return
	}
	l.given = true
	for ok := s.Array(); ok; ok = s.Element() {
		if s.Kind() != '{' {
			continue
		}
		if l.n == len(l.all) {
			element := new(T)
			l.all, l.shapes = append(l.all, element), append(l.shapes, objectOf(l.fields(element)))
		}
		l.n++
		l.shapes[l.n-1].read(s)
	}
	s.trace.addList(&l.n, &l.given)
}
