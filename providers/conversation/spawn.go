package conversation

import (
	"bytes"

	"toolscope/providers/protocol"
)

// starters are the tools that start an agent. Claude Code, Codex, opencode and qwen-code were run;
// gemini-cli and Roo Code declare theirs this way.
var starters = map[string]bool{
	"Agent": true, "Task": true, "task": true, "agent": true, "spawn_agent": true, "invoke_agent": true, "delegate_to_agent": true, "new_task": true,
}

// IsAgentTool reports whether a tool of that name starts an agent.
func IsAgentTool(tool string) bool { return starters[tool] }

// AgentTask holds the arguments of a call that starts an agent.
type AgentTask struct {
	Prompt []byte // the text of its first request
	Task   string // the name that it gets
	Title  string // the name that people use for it
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

// OpeningTexts returns the user's texts at the beginning of a conversation, before the first call. Any of
// them may be the prompt that an agent was started with.
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
