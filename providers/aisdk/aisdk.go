// Package aisdk decodes the UI message stream of Vercel's AI SDK, version 5 and later: what an
// application's own chat endpoint sends to useChat.
//
// Wire facts are from the SDK's public source (ui-message-chunks.ts, process-ui-message-stream.ts,
// create-ui-message-stream.ts). A turn is one message, from start to finish, however many steps the
// server ran in it; start and finish may be left out, and [DONE] ends the stream. A call's slot is
// the place of its toolCallId among those of the message, and tool-input-available, which repeats
// the input as a value, is its seal.
package aisdk

import (
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// Protocol is the AI SDK's UI message stream.
func Protocol() dialect.Protocol {
	return dialect.Protocol{
		Name:     "ai-sdk",
		Title:    "AI SDK UI message stream",
		Sniff:    sniffFrame,
		Findings: findings,
		New:      newDecoder,
	}
}

// chunkPoints are the types of chunks, and their points as in dialect.Score.
var chunkPoints = map[string]int{
	"start": dialect.Likely, "finish": dialect.Likely, "abort": dialect.Likely, "message-metadata": dialect.Strong,
	"start-step": dialect.Strong, "finish-step": dialect.Strong,
	"text-start": dialect.Strong, "text-delta": dialect.Strong, "text-end": dialect.Strong,
	"reasoning-start": dialect.Strong, "reasoning-delta": dialect.Strong, "reasoning-end": dialect.Strong,
	"tool-input-start": dialect.Strong, "tool-input-delta": dialect.Strong,
	"tool-input-available": dialect.Strong, "tool-input-error": dialect.Strong,
	"tool-approval-request": dialect.Strong, "tool-approval-response": dialect.Strong,
	"tool-output-available": dialect.Strong, "tool-output-error": dialect.Strong, "tool-output-denied": dialect.Strong,
	"source-url": dialect.Strong, "source-document": dialect.Strong,
}

func sniffFrame(e dialect.SniffInput) dialect.SniffScore {
	var kind, errorText, callID, url dialect.Raw
	_ = dialect.Read(e.Data, // data that breaks off has the members before
		dialect.Value("type", &kind), dialect.Value("errorText", &errorText),
		dialect.Value("toolCallId", &callID), dialect.Value("url", &url))
	name := kind.Text()
	switch points := chunkPoints[name]; {
	case points > 0 && callID.IsString():
		return dialect.SniffScore{Points: dialect.Sure, Why: "chunk type " + name}
	case points > 0:
		return dialect.SniffScore{Points: points, Why: "chunk type " + name}
	case name == "error" && errorText.IsString():
		return dialect.SniffScore{Points: dialect.Strong, Why: "chunk type error with an errorText"}
	case e.HeaderIs("X-Vercel-Ai-Ui-Message-Stream"):
		return dialect.SniffScore{Points: dialect.Strong, Why: "header X-Vercel-Ai-Ui-Message-Stream"}
	case strings.HasPrefix(name, "data-"), name == "file" && url.IsString():
		return dialect.SniffScore{Points: dialect.Likely, Why: "chunk type " + name}
	}
	return dialect.SniffScore{}
}

// finishCodes are the SDK's finish reasons, which it maps the providers' to.
var finishCodes = map[string]stream.Code{
	"stop": stream.FinishDone, "tool-calls": stream.FinishDone, "other": stream.FinishDone, "unknown": stream.FinishDone,
	"length": stream.FinishCut, "content-filter": stream.FinishCut,
	"error": stream.FinishFailed,
}
