package fleet

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"toolscope/stream/count"
)

// encoder is made when it is needed first. Two slices at a time are enough, for all senders.
var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(maxSliceBytes), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // the options are wrong
	}
	return e
})

func compress(p []byte) []byte { return encoder().EncodeAll(p, nil) }

// decoder is one that takes no more than a message may hold.
var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxSpanBytes))
	if err != nil {
		panic(err) // the options are wrong
	}
	return d
})

// decompress is the bytes of a message, which must be as many as its span has.
func decompress(enc string, data []byte, s byteRange) ([]byte, error) {
	switch enc {
	case "":
	case "zstd":
		var err error
		if data, err = decoder().DecodeAll(data, make([]byte, 0, s.to-s.from)); err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
	default:
		return nil, fmt.Errorf("encoded as %s, which is not known", enc)
	}
	if int64(len(data)) != s.to-s.from {
		return nil, fmt.Errorf("%s for the span %s", count.Of(len(data), "byte"), s)
	}
	return data, nil
}
