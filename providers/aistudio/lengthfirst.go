package aistudio

// lengthFirst appends the object that a decoder reads from positional arguments when it checks the
// length of an array before its content. Published clients did, and passed wrong arguments to tools
// in two ways:
//
//   - A list item that is an object without an enclosing value is a list of
//     [key,VALUE]. Each pair has length 2, the length of a number, [null,n].
//     So the element at index 1 is taken unchanged. It is [null,null,"1"], a
//     list that loses its nulls: {"todos":[{"id":["1"]}]}.
//   - One more array around the item has length 1, the length of null, so the
//     object loses its fields: {"todos":[{}]}.
//
// It is right for canonical arguments. It exists only for comparison: where its result differs, the
// difference is shown.
func lengthFirst(dst []byte, v jsonNodes) []byte {
	if !isMembers(v) {
		v = v.element(0)
	}
	if !isMembers(v) {
		return append(dst, "{}"...)
	}
	return appendMembers(dst, v, lengthValue)
}

func appendMembers(dst []byte, v jsonNodes, member func([]byte, jsonNodes) []byte) []byte {
	sep := byte('{')
	for e := range v.elements() {
		dst = append(append(append(dst, sep), e.element(0).raw()...), ':')
		dst = member(dst, e.element(1))
		sep = ','
	}
	return append(dst, '}')
}

// lengthValue appends a value, read by its length alone.
func lengthValue(dst []byte, v jsonNodes) []byte {
	n := v.len()
	switch {
	case !v.isArray():
		return appendLeaf(dst, v)
	case n <= 1:
		return append(dst, "null"...)
	case n == 5:
		return lengthFirst(dst, v.element(4))
	case n == 6:
		return lengthItems(dst, v.element(5))
	}
	last := v.element(n - 1)
	if text := literalJSON(n, last); text != nil {
		return append(dst, text...)
	}
	if n < 5 {
		return asItIs(dst, last)
	}
	return asItIs(dst, v)
}

func lengthItems(dst []byte, v jsonNodes) []byte {
	if v.len() == 1 && isListBody(v.element(0)) {
		v = v.element(0)
	}
	return appendList(dst, v, false, func(dst []byte, item jsonNodes) []byte {
		switch {
		case isMembers(item):
			return appendMembers(dst, item, asItIs)
		case item.len() == 1 && item.element(0).isArray():
			return append(dst, "{}"...)
		}
		return lengthValue(dst, item)
	})
}

// asItIs appends an array as a list of its elements, without the nulls.
func asItIs(dst []byte, v jsonNodes) []byte {
	if !v.isArray() {
		return appendLeaf(dst, v)
	}
	return appendList(dst, v, true, asItIs)
}

func appendList(dst []byte, v jsonNodes, dropNulls bool, item func([]byte, jsonNodes) []byte) []byte {
	dst = append(dst, '[')
	start := len(dst)
	for e := range v.elements() {
		if dropNulls && e.isNull() {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = item(dst, e)
	}
	return append(dst, ']')
}
