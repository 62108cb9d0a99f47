package cli

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/capture/record"
	"toolscope/ui"
)

// runOpen shows files or standard input; without either, recent captures or the demo.
func (a *app) runOpen(ctx context.Context, args []string) error {
	if a.speed != 0 && (a.speed < capture.MinSpeed || a.speed > capture.MaxSpeed) {
		return usageErrorf("--speed %g: out of range\nuse %g to %g", a.speed, float64(capture.MinSpeed), float64(capture.MaxSpeed))
	}
	prepare, err := a.reading.inspectorSetup()
	if err != nil {
		return err
	}
	paths := a.inputPaths(args)
	if err := a.checkHubFlags(paths); err != nil {
		return err
	}
	if len(paths) == 0 && a.reading.request != "" {
		return usageErrorf("--request: needs a FILE to check, or standard input\ntoolscope --request REQUEST FILE…, or - for standard input")
	}
	if a.sends.to != "" && (!a.follow || len(paths) == 0) {
		return usageErrorf("--publish: needs a FILE that is followed\ntoolscope -f FILE --publish URL")
	}
	if a.sends.to != "" && slices.ContainsFunc(paths, fleet.IsAddress) {
		return usageErrorf("--publish: can't publish the data of a hub\nuse a FILE: toolscope -f FILE --publish URL")
	}
	if list := recentCaptures(); len(paths) == 0 && a.onScreen() && len(list) > 0 {
		return a.pickRecent(ctx, list)
	}
	if len(paths) == 0 {
		return a.playDemo(ctx, tour)
	}
	if !a.onScreen() {
		a.format = "text"
		return a.runPrint(ctx, paths)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prices, err := a.loadPrices()
	if err != nil {
		return err
	}
	reading := a.reading.openOptions(a.follow, a.stdin)
	far := &loadProgress{ctx: ctx, began: time.Now()}
	reading.Progress = &far.Progress
	src, err := a.openAll(ctx, paths, reading)
	if err != nil {
		return err
	}
	src, end, err := a.publishFollowed(ctx, src)
	if err != nil {
		return err
	}
	defer a.reportViews()
	defer func() {
		cancel() // stop reading before the remaining data is sent
		end()
	}()
	return a.showSource(ctx, src, a.speed, ui.Options{Source: sourceTitle(paths), Prepare: prepare, Prices: prices, Machines: a.machineStates(), Status: func() []ui.StatusNote {
		return append(far.statusNotes(), a.hubStatusNotes()...)
	}})
}

// pickRecent lists captures to choose from. A capture isn't pruned while it is shown.
func (a *app) pickRecent(ctx context.Context, list []recentCapture) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prices, err := a.loadPrices()
	if err != nil {
		return err
	}
	o := ui.Options{Source: "captures", Prices: prices}
	var held []func()
	for _, r := range list[:min(len(list), maxRecent)] {
		o.Recent = append(o.Recent, ui.RecentCapture{Name: filepath.Base(r.Path), Bytes: r.Bytes, Written: r.Written, Open: r.Open, Read: func() ui.Inbox {
			held = append(held, record.Pin(r.Path))
			in := fileInbox()
			go in.fillFrom(recentSource(ctx, r))
			return in
		}})
	}
	err = a.showScreen(o, nil)
	for _, release := range held {
		release()
	}
	return err
}

// maxRecent is the maximum number of listed captures.
const maxRecent = 100

// recentSource returns the source of a capture, which is followed while it is being written.
func recentSource(ctx context.Context, r recentCapture) capture.Source {
	src, err := capture.OpenAll(ctx, pathsOf(r.Path), capture.Options{Follow: r.Open})
	if err != nil {
		return func(yield func(capture.Record, error) bool) { yield(capture.Record{}, err) }
	}
	return src
}

// showSource shows a source at a multiple of its recorded speed; 0 means as fast as it can be read.
func (a *app) showSource(ctx context.Context, src capture.Source, speed float64, o ui.Options) error {
	in := fileInbox()
	o.Inbox = in
	if len(a.views) > 0 || a.sending != nil {
		go ringOnChange(ctx, o.Status, in.Wake)
	}
	if speed != 0 {
		player := capture.NewPlayer(speed)
		src, o.Playback = capture.Play(ctx, src, player), player
	}
	defer in.Close(nil) // stops fillFrom
	return a.showScreen(o, func() { in.fillFrom(src) })
}
