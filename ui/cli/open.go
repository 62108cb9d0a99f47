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

// open shows files, standard input, or without either the demo.
func (a *app) open(ctx context.Context, args []string) error {
	if a.speed != 0 && (a.speed < capture.MinSpeed || a.speed > capture.MaxSpeed) {
		return usagef("--speed %g: from %g to %g", a.speed, float64(capture.MinSpeed), float64(capture.MaxSpeed))
	}
	prepare, err := a.reading.prepare()
	if err != nil {
		return err
	}
	paths := a.paths(args)
	if err := a.callsFit(paths); err != nil {
		return err
	}
	if len(paths) == 0 && a.reading.request != "" {
		return usagef("--request: no FILE to check and nothing on standard input\ntoolscope --request REQUEST FILE…, or - for standard input")
	}
	if a.sends.to != "" && (!a.follow || len(paths) == 0) {
		return usagef("--publish: what is sent is a file that is followed\ntoolscope -f FILE --publish URL")
	}
	if a.sends.to != "" && slices.ContainsFunc(paths, fleet.IsAddress) {
		return usagef("--publish: what a hub has is not sent to one again\nwanted is a FILE, as in toolscope -f FILE --publish URL")
	}
	if list := recents(); len(paths) == 0 && a.onScreen() && len(list) > 0 {
		return a.choose(ctx, list)
	}
	if len(paths) == 0 {
		return a.playDemo(ctx, tour)
	}
	if !a.onScreen() {
		a.format = "text"
		return a.print(ctx, paths)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prices, err := a.prices()
	if err != nil {
		return err
	}
	reading := a.reading.options(a.follow, a.stdin)
	far := &loading{ctx: ctx, began: time.Now()}
	reading.Progress = &far.Progress
	src, err := a.openAll(ctx, paths, reading)
	if err != nil {
		return err
	}
	src, end, err := a.publishing(ctx, src)
	if err != nil {
		return err
	}
	defer a.tellViews()
	defer func() {
		cancel() // what is still read ends before it is sent
		end()
	}()
	return a.watch(ctx, src, a.speed, ui.Options{Source: title(paths), Prepare: prepare, Prices: prices, Machines: a.hostStates(), Status: func() []ui.StatusNote {
		return append(far.words(), a.fleetWords()...)
	}})
}

// choose lists recordings to look at. None is deleted while it is looked at.
func (a *app) choose(ctx context.Context, list []recent) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prices, err := a.prices()
	if err != nil {
		return err
	}
	o := ui.Options{Source: "recordings", Prices: prices}
	var held []func()
	for _, r := range list[:min(len(list), mostRecent)] {
		o.Recent = append(o.Recent, ui.RecentCapture{Name: filepath.Base(r.Path), Bytes: r.Bytes, Written: r.Written, Open: r.Open, Read: func() ui.Inbox {
			held = append(held, record.Pin(r.Path))
			in := fileInbox()
			go in.fill(opened(ctx, r))
			return in
		}})
	}
	err = a.show(o, nil)
	for _, release := range held {
		release()
	}
	return err
}

// mostRecent is how many recordings are listed.
const mostRecent = 100

// opened is the source of a recording, which is followed while it is being written.
func opened(ctx context.Context, r recent) capture.Source {
	src, err := capture.OpenAll(ctx, pathsOf(r.Path), capture.Options{Follow: r.Open})
	if err != nil {
		return func(yield func(capture.Record, error) bool) { yield(capture.Record{}, err) }
	}
	return src
}

// watch shows a source, at so many times its own speed; 0 is as fast as it can be read.
func (a *app) watch(ctx context.Context, src capture.Source, speed float64, o ui.Options) error {
	in := fileInbox()
	o.Inbox = in
	if len(a.views) > 0 || a.sending != nil {
		go ring(ctx, o.Status, in.Wake)
	}
	if speed != 0 {
		player := capture.NewPlayer(speed)
		src, o.Playback = capture.Play(ctx, src, player), player
	}
	defer in.Close(nil) // who fills it waits for nobody then
	return a.show(o, func() { in.fill(src) })
}
