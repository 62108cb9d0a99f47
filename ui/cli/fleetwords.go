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

// hubStatusNotes are how the hubs that are watched are doing, and the one that is sent to. Of several hubs each
// word says which it is of.
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

// machineStates are the machines that send to the hubs that are watched; nil without a hub. One that sends to
// several is as the hub knows it that heard it last.
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

// hubNotes are how a hub is doing.
func hubNotes(s fleet.State) (words []ui.StatusNote) {
	alarm := func(text string) { words = append(words, ui.StatusNote{Text: text, Alarm: true}) }
	say := func(format string, args ...any) {
		words = append(words, ui.StatusNote{Text: fmt.Sprintf(format, args...)})
	}
	switch {
	case s.Unreachable:
		alarm("HUB NOT REACHED")
	case s.Trouble != "":
		alarm("HUB: " + s.Trouble)
	}
	facts, lag := fmt.Sprintf("%s · %s/s · ", count.Of(s.Hosts, "host"), rateText(s.Rate)), fmt.Sprintf("lag %.1f s", s.Lag.Seconds())
	switch {
	case s.Lost > 0:
		alarm("GAP " + sizeText(s.Lost))
	case s.Missed > 0:
		alarm("GAP " + count.Of(int(s.Missed), "message"))
	case s.MaybeMissed > 0:
		alarm("GAP of at most " + count.Of(int(s.MaybeMissed), "message"))
	case s.Resets > 0:
		alarm("GAP: the hub forgot")
	default:
		lag += " · lost 0 B"
	}
	if s.Invalid > 0 {
		alarm("MAKES NO SENSE: " + count.Of(int(s.Invalid), "message"))
	}
	if s.Silent > 0 { // it need not be that of what is chosen, which stands beside it
		alarm(count.Of(s.Silent, "host") + " SILENT: " + s.First + ifElse(s.Silent > 1, ", …", ""))
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

// rateText is a number in few digits.
func rateText(n float64) string {
	if n < 10_000 {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%.1fk", n/1000)
}
