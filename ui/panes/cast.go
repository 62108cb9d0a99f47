package panes

import (
	"path"

	"toolscope/providers"
	"toolscope/providers/lane"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// cast is who is in the list: rows say only what is not the same in all.
type cast struct {
	several bool // agents
	files   bool // several
	agent   string
	file    string
	widest  int // cells of the longest name of an agent
}

// mostAgent is how many cells the column of agents has at most.
const mostAgent = 8

// extend takes turns that are new, or all.
func (w *cast) extend(v *providers.View, turns []*stream.Turn, again bool) {
	if again {
		*w = cast{}
		turns = v.Session().Turns
	}
	for _, t := range turns {
		if name := agentName(t.Ask); name != "" {
			w.several = w.several || w.agent != "" && w.agent != name
			w.agent = name
			w.widest = max(w.widest, min(display.Clean(screen.Short(name)).Width(), mostAgent))
		}
		if x := v.Exchange(t.Exchange); x != nil && x.Head.File != "" {
			w.files = w.files || w.file != "" && w.file != x.Head.File
			w.file = x.Head.File
		}
	}
}

// agentName is what people call the agent of a request, "" where it has none.
func agentName(a *stream.Ask) string {
	switch {
	case a == nil || a.Agent == "":
		return ""
	case a.Title != "":
		return a.Title
	case a.Agent == "/root":
		return lane.Main
	}
	return path.Base(a.Agent)
}
