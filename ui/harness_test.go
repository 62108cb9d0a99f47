package ui

import (
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"toolscope/capture"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/themes"
)

// box is an inbox without a limit.
type box = capture.Queue[stream.Record]

func newBox() *box {
	return capture.NewQueue(capture.QueueRules[stream.Record]{Limit: math.MaxInt, Cost: func(r stream.Record) int { return len(r.Data) }})
}

// testPrices is the built-in price list, whose index all screens share.
var testPrices = sync.OnceValue(price.Embedded)

// rig is a Model whose source, clock and keyboard are controlled by the test. Nothing runs in another
// goroutine and nothing sleeps.
type rig struct {
	*Model
	t     testing.TB
	inbox *box
	cmd   tea.Cmd // the command that the last Update returned
	now   time.Time
	slow  time.Duration // the time that passes at each reading of the clock

	parser *ansi.Parser // the parser of the terminal that would draw the frames

	sent    []sent
	refuses error                            // the error with which sending fails
	answer  func(sent) (all []stream.Record) // the records that arrive at once after a request is sent
}

// newScreen returns a screen of w × h cells.
func newScreen(t testing.TB, w, h int, change ...func(*Options)) *rig {
	s := &rig{t: t, inbox: newBox(), parser: ansi.NewParser(), now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	o := Options{
		Source: "agent.sse", Inbox: s.inbox, Theme: themes.Default(true), Depth: termenv.TrueColor, Prices: testPrices(),
		Now:  func() time.Time { s.now = s.now.Add(s.slow); return s.now },
		Send: s.deliverRequest, Places: testPlaces(), Answers: newBox(),
	}
	for _, f := range change {
		f(&o)
	}
	s.Model = New(o)
	s.resize(w, h)
	return s
}

// mode returns the mode that has the keyboard focus.
func (s *rig) mode() any { return s.modeStack.activeMode().Mode }

// thin returns the distance between the samples that a test checks. It is 1 with TOOLSCOPE_LONG.
func thin() int {
	if os.Getenv("TOOLSCOPE_LONG") != "" && !raceEnabled && !testing.Short() {
		return 1
	}
	return 7
}

// drawsAlone skips a slow test under the race detector. It is for tests with only one goroutine, in which the race
// detector can find nothing.
func drawsAlone(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("without the race detector: one goroutine does all of it")
	}
}

func ascii(o *Options) { o.ASCII = true }

const colourlessDepth = termenv.Ascii

func colourless(o *Options) { o.Depth = colourlessDepth }

func (s *rig) send(msg tea.Msg) {
	s.t.Helper()
	_, s.cmd = s.Update(msg)
	if s.opt.ASCII {
		s.checkASCII()
	}
}

// checkASCII fails the test if a frame has a byte that is not ASCII.
func (s *rig) checkASCII() {
	s.t.Helper()
	frame := s.View()
	if i := strings.IndexFunc(frame, func(r rune) bool { return r > 0x7F }); i >= 0 {
		s.t.Fatalf("%q is no ASCII:\n%s", frame[max(0, i-30):min(len(frame), i+10)], ansi.Strip(frame))
	}
}

func (s *rig) resize(w, h int) *rig {
	s.send(tea.WindowSizeMsg{Width: w, Height: h})
	return s
}

// feed adds records, in one batch unless there are too many.
func (s *rig) feed(records ...stream.Record) *rig {
	for _, r := range records {
		s.inbox.Put(r)
	}
	s.send(inboxReady{})
	for s.inbox.Waiting() > 0 {
		s.send(inboxReady{})
	}
	return s
}

// end ends the source.
func (s *rig) end() *rig {
	s.inbox.Close(nil)
	s.send(inboxReady{})
	return s
}

// specialKeys maps names in angle brackets to keys.
var specialKeys = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "s-tab": tea.KeyShiftTab, "bs": tea.KeyBackspace,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "c-d": tea.KeyCtrlD, "c-u": tea.KeyCtrlU, "c-c": tea.KeyCtrlC,
	"c-z": tea.KeyCtrlZ,
}

// press types keys one by one, e.g. "jj/oslo<enter>".
func (s *rig) press(keys string) *rig {
	s.t.Helper()
	for keys != "" {
		k := tea.KeyMsg{Type: tea.KeyRunes}
		if name, rest, ok := strings.Cut(keys[1:], ">"); ok && keys[0] == '<' {
			if k.Type, ok = specialKeys[name]; !ok {
				s.t.Fatalf("no key <%s>", name)
			}
			keys = rest
		} else {
			r := []rune(keys)[0]
			k.Runes = []rune{r}
			if keys = keys[len(string(r)):]; r == ' ' {
				k.Type = tea.KeySpace
			}
		}
		s.send(k)
	}
	return s
}

// burst types keys faster than the program reads them.
func (s *rig) burst(keys string) *rig {
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(keys)})
	return s
}

// settle does the work that the last key started, such as highlighting.
func (s *rig) settle() *rig {
	s.t.Helper()
	if s.cmd == nil {
		s.t.Fatal("nothing was asked for")
	}
	s.send(s.cmd())
	return s
}

// finish calls settle until no work is left. Use it only after keys: after new records, the program waits for
// more records.
func (s *rig) finish() *rig {
	for s.cmd != nil {
		s.settle()
	}
	return s
}

// text returns the frame as plain text.
func (s *rig) text() string { return ansi.Strip(s.View()) }

// rows returns the rows of the frame, without trailing blanks.
func (s *rig) rows() []string {
	rows := strings.Split(s.text(), "\n")
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return rows
}

// shows fails the test unless each text is in the frame.
func (s *rig) shows(texts ...string) *rig {
	s.t.Helper()
	frame := s.text()
	for _, text := range texts {
		if !strings.Contains(frame, text) {
			s.t.Fatalf("the frame does not show %q:\n%s", text, frame)
		}
	}
	return s
}

// hides fails the test if one of the texts is in the frame.
func (s *rig) hides(texts ...string) *rig {
	s.t.Helper()
	frame := s.text()
	for _, text := range texts {
		if strings.Contains(frame, text) {
			s.t.Fatalf("the frame shows %q:\n%s", text, frame)
		}
	}
	return s
}
