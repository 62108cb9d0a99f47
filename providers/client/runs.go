package client

import "slices"

// RunHabit is when a client runs the calls of responses of a protocol, once their arguments are there.
type RunHabit struct {
	Client    string
	Protocols []string
	When      RunMoment
	Cut       RunCount // where the token limit cut the response behind the call
	Broken    RunCount // where the connection broke behind it
	Known     Provenance
}

// RunMoment is the moment at which a client runs a call.
type RunMoment uint8

const (
	AtBlock RunMoment = iota // when the call is whole, while the response goes on
	AtStop                   // when the response has ended
	ByHand                   // never by itself: the program that uses it does
)

// RunCount is how often a client runs a call.
type RunCount uint8

const (
	Unknown RunCount = iota
	Never
	Once
	Twice // it asks again, and what it ran before is run once more
)

// runHabits: each was given a whole call with a pause behind it, the same with the token limit's word
// at the end, and the same with the connection cut there (versions as in All). Those without Ran
// were not tried.
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

// common are the protocols that frameworks for any provider speak.
var common = []string{"anthropic", "openai-chat", "openai-responses", "gemini"}

// agents are the programs that are used as they are: a request that names one is of it. One that
// names a library may be of any program that is made with it, and those differ in when they run
// calls.
var agents = []string{"claude-code", "codex", "gemini-cli", "qwen-code", "opencode", "continue", "cline"}

// RunHabitsOf are the clients of which it is known when they run calls of a protocol: the one that a
// request names if it is among them, else all. own says that it is that one.
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
