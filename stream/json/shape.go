package json

import "errors"

// A Shape lists the fields of a JSON object that a decoder uses. It is bound once to the variables that get
// their values:
//
//	ev.shape = ShapeOf(
//		Field("type", &ev.kind),
//		Object("delta", Field("text", &ev.text)),
//		Each("choices", &ev.choices, (*choice).fields))
//
// Read sets the variables of the fields that are present and makes all others nil. It checks all other fields
// against RFC 8259 and skips them. A value of the wrong type reads as a value without fields. If a key is
// repeated, the last one counts. The values share memory with the data that was read.
type Shape struct {
	object *object
	known  templateCache
	scan   Scanner
}

// ShapeOf returns the shape with these fields.
func ShapeOf(fields ...Binding) *Shape { return &Shape{object: objectOf(fields)} }

// A Binding is a field of a Shape. Field, Object, Each and Other return one.
type Binding struct {
	name  string
	or    []string // its other names
	value *Value
	in    *object
	list  elementList
	other bool // matches all fields without a Binding of their own; value gets the name of the first
}

// Field returns a field. Its value is stored in *to, whatever its type.
func Field(name string, to *Value) Binding { return Binding{name: name, value: to} }

// Object returns a field that is an object, with the bindings for its own fields.
func Object(name string, in ...Binding) Binding { return Binding{name: name, in: objectOf(in)} }

// Other returns a binding that stores the name of the object's first field without a Binding. The name is
// unescaped and has no quotes.
func Other(to *Value) Binding { return Binding{value: to, other: true} }

// Or returns the same field with alternative names.
func (f Binding) Or(names ...string) Binding {
	f.or = names
	return f
}

// Into returns the same field, which then also stores its complete value in *to.
func (f Binding) Into(to *Value) Binding {
	f.value = to
	return f
}

// errNoObject is the error for data that is not a JSON object.
var errNoObject = errors.New("not a JSON object")

// Read reads one JSON text, which must be an object. After an error the bound variables are undefined.
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

// Clear makes the bound variables nil, so that they keep no data in memory. The shape still knows the frames that it
// read, so the next frames that look like them are read fast.
func (s *Shape) Clear() {
	s.known.clearLast()
	s.scan = Scanner{}
}

// Read reads one JSON object without a Shape. It is for a kind of object that is read only once. After an
// error, the variables for fields before the error are set.
func Read(data []byte, fields ...Binding) error {
	s := Scan(data)
	objectOf(fields).read(&s)
	return s.End()
}

// An object contains the bindings for the fields of one JSON object.
type object struct {
	marks []uint32   // markOf each name
	of    []*Binding // the fields by name
	other *Binding   // the field for all other names, or nil
}

func objectOf(fields []Binding) *object {
	n := len(fields)
	for i := range fields {
		n += len(fields[i].or)
	}
	o := &object{marks: make([]uint32, 0, n), of: make([]*Binding, 0, n)}
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

func (o *object) add(name string, f *Binding) {
	o.marks, o.of = append(o.marks, markOf(name)), append(o.of, f)
}

// markOf combines the length of a name with its first and last byte. Most names differ in one of these.
func markOf[T string | []byte](name T) uint32 {
	n := len(name)
	if n == 0 {
		return 0
	}
	return uint32(n)<<16 | uint32(name[0])<<8 | uint32(name[n-1])
}

func (f *Binding) is(name []byte) bool {
	for _, other := range f.or {
		if other == string(name) {
			return true
		}
	}
	return f.name == string(name)
}

// fieldOf returns the field with this name, or the field for all other names, or nil.
func (o *object) fieldOf(name []byte) *Binding {
	mark := markOf(name)
	for i, m := range o.marks {
		if m == mark && o.of[i].is(name) {
			return o.of[i]
		}
	}
	return o.other
}

// read reads the next value of s if that value is an object.
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

// setValue stores the bytes from start to end in *to.
func (s *Scanner) setValue(to *Value, start, end int) {
	*to = Value(s.data[start:end:end])
	s.trace.addValue(to, start, end)
}

// setName stores the name of the current field in *to.
func (s *Scanner) setName(to *Value) {
	*to = Value(s.key)
	start := s.keyAt
	s.trace.addValue(to, start, start+len(s.key))
	if string(s.data[start:start+len(s.key)]) != string(s.key) {
		s.trace.skipFrame() // the name has escapes, so a similar frame may have another name
	}
}

// List contains the objects of an array. The next Read reuses the memory of their values.
type List[T any] struct {
	all    []*T
	shapes []*object
	n      int
	given  bool
	late   *lateElements[T] // reads the elements from maxReadElements on; nil if no array had that many
}

// maxReadElements is the maximum number of elements of an array that Read reads. At reads each later element on
// request.
const maxReadElements = 1024

// elementList is a List of any type.
type elementList interface{ read(*Scanner) }

// boundList is a List with the fields of one element.
type boundList[T any] struct {
	*List[T]
	fields func(*T) []Binding
}

// Each returns a field that is an array of objects. The function in fields returns the bindings for one element.
func Each[T any](name string, to *List[T], fields func(*T) []Binding) Binding {
	return Binding{name: name, list: boundList[T]{to, fields}}
}

// Len returns the number of elements.
func (l *List[T]) Len() int { return l.n }

// At returns element i, 0 ≤ i < Len(). The element is valid until the next At.
func (l *List[T]) At(i int) *T {
	if i >= maxReadElements {
		return l.late.readElement(i - maxReadElements)
	}
	return l.all[i]
}

// IsPresent reports whether the array was present, empty or not.
func (l *List[T]) IsPresent() bool { return l.given }

func (l boundList[T]) read(s *Scanner) {
	if s.Kind() != '[' {
		return
	}
	l.given = true
	for ok := s.Array(); ok; ok = s.Element() {
		if s.Kind() != '{' {
			continue
		}
		if l.n == maxReadElements {
			s.trace.skipFrame()
			l.readLater(*s)
		}
		if l.n++; l.n > maxReadElements {
			s.Value()
			continue
		}
		if l.n > len(l.all) {
			element := new(T)
			l.all, l.shapes = append(l.all, element), append(l.shapes, objectOf(l.fields(element)))
		}
		l.shapes[l.n-1].read(s)
	}
	s.trace.addList(&l.n, &l.given)
}

// readLater leaves the remaining elements of s for At to read.
func (l boundList[T]) readLater(s Scanner) {
	if l.late == nil {
		element := new(T)
		l.late = &lateElements[T]{element: element, shape: objectOf(l.fields(element))}
	}
	s.trace = &l.late.trace
	l.late.first, l.late.next, l.late.n = s, s, 0
}

// lateElements reads elements of an array one by one, all into the same memory.
type lateElements[T any] struct {
	first, next Scanner // Scanners at the first element and at element n
	n           int
	element     *T
	shape       *object
	trace       scanTrace // trace of the latest element
}

// readElement returns element i, 0 ≤ i. Reading in order is fast.
func (l *lateElements[T]) readElement(i int) *T {
	if i < l.n {
		l.next, l.n = l.first, 0
	}
	for ok := true; ok && (l.n < i || l.next.Kind() != '{'); ok = l.next.Element() {
		if l.next.Kind() == '{' {
			l.n++
		}
		l.next.Value()
	}
	l.trace.clearValues()
	l.trace = scanTrace{}
	l.shape.read(&l.next)
	l.next.Element()
	l.n++
	return l.element
}
