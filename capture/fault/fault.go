package fault

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault is one thing that goes wrong on purpose. [ParseFaults] makes it.
type Fault struct {
	kind  *faultKind
	word  string        // as it was written
	arg   string        // what of it follows the name
	n     int           // of events, or a status
	times int           // how many answers get it, 0 is all
	every int           // each so many-th answer gets it, 0 is each
	pause time.Duration // before each event
}

// String is the fault as it was written.
func (f Fault) String() string { return f.word }

// Is reports whether f is the fault of that name, as in "cut".
func (f Fault) Is(name string) bool { return f.kind.name == name }

func (f Fault) orderIndex() int { return kindOf(f.kind.name) }

// faultKind is a fault as the table of them has it.
type faultKind struct {
	name    string
	arg     string // what may follow the name, in words
	example string
	does    string
	// read takes f.arg, or says what is wrong with it; nil when the fault takes none
	read func(f *Fault) (why string)

	// bend sets a bender up to do it; nil for what answers in place of the one asked.
	setUp func(b *Injector, f Fault)
}

// kinds is every fault there is, in the order in which those that are combined take effect.
var kinds = []faultKind{
	{
		name: "status", arg: "=CODE", example: "status=429",
		does: "answers CODE in the provider's own words", read: readStatus,
	},
	{name: "empty-args", does: "leaves out all arguments of calls", setUp: emptyArgs},
	{name: "bad-args", does: "leaves out the first brace of arguments of calls that are sent as text", setUp: badArgs},
	{name: "merge-index", does: "gives all tool calls of OpenAI chat streams index 0", setUp: mergeIndex},
	{name: "bad-utf8", does: "makes a byte of the first text or argument string invalid", setUp: badUTF8},
	{name: "no-terminator", does: "leaves out [DONE], message_stop or else the last event", setUp: noTerminator},
	{name: "repeat", does: "sends every event twice", setUp: repeatEvents},
	{
		name: "cut", arg: "@N", example: "cut@3",
		does: "breaks the connection after N events, or N chunks of a body without any", read: readCount, setUp: cutAfter,
	},
	{
		name: "cut-inside", arg: "@N", example: "cut-inside@3",
		does: "breaks the connection in the middle of event N", read: readPlace, setUp: cutInside,
	},
	{
		name: "delay", arg: "=TIME", example: "delay=250ms",
		does: "waits before each event, at any speed", read: readPause,
		setUp: func(b *Injector, f Fault) { b.pause = f.pause },
	},
	{
		name: "split", does: "writes every byte by itself",
		setUp: func(b *Injector, _ Fault) { b.split = true },
	},
}

// Faults lists what can be asked for: how it is written, and what it does. Combined faults take
// effect in this order.
func Faults() (list [][2]string) {
	for _, k := range kinds {
		list = append(list, [2]string{k.name + k.arg, k.does})
	}
	return list
}

// kindOf is where the table has the fault of that name, or -1.
func kindOf(name string) int {
	return slices.IndexFunc(kinds, func(k faultKind) bool { return k.name == name })
}

// Which is how a fault is written that not every answer gets.
const Which = "FAULTxN, as in cut@3x2, is for the first N answers that it fits; FAULT/N for each N-th"

// ParseFaults reads faults as they are written on a command line, one a word.
func ParseFaults(words ...string) ([]Fault, error) {
	var list []Fault
	for _, word := range words {
		f, err := parseFault(word)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(other Fault) bool { return other.Is(f.kind.name) }) {
			return nil, fmt.Errorf("%q: there is a %s already", word, f.kind.name)
		}
		list = append(list, f)
	}
	return list, nil
}

func parseFault(word string) (Fault, error) {
	f := Fault{word: word}
	rest, why := f.readWhich(word)
	name := rest
	if i := strings.IndexAny(rest, "@="); i >= 0 {
		name = rest[:i]
	}
	i := kindOf(name)
	if i < 0 {
		var all []string
		for _, fault := range Faults() {
			all = append(all, fault[0])
		}
		return f, fmt.Errorf("no fault %q\nthere are %s", word, strings.Join(all, ", "))
	}
	f.kind, f.arg = &kinds[i], rest[len(name):]
	switch {
	case why != "":
	case f.kind.read != nil:
		why = f.kind.read(&f)
	case f.arg != "":
		return f, fmt.Errorf("%q: %s stands alone", word, name)
	}
	if why != "" {
		return f, fmt.Errorf("%q: %s\nwanted is %s%s, as in %s", word, why, name, f.kind.arg, cmp.Or(f.kind.example, name))
	}
	return f, nil
}

// readWhich takes off a word's end which answers get the fault.
func (f *Fault) readWhich(word string) (rest, why string) {
	for mark, count := range map[string]*int{"x": &f.times, "/": &f.every} {
		i := strings.LastIndex(word, mark)
		if i < 0 || strings.Trim(word[i+1:], "0123456789") != "" || i+1 == len(word) {
			continue
		}
		n, err := strconv.Atoi(word[i+1:])
		if err != nil || n < 1 {
			why = fmt.Sprintf("the N of %sN is a number from 1", mark)
		}
		*count = n
		return word[:i], why
	}
	return word, ""
}

func readCount(f *Fault) (why string) {
	n, err := strconv.Atoi(strings.TrimPrefix(f.arg, "@"))
	if err != nil || n < 0 || f.arg[0] != '@' {
		return "N is a number from 0"
	}
	f.n = n
	return ""
}

func readPlace(f *Fault) (why string) {
	if readCount(f) != "" || f.n == 0 {
		return "N is a number from 1"
	}
	return ""
}

func readPause(f *Fault) (why string) {
	d, err := time.ParseDuration(strings.TrimPrefix(f.arg, "="))
	if err != nil || d <= 0 {
		return "TIME is a number and its unit: ms, s, m"
	}
	f.pause = d
	return ""
}

func readStatus(f *Fault) (why string) {
	n, err := strconv.Atoi(strings.TrimPrefix(f.arg, "="))
	if err != nil || n < http.StatusBadRequest || n > 599 {
		return "CODE is a status from 400 to 599"
	}
	f.n = n
	return ""
}
