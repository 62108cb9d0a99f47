package dialect

import (
	"time"

	"toolscope/stream"
)

// An Emitter is a decoder that makes its events itself and numbers its turns from 0.
type Emitter interface {
	Decode(f stream.Frame, emit func(stream.Event)) error
	Close(emit func(stream.Event))
	Turn() int32
}

// Adapt makes a Decoder of an Emitter.
func Adapt(e Emitter) func(*Out) Decoder {
	return func(o *Out) Decoder {
		o.inner = e.Turn
		if c, ok := e.(interface{ Now() time.Duration }); ok {
			o.clock = c.Now
		}
		return &adapted{e, o}
	}
}

type adapted struct {
	e Emitter
	o *Out
}

func (a *adapted) Frame(f stream.Frame) error {
	return a.e.Decode(f, a.o.emit)
}

func (a *adapted) Close() { a.e.Close(a.o.emit) }
