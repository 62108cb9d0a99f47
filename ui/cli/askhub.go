package cli

import (
	"context"
	"net/url"
	"time"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/ui/ask"
)

// hubRuns lists the runs on a hub. A run is the data that one agent on one machine published in the address's
// period.
type hubRuns struct {
	base  string     // address without its query
	query url.Values // the query of the address; if it does not set "until", its period ends now
	list  []ask.RunFile
	read  time.Time // time when the list was read; zero before that
}

// hubRunsAge is the maximum age of a list of runs on a hub.
const hubRunsAge = 2 * time.Second

// newHubRuns checks the address of a hub. Without a time, the period is the last 24 hours.
func (ip *inputs) newHubRuns(path string) (*hubRuns, error) {
	of, err := ip.hubAddress(path)
	switch {
	case err != nil:
		return nil, err
	case of.IsIndexed():
		return nil, usageErrorf("%s: ask can't select calls by model or state\nuse the tool 'calls', e.g. with bad=true", safeAddress(path))
	}
	u, err := url.Parse(path)
	if err != nil {
		return nil, usageErrorf("%s: not an address", safeAddress(path))
	}
	h := &hubRuns{query: u.Query()}
	if !h.query.Has("since") && !h.query.Has("until") {
		h.query.Set("since", "24h")
	}
	if !h.query.Has("until") {
		h.query.Set("until", "now")
	}
	u.RawQuery = ""
	h.base = u.String()
	return h, nil
}

// viewAddress returns the address that selects one run, or all runs, on the hub.
func (h *hubRuns) viewAddress() string { return h.base + "?" + h.query.Encode() }

// listRuns returns the runs on the hub.
func (h *hubRuns) listRuns(ip *inputs) ([]ask.RunFile, error) {
	if !h.read.IsZero() && time.Since(h.read) < hubRunsAge {
		return h.list, nil
	}
	ctx := context.Background()
	v, err := ip.openAskView(ctx, h.viewAddress())
	if err != nil {
		return nil, err
	}
	agents, err := v.Agents(ctx)
	if err != nil {
		return nil, err
	}
	h.read, h.list = time.Now(), nil
	for _, a := range agents {
		one := hubRuns{base: h.base, query: url.Values{}}
		for key, values := range h.query {
			one.query[key] = values
		}
		one.query.Set("host", a.Host)
		one.query.Set("agent", a.Name)
		h.list = append(h.list, ask.RunFile{ID: a.Host + "/" + a.Name, Path: one.viewAddress(), Bytes: a.Bytes, Written: a.Latest})
	}
	return h.list, nil
}

// openAskView connects to a hub. Unlike openView, it does not remember the view for a report at the end.
func (ip *inputs) openAskView(ctx context.Context, path string) (*fleet.View, error) {
	of, err := ip.hubAddress(path)
	if err != nil {
		return nil, err
	}
	auth, err := ip.hubAuth()
	if err != nil {
		return nil, err
	}
	return fleet.Open(ctx, of, auth)
}

// openRun opens the files of a run, or its data on a hub.
func (a *app) openRun(ctx context.Context, f ask.RunFile, progress *capture.Progress) (capture.Source, error) {
	if fleet.IsAddress(f.Path) {
		v, err := a.openAskView(ctx, f.Path)
		if err != nil {
			return nil, err
		}
		return v.Source(ctx), nil
	}
	o := a.reading.openOptions(false, nil)
	o.Progress = progress
	return capture.OpenAll(ctx, pathsOf(f.Path), o)
}
