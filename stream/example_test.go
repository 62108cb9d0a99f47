package stream_test

import (
	"fmt"

	"toolscope/stream"
	"toolscope/stream/json"
)

// A lexer reads arguments that are still arriving. Its tokens don't depend on how the text is cut.
func ExampleLexer() {
	var l json.Lexer
	for _, delta := range []string{`{"city":"Os`, `lo","days":3`, `}`} {
		l.Write([]byte(delta))
		fmt.Println(l.Len(), l.Syntax(), l.Tokens().Len(), "tokens, depth", l.Depth())
	}
	// Output:
	// 11 prefix 4 tokens, depth 1
	// 23 prefix 8 tokens, depth 1
	// 24 object 9 tokens, depth 0
}

// A lexer reports the first byte that can't belong to JSON.
func ExampleLexer_Err() {
	var l json.Lexer
	l.Write([]byte(`{"city": Oslo}`))
	fmt.Println(l.Syntax(), "-", l.Err())
	// Output: broken - byte 9: expected a value, got 'O'
}

// A framer cuts the bytes of a response into frames. The frames don't depend on the chunks in which the bytes
// arrive.
func ExampleSSESplitter() {
	var framer stream.SSESplitter
	printFrame := func(f stream.Frame) { fmt.Printf("%s: %s, ends at byte %d\n", f.Event, f.Data, f.End) }
	for _, piece := range []string{"event: ping\nda", "ta: {}\n\nevent: done\ndata: 1\n\n"} {
		framer.Write([]byte(piece), printFrame)
	}
	framer.Close(printFrame)
	// Output:
	// ping: {}, ends at byte 22
	// done: 1, ends at byte 43
}

// A timeline folds events into turns and calls, and returns the session as it was after any event.
func ExampleTimeline() {
	var t stream.Timeline
	t.Append(
		stream.Event{Kind: stream.TurnOpen, What: &stream.Opening{Model: "m1"}},
		stream.Event{Kind: stream.CallOpen, Slot: 0, What: &stream.CallInfo{ID: "c1", Name: "weather"}},
		stream.Event{Kind: stream.Args, Slot: 0, Text: `{"city":`},
		stream.Event{Kind: stream.Args, Slot: 0, Text: `"Oslo"}`},
		stream.Event{Kind: stream.Seal, Slot: 0},
	)
	for _, n := range []int{3, 4, 5} {
		call := t.At(n).Turns[0].Calls[0]
		fmt.Printf("after %d events: %s %s: %s\n", n, call.Name, call.Args(), call.Status())
	}
	// Output:
	// after 3 events: weather {"city":: streaming
	// after 4 events: weather {"city":"Oslo"}: looks done
	// after 5 events: weather {"city":"Oslo"}: complete
}
