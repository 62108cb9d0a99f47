package panes

import (
	"path"

	"toolscope/providers"
	"toolscope/providers/conversation"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// speakers tracks the agents and files in the list: rows show them only if there are several.
type speakers struct {
	several bool // agents
	files   bool // several
	agent   string
	file    string
	widest  int // cells of the longest name of an agent
}

// maxAgentCells is the maximum width of the agent column.
const maxAgentCells = 8

// addTurns adds new turns, or starts again with all.
func (w *speakers) addTurns(v *providers.View, turns []*stream.Turn, again bool) {
	if again {
		*w = speakers{}
		turns = v.Session().Turns
	}
	for _, t := range turns {
		if name := agentName(t.Request); name != "" {
			w.several = w.several || w.agent != "" && w.agent != name
			w.agent = name
			w.widest = max(w.widest, min(display.Clean(screen.ShortName(name)).Width(), maxAgentCells))
		}
		if x := v.Exchange(t.Exchange); x != nil && x.Head.File != "" {
			w.files = w.files || w.file != "" && w.file != x.Head.File
			w.file = x.Head.File
		}
	}
}

// agentName returns the display name of a request's agent, "" without one.
func agentName(a *stream.RequestInfo) string {
	switch {
	case a == nil || a.Agent == "":
		return ""
	case a.Title != "":
		return a.Title
	case a.Agent == "/root":
		return conversation.Main
	}
	return path.Base(a.Agent)
}
