package providers

// recentMap is a map of the latest entries. The zero value is ready.
type recentMap[K comparable, V any] struct {
	is   map[K]V
	keys []K // in the order in which they were added
}

// peek returns the value of a key.
func (r *recentMap[K, V]) peek(k K) (v V, ok bool) {
	v, ok = r.is[k]
	return v, ok
}

// get returns the value of a key, the zero value if there is none.
func (r *recentMap[K, V]) get(k K) V { return r.is[k] }

// set sets the value of a key, and drops the oldest keys above most.
func (r *recentMap[K, V]) set(k K, v V, most int) {
	if r.is == nil {
		r.is = map[K]V{}
	}
	if _, known := r.is[k]; !known {
		r.keys = append(r.keys, k)
	}
	r.is[k] = v
	for len(r.keys) > most {
		delete(r.is, r.keys[0])
		r.keys = r.keys[1:]
	}
}
