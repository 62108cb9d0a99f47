package stream

// Ref names a turn, or one of its calls. It is what to keep of one: the structs themselves are
// those of one fold.
type Ref struct {
	Turn int32 // its number
	Call int32 // the call's number within it; 0 for the turn itself
}

// NoRef names nothing.
var NoRef = Ref{Turn: NoTurn}

// Ref is the turn's name.
func (t *Turn) Ref() Ref { return Ref{Turn: t.Number} }

// Ref is the call's name.
func (c *Call) Ref() Ref { return Ref{c.Turn, int32(c.Number)} }

// Find returns what r names: a turn, and its call if it is one. What is not there is nil.
func (s *Session) Find(r Ref) (t *Turn, c *Call) {
	t = s.turns[r.Turn]
	if t == nil {
		return nil, nil
	}
	if n := int(r.Call) - 1; n >= 0 && n < len(t.Calls) {
		c = t.Calls[n]
	}
	return t, c
}
