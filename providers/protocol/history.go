package protocol

// A Message is one message of a conversation that a request carries, in the one form that all
// dialects are read into. A list of messages is a history.
type Message struct {
	Role  Role
	Parts []Part

	// Raw is the JSON object that the message was read from; nil where it was not read, or where
	// one of its parts has it. What the parts do not hold is written back from it: a name,
	// citations, whether the content was a string, a list or null. Another protocol has no use for
	// it.
	Raw Raw
}

// RoleMember is the member role of a message to write. It keeps the word that the message was read
// with: a protocol may have several for one role.
func (m *Message) RoleMember() Member {
	value := AppendString(nil, []byte(m.Role.String()))
	if was := m.Raw.Get("role"); was != nil {
		value = was
	}
	return Member{"role", value}
}

// Role is who speaks.
type Role uint8

const (
	System Role = iota
	User        // results of tools are the user's, whatever role the wire gives them
	Assistant
)

func (r Role) String() string { return [...]string{"system", "user", "assistant"}[r] }

// PartKind is what a Part is.
type PartKind uint8

const (
	TextPart PartKind = iota
	ReasoningPart
	CallPart
	ResultPart
	OtherPart // media, documents, what this version does not know: all of it is in Raw
)

// A Part is one piece of a message. Which fields it uses depends on its kind; what a protocol has
// no field for is empty.
type Part struct {
	Kind PartKind
	Text []byte // of text and reasoning; of a result, its text

	ID            string     // of a call, what its result names; of reasoning, the id of its piece
	Item          string     // id of the item it is in, where that has one besides ID
	Name          string     // of the tool
	Namespace     string     // namespace of the tool, where that is not part of Name
	ToolKind      string     // of a call, its kind as in stream.Call; of a Server's result, the wire's word
	Parent        string     // id of the call whose code made this one
	MCPServer     string     // the MCP server that runs it
	Args          []byte     // of a call: the text, or the exact bytes of the value
	Form          ArgsForm   // how Args stand on the wire
	Author        ArgsAuthor // of a call: who wrote Args as they stand
	Unseen        bool       // of a call: bytes of it were not seen, so Args may not be whole
	RunByProvider bool       // the provider runs it
	Failed        bool       // the result is an error
	Media         int        // pieces of a result that are no text
	Signature     string     // must come back with the part, unchanged
	SignatureOnly bool       // reasoning of which nothing is there but the signature

	// Raw is the JSON value on the wire that holds this part and nothing else: a content block, a
	// call, an item, a message of one result, a string that is all reasoning of its message. It is
	// nil when there is none, or when the part has changed since it was read.
	Raw Raw
}

// SetArgs takes the arguments of a call as they stand on the wire: the text that a string holds, or
// the value itself.
func (p *Part) SetArgs(value Raw) {
	if p.Form, p.Args = ObjectForm, value; value.IsString() {
		p.Form, p.Args = TextForm, value.Unquoted()
	}
}

// ArgsAuthor is who wrote the arguments of a call as they stand: a client that sends a call back may
// have rewritten them.
type ArgsAuthor uint8

const (
	SomeAuthor   ArgsAuthor = iota // not known: a history does not tell, and the response was not seen
	ModelAuthor                    // they are what the model wrote
	ClientAuthor                   // the model wrote something else
)

// ArgsForm is how a protocol carries the arguments of a call in its history.
type ArgsForm uint8

const (
	TextForm       ArgsForm = iota // a JSON string that holds JSON
	ObjectForm                     // an object
	PositionalForm                 // protocol buffers as arrays (AI Studio)
)

func (f ArgsForm) String() string { return [...]string{"string", "object", "arrays"}[f] }

// ResultText is the text of a result's content, which is a string or a list of blocks. media is how
// many of the blocks are no text.
func ResultText(content Raw) (text []byte, media int) {
	switch {
	case !content.IsPresent():
		return nil, 0
	case content.Kind() != '[':
		return content.Append(nil), 0
	}
	for block := range content.Elements() {
		switch t := block.Get("text"); {
		case t.IsString():
			text = t.Append(text)
		case block.IsString():
			text = block.Append(text)
		default:
			media++
		}
	}
	return text, media
}
