package providers

import (
	"bytes"
	"encoding/base64"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// unwrap opens the envelope in which Bedrock's InvokeModelWithResponseStream
// sends the events of whatever protocol the model speaks: {"bytes":"base64"},
// in SDK logs {"chunk":{"bytes":…}} (bedrock.go of anthropic-sdk-go). What is no
// such envelope is returned as it is.
func unwrap(f stream.Frame) stream.Frame {
	if f.Kind != stream.FrameData || f.Failed {
		return f
	}
	inner := dialect.Raw(f.Data)
	switch {
	case string(f.Event) == "chunk":
	case len(f.Event) == 0 && bytes.HasPrefix(f.Data, []byte(`{"chunk"`)):
		inner = inner.Get("chunk")
	default:
		return f
	}
	encoded := inner.Get("bytes")
	data, err := base64.StdEncoding.DecodeString(encoded.Text())
	if err != nil || !encoded.IsString() {
		return f
	}
	f.Data = data
	f.Event = []byte(dialect.Raw(data).Get("type").Text())
	return f
}
