package stream

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Record contains bytes from one side of an exchange, as captured, with their time.
type Record struct {
	Exchange int           // number of the exchange (a request and its response) that the bytes belong to
	Request  bool          // sent by the client; otherwise received from the provider
	At       time.Duration // when the bytes arrived, as the time since the source began, in whole microseconds; NoTime if unknown
	Data     []byte        // never changes once the record is made
	Head     *Head         // facts from outside the bytes; in the first record of each side of an exchange
	End      bool          // no more bytes of this exchange follow
	Why      string        // with End: the reason as text, if the exchange did not end normally
	By       string        // the name of a Party, or "": with End, the party that ended the exchange; with a Head, the party that answered
	Before   []byte        // the bytes before Data in the line that contained it
	After    []byte        // the bytes after Data in that line
	Lost     int64         // number of missed bytes of this side before Data: toolscope's own gap
	Note     string        // a remark about the exchange; in a record without other fields, about the source itself
	Location Location      // place where the record can be read again
	Open     bool          // the source ends here, but a program still records this exchange to it

	Others     int64    // number of the source's lines since the last report that belong to no exchange
	OtherLines [][]byte // the last of these lines

	Chunks []DataChunk // the chunks of Data, if it arrived in several
}

// A DataChunk is a part of a record's bytes that arrived at its own time. The first chunk begins at the start
// of the bytes. Every other chunk begins where the previous one ends.
type DataChunk = struct {
	End int
	At  time.Duration
}

// A Location is the place of a record in its source. The zero Location means that the record can't be
// read again.
type Location struct {
	Source     Source
	Start, End int64
}

// A Source is the place that records were read from and can be read from again. Sources are comparable.
type Source interface {
	// Again reads the records of one exchange in [start,end) and passes each to a function, exactly as it was first
	// read. The position of the first record of the exchange is start. Again returns an error if the source is gone
	// or has changed.
	Again(exchange int, start, end int64, to func(Record)) error
}

// VerbatimSource is a Source that contains the bytes of its only response unchanged, starting at the
// position of the first record.
type VerbatimSource interface {
	Source
	// Bytes returns the bytes in [start,end). It returns the same errors as Again.
	Bytes(start, end int64) ([]byte, error)
}

// Machine is the machine that a capture comes from, and the name of the capture there. All heads of a capture
// share one Machine.
type Machine struct{ Host, Agent string }

// A Head contains facts about an exchange from outside its bytes.
type Head struct {
	File                string   // the file that the exchange was read from
	Origin              *Machine // the machine that the capture comes from, nil for this machine
	Run                 string   // exchanges of different runs have different clocks and don't belong together
	Method, URL         string
	Status              int
	Header              map[string][]string // canonical names
	Start               time.Time           // when this side began, by the wall clock; zero if unknown
	CutLines            bool                // some of its lines are cut off, and the party that cut them is unknown
	Wrappers            string              // the wrappers that were removed from around the bytes, the outermost first
	Lacks               []string            // names of facts that the source doesn't contain
	ResponseFromHistory bool                // the response was not captured: it is taken from a later request that sends it back
	EndUnknown          bool                // the source doesn't contain the end of the response: a missing end is not a fault
	NoDeltas            bool                // the source contains only complete calls, without their deltas
	UsageBefore         bool                // an earlier exchange has the usage of the response
	EventNamesUnknown   bool                // the source doesn't contain event names: a missing name is not a fault
	Reconstructed       bool                // the requests are reconstructed from a client's files: the real requests are unknown
	Incremental         bool                // the request contains only messages that are new since the previous request
	Rewound             bool                // the request continues from a message before the latest one
}

// A RequestInfo contains facts about the request of a turn: its client, session and agent, and its purpose.
// It never changes once it is part of an event. An empty field is unknown.
type RequestInfo struct {
	Client           string        // the client's name in providers/client
	Session          string        // the client's id of the session
	GeneratedSession bool          // the client names no session: toolscope made up Session
	Agent            string        // the agent that sent the request: "main", or the client's id or name of a sub-agent
	Parent           string        // the agent that started Agent
	Title            string        // the agent's display name; "" if it is the same as Agent
	StartedBy        Ref           // the call that started the agent; its field Call is 0 if no such call is known
	Conversation     int32         // number of the conversation of this agent in this session, 0 if it belongs to none
	Purpose          string        // "turn", "title", "count" …
	Background       bool          // the request is not part of the agent's task
	ResultsOf        string        // the tools whose results end the request, "" if the user's text ends it
	Snippet          string        // the beginning of the user's last text, or of the result
	Change           RequestChange // changes since the previous request
	RetryOf          int32         // number, from 1, of the failed turn whose request this one repeats; 0 for none
}

// A RequestChange says how a request differs from the previous one of its conversation. The zero
// RequestChange is that of a first request.
type RequestChange struct {
	PreviousExchange        int  // the exchange of the previous request
	Comparable              bool // there is a previous request, and both requests were read
	Same                    int  // number of unchanged messages at the beginning
	Added, Altered, Removed int  // numbers of messages added, altered and removed after the unchanged ones
	System, Tools, Model    bool // whether the system prompt, the tools and the model have changed
}

// BreaksAt names the first part of the previous request that has changed, in the order in which providers cache the
// parts. The provider can't use its cache for this part and the parts after it. BreaksAt returns "" if no part has
// changed, or if the requests can't be compared.
func (c *RequestChange) BreaksAt() string {
	switch {
	case !c.Comparable:
		return ""
	case c.Model:
		return "the model"
	case c.Tools:
		return "the tools"
	case c.System:
		return "the system prompt"
	case c.Altered+c.Removed > 0:
		return fmt.Sprintf("message %d", c.Same+1)
	}
	return ""
}

// A Count is a number of tokens. Reported is false if the wire doesn't report the number.
type Count struct {
	N        int64
	Reported bool
}

// Tokens returns n as a reported count.
func Tokens(n int64) Count { return Count{n, true} }

// Usage contains the token counts of a turn, in one form for all protocols. Input counts all billed input tokens,
// including cached ones. Output counts all billed output tokens, including reasoning. The other token counts are
// parts of Input and Output, except SeenInput and SeenOutput.
type Usage struct {
	Input, CacheRead, CacheWrite Count
	CacheWriteHour               Count // the part of CacheWrite that is kept for an hour, at a different price
	Output, Reasoning            Count
	InputAudio, OutputAudio      Count   // the parts of Input and Output that are audio, at a different price
	CacheReadAudio               Count   // the part of CacheRead that is audio
	WebSearches                  Count   // searches that the provider made, billed one by one
	SeenInput, SeenOutput        Count   // tokens that were processed, if the provider bills a different number (Cohere)
	Tier                         string  // the service tier that answered: flex, priority, batch, fast …
	CostUSD                      float64 // the provider's own figure, if CostReported
	CostReported                 bool
	Doubt                        string // why a price of these counts is only approximate; "" if it is not
}

// String formats the reported usage, for tests and dumps.
func (u Usage) String() string {
	var parts []string
	for _, c := range [...]struct {
		name  string
		count Count
	}{
		{"input", u.Input}, {"cache_read", u.CacheRead}, {"cache_write", u.CacheWrite}, {"cache_write_hour", u.CacheWriteHour},
		{"output", u.Output}, {"reasoning", u.Reasoning}, {"seen_input", u.SeenInput}, {"seen_output", u.SeenOutput},
		{"input_audio", u.InputAudio}, {"cache_read_audio", u.CacheReadAudio}, {"output_audio", u.OutputAudio}, {"web_searches", u.WebSearches},
	} {
		if c.count.Reported {
			parts = append(parts, fmt.Sprintf("%s=%d", c.name, c.count.N))
		}
	}
	if u.Tier != "" {
		quoted := strconv.Quote(u.Tier) // the provider's own word
		parts = append(parts, "tier="+quoted[1:len(quoted)-1])
	}
	if u.CostReported {
		parts = append(parts, fmt.Sprintf("cost=%g", u.CostUSD))
	}
	if u.Doubt != "" {
		parts = append(parts, fmt.Sprintf("doubt=%q", u.Doubt))
	}
	return strings.Join(parts, " ")
}

// Merge returns u, updated with the values that the usage in the parameter later reports; nothing is summed. Doubt is
// always that of later, even if empty, because later counts may have resolved the doubt.
func (u Usage) Merge(later Usage) Usage {
	for _, f := range [...]struct{ to, from *Count }{
		{&u.Input, &later.Input}, {&u.CacheRead, &later.CacheRead}, {&u.CacheWrite, &later.CacheWrite},
		{&u.CacheWriteHour, &later.CacheWriteHour},
		{&u.Output, &later.Output}, {&u.Reasoning, &later.Reasoning},
		{&u.SeenInput, &later.SeenInput}, {&u.SeenOutput, &later.SeenOutput},
		{&u.InputAudio, &later.InputAudio}, {&u.CacheReadAudio, &later.CacheReadAudio}, {&u.OutputAudio, &later.OutputAudio},
		{&u.WebSearches, &later.WebSearches},
	} {
		if f.from.Reported {
			*f.to = *f.from
		}
	}
	if later.Tier != "" {
		u.Tier = later.Tier
	}
	if later.CostReported {
		u.CostUSD, u.CostReported = later.CostUSD, true
	}
	u.Doubt = later.Doubt
	return u
}
