package client

import "slices"

// RunHabit describes when a client runs the calls of a protocol's responses, once their arguments are
// complete.
type RunHabit struct {
	Client    string
	Protocols []string
	When      RunMoment
	Cut       RunCount // if the token limit cut off the response after the call
	Broken    RunCount // if the connection broke after the call
	Known     Provenance
}

// RunMoment is the moment at which a client runs a call.
type RunMoment uint8

// The moments.
const (
	AtBlock RunMoment = iota // when the call is complete, while the response still streams
	AtStop                   // when the response has ended
	ByHand                   // never: the program that uses the client runs it
)

// RunCount is how often a client runs a call.
type RunCount uint8

// The counts.
const (
	Unknown RunCount = iota
	Never
	Once
	Twice // it retries the request, and runs the call again
)

// runHabits are the known habits. Each client got a complete call followed by a pause, the same with the
// finish reason of the token limit, and the same with the connection cut off there (versions as in All).
// Clients without Ran were not tested.
var runHabits = []RunHabit{
	{"claude-code", []string{"anthropic"}, AtBlock, Once, Once, Ran},
	{"codex", []string{"openai-responses"}, AtBlock, Once, Once, Ran},
	{"opencode", []string{"anthropic", "openai-chat"}, AtBlock, Once, Twice, Ran},
	{"opencode", []string{"openai-responses"}, AtBlock, Never, Twice, Ran},
	{"mastra", []string{"anthropic"}, AtBlock, Once, Once, Ran},
	{"mastra", []string{"openai-chat"}, AtStop, Once, Unknown, Ran},
	{"gemini-cli", []string{"gemini"}, AtStop, Once, Never, Ran},
	{"qwen-code", []string{"openai-chat"}, AtStop, Once, Never, Ran},
	{"continue", []string{"openai-chat", "anthropic"}, AtStop, Once, Never, Ran},
	{"cline", []string{"openai-chat", "openai-responses"}, AtStop, Unknown, Unknown, Ran},
	{"openai-agents-js", []string{"openai-chat"}, AtStop, Once, Never, Ran},
	{"openai-agents-js", []string{"openai-responses"}, AtStop, Never, Never, Ran},
	{"openai-js", []string{"openai-chat"}, AtStop, Once, Never, Ran},
	{"anthropic-js", []string{"anthropic"}, AtStop, Never, Never, Ran},
	{"ai-sdk", []string{"anthropic", "openai-chat", "openai-responses", "gemini"}, AtStop, Never, Never, Ran},
	{"langchain-js", common, ByHand, Unknown, Unknown, Ran},
	{"pi", common, ByHand, Unknown, Unknown, Ran},
	{"google-genai-js", []string{"gemini"}, ByHand, Unknown, Unknown, Ran},
	{"cohere-sdk", []string{"cohere"}, ByHand, Unknown, Unknown, Ran},
	{"mistral-sdk", []string{"openai-chat"}, ByHand, Unknown, Unknown, Ran},
	{"ollama-sdk", []string{"ollama"}, ByHand, Unknown, Unknown, Ran},
	{"aws-sdk", []string{"bedrock"}, ByHand, Unknown, Unknown, Ran},
	{"pydantic-ai", common, AtStop, Unknown, Unknown, Documented},
	{"smolagents", common, AtStop, Unknown, Unknown, Documented},
	{"crewai", common, AtStop, Unknown, Unknown, Documented},
	{"semantic-kernel", common, AtStop, Unknown, Unknown, Documented},
	{"spring-ai", common, AtStop, Unknown, Unknown, Documented},
	{"langchain4j", common, AtStop, Unknown, Unknown, Documented},
}

// common are the protocols of frameworks that support any provider.
var common = []string{"anthropic", "openai-chat", "openai-responses", "gemini"}

// agents are programs that people use directly: a request that names one comes from it. A request that
// names a library may come from any program that uses the library, and those run calls at different
// moments.
var agents = []string{"claude-code", "codex", "gemini-cli", "qwen-code", "opencode", "continue", "cline"}

// RunHabitsOf returns the known habits for calls of a protocol: that of the agent that a request names, if
// it is known, else all. own reports whether it is the named agent's.
func RunHabitsOf(dialect, named string) (all []RunHabit, own bool) {
	for _, r := range runHabits {
		switch {
		case !slices.Contains(r.Protocols, dialect):
		case r.Client == named && slices.Contains(agents, named):
			return []RunHabit{r}, true
		default:
			all = append(all, r)
		}
	}
	return all, false
}
