package providers

// recentMap is a map of the entries that came last. The zero value is ready.
type recentMap[K comparable, V any] struct {
	is   map[K]V
	keys []K // in the order they came first
}

// peek is the value of a key.
func (r *recentMap[K, V]) peek(k K) (v V, ok bool) {
	v, ok = r.is[k]
	return v, ok
}

// get is the value of a key, the zero value where there is none.
func (r *recentMap[K, V]) get(k K) V { return r.is[k] }

// set gives a key a value, and forgets the keys that came first where there are more than most.
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
