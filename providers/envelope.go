package providers

import (
	"bytes"
	"encoding/base64"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// unwrapBedrock opens the envelope in which Bedrock's InvokeModelWithResponseStream sends the events of
// the model's own protocol: {"bytes":"base64"}, in SDK logs {"chunk":{"bytes":…}} (bedrock.go of
// anthropic-sdk-go). Any other frame is returned unchanged. In SDK logs, the key of an exception that
// ends a stream is its name; it becomes the Failed frame that it was on the wire.
func unwrapBedrock(f stream.Frame) stream.Frame {
	inner := protocol.Raw(f.Data)
	switch {
	case !mayBeWrapped(&f):
		return f
	case string(f.Event) == "chunk":
	case bytes.Contains(f.Data, []byte(`"chunk"`)):
		inner = inner.Get("chunk")
	case bytes.Contains(f.Data, []byte(`Exception"`)):
		return unwrapException(f)
	default:
		return f
	}
	encoded := inner.Get("bytes")
	data, err := base64.StdEncoding.DecodeString(encoded.Text())
	if err != nil || !encoded.IsString() {
		return f
	}
	f.Data = data
	f.Event = []byte(protocol.Raw(data).Get("type").Text())
	return f
}

// mayBeWrapped reports whether a frame has the name of an envelope, or is in a log without names.
func mayBeWrapped(f *stream.Frame) bool {
	return f.Kind == stream.FrameData && !f.Failed && (string(f.Event) == "chunk" || len(f.Event) == 0 && !f.Named)
}

// exceptions are the exceptions of Bedrock's streams (ConverseStreamOutput and ResponseStream in the service
// model).
var exceptions = map[string]bool{
	"internalServerException": true, "modelStreamErrorException": true, "modelTimeoutException": true,
	"serviceUnavailableException": true, "throttlingException": true, "validationException": true,
}

func unwrapException(f stream.Frame) stream.Frame {
	s, failed := protocol.Scan(f.Data), f
	for ok := s.Object(); ok; ok = s.Member() {
		if s.Kind() == '{' && exceptions[string(s.Key())] {
			failed.Event, failed.Failed = s.Key(), true
			failed.Data = s.Value()
		}
	}
	if s.End() != nil {
		return f
	}
	return failed
}
