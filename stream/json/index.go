package json

// FieldIndex contains the fields of an object, for code that looks up many of them. The zero FieldIndex has none.
type FieldIndex struct {
	fields []indexedField
	err    error
}

type indexedField struct {
	name  []byte
	value Value
}

// IndexFields reads the fields of an object. If the text is cut off, the index contains the fields before the cut.
// Other values have no fields.
func IndexFields(object []byte) FieldIndex {
	x := FieldIndex{fields: make([]indexedField, 0, 16)}
	s := Scan(object)
	for ok := s.Object(); ok; ok = s.Member() {
		x.fields = append(x.fields, indexedField{s.Key(), s.Value()})
	}
	x.err = s.End()
	return x
}

// Get returns the value of the field name, or nil if there is none. If a key is repeated, the last one counts.
func (x *FieldIndex) Get(name string) Value {
	for i := len(x.fields) - 1; i >= 0; i-- {
		if string(x.fields[i].name) == name {
			return x.fields[i].value
		}
	}
	return nil
}

// Err returns an error if the text is neither empty nor one valid object.
func (x *FieldIndex) Err() error { return x.err }
