package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/stream/count"
)

// hubFlags are the credentials for a hub.
type hubFlags struct{ creds, nkey, token, ca string }

func (a *app) hubFlags(cmd *cobra.Command) {
	to := cmd.Flags()
	to.StringVar(&a.hub.creds, "creds", "", "")
	to.StringVar(&a.hub.nkey, "nkey", "", "")
	to.StringVar(&a.hub.token, "hub-token", "", "")
	to.StringVar(&a.hub.ca, "hub-ca", "", "")
	markSettings(to, "", "creds", "nkey", "hub-ca")
	markSecretSetting(to, "", "hub-token")
	cmd.MarkFlagsMutuallyExclusive("creds", "nkey", "hub-token")
}

// hubAuth returns the credentials of the flags. A token is not allowed on the command line, which all
// programs can read.
func (a *app) hubAuth() (auth fleet.Credentials, err error) {
	auth = fleet.Credentials{Creds: a.hub.creds, NKey: a.hub.nkey, CA: a.hub.ca}
	if err = auth.Check(); err != nil || a.hub.token == "" {
		return auth, err
	}
	if _, elsewhere := a.origin["hub-token"]; !elsewhere && !strings.HasPrefix(a.hub.token, "@") {
		return auth, usageErrorf("--hub-token: not allowed on the command line, which all programs can read\nuse @FILE, or the variable TOOLSCOPE_HUB_TOKEN")
	}
	if auth.Token, err = textOrFile(a.hub.token); err != nil {
		return auth, fmt.Errorf("--hub-token: %w", err)
	}
	auth.Token = strings.TrimSpace(auth.Token)
	return auth, nil
}

// openView connects to a hub.
func (a *app) openView(ctx context.Context, path string) (*fleet.View, error) {
	of, err := a.hubAddress(path)
	if err != nil {
		return nil, err
	}
	auth, err := a.hubAuth()
	if err != nil {
		return nil, err
	}
	v, err := fleet.Open(ctx, of, auth)
	if err != nil {
		return nil, err
	}
	a.views = append(a.views, v)
	return v, nil
}

// openHubSource opens the captures of a hub.
func (a *app) openHubSource(ctx context.Context, path string) (capture.Source, error) {
	v, err := a.openView(ctx, path)
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

// reportViews reports, once for each hub, which data of its captures is missing.
func (a *app) reportViews() {
	for ; a.reportedViews < len(a.views); a.reportedViews++ {
		v := a.views[a.reportedViews]
		s := v.State()
		if s.Newer > 0 {
			a.printNote("%s: %s from another version of toolscope", v.Server(), count.Of(int(s.Newer), "message"))
		}
		if !s.Complete() {
			a.printNote("%s: %s", v.Server(), missingWords(&s))
			a.code = exitGaps // even after a signal
		}
	}
}

// missingWords describes the data that is missing from a hub.
func missingWords(s *fleet.State) string {
	var words []string
	if s.Lost > 0 {
		words = append(words, fmt.Sprintf("%s of captures are missing, in %s", count.Of(s.Lost, "byte"), count.Of(int(s.Gaps), "gap")))
	}
	if s.Missed > 0 {
		words = append(words, fmt.Sprintf("toolscope missed %s that the hub dropped", count.Of(int(s.Missed), "message")))
	}
	if s.MaybeMissed > 0 {
		words = append(words, fmt.Sprintf("toolscope missed at most %s that the hub dropped", count.Of(int(s.MaybeMissed), "message")))
	}
	if s.Resets > 0 {
		words = append(words, "the hub lost data before it was read")
	}
	if s.Invalid > 0 {
		words = append(words, fmt.Sprintf("%s could not be decoded", count.Of(int(s.Invalid), "message")))
	}
	return strings.Join(words, "; ")
}

// untilCaught returns a context that ends when a signal arrives.
func (a *app) untilCaught(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	caught, uncatch := a.catchEnd()
	over := make(chan error)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = a.waitForEnd(over, caught)
		cancel()
	}()
	return ctx, func() {
		close(over)
		<-done
		uncatch()
	}
}

// isEndless reports whether a path is a hub without an end.
func isEndless(paths []string) bool {
	for _, path := range paths {
		if of, err := fleet.ParseAddress(path); fleet.IsAddress(path) && err == nil && of.Until.IsZero() {
			return true
		}
	}
	return false
}

// hasStartTime reports whether a path is the address of a hub with a start time. Such a source may be empty.
func hasStartTime(path string) bool {
	of, err := fleet.ParseAddress(path)
	return fleet.IsAddress(path) && err == nil && !of.Since.IsZero()
}

// openOne opens a path that is read to its end; the address of a hub must have an end.
func (a *app) openOne(ctx context.Context, path string, o capture.Options) (capture.Source, error) {
	switch {
	case !fleet.IsAddress(path):
		return capture.Open(ctx, path, o)
	case isEndless([]string{path}):
		return nil, usageErrorf("%s: the address has no end, but this command reads to the end\nuse an address with an end, e.g. %s", safeAddress(path), withEnd(path))
	}
	return a.openHubSource(ctx, path)
}

// withEnd returns an address that ends now.
func withEnd(path string) string {
	return strings.TrimSuffix(safeAddress(path), "/") + ifElse(strings.Contains(path, "?"), "&", "?") + "until=now"
}

// openAll joins all paths, which may be addresses of hubs, into one source.
func (a *app) openAll(ctx context.Context, paths []string, o capture.Options) (capture.Source, error) {
	var files []string
	var all []capture.Source
	for _, path := range paths {
		if !fleet.IsAddress(path) {
			files = append(files, path)
			continue
		}
		src, err := a.openHubSource(ctx, path)
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

// findCaptures lists the files of a path, like capture.Find. The address of a hub counts as one file.
func findCaptures(path string) ([]capture.FoundFile, []string, error) {
	if fleet.IsAddress(path) {
		return []capture.FoundFile{{Path: path}}, nil, nil
	}
	return capture.Find([]string{path})
}
