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
	in := fileInbox()
	o := ui.Options{Source: title(paths), Inbox: in, Prepare: prepare, Prices: prices}
	if a.speed != 0 {
		player := capture.NewPlayer(a.speed)
		src, o.Playback = capture.Paced(ctx, src, player), player
	}
	return a.show(o, func() { in.fill(src) })
}
