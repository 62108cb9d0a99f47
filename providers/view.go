package providers

import "toolscope/stream"

// View is what is looked at: the fold of the events so far, and the exchanges behind it. What its
// methods return is valid until the next record is written.
type View struct{ in *Inspector }

// View looks at what there is.
func (in *Inspector) View() *View { return &View{in} }

// Session is the fold of the events.
func (v *View) Session() *stream.Session { return v.in.Session() }

// Find is what a Ref names.
func (v *View) Find(r stream.Ref) (*stream.Turn, *stream.Call) { return v.in.Session().Find(r) }

// Events is how many events there are.
func (v *View) Events() int { return v.in.Timeline.Len() }

// Event is event n; of one that was let go with its turn, what is left.
func (v *View) Event(n int) stream.Event {
	e, _ := v.in.Timeline.Event(n)
	return e
}

// Exchanges are all exchanges, in the order they began.
func (v *View) Exchanges() []*Exchange { return v.in.Exchanges() }

// Exchange is the exchange of that number, or nil.
func (v *View) Exchange(number int) *Exchange { return v.in.Exchange(number) }
