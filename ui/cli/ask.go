package cli

import (
	"bufio"
	"cmp"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/capture/record"
	"toolscope/capture/redact"
	"toolscope/providers"
	"toolscope/providers/client"
	"toolscope/providers/price"
	"toolscope/ui/ask"
)

func (a *app) askCommand() *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use: "ask [TOOL] [SOURCE…] [KEY=VALUE…]", Short: "Answer an agent's questions about calls (MCP)",
		Example: "claude mcp add toolscope -- toolscope ask\ntoolscope ask problems run.tsc severity=error\ntoolscope ask call run.tsc ref=run#2.1",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.runAsk(args, &f) },
	}
	cmd.Flags().BoolVar(&f.all, "all", false, "")
	cmd.Flags().StringVar(&f.dir, "dir", "", "")
	a.hubFlags(cmd)
	return cmd
}

// askFlags are the flags of ask. They select captures in toolscope's folder.
type askFlags struct {
	all bool
	dir string // only the captures that were started in this folder or below it
}

// runAsk serves clients, prints one answer, or prints how to add the MCP server to a client.
func (a *app) runAsk(args []string, f *askFlags) error {
	tool, given, sources := "", map[string]string{}, []string(nil)
	var hubs []*hubRuns
	for i, arg := range args {
		key, value, isPair := strings.Cut(arg, "=")
		switch {
		case i == 0 && slices.Contains(ask.ToolNames(), arg):
			tool = arg
		case fleet.IsAddress(arg):
			h, err := a.newHubRuns(arg)
			if err != nil {
				return err
			}
			hubs = append(hubs, h)
		case tool != "" && isPair && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_") == "":
			given[key] = value
		default:
			sources = append(sources, arg)
		}
	}
	if tool == "" && !isPiped(a.stdin) {
		a.stdout.printLine("toolscope ask answers an agent's questions about its own tool calls. To add it:")
		a.stdout.printLine("")
		for _, line := range askSetupLines(append([]string{"toolscope", "ask"}, args...)) {
			a.stdout.printLine("%s", line)
		}
		a.stdout.printLine("")
		a.stdout.printLine("For one run: toolscope run --ask -- CLIENT")
		a.stdout.printLine("'toolscope ask problems' prints one answer; 'toolscope help ask' lists the tools.")
		return nil
	}
	prices, err := a.loadPrices()
	if err != nil {
		return err
	}
	a.reading.places = true
	lib := &askLibrary{redactor: newRedactor(), prices: prices, sources: sources, hubs: hubs, read: map[string]*askReading{}, open: a.openRun, listHub: func(h *hubRuns) ([]ask.RunFile, error) { return h.listRuns(&a.inputs) }}
	if lib.all = f.all; f.dir != "" || len(sources)+len(hubs) == 0 {
		if lib.dir, err = filepath.Abs(f.dir); err != nil {
			return err
		}
	}
	server := &ask.Server{Version: versionText(), Library: lib, Patience: askPatience}
	if tool == "" {
		return server.Serve(a.stdin, a.output)
	}
	server.Patience = time.Hour // wait a long time, because a script can't repeat the question
	text, err := server.Call(tool, given, nil)
	if err == nil {
		_, err = io.WriteString(a.output, text)
		return err
	}
	if errors.As(err, new(ask.UsageError)) {
		return usageErrorf("ask %s", server.ErrorText(err))
	}
	return errors.New(server.ErrorText(err))
}

// askPatience is the maximum time that a client waits for runs to be read.
const askPatience = 800 * time.Millisecond

// askLibrary has the captures that ask can answer questions about. It keeps the latest runs in memory.
type askLibrary struct {
	redactor *redact.Redactor
	prices   *price.Table
	sources  []string // files and folders
	hubs     []*hubRuns
	dir      string // include the captures in toolscope's folder that were started in dir or below it; "" for none
	all      bool   // include all captures in toolscope's folder
	read     map[string]*askReading
	order    []string // keys of the map read, the oldest first

	open    func(context.Context, ask.RunFile, *capture.Progress) (capture.Source, error)
	listHub func(*hubRuns) ([]ask.RunFile, error)
}

// askReading is the reading of a run, with its result when it has ended.
type askReading struct {
	file     ask.RunFile
	done     chan struct{}
	progress capture.Progress
	run      *ask.Run
	err      error
	earlier  *ask.Run // the run from the previous reading, before the file changed; nil if there was none
}

// maxAskRuns is the maximum number of runs that are kept in memory.
const maxAskRuns = 8

// Redact returns text with its secrets replaced.
func (lib *askLibrary) Redact(text string) string { return lib.redactor.Text(text) }

// maxRunID is the maximum number of bytes of a run's name that are used as its id.
const maxRunID = 100

// Runs lists the runs, the newest first.
func (lib *askLibrary) Runs() (list []ask.RunFile, err error) {
	paths, err := lib.listPaths()
	if err != nil {
		return nil, err
	}
	ids, seen := map[string]int{}, map[string]bool{}
	for _, path := range paths {
		file, session := capture.SplitSession(path)
		info, err := os.Stat(file)
		dir, name := filepath.Split(file)
		if err != nil || !info.Mode().IsRegular() || seen[path] || seen[filepath.Clean(dir)] {
			continue
		}
		seen[path] = true
		id := strings.TrimSuffix(name, filepath.Ext(name))
		if id = id[:min(len(id), maxRunID)]; session != "" {
			id += "#" + session
		}
		if ids[id]++; ids[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, ids[id])
		}
		f := ask.RunFile{ID: id, Path: path, Bytes: info.Size(), Written: info.ModTime()}
		if log, err := os.Stat(file + "-wal"); err == nil && log.ModTime().After(f.Written) { // the latest changes to an SQLite database
			f.Bytes, f.Written = f.Bytes+log.Size(), log.ModTime()
		}
		if filepath.Ext(file) == record.Extension {
			f.Live = record.IsOpen(file)
			seen[record.CompanionDir(filepath.Clean(file))] = true // the captures in the companion folder are part of this run
		}
		list = append(list, f)
	}
	for _, h := range lib.hubs {
		runs, err := lib.listHub(h)
		if err != nil {
			return nil, err
		}
		list = append(list, runs...)
	}
	slices.SortStableFunc(list, func(a, b ask.RunFile) int { return b.Written.Compare(a.Written) })
	return list, nil
}

// listPaths lists the files of the sources and the selected captures in toolscope's folder. A capture comes before
// the captures in its companion folder.
func (lib *askLibrary) listPaths() (paths []string, err error) {
	if lib.all || lib.dir != "" {
		for _, r := range recentCaptures() {
			if lib.all || isBelow(dirOfCapture(r.Path), lib.dir) {
				paths = append(paths, r.Path)
			}
		}
	}
	if len(lib.sources) > 0 {
		found, _, err := capture.Find(lib.sources)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			paths = append(paths, f.Path)
		}
	}
	slices.SortStableFunc(paths, func(a, b string) int {
		return cmp.Compare(strings.Count(filepath.ToSlash(a), "/"), strings.Count(filepath.ToSlash(b), "/"))
	})
	return paths, nil
}

// dirOfCapture returns the folder in which a capture was started, or "" if the capture can't be read or does not name
// it.
func dirOfCapture(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(f, 64<<10).ReadSlice('\n')
	var head struct {
		Dir string `json:"dir"`
	}
	if stdjson.Unmarshal(line, &head) != nil {
		return ""
	}
	return head.Dir
}

// isBelow reports whether dir is top, or a folder inside top.
func isBelow(dir, top string) bool {
	rel, err := filepath.Rel(top, dir)
	return dir != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Open returns a run. It reads the run again if the file has changed and no reading is in progress. If reading takes
// longer than wait, it returns the result of the previous reading, or else a StillReading error. The reading
// continues in the background.
func (lib *askLibrary) Open(f ask.RunFile, wait time.Duration) (*ask.Run, error) {
	r := lib.read[f.Path]
	if r == nil || r.file != f && r.isDone() {
		next := &askReading{file: f, done: make(chan struct{})}
		if r != nil {
			next.earlier = r.run
		}
		r = next
		lib.read[f.Path] = r
		lib.order = append(slices.DeleteFunc(lib.order, func(p string) bool { return p == f.Path }), f.Path)
		if len(lib.order) > maxAskRuns {
			delete(lib.read, lib.order[0])
			lib.order = lib.order[1:]
		}
		go lib.readRun(r)
	}
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case <-r.done:
		return r.run, r.err
	case <-late.C:
		if r.earlier != nil {
			return r.earlier, nil
		}
		read, size := r.progress.State()
		return nil, ask.StillReading{Percent: int(100 * read / max(size, 1))}
	}
}

func (r *askReading) isDone() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// readRun reads a run through a redactor. If a program is still recording the run, its open calls stay open.
func (lib *askLibrary) readRun(r *askReading) {
	defer close(r.done)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	src, err := lib.open(ctx, r.file, &r.progress)
	if err != nil {
		r.err = err
		return
	}
	in, places := new(providers.Inspector), &locator{path: r.file.Path, of: map[int]*byteMap{}}
	redactor, latest := newRedactor(), map[capture.Stream]capture.Location{}
	take := func(c capture.Record) {
		if of := c.Stream(); c.Location.File != nil {
			latest[of] = c.Location
		} else {
			c.Location = latest[of] // the rest of a record whose beginning was already passed on
		}
		if from := c.Location.File; from == nil || from.Path() == r.file.Path {
			places.addRecord(&c)
		}
		core := coreRecord(c)
		core.Location.Source = nil // no source, because reading it again would bring back its secrets
		in.Write(core)
	}
	for rec, err := range src {
		if err != nil { // damage is noted in the data
			if r.err = err; len(in.Exchanges()) == 0 {
				return
			}
			break
		}
		for _, c := range redactor.Take(rec) {
			take(c.Unwrap())
		}
	}
	for _, c := range redactor.Flush() {
		take(c.Unwrap())
	}
	in.Close()
	lines := lineStarts(r.file.Path)
	r.err, r.run = nil, &ask.Run{RunFile: r.file, View: in.View(), Prices: lib.prices,
		Lines: func(event int) (first, last int) {
			at := places.find(in, event)
			if at.End <= at.Start {
				return 0, 0
			}
			return lineOfOffset(lines, at.Start), lineOfOffset(lines, at.End-1)
		},
		Records: func(line, around int) []ask.RecordLine { return places.recordsNear(in, lines, line, around) },
	}
}

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

// askSetupLines returns, for each client, the command line or the setting that adds a server with this command.
func askSetupLines(command []string) (lines []string) {
	for _, p := range client.ProxySetups {
		how := p.Servers()
		if text := cmp.Or(how.Adds, p.Settings.File+": "+how.Setting); how.Adds+how.Setting != "" {
			lines = append(lines, fmt.Sprintf("  %-12s %s%s", p.Title, fillCommand(text, command), textIf(how.Adding != client.Ran, "  (not tested)")))
		}
	}
	return append(lines, fmt.Sprintf("  %-12s %s", "others", fillCommand(client.OtherServers, command)))
}

// fillCommand inserts a server's command into text, in place of {command}, {program}, {args} and {list}.
func fillCommand(text string, command []string) string {
	return strings.NewReplacer("{command}", commandLine(command), "{program}", jsonText(command[0]),
		"{args}", jsonText(command[1:]), "{list}", jsonText(command)).Replace(text)
}

// addAskServer gives the client toolscope's own server for this run. The server answers questions about the capture at
// path, and about earlier captures of the current folder. The result is the flag or the variable that adds the
// server, or "" if there is none for the client.
func (o *clientLaunch) addAskServer(path string) (by string, err error) {
	if o.point == nil {
		return "", nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	command := []string{self, "ask", "--dir", dir, path}
	switch how := o.point.Servers(); {
	case how.Method == client.ByFlags:
		o.addServerFlags(askServer, map[string]any{"command": self, "args": command[1:]})
		return "-c mcp_servers." + askServer, nil
	case how.Setting != "" && o.point.Settings.Variable != "":
		o.settings = append(o.settings, fillCommand(how.Setting, command))
		return o.point.Settings.Variable, nil
	case how.FileFlag != "":
		file, remove, err := createScratch("mcp.json", []byte(fillCommand(client.OtherServers, command)+"\n"))
		if err != nil {
			return "", err
		}
		o.removes = append(o.removes, remove)
		o.args = slices.Insert(slices.Clone(o.args), o.at+1, how.FileFlag+file)
		return strings.TrimRight(how.FileFlag, "=@"), nil
	}
	return "", nil
}

// askServer is the name of toolscope's own server in a client's settings.
const askServer = "toolscope"

// isAskCommand reports whether a command starts toolscope's own server. Such a server is not recorded, because its
// answers quote traffic that was already recorded.
func isAskCommand(command []string) bool {
	self, _ := os.Executable() // if the path is unknown, only the program's name counts
	return len(command) > 1 && command[1] == "ask" && (command[0] == self || programOf(command[0]) == askServer)
}

// addAskServer gives the client toolscope's own server. It returns a note about how it did so, or why it could not.
func (r *runningProxy) addAskServer(fit *clientLaunch) string {
	if r.rec == nil {
		return "--ask: nothing is recorded, so the agent can't ask about this run"
	}
	by, err := fit.addAskServer(r.rec.path)
	switch {
	case err != nil:
		return fmt.Sprintf("--ask: %s can't ask about this run: %s", fit.name(), err)
	case by == "":
		return fmt.Sprintf("--ask: no flag or variable adds a server to %s; 'toolscope help ask' shows the settings", fit.name())
	}
	return fmt.Sprintf("%s can ask toolscope about this run, through %s", fit.name(), by)
}
