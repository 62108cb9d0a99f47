package fleet

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"toolscope/stream/count"
)

// encoder is created at first use. All senders share it; it encodes two slices at a time.
var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(maxSliceBytes), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // the options are wrong
	}
	return e
})

func compress(p []byte) []byte { return encoder().EncodeAll(p, nil) }

// decoder accepts at most the bytes of one message.
var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxSpanBytes))
	if err != nil {
		panic(err) // the options are wrong
	}
	return d
})

// decompress returns the decoded bytes of a message. Their number must match its range.
func decompress(enc string, data []byte, s byteRange) ([]byte, error) {
	switch enc {
	case "":
	case "zstd":
		var err error
		if data, err = decoder().DecodeAll(data, make([]byte, 0, s.to-s.from)); err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
	default:
		return nil, fmt.Errorf("unknown encoding %s", enc)
	}
	if int64(len(data)) != s.to-s.from {
		return nil, fmt.Errorf("%s for the range %s", count.Of(len(data), "byte"), s)
	}
	return data, nil
}
