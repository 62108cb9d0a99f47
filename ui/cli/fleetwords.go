package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolscope/capture/fleet"
	"toolscope/stream/count"
	"toolscope/ui"
	"toolscope/ui/panes"
)

// hubStatusNotes returns the state of the hubs that are read, and of the one that is published to. With
// several hubs, each note names its hub.
func (a *app) hubStatusNotes() (words []ui.StatusNote) {
	if a.sending != nil {
		words = a.sending.statusNotes()
	}
	for _, v := range a.views {
		of := ""
		if len(a.views) > 1 {
			_, of, _ = strings.Cut(v.Server(), "://")
			of += ": "
		}
		for _, w := range hubNotes(v.State()) {
			w.Text = of + w.Text
			if w.Brief != "" {
				w.Brief = of + w.Brief
			}
			words = append(words, w)
		}
	}
	return words
}

// machineStates returns the machines that publish to the hubs that are read; nil without a hub. A machine
// that publishes to several hubs has the state that it last sent to any of them.
func (a *app) machineStates() func() []panes.MachineState {
	if len(a.views) == 0 {
		return nil
	}
	return func() (all []panes.MachineState) {
		now := time.Now()
		for _, v := range a.views {
			for _, h := range v.Hosts() {
				all = append(all, panes.MachineState{Name: h.Name, Age: now.Sub(h.LastSeen), Waits: h.Spooled, Skew: h.Skew, Silent: h.Silent, Ended: h.Ended, Read: h.FromRecords})
			}
		}
		if len(a.views) > 1 {
			slices.SortStableFunc(all, func(a, b panes.MachineState) int {
				return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Age, b.Age))
			})
			all = slices.CompactFunc(all, func(a, b panes.MachineState) bool { return a.Name == b.Name })
		}
		return all
	}
}

// hubNotes returns the state of a hub.
func hubNotes(s fleet.State) (words []ui.StatusNote) {
	alarm := func(text string) { words = append(words, ui.StatusNote{Text: text, Alarm: true}) }
	say := func(format string, args ...any) {
		words = append(words, ui.StatusNote{Text: fmt.Sprintf(format, args...)})
	}
	switch {
	case s.Unreachable:
		alarm("HUB UNREACHABLE")
	case s.Trouble != "":
		alarm("HUB: " + s.Trouble)
	}
	facts, lag := fmt.Sprintf("%s · %s/s · ", count.Of(s.Hosts, "machine"), rateText(s.Rate)), fmt.Sprintf("lag %.1f s", s.Lag.Seconds())
	switch {
	case s.Lost > 0:
		alarm("GAP " + sizeText(s.Lost))
	case s.Missed > 0:
		alarm("GAP " + count.Of(int(s.Missed), "message"))
	case s.MaybeMissed > 0:
		alarm("GAP of at most " + count.Of(int(s.MaybeMissed), "message"))
	case s.Resets > 0:
		alarm("GAP: hub lost data")
	default:
		lag += " · lost 0 B"
	}
	if s.Invalid > 0 {
		alarm("NOT DECODED: " + count.Of(int(s.Invalid), "message"))
	}
	if s.Silent > 0 { // name the machine: another one may be selected
		alarm(count.Of(s.Silent, "machine") + " SILENT: " + s.First + ifElse(s.Silent > 1, ", …", ""))
	}
	words = append(words, ui.StatusNote{Text: facts + lag, Stays: true, Brief: lag})
	if s.Newer > 0 {
		say("%s of another version", count.Of(int(s.Newer), "message"))
	}
	if s.Waiting.Spooled > 1<<20 {
		say("%s has %s to send", s.Waiting.Name, sizeText(s.Waiting.Spooled))
	}
	if skew := s.Skewed.Skew; skew.Abs() > 5*time.Second {
		say("the clock of %s is %s %s the hub's", s.Skewed.Name, skew.Abs().Round(time.Second), ifElse(skew > 0, "ahead of", "behind"))
	}
	return words
}

// rateText formats a number in few digits.
func rateText(n float64) string {
	if n < 10_000 {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%.1fk", n/1000)
}
