package serve

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault is one thing that goes wrong on purpose. [ParseFaults] makes it.
type Fault struct {
	kind  *kind
	arg   string
	n     int           // of events, or a status
	times int           // how often; 0 is always
	pause time.Duration // before each event
}

// String is the fault as it was written.
func (f Fault) String() string { return f.kind.name + f.arg }

// Is reports whether f is the fault of that name, as in "cut".
func (f Fault) Is(name string) bool { return f.kind.name == name }

func (f Fault) order() int { return kindOf(f.kind.name) }

// kind is a fault as the table of them has it.
type kind struct {
	name    string
	arg     string // what may follow the name, in words
	example string
	does    string
	// read takes f.arg, or says what is wrong with it; nil when the fault takes none
	read func(f *Fault) (why string)

	// bend changes a script, or says why there is nothing to change.
	bend func(s *script, f Fault) (why string)
}

// kinds is every fault there is, in the order in which those that are combined take effect.
var kinds = []kind{
	{
		name: "status", arg: "=CODE[xN]", example: "status=429x2",
		does: "answers CODE in the provider's own words, the first N times or always", read: readStatus,
	},
	{name: "empty-args", does: "leaves out all arguments of calls", bend: emptyArgs},
	{name: "merge-index", does: "gives all tool calls of OpenAI chat streams index 0", bend: mergeIndex},
	{name: "bad-utf8", does: "makes a byte of the first text or argument string invalid", bend: badUTF8},
	{name: "no-terminator", does: "leaves out [DONE], message_stop or else the last event", bend: noTerminator},
	{name: "repeat", does: "sends every event twice", bend: repeat},
	{
		name: "cut", arg: "@N", example: "cut@3",
		does: "breaks the connection after N events, or N chunks of a body without any", read: readCount, bend: cutAfter,
	},
	{
		name: "cut-inside", arg: "@N", example: "cut-inside@3",
		does: "breaks the connection in the middle of event N", read: readPlace, bend: cutInside,
	},
	{
		name: "delay", arg: "=TIME", example: "delay=250ms",
		does: "waits before each event, at any speed", read: readPause,
		bend: func(s *script, f Fault) string { s.pause = f.pause; return "" },
	},
	{
		name: "split", does: "writes every byte by itself",
		bend: func(s *script, _ Fault) string { s.split = true; return "" },
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
	return slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
}

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
	name := word
	if i := strings.IndexAny(word, "@="); i >= 0 {
		name = word[:i]
	}
	f := Fault{arg: word[len(name):]}
	i := kindOf(name)
	if i < 0 {
		var all []string
		for _, fault := range Faults() {
			all = append(all, fault[0])
		}
		return f, fmt.Errorf("no fault %q\nthere are %s", word, strings.Join(all, ", "))
	}
	f.kind = &kinds[i]
	switch {
	case f.kind.read == nil && f.arg == "":
		return f, nil
	case f.kind.read == nil:
		return f, fmt.Errorf("%q: %s stands alone", word, name)
	}
	if why := f.kind.read(&f); why != "" {
		return f, fmt.Errorf("%q: %s\nwanted is %s%s, as in %s", word, why, name, f.kind.arg, f.kind.example)
	}
	return f, nil
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
	code, times, limited := strings.Cut(strings.TrimPrefix(f.arg, "="), "x")
	n, err := strconv.Atoi(code)
	if err != nil || n < http.StatusBadRequest || n > 599 {
		return "CODE is a status from 400 to 599"
	}
	f.n = n
	if limited {
		if f.times, err = strconv.Atoi(times); err != nil || f.times < 1 {
			return "N is a number from 1"
		}
	}
	return ""
}
