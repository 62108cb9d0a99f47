package conversation

import (
	"bytes"

	"toolscope/providers/protocol"
)

// starters are the tools that start an agent. Claude Code, Codex, opencode and qwen-code were run;
// gemini-cli and Roo Code declare theirs so.
var starters = map[string]bool{
	"Agent": true, "Task": true, "task": true, "agent": true, "spawn_agent": true, "invoke_agent": true, "delegate_to_agent": true, "new_task": true,
}

// IsAgentTool reports whether a tool of that name starts an agent.
func IsAgentTool(tool string) bool { return starters[tool] }

// AgentTask are what the arguments of a call that starts an agent tell it.
type AgentTask struct {
	Prompt []byte // what its first request says
	Task   string // the name that it gets
	Title  string // what people call it
}

// ReadAgentTask reads the arguments of such a call.
func ReadAgentTask(args []byte) (o AgentTask) {
	of := protocol.Raw(bytes.TrimSpace(args))
	first := func(names ...string) protocol.Raw {
		for _, name := range names {
			if v := of.Get(name); v.HasText() {
				return v
			}
		}
		return nil
	}
	o.Prompt = bytes.TrimSpace(first("prompt", "message", "objective", "task", "instructions", "query").Unquoted())
	o.Task = first("task_name").Text()
	o.Title = first("task_name", "subagent_type", "agent_name", "agent_type", "mode", "name").Text()
	return o
}

// OpeningTexts are the texts of the user that a conversation begins with, any of which may be what an
// agent was told. Agents are told something in the first messages, before the first call.
func OpeningTexts(messages []protocol.Message) (texts [][]byte) {
	for i := range messages {
		for j := range messages[i].Parts {
			switch p := &messages[i].Parts[j]; {
			case p.Kind == protocol.CallPart, len(texts) == maxOpening:
				return texts
			case p.Kind == protocol.TextPart && messages[i].Role == protocol.User:
				if text := bytes.TrimSpace(p.Text); len(text) > 0 {
					texts = append(texts, text)
				}
			}
		}
	}
	return texts
}

const maxOpening = 16
