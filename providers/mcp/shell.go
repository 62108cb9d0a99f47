package mcp

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Shell is the method of an exchange that is one command, which a shell ran for an agent. It is read as a
// request that runs a tool with the command as its argument; how the command ended is its response. The
// command's output is not in it.
const Shell = "SHELL"

// shellPrefix begins the URL of such an exchange. The name of the tool, as the model knows it, follows.
const shellPrefix = "shell:"

// Shell reports whether the request is a command that a shell ran.
func (r *Request) Shell() bool { return r.Method == shellMethod }

const shellMethod = "shell"

// beginShell begins such an exchange. All commands of a run belong to one Server, which is not a real
// one.
func (t *dialogue) beginShell(h *stream.Head) {
	t.server = t.log.serverOf(shellMethod, h.Run)
	t.server.Shell = true
	t.command = &Request{
		Number: len(t.log.Requests), Server: t.server, Exchange: t.number, Method: shellMethod, AskedAt: stream.NoTime, Answered: stream.NoTime,
		Tool: strings.TrimPrefix(h.URL, shellPrefix),
	}
}

// readCommand reads a record of a command. The first record has its text, so the request is added then. The
// end of the text follows in another record if the redactor held it back.
func (t *dialogue) readCommand(r *stream.Record) {
	c := t.command
	t.server.Gaps += r.Lost
	if r.Request && c.AskedAt < 0 {
		c.AskedAt, c.KnownAsked, c.Number = r.At, t.known, len(t.log.Requests)
		t.server.Calls++
		t.server.Messages++
		t.log.add(c)
	}
	t.commandCut = t.commandCut || r.Request && r.Lost > 0
	if r.Request && !t.commandCut && len(r.Data) > 0 {
		t.commandText = append(t.commandText, r.Data...)
		args := append(protocol.AppendString(protocol.Raw(`{"command":`), t.commandText), '}')
		t.log.countText(-len(c.Args))
		c.Args, c.ArgsSize = clipRaw(args), len(args)
		t.log.countText(len(c.Args))
	}
	if !r.End || c.AskedAt < 0 {
		return
	}
	t.log.stopWaiting(c)
	c.Answered, c.KnownAnswered, c.State = r.At, t.known, Done
	switch {
	case r.At < 0: // the capture ends before the command
		c.State = Unseen
	case r.By == stream.Toolscope.String():
		c.State, c.Error = Refused, r.Why
	case r.Why != "":
		c.Failed, c.Exit = true, r.Why
	}
}
