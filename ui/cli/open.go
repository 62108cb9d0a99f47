package cli

import (
	"context"

	"toolscope/capture"
	"toolscope/ui"
)

// open shows files, standard input, or without either the demo.
func (a *app) open(ctx context.Context, args []string) error {
	if a.speed != 0 && (a.speed < capture.MinSpeed || a.speed > capture.MaxSpeed) {
		return usagef("--speed %g: from %g to %g", a.speed, float64(capture.MinSpeed), float64(capture.MaxSpeed))
	}
	if err := a.flags.check(); err != nil {
		return err
	}
	prepare, err := a.reading.prepare()
	if err != nil {
		return err
	}
	paths := a.paths(args)
	if len(paths) == 0 && a.reading.request != "" {
		return usagef("--request: no FILE to check and nothing on standard input\ntoolscope --request REQUEST FILE…, or - for standard input")
	}
	if len(paths) == 0 {
		return a.playDemo(ctx, tour)
	}
	if !isTerminal(a.output) {
		a.format = "text"
		return a.print(ctx, paths)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prices, err := a.prices()
	if err != nil {
		return err
	}
	src, err := a.sources(ctx, paths)
	if err != nil {
		return err
	}
	return a.watch(ctx, src, a.speed, ui.Options{Source: title(paths), Prepare: prepare, Prices: prices})
}

// watch shows a source, at so many times its own speed; 0 is as fast as it can be read.
func (a *app) watch(ctx context.Context, src capture.Source, speed float64, o ui.Options) error {
	in := fileInbox()
	o.Inbox = in
	if speed != 0 {
		player := capture.NewPlayer(speed)
		src, o.Playback = capture.Paced(ctx, src, player), player
	}
	return a.show(o, func() { in.fill(src) })
}
