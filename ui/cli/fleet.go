package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/stream/count"
	"toolscope/ui"
	"toolscope/ui/panes"
)

// hubFlags say who one is to a hub.
type hubFlags struct{ creds, nkey, token, ca string }

func (a *app) hubFlags(cmd *cobra.Command) {
	to := cmd.Flags()
	to.StringVar(&a.hub.creds, "creds", "", "for a hub: credentials, as NATS has them, in this `FILE`")
	to.StringVar(&a.hub.nkey, "nkey", "", "for a hub: the seed of a key in this `FILE`")
	to.StringVar(&a.hub.token, "hub-token", "", "for a hub: the token in the file `@FILE`")
	to.StringVar(&a.hub.ca, "tls-ca", "", "for a hub: who signs its certificate, in this `FILE`")
	settle(to, "", "creds", "nkey", "tls-ca")
	settleSecret(to, "", "hub-token")
	cmd.MarkFlagsMutuallyExclusive("creds", "nkey", "hub-token")
}

// hubAuth is what the flags say. The command line is no place for a token: all programs can read it.
func (a *app) hubAuth() (auth fleet.Auth, err error) {
	auth = fleet.Auth{Creds: a.hub.creds, NKey: a.hub.nkey, CA: a.hub.ca}
	if err = auth.Check(); err != nil || a.hub.token == "" {
		return auth, err
	}
	if _, elsewhere := a.origin["hub-token"]; !elsewhere && !strings.HasPrefix(a.hub.token, "@") {
		return auth, usagef("--hub-token: the command line is no place for it: all programs can read that\nwanted is @FILE, or the variable TOOLSCOPE_HUB_TOKEN")
	}
	if auth.Token, err = textOrFile(a.hub.token); err != nil {
		return auth, fmt.Errorf("--hub-token: %w", err)
	}
	auth.Token = strings.TrimSpace(auth.Token)
	return auth, nil
}

// view opens the captures of a hub.
func (a *app) view(ctx context.Context, path string) (capture.Source, error) {
	v, of, err := a.openView(ctx, path)
	if err != nil {
		return nil, err
	}
	return func(yield func(capture.Record, error) bool) {
		v.Source(ctx)(yield)
		a.tellView(of.Server, v.State())
	}, nil
}

// openView connects to a hub.
func (a *app) openView(ctx context.Context, path string) (v *fleet.View, of fleet.Address, err error) {
	if of, err = a.address(path); err != nil {
		return nil, of, err
	}
	auth, err := a.hubAuth()
	if err != nil {
		return nil, of, err
	}
	if v, err = fleet.Open(ctx, of, auth); err != nil {
		return nil, of, err
	}
	a.views = append(a.views, v)
	return v, of, nil
}

// safeAddress is an address without what may be a secret in it.
func safeAddress(path string) string {
	scheme, rest, _ := strings.Cut(path, "://")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = "…" + rest[i:]
	}
	return scheme + "://" + rest
}

// tellView says at the end what of the captures did not come.
func (a *app) tellView(server string, s fleet.State) {
	if s.Newer > 0 {
		a.notef("%s: %s of another version of toolscope", server, count.Of(int(s.Newer), "message"))
	}
	if s.Lost == 0 && s.Spoilt == 0 {
		return
	}
	a.notef("%s: %s of captures never came, in %s, and %s made no sense", server, count.Of(s.Lost, "byte"), count.Of(int(s.Gaps), "gap"), count.Of(int(s.Spoilt), "message"))
	a.code = max(a.code, exitGaps)
}

// untilCaught is a context that a signal ends.
func (a *app) untilCaught(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	caught, uncatch := a.catchEnd()
	over := make(chan error)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = a.until(over, caught)
		cancel()
	}()
	return ctx, func() {
		close(over)
		<-done
		uncatch()
	}
}

// isEndless reports whether one of the paths is a hub that is watched for ever.
func isEndless(paths []string) bool {
	for _, path := range paths {
		if of, err := fleet.ParseAddress(path, time.Now()); fleet.IsAddress(path) && err == nil && of.Until.IsZero() {
			return true
		}
	}
	return false
}

// openOne opens a path, which may be an address.
func (a *app) openOne(ctx context.Context, path string, o capture.Options) (capture.Source, error) {
	if fleet.IsAddress(path) {
		return a.view(ctx, path)
	}
	return capture.Open(ctx, path, o)
}

// openAll makes one source of all paths, of which some may be addresses.
func (a *app) openAll(ctx context.Context, paths []string, o capture.Options) (capture.Source, error) {
	var files []string
	var all []capture.Source
	for _, path := range paths {
		if !fleet.IsAddress(path) {
			files = append(files, path)
			continue
		}
		src, err := a.view(ctx, path)
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

// find lists what a path names, as capture.Find does. An address names itself.
func find(path string) ([]capture.Found, []string, error) {
	if fleet.IsAddress(path) {
		return []capture.Found{{Path: path}}, nil, nil
	}
	return capture.Find([]string{path})
}

// fleetWords are how the hubs that are watched are doing, and the one that is sent to.
func (a *app) fleetWords() (words []ui.Word) {
	if a.sending != nil {
		words = a.sending.words()
	}
	for _, v := range a.views {
		words = append(words, stateWords(v.State())...)
	}
	return words
}

// hostStates are the machines that send to the hubs that are watched; nil without a hub.
func (a *app) hostStates() func() []panes.HostState {
	if len(a.views) == 0 {
		return nil
	}
	return func() (all []panes.HostState) {
		now := time.Now()
		for _, v := range a.views {
			for _, h := range v.State().Hosts {
				all = append(all, panes.HostState{Name: h.Name, Age: now.Sub(h.Heard), Waits: h.Spooled, Skew: h.Skew, Silent: h.Silent})
			}
		}
		return all
	}
}

func stateWords(s fleet.State) (words []ui.Word) {
	alarm := func(text string) { words = append(words, ui.Word{Text: text, Alarm: true}) }
	var silent []string
	var skewed, waiting fleet.Host
	for _, h := range s.Hosts {
		if h.Silent {
			silent = append(silent, h.Name)
		}
		if h.Skew.Abs() > skewed.Skew.Abs() {
			skewed = h
		}
		if h.Spooled > waiting.Spooled {
			waiting = h
		}
	}
	if s.Down {
		alarm("HUB NOT REACHED")
	}
	words = append(words, ui.Word{Text: fmt.Sprintf("%s · %s/s · lag %.1f s · lost %s", count.Of(len(s.Hosts), "host"), rateText(s.Rate), s.Lag.Seconds(), sizeText(s.Lost))})
	if s.Lost > 0 {
		alarm("GAP " + sizeText(s.Lost))
	}
	switch n := len(silent); {
	case n == 1:
		alarm("SILENT " + silent[0])
	case n > 1:
		alarm(fmt.Sprintf("SILENT %s and %d more", silent[0], n-1))
	}
	if waiting.Spooled > 1<<20 {
		words = append(words, ui.Word{Text: fmt.Sprintf("%s has %s to send", waiting.Name, sizeText(waiting.Spooled))})
	}
	if skewed.Skew.Abs() > 5*time.Second {
		words = append(words, ui.Word{Text: fmt.Sprintf("the clock of %s is %s %s", skewed.Name, skewed.Skew.Abs().Round(time.Second), either(skewed.Skew > 0, "ahead", "behind"))})
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
