package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/present"
)

// hubFlags are the flags for hub credentials.
type hubFlags struct{ creds, nkey, token, ca string }

func (ip *inputs) hubFlags(cmd *cobra.Command) {
	to := cmd.Flags()
	to.StringVar(&ip.hub.creds, "creds", "", "")
	to.StringVar(&ip.hub.nkey, "nkey", "", "")
	to.StringVar(&ip.hub.token, "hub-token", "", "")
	to.StringVar(&ip.hub.ca, "hub-ca", "", "")
	cmd.MarkFlagsMutuallyExclusive("creds", "nkey", "hub-token")
}

// hubAuth returns the credentials from the flags. A token itself is not allowed on the command line, because
// all programs can read the command line.
func (ip *inputs) hubAuth() (auth fleet.Credentials, err error) {
	auth = fleet.Credentials{Creds: ip.hub.creds, NKey: ip.hub.nkey, CA: ip.hub.ca}
	if err = auth.Check(); err != nil || ip.hub.token == "" {
		return auth, err
	}
	if _, elsewhere := ip.app.origin["hub-token"]; !elsewhere && !strings.HasPrefix(ip.hub.token, "@") {
		return auth, usageErrorf("--hub-token: not allowed on the command line, which all programs can read\nuse @FILE, or the variable TOOLSCOPE_HUB_TOKEN")
	}
	if auth.Token, err = textOrFile(ip.hub.token); err != nil {
		return auth, fmt.Errorf("--hub-token: %w", err)
	}
	auth.Token = strings.TrimSpace(auth.Token)
	return auth, nil
}

// openView connects to the hub at path.
func (ip *inputs) openView(ctx context.Context, path string) (*fleet.View, error) {
	of, err := ip.hubAddress(path)
	if err != nil {
		return nil, err
	}
	auth, err := ip.hubAuth()
	if err != nil {
		return nil, err
	}
	v, err := fleet.Open(ctx, of, auth)
	if err != nil {
		return nil, err
	}
	ip.views = append(ip.views, v)
	return v, nil
}

// openHubSource opens the captures on a hub.
func (ip *inputs) openHubSource(ctx context.Context, path string) (capture.Source, error) {
	v, err := ip.openView(ctx, path)
	if err != nil {
		return nil, err
	}
	return v.Source(ctx), nil
}

// safeAddress returns an address without the part that may be a secret.
func safeAddress(path string) string {
	scheme, rest, _ := strings.Cut(path, "://")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = "…" + rest[i:]
	}
	return scheme + "://" + rest
}

// reportViews reports the data that is missing from the captures, once for each hub. If data is missing, it
// sets the exit code.
func (ip *inputs) reportViews() {
	for ; ip.reportedViews < len(ip.views); ip.reportedViews++ {
		v := ip.views[ip.reportedViews]
		s := v.State()
		if s.Newer > 0 {
			ip.app.printNote("%s: %s from another version of toolscope can't be read", v.Server(), count.Of(int(s.Newer), "message"))
		}
		if !s.Complete() {
			ip.app.printNote("%s: %s", v.Server(), missingWords(&s))
			ip.app.code = exitGaps // replaces the exit code of a signal
		}
	}
}

// missingWords describes the data that is missing from a hub.
func missingWords(s *fleet.State) string {
	var words []string
	if s.Lost > 0 {
		words = append(words, fmt.Sprintf("the captures lack %s, in %s", count.Of(s.Lost, "byte"), count.Of(int(s.Gaps), "gap")))
	}
	if s.Missed > 0 {
		words = append(words, fmt.Sprintf("toolscope missed %s that the hub dropped", count.Of(int(s.Missed), "message")))
	}
	if s.MaybeMissed > 0 {
		words = append(words, fmt.Sprintf("toolscope missed at most %s that the hub dropped", count.Of(int(s.MaybeMissed), "message")))
	}
	if s.Resets > 0 {
		words = append(words, "the hub lost data that had not been read")
	}
	if s.Invalid > 0 {
		words = append(words, fmt.Sprintf("%s could not be decoded", count.Of(int(s.Invalid), "message")))
	}
	return strings.Join(words, "; ")
}

// untilCaught returns a context that ends when a signal arrives, and a function that stops catching signals.
func (ip *inputs) untilCaught(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	caught, uncatch := ip.app.catchEnd()
	over := make(chan error)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = ip.app.waitForEnd(over, caught)
		cancel()
	}()
	return ctx, func() {
		close(over)
		<-done
		uncatch()
	}
}

// isEndless reports whether one of the paths is a hub address without an end.
func isEndless(paths []string) bool {
	for _, path := range paths {
		if of, err := fleet.ParseAddress(path); fleet.IsAddress(path) && err == nil && of.Until.IsZero() {
			return true
		}
	}
	return false
}

// hasStartTime reports whether a path is a hub address with a start time. Such a source may be empty.
func hasStartTime(path string) bool {
	of, err := fleet.ParseAddress(path)
	return fleet.IsAddress(path) && err == nil && !of.Since.IsZero()
}

// openOne opens a path that is read to its end. A hub address needs an end time.
func (ip *inputs) openOne(ctx context.Context, path string, o capture.Options) (capture.Source, error) {
	switch {
	case !fleet.IsAddress(path):
		return capture.Open(ctx, path, o)
	case isEndless([]string{path}):
		address := safeAddress(path)
		ended := strings.TrimSuffix(address, "/") + ifElse(strings.Contains(path, "?"), "&", "?") + "until=now"
		return nil, usageErrorf("%s: the address sets no end time, but this command reads to the end\nuse an address with an end time, e.g. %s", address, ended)
	}
	return ip.openHubSource(ctx, path)
}

// openAll joins all paths into one source. Paths may be hub addresses.
func (ip *inputs) openAll(ctx context.Context, paths []string, o capture.Options) (capture.Source, error) {
	var files []string
	var all []capture.Source
	for _, path := range paths {
		if !fleet.IsAddress(path) {
			files = append(files, path)
			continue
		}
		src, err := ip.openHubSource(ctx, path)
		if err != nil {
			return nil, err
		}
		all = append(all, src)
	}
	if len(files) > 0 {
		src, err := capture.OpenAll(ctx, files, o)
		if err != nil {
			return nil, err
		}
		all = append(all, src)
	}
	switch {
	case len(all) == 1:
		return all[0], nil
	case o.Follow || isEndless(paths):
		return capture.Merge(ctx, all...), nil
	}
	return capture.Concat(all...), nil
}

// findCaptures lists the files at a path, as capture.Find does. A hub address counts as one file.
func findCaptures(path string) ([]capture.FoundFile, []string, error) {
	if fleet.IsAddress(path) {
		return []capture.FoundFile{{Path: path}}, nil, nil
	}
	return capture.Find([]string{path})
}

// hubStatusNotes returns notes about the hubs that are read, and about the hub to which data is published. If
// several hubs are read, each note contains the hub's name.
func (ip *inputs) hubStatusNotes() (words []ui.StatusNote) {
	if ip.app.sending != nil {
		words = ip.app.sending.statusNotes()
	}
	for _, v := range ip.views {
		of := ""
		if len(ip.views) > 1 {
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

// machineStates returns a function that returns the states of all machines that publish to the hubs. It
// returns nil if no hub is read. If a machine publishes to several hubs, its latest state counts.
func (ip *inputs) machineStates() func() []panes.MachineState {
	if len(ip.views) == 0 {
		return nil
	}
	return func() (all []panes.MachineState) {
		now := time.Now()
		for _, v := range ip.views {
			for _, h := range v.Hosts() {
				all = append(all, panes.MachineState{Name: h.Name, Age: now.Sub(h.LastSeen), Waits: h.Spooled, Skew: h.Skew, Silent: h.Silent, Ended: h.Ended, Read: h.FromRecords})
			}
		}
		if len(ip.views) > 1 {
			slices.SortStableFunc(all, func(a, b panes.MachineState) int {
				return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Age, b.Age))
			})
			all = slices.CompactFunc(all, func(a, b panes.MachineState) bool { return a.Name == b.Name })
		}
		return all
	}
}

// hubNotes returns notes about the state of a hub.
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
	rate := fmt.Sprintf("%.0f", s.Rate)
	if s.Rate >= 10_000 {
		rate = fmt.Sprintf("%.1fk", s.Rate/1000)
	}
	facts, lag := fmt.Sprintf("%s · %s/s · ", count.Of(s.Hosts, "machine"), rate), fmt.Sprintf("lag %.1f s", s.Lag.Seconds())
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
	if s.Silent > 0 { // name the machine, because another machine may be selected
		alarm(count.Of(s.Silent, "machine") + " SILENT: " + s.First + ifElse(s.Silent > 1, ", …", ""))
	}
	words = append(words, ui.StatusNote{Text: facts + lag, Stays: true, Brief: lag})
	if s.Newer > 0 {
		say("%s from another version", count.Of(int(s.Newer), "message"))
	}
	if s.Waiting.Spooled > 1<<20 {
		say("%s has %s to send", s.Waiting.Name, sizeText(s.Waiting.Spooled))
	}
	if skew := s.Skewed.Skew; skew.Abs() > 5*time.Second {
		say("the clock of %s is %s %s the hub's", s.Skewed.Name, skew.Abs().Round(time.Second), ifElse(skew > 0, "ahead of", "behind"))
	}
	return words
}

// callFlags are the flags that select exchanges by a hub's index. Other exchanges are not read.
type callFlags struct{ model, status string }

func (ip *inputs) callFlags(cmd *cobra.Command) {
	to := cmd.Flags()
	to.StringVar(&ip.calls.model, "hub-model", "", "")
	to.StringVar(&ip.calls.status, "hub-state", "", "")
}

// checkHubFlags returns an error if callFlags are used with a path that is not a hub address.
func (ip *inputs) checkHubFlags(paths []string) error {
	if ip.calls != (callFlags{}) && !allAddresses(paths) {
		return usageErrorf("--hub-model and --hub-state: need a hub, because they use its index of calls\nfor files, use --filter 'model:NAME state:STATE'")
	}
	return nil
}

// allAddresses reports whether there are paths and all of them are hub addresses.
func allAddresses(paths []string) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(path string) bool { return !fleet.IsAddress(path) })
}

// hubAddress parses a hub address and applies callFlags to it.
func (ip *inputs) hubAddress(path string) (of fleet.Address, err error) {
	if of, err = fleet.ParseAddress(path); err != nil {
		return of, usageErrorf("%s: %w", safeAddress(path), err)
	}
	of.Model, of.Status = cmp.Or(ip.calls.model, of.Model), cmp.Or(ip.calls.status, of.Status)
	var words []string
	for s := range stream.Status(stream.NumStatus) {
		words = append(words, s.String())
	}
	if of.Status != "" && !slices.Contains(words, of.Status) {
		return of, usageErrorf("unknown state %q\nuse one of %s", of.Status, present.JoinWords(words...))
	}
	return of, nil
}

// isIndexed reports whether a path selects calls by a hub's index. Such a path may match no calls.
func (ip *inputs) isIndexed(path string) bool {
	if !fleet.IsAddress(path) {
		return false
	}
	of, err := ip.hubAddress(path)
	return err == nil && of.IsIndexed()
}

// isIndexOnly reports whether the lines in the hubs' indexes suffice, so that captures need not be read.
func (ip *inputs) isIndexOnly(paths []string) bool {
	return ip.app.format == "jsonl" && !ip.app.summary && ip.app.jq == "" && ip.filter == "" && ip.app.tracing == nil &&
		allAddresses(paths) && !slices.ContainsFunc(paths, func(path string) bool { return !ip.isIndexed(path) })
}

// printLines prints the lines about calls from the hubs' indexes. It reads all hubs at the same time.
func (ip *inputs) printLines(ctx context.Context, paths []string) error {
	ctx, stop := ip.untilCaught(ctx)
	defer stop()
	defer ip.app.endWithReader()()
	var wait sync.WaitGroup
	var mu sync.Mutex // protects the variables to and failed
	to := ip.app.stdout.withBuffer()
	var failed error
	for _, path := range paths {
		if _, err := ip.openView(ctx, path); err != nil {
			return err
		}
	}
	for _, v := range ip.views {
		wait.Go(func() {
			err := v.Lines(ctx, func(line []byte) bool {
				mu.Lock()
				defer mu.Unlock()
				if failed == nil {
					to.writeParts(slices.Values([][]byte{display.AppendJSONText(nil, line)}))
					failed = to.flush()
				}
				return failed == nil
			})
			mu.Lock()
			defer mu.Unlock()
			failed = cmp.Or(failed, err)
		})
	}
	wait.Wait()
	ip.reportViews()
	return failed
}
