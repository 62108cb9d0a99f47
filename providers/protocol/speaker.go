package protocol

import (
	"errors"
	"fmt"
	"time"

	"toolscope/stream/json"
)

// A Speaker writes responses in a protocol, for tests of clients. It writes only forms that providers or gateways
// have sent in this protocol. A step that the protocol can't express is an error.
type Speaker struct {
	Lines bool // each frame is a line of JSON; otherwise it is an SSE event
	Seals bool // an event marks the end of each call
	Whole bool // a call is sent all at once, with arguments that are one JSON value
	Slots bool // an index shows to which call a delta belongs, and each delta may repeat the id of its call

	// WriteStep writes the frames of one step.
	WriteStep func(*ScriptWriter, *Step)
	// Body writes a complete response with only text, for requests that don't ask for a stream.
	Body func(model, text string) []byte
	// ErrorBody writes the body of an HTTP error response.
	ErrorBody func(status int) []byte
}

// A Script is a response as a list of steps that don't depend on the protocol.
type Script struct {
	ID, Model string
	Steps     []Step
	ZeroIndex bool // all calls have the index 0
	RepeatID  bool // each delta has the id and the name of its call
}

// A Step is one step of a Script.
type Step struct {
	Kind StepKind
	Call int           // number of the call, for steps of a call
	ID   string        // id of the call, for CallStep
	Tool Tool          // tool of the call, for CallStep
	Text string        // text, delta of arguments or name of an unknown event; for EndStep, one of the endings
	Wait time.Duration // length of the pause for WaitStep; time between two pings for PingStep
}

// StepKind is the kind of a Step.
type StepKind uint8

const (
	TextStep  StepKind = iota // text of the model
	CallStep                  // begins a call
	ArgsStep                  // a delta of the arguments
	NullStep                  // a delta whose arguments are null
	SealStep                  // ends a call
	EndStep                   // ends the response with a finish reason
	PingStep                  // a heartbeat without content
	NoiseStep                 // an event of an unknown type
	FailStep                  // an error in the stream
	WaitStep                  // a pause without frames
	CutStep                   // the connection breaks
	EOFStep                   // the body ends normally, although the response has not ended
)

// The endings of an EndStep.
const (
	EndTool   = "tool"   // the model waits for results
	EndStop   = "stop"   // the model has finished
	EndLength = "length" // the token limit was reached
)

// A SpokenFrame is a frame that a Speaker wrote.
type SpokenFrame struct {
	Step  int    // number of its step
	Event string // SSE event type; "" for none
	Data  []byte // payload; nil for an SSE comment
}

// A ScriptCall is a call that a Speaker has begun.
type ScriptCall struct {
	ID     string
	Tool   Tool
	Args   []byte // arguments so far
	Number int    // position among the calls
	Index  int    // position among the calls and texts
	Seals  int    // number of times that the call has been ended
}

// A ScriptWriter collects the frames of a Script.
type ScriptWriter struct {
	*Script
	Calls []*ScriptCall // in order of their beginning
	Call  *ScriptCall   // call of the current step, or nil
	Items int           // number of calls and texts so far
	Count int           // number of frames so far
	step  int
	all   []SpokenFrame
}

// IsFirst reports whether no frame has been written.
func (w *ScriptWriter) IsFirst() bool { return len(w.all) == 0 }

// Add adds a frame with an SSE event type and a format for its payload.
func (w *ScriptWriter) Add(event, format string, args ...any) {
	w.all = append(w.all, SpokenFrame{w.step, event, fmt.Appendf(nil, format, args...)})
	w.Count++
}

// OpenCalls returns the calls that have not been ended.
func (w *ScriptWriter) OpenCalls() (open []*ScriptCall) {
	for _, c := range w.Calls {
		if c.Seals == 0 {
			open = append(open, c)
		}
	}
	return open
}

// Quote returns a text as a JSON string.
func Quote(text string) string { return string(json.AppendQuoted(nil, []byte(text))) }

// WriteFrames writes a script. The error says what the protocol can't express.
func (p *Speaker) WriteFrames(s *Script) ([]SpokenFrame, error) {
	if (s.ZeroIndex || s.RepeatID) && !p.Slots {
		return nil, errors.New("deltas don't contain the index of their call")
	}
	w := &ScriptWriter{Script: s}
	for i := range s.Steps {
		step := &s.Steps[i]
		w.step, w.Call = i, nil
		if step.Kind == CallStep {
			w.Calls = append(w.Calls, &ScriptCall{ID: step.ID, Tool: step.Tool, Number: len(w.Calls), Index: w.Items})
		}
		switch step.Kind {
		case CallStep, ArgsStep, NullStep, SealStep:
			w.Call = w.Calls[step.Call]
		}
		if err := p.checkStep(w, step); err != nil {
			return nil, err
		}
		switch step.Kind {
		case ArgsStep:
			w.Call.Args = append(w.Call.Args, step.Text...)
		case SealStep:
			w.Call.Seals++
		}
		switch step.Kind {
		case WaitStep, CutStep, EOFStep:
		default:
			p.WriteStep(w, step)
		}
		switch step.Kind {
		case TextStep, CallStep:
			w.Items++
		case PingStep:
			if n := len(w.all); n == 0 || w.all[n-1].Step != i {
				w.all = append(w.all, SpokenFrame{Step: i})
			}
		}
	}
	return w.all, nil
}

// checkStep returns an error if the protocol can't express a step.
func (p *Speaker) checkStep(w *ScriptWriter, s *Step) error {
	switch {
	case s.Kind == NullStep && !p.Slots:
		return errors.New("a delta can't have null as its arguments")
	case s.Kind == SealStep && w.Call.Seals > 0 && !p.Seals:
		return errors.New("no event marks the end of a call")
	case s.Kind == PingStep && p.Lines:
		return errors.New("the protocol has no pings")
	case !p.Whole:
	case s.Kind == SealStep && len(w.Call.Args) > 0 && !isValue(w.Call.Args):
		return errors.New("arguments are always a JSON value")
	case s.Kind != ArgsStep && s.Kind != SealStep && s.Kind != WaitStep:
		if open := w.OpenCalls(); len(open) > 1 || len(open) == 1 && s.Kind != CallStep {
			return errors.New("a call is always sent all at once")
		}
	}
	return nil
}

// isValue reports whether a text is one JSON value.
func isValue(text []byte) bool {
	_, is := json.Canonical(text, json.Exact)
	return is
}
