package stream

// FrameKind is what a frame is to the protocol that carries it.
type FrameKind uint8

const (
	FrameData    FrameKind = iota // carries a payload for the protocol
	FrameComment                  // keep-alive: SSE comments and nothing else
	FrameNoData                   // SSE fields without data: the standard dispatches nothing
	FrameResidue                  // bytes that belong to no frame of this framing
)

// A Frame is one unit of a wire framing. Frames tile the stream: each begins where the previous one
// ended, so every byte belongs to exactly one frame.
//
// Event and Data are borrowed: they are valid until the emit call returns.
type Frame struct {
	Kind      FrameKind
	Event     []byte // SSE event type, empty when the wire gave none
	Data      []byte // payload without framing
	End       int64  // stream offset just past the frame
	Truncated bool   // the stream ended inside the frame
	Named     bool   // the framing has names for events; if Event is empty, the sender left it out
	Lines     bool   // Data is several lines of the framing, joined

	Failed bool   // the framing itself marks this as an error, and Event is its type
	Why    string // of residue: why the bytes belong to no frame
}

// resetBuffer returns a buffer to be filled again. A buffer that one frame has made larger than 1 MB is
// dropped: no other frame may need that much.
func resetBuffer(p []byte) []byte {
	if cap(p) > 1<<20 {
		return nil
	}
	return p[:0]
}

// A Framer splits bytes into frames. The frames don't depend on how the bytes are cut into writes. Close
// emits the remaining bytes, marked Truncated.
type Framer interface {
	Write(p []byte, emit func(Frame))
	Close(emit func(Frame))
}
