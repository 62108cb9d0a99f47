package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/capture/formats"
	"toolscope/capture/record"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui"
	"toolscope/ui/filter"
	"toolscope/ui/present"
)

// runOpen shows files or standard input. Without either, it shows recent captures or the demo.
func (ip *inputs) runOpen(ctx context.Context, args []string) error {
	if ip.app.speed != 0 && (ip.app.speed < capture.MinSpeed || ip.app.speed > capture.MaxSpeed) {
		return usageErrorf("--speed %g: out of range\nuse %g to %g", ip.app.speed, float64(capture.MinSpeed), float64(capture.MaxSpeed))
	}
	prepare, err := ip.reading.inspectorSetup()
	if err != nil {
		return err
	}
	paths := ip.inputPaths(args)
	if err := ip.checkHubFlags(paths); err != nil {
		return err
	}
	if len(paths) == 0 && ip.reading.request != "" {
		return usageErrorf("--request: needs a FILE to check, or standard input\ntoolscope --request REQUEST FILE…, or - for standard input")
	}
	if ip.app.sends.to != "" && (!ip.follow || len(paths) == 0) {
		return usageErrorf("--publish: needs -f and a FILE\ntoolscope -f FILE --publish URL")
	}
	if ip.app.sends.to != "" && slices.ContainsFunc(paths, fleet.IsAddress) {
		return usageErrorf("--publish: can't publish the data of a hub\nuse a FILE: toolscope -f FILE --publish URL")
	}
	if list := recentCaptures(); len(paths) == 0 && ip.app.onScreen() && len(list) > 0 {
		return ip.pickRecent(ctx, list)
	}
	if len(paths) == 0 {
		return ip.app.playDemo(ctx, tour)
	}
	if !ip.app.onScreen() {
		ip.app.format = "text"
		return ip.app.runPrint(ctx, paths)
	}
	if len(paths) == 1 && ip.app.speed == 0 && filepath.Ext(paths[0]) == record.Extension && record.IsOpen(paths[0]) {
		ip.follow = true // as if the user had opened it from the list of captures
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prices, err := ip.app.loadPrices()
	if err != nil {
		return err
	}
	reading := ip.reading.openOptions(ip.follow, ip.app.stdin)
	far := &loadProgress{ctx: ctx, began: time.Now()}
	reading.Progress = &far.Progress
	src, err := ip.openAll(ctx, paths, reading)
	if err != nil {
		return err
	}
	src, end, err := ip.app.publishFollowed(ctx, src)
	if err != nil {
		return err
	}
	defer ip.reportViews()
	defer func() {
		cancel() // stop reading before the remaining data is sent
		end()
	}()
	return ip.showSource(ctx, src, ip.app.speed, ui.Options{Source: sourceTitle(paths), Prepare: prepare, Prices: prices, Static: ip.isStatic(paths), Machines: ip.machineStates(), Status: func() []ui.StatusNote {
		return append(far.statusNotes(), ip.hubStatusNotes()...)
	}})
}

// isStatic reports whether all data of the sources already exists.
func (ip *inputs) isStatic(paths []string) bool {
	return !ip.follow && ip.app.speed == 0 && len(ip.views) == 0 && !slices.Contains(paths, "-")
}

// pickRecent shows a list of captures, from which the user can open one. A capture is not pruned while it is shown.
func (ip *inputs) pickRecent(ctx context.Context, list []recentCapture) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prices, err := ip.app.loadPrices()
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
	err = ip.app.showScreen(o, nil)
	for _, release := range held {
		release()
	}
	return err
}

// maxRecent is the maximum number of listed captures.
const maxRecent = 100

// recentSource returns the source of a capture. It follows a capture that is still being written.
func recentSource(ctx context.Context, r recentCapture) capture.Source {
	src, err := capture.OpenAll(ctx, pathsOf(r.Path), capture.Options{Follow: r.Open})
	if err != nil {
		return func(yield func(capture.Record, error) bool) { yield(capture.Record{}, err) }
	}
	return src
}

// showSource shows a source at a multiple of its recorded speed. A speed of 0 means as fast as possible.
func (ip *inputs) showSource(ctx context.Context, src capture.Source, speed float64, o ui.Options) error {
	in := fileInbox()
	o.Inbox = in
	if len(ip.views) > 0 || ip.app.sending != nil {
		go ringOnChange(ctx, o.Status, in.Wake)
	}
	if speed != 0 {
		player := capture.NewPlayer(speed)
		src, o.Playback = capture.Play(ctx, src, player), player
	}
	defer in.Close(nil) // stops fillFrom
	return ip.app.showScreen(o, func() { in.fillFrom(src) })
}

// loadProgress tracks the progress of reading files. The screen shows this progress.
type loadProgress struct {
	capture.Progress
	began   time.Time
	ctx     context.Context // ends when the estimate is no longer needed
	once    sync.Once       // starts the estimate once
	answers atomic.Int64    // estimated number of turns; 0 until it is known
}

// shortLoad is the time after which progress is shown.
const shortLoad = time.Second / 2

// statusNotes returns the progress. It returns nothing before shortLoad, or when everything has been read.
func (l *loadProgress) statusNotes() []ui.StatusNote {
	read, size := l.State()
	took := time.Since(l.began)
	if read >= size || took < shortLoad {
		return nil
	}
	if size >= minSurveyedBytes {
		l.once.Do(func() { go l.estimateTurns() })
	}
	words := []ui.StatusNote{{Text: loadText(read, size, took)}}
	if n := l.answers.Load(); n > 0 {
		words = append(words, ui.StatusNote{Text: "about " + count.Of(int(n), "turn")})
	}
	return words
}

// minSurveyedBytes is the minimum total size for an estimate of the number of turns. Smaller files are read
// quickly enough.
const minSurveyedBytes = 64 << 20

// estimateTurns estimates the number of turns in the files, while another goroutine reads them.
func (l *loadProgress) estimateTurns() {
	n := l.Survey(l.ctx, formats.Marks(), 1)
	if l.ctx.Err() == nil {
		l.answers.Store(n.Responses)
	}
}

// loadText describes the progress: the part that was read, the speed, and the remaining time.
func loadText(read, size int64, took time.Duration) string {
	rate := float64(read) / took.Seconds()
	text := fmt.Sprintf("reading %d %% of %s, %s/s", 100*read/max(size, 1), sizeText(size), sizeText(int64(rate)))
	if left := float64(size-read) / max(rate, 1); left < 100*3600 {
		text += fmt.Sprintf(", %s left", (time.Duration(left*float64(time.Second)) + time.Second).Truncate(time.Second))
	}
	return text
}

// openSources opens the files, directories, patterns and hub addresses in paths.
func (ip *inputs) openSources(ctx context.Context, paths []string) (capture.Source, error) {
	return ip.openAll(ctx, paths, ip.reading.openOptions(ip.follow, ip.app.stdin))
}

// openSource opens one path in order to read it once.
func (ip *inputs) openSource(ctx context.Context, path string) (capture.Source, error) {
	o := ip.reading.openOptions(ip.follow, ip.app.stdin)
	o.ReadOnce = !ip.reading.places
	return ip.openOne(ctx, path, o)
}

// openInParts is like openSource, but for readers that don't need individual records.
func (ip *inputs) openInParts(ctx context.Context, path string) (capture.Source, error) {
	o := ip.reading.openOptions(ip.follow, ip.app.stdin)
	o.ReadOnce, o.AllowChunks, o.Lend = !ip.reading.places, !ip.reading.places, !ip.reading.places
	return ip.openOne(ctx, path, o)
}

// looksLike guesses the kind of payload that a format found.
func looksLike(payload []byte) capture.PayloadGuess {
	switch providers.LooksLike(payload) {
	case providers.LooksLikeChunk:
		return capture.Chunk
	case providers.LooksLikeBody:
		return capture.Body
	case providers.LooksLikeEvents:
		return capture.Events
	case providers.LooksLikeRequest:
		return capture.Ask
	}
	return capture.Nothing
}

// eachSource calls the function do, with a new inspector, for every file that paths name. A file is read ahead while
// its records are processed. After an error in one file, the other files are still read. The captures of one run are
// one source: the captures in a directory and, if ip.joins is true, those that the user named.
func (ip *inputs) eachSource(ctx context.Context, paths []string, do func(src capture.Source, path string, in *providers.Inspector) error) error {
	prepare, err := ip.reading.inspectorSetup()
	if err != nil {
		return err
	}
	if ip.joins && len(paths) > 1 {
		if files, _, err := capture.Find(paths); err == nil && capture.IsRun(files) {
			if !ip.skipsKnown(files...) {
				ip.doRun(ctx, paths[0], files, prepare, do)
			}
			return nil
		}
	}
	for _, path := range paths {
		files, left, err := findCaptures(path)
		for _, text := range left {
			ip.app.printNote("%s", text)
		}
		if err != nil {
			ip.app.failWith(err)
		}
		if capture.IsRun(files) {
			if !ip.skipsKnown(files...) {
				ip.doRun(ctx, path, files, prepare, do)
			}
			continue
		}
		if ip.together != nil && len(files) > 1 {
			ip.failIf(ip.together(files, prepare))
			ip.reportUnrecognised(path, len(files))
			continue
		}
		for _, ip.found = range files {
			if ip.skipsKnown(ip.found) {
				continue
			}
			in := new(providers.Inspector)
			prepare(in)
			src, err := ip.openInParts(ctx, ip.found.Path)
			if err == nil {
				err = do(ip.app.failOnDamage(capture.ReadAhead(src)), ip.found.Path, in)
			}
			ip.failIf(err)
		}
		ip.reportUnrecognised(path, len(files))
		ip.found = capture.FoundFile{}
	}
	return nil
}

// skipsKnown reports whether the next source can be skipped because its content is already known.
func (ip *inputs) skipsKnown(files ...capture.FoundFile) bool {
	return ip.isKnown != nil && ip.isKnown(files)
}

// doRun calls do once for the captures of one run, as one source.
func (ip *inputs) doRun(ctx context.Context, path string, files []capture.FoundFile, prepare func(*providers.Inspector), do func(capture.Source, string, *providers.Inspector) error) {
	in, o := new(providers.Inspector), ip.reading.openOptions(false, ip.app.stdin)
	prepare(in)
	ip.isRun, o.ReadOnce = true, true
	src, err := capture.OpenAll(ctx, mapSlice(files, func(f capture.FoundFile) string { return f.Path }), o)
	if err == nil {
		err = do(ip.app.failOnDamage(capture.ReadAhead(src)), path, in)
	}
	ip.failIf(err)
	ip.isRun = false
}

// failIf reports err if it is not nil.
func (ip *inputs) failIf(err error) {
	if err != nil {
		ip.app.failWith(err)
	}
}

// isOneOfMany reports whether the current file was found in a directory or by a pattern, rather than named by the
// user.
func (ip *inputs) isOneOfMany() bool { return ip.found.In != "" }

// reportUnrecognised prints one line about the unrecognised files from a directory or pattern. If no file is
// recognised, the run fails.
func (ip *inputs) reportUnrecognised(path string, files int) {
	list := ip.unrecognised
	if ip.unrecognised = nil; len(list) == 0 {
		return
	}
	shown := list[:min(len(list), maxUnrecognised)]
	names := strings.Join(shown, ", ")
	if n := len(list) - len(shown); n > 0 {
		names += fmt.Sprintf(" and %d more", n)
	}
	ip.app.printNote("%s: %d of %s not recognised: %s", path, len(list), count.Of(files, "file"), names)
	if len(list) == files {
		ip.app.code = max(ip.app.code, 1)
	}
}

// maxUnrecognised is the maximum number of unrecognised files whose names are printed.
const maxUnrecognised = 5

// mapSource returns a source that passes each record through the function change.
func mapSource(src capture.Source, change func(*capture.Record)) capture.Source {
	return func(yield func(capture.Record, error) bool) {
		for r, err := range src {
			change(&r)
			if !yield(r, err) {
				return
			}
		}
	}
}

// copySource passes a source's records to put until put returns false. At the end of the source, it calls end with
// the source's error, or with nil.
func copySource(src capture.Source, put func(capture.Record) bool, end func(error)) {
	for r, err := range src {
		if err != nil {
			end(err)
			return
		}
		if !put(r) {
			return
		}
	}
	end(nil)
}

// inputPaths returns the arguments. If there are none and standard input is piped, it returns standard input.
func (ip *inputs) inputPaths(args []string) []string {
	if len(args) == 0 && isPiped(ip.app.stdin) {
		return []string{"-"}
	}
	return args
}

// somePaths is like inputPaths, but for a command that needs a path. The parameter what names the missing argument in
// the error.
func (ip *inputs) somePaths(cmd *cobra.Command, args []string, what string) ([]string, error) {
	paths := ip.inputPaths(args)
	if len(paths) == 0 {
		return nil, usageErrorf("%s: needs a %s, or data on standard input\n%s %[2]s…, or - for standard input", cmd.Name(), what, cmd.CommandPath())
	}
	return paths, nil
}

// isPiped reports whether standard input is a pipe or a file, not a terminal or a null device.
func isPiped(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}

// fileTitle returns the name of a file in reports: its path, or the name of standard input.
func fileTitle(path string) string { return ifElse(path == "-", "stdin", path) }

// sourceTitle returns a short name for the source.
func sourceTitle(paths []string) string {
	switch {
	case len(paths) == 1 && paths[0] == "-":
		return "stdin"
	case len(paths) == 1 && fleet.IsAddress(paths[0]):
		return "hub " + safeAddress(paths[0])
	case len(paths) == 1:
		path := paths[0]
		if full, err := filepath.Abs(path); err == nil { // "." and ".." have a name too
			path = full
		}
		return filepath.Base(path)
	}
	return fmt.Sprintf("%s and %d more", filepath.Base(paths[0]), len(paths)-1)
}

func (ip *inputs) followFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&ip.follow, "follow", "f", false, "")
}

// readFile returns the content of a file. The error does not contain the path, because the caller adds it.
func readFile(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return text, err
}

// turnFilter selects the turns that a command reports. A nil turnFilter selects all turns.
type turnFilter struct {
	*filter.Filter
	prices *price.Table
}

// addFilterFlag adds the flag --filter.
func (ip *inputs) addFilterFlag(to *pflag.FlagSet) {
	to.StringVar(&ip.filter, "filter", "", "")
}

// parseFilter parses the value of --filter.
func (ip *inputs) parseFilter(prices *price.Table) error {
	f, faults := filter.Parse(ip.filter)
	switch {
	case len(faults) > 0:
		return usageErrorf("--filter: %v", faults[0])
	case f.Since() > 0:
		return usageErrorf("--filter since: a duration has no meaning here, because turns are printed as they arrive\nuse a time of day, e.g. since:14:05")
	case !f.Empty():
		ip.turnFilter = &turnFilter{f, prices}
	}
	return nil
}

// matches reports whether a turn is selected.
func (o *turnFilter) matches(in *providers.Inspector, t *stream.Turn) bool {
	if o == nil {
		return true
	}
	turns := in.Session().Turns
	cost := func(t *stream.Turn) price.Figure { return present.CostOf(o.prices, in.Exchange(t.Exchange), t) }
	return o.MatchesTurn(&filter.Source{View: in.View(), Cost: cost, Now: turns[len(turns)-1].OpenedAt}, t)
}

// filterHelp writes the page about the filter syntax.
func filterHelp(l lineWriter) {
	l.writeWrapped("", "You can use a filter with the key f on the screen, with --filter (print, check, stats) and with --break (proxy, run). A turn matches if all words match. A minus sign in front of a word negates it. A word in quotation marks is text, never a field. A word without a field matches text in the row of a turn or call (tool, id, state, model, code), in the arguments of calls and in the text of turns.")
	l.printLine("")
	for _, f := range filter.Fields() {
		l.printLine("  %-28s %s", f.Example, f.Does)
	}
	l.printLine("")
	l.printLine("  state:bad model:sonnet cost>0.01 \"two words\" -tool:notify")
}

// countFiles writes the number of lines in each file, and an estimate of the number of responses. It does not
// decode the files.
func (ip *inputs) countFiles(ctx context.Context, paths []string) error {
	to := ip.app.stdout.withBuffer()
	for _, path := range paths {
		if path == "-" {
			return usageErrorf("--count: needs files, because it can't estimate standard input without reading all of it\nuse --summary")
		}
		if fleet.IsAddress(path) {
			return usageErrorf("--count: needs files, because it can't estimate data on a hub without reading all of it\nuse --summary")
		}
		files, left, err := capture.Find([]string{path})
		for _, text := range left {
			ip.app.printNote("%s", text)
		}
		if err != nil {
			ip.app.failWith(err)
		}
		for _, f := range files {
			n, err := capture.Survey(ctx, f.Path, formats.Marks(), runtime.GOMAXPROCS(0))
			if err != nil {
				ip.app.failWith(err)
				continue
			}
			if ip.app.format == "jsonl" {
				to.writeObject(countObject(f.Path, n))
			} else {
				to.printLine("%s: %s", f.Path, countText(n))
			}
		}
	}
	return to.flush()
}

// countText describes a file in words.
func countText(n capture.FileSurvey) string {
	size := count.Of(int(n.Lines), "line") + ", " + sizeText(n.Bytes)
	switch {
	case n.Lines == 0 && n.Responses == 0:
		return sizeText(n.Bytes) + "; use --summary to read it"
	case n.Responses == 0:
		return size + "; no sign of a response: use --summary to read it"
	}
	return fmt.Sprintf("about %s, %s", count.Of(int(n.Responses), "response"), size)
}

// countObject describes a file as a JSON object.
func countObject(path string, n capture.FileSurvey) *jsonObject {
	var o jsonObject
	o.text("type", "count")
	o.text("file", path)
	o.int("bytes", int(n.Bytes))
	o.int("lines", int(n.Lines))
	if n.Responses > 0 {
		o.int("answers_about", int(n.Responses))
	}
	return &o
}
