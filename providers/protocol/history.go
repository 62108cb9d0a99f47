package protocol

// A Message is one message of the history in a request, in a form common to all protocols. A list of
// messages is a history.
type Message struct {
	Role  Role
	Parts []Part

	// Raw is the JSON object that the message was read from. It is nil if the message was not read, or
	// if one of its parts has it. What the parts can't represent is written back from Raw: a name,
	// citations, whether the content was a string, a list or null. Other protocols ignore it.
	Raw Raw
}

// RoleMember returns the field role for writing the message. It keeps the role that the message was
// read with, because a protocol may have several words for one role.
func (m *Message) RoleMember() Member {
	value := AppendString(nil, []byte(m.Role.String()))
	if was := m.Raw.Get("role"); was != nil {
		value = was
	}
	return Member{"role", value}
}

// Role is the author of a message.
type Role uint8

const (
	System Role = iota
	User        // also for results of tools, whatever their role on the wire
	Assistant
)

// String returns the name of the role: system, user or assistant.
func (r Role) String() string { return [...]string{"system", "user", "assistant"}[r] }

// PartKind is the kind of a Part.
type PartKind uint8

const (
	TextPart PartKind = iota
	ReasoningPart
	CallPart
	ResultPart
	OtherPart // media, documents, unknown parts: all of it is in Raw
)

// A Part is one part of a message. The fields that it uses depend on its kind. A field that the
// protocol doesn't have is empty.
type Part struct {
	Kind PartKind
	Text []byte // of text, reasoning or a result

	ID            string     // id that a call and its result share; of reasoning, the id of its detail
	Item          string     // id of its item, if that differs from ID
	Name          string     // of the tool
	Namespace     string     // namespace of the tool, if Name doesn't contain it
	ToolKind      string     // of a call, its kind as in stream.Call; of a provider's result, its type on the wire
	Parent        string     // id of the call whose code made this one
	MCPServer     string     // MCP server that runs the call
	Args          []byte     // of a call: the text, or the exact bytes of the value
	Form          ArgsForm   // form of Args on the wire
	Author        ArgsAuthor // of a call: author of Args
	Unseen        bool       // of a call: toolscope missed bytes, so Args may be incomplete
	RunByProvider bool       // the provider runs the call
	Failed        bool       // the result is an error
	Media         int        // blocks of a result that are not text
	Signature     string     // must be sent back with the part, unchanged
	SignatureOnly bool       // reasoning without text, only the signature

	// Raw is the JSON value on the wire that contains only this part: a content block, a call, an item,
	// a message with one result, a string with all reasoning of its message. It is nil if there is no
	// such value, or if the part has changed since it was read.
	Raw Raw
}

// SetArgs sets the arguments of a call from the wire: the text of a string, or the value.
func (p *Part) SetArgs(value Raw) {
	if p.Form, p.Args = ObjectForm, value; value.IsString() {
		p.Form, p.Args = TextForm, value.Unquoted()
	}
}

// ArgsAuthor is the author of a call's arguments. A client that sends a call back may have rewritten
// them.
type ArgsAuthor uint8

const (
	SomeAuthor   ArgsAuthor = iota // unknown: a history doesn't show it, and the response was not seen
	ModelAuthor                    // the model wrote them so
	ClientAuthor                   // the model wrote something else
)

// ArgsForm is the form of a call's arguments in the history of a protocol.
type ArgsForm uint8

const (
	TextForm       ArgsForm = iota // a JSON string that contains JSON
	ObjectForm                     // an object
	PositionalForm                 // protocol buffers as arrays (AI Studio)
)

// String returns the name of the form: string, object or arrays.
func (f ArgsForm) String() string { return [...]string{"string", "object", "arrays"}[f] }

// ResultText returns the text of a result's content, which is a string or a list of blocks. media
// counts the blocks that are not text.
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
