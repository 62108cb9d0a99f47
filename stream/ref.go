package stream

// Ref names a turn, or one of its calls. Keep a Ref, not a *Turn or *Call: those belong to one fold.
type Ref struct {
	Turn int32 // its number
	Call int32 // the call's number within it; 0 for the turn itself
}

// NoRef names nothing.
var NoRef = Ref{Turn: NoTurn}

// Ref returns the turn's name.
func (t *Turn) Ref() Ref { return Ref{Turn: t.Number} }

// Ref returns the call's name.
func (c *Call) Ref() Ref { return Ref{c.Turn, int32(c.Number)} }

// Find returns the turn that r names and, if r names a call, that call. It returns nil for what doesn't
// exist.
func (s *Session) Find(r Ref) (t *Turn, c *Call) {
	if s == nil {
		return nil, nil
	}
	if t = s.Turn(r.Turn); t == nil {
		return nil, nil
	}
	return t, t.callByNumber(r.Call)
}
