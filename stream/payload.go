package stream

// An Opening is what is known of a turn when it begins, or news of it: of what is empty nothing is
// said.
type Opening struct {
	ID, Model string
	Parent    string // id of the call whose agent it is of
}

// CallInfo is what is known of a call when it begins, or news of it: of what is empty nothing is
// said. News can be of ID, Name, Item, Space, Signature and Copies.
type CallInfo struct {
	ID, Name   string
	Kind       string // function, custom, mcp, server, …
	Server     bool   // the provider runs the call; no result is to be sent
	Choice     int32  // which of several alternative responses the call is in
	Parent     string // id of the call whose code made this one
	Host       string // the MCP server that runs it
	Item       string // id of the item the call is in, where that has one besides the call's
	Space      string // namespace of the tool, where the protocol keeps it apart from the name
	Freeform   bool   // the arguments are not JSON by design
	NullIsNone bool   // the arguments null stand for none
	Attempt    bool   // no call of the wire: what the model wrote was thrown away, Args are the provider's account of it
	Copies     int    // how many copies of the arguments have come, all the same, where a protocol sends several
	Signature  string // opaque text that must come back with the call when it is replayed
}

// Detail is the same as part of an event.
func (i CallInfo) Detail() *Detail {
	return &Detail{
		ID: i.ID, Name: i.Name, CallKind: i.Kind, Server: i.Server, Choice: i.Choice, Parent: i.Parent, Host: i.Host, Item: i.Item,
		Space: i.Space, Freeform: i.Freeform, NullIsNone: i.NullIsNone, Attempt: i.Attempt, Copies: i.Copies, Signature: i.Signature,
	}
}
