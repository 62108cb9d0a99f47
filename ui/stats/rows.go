package stats

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"toolscope/stream"
)

// rowsMagic begins each file of rows. The last byte is the version.
const rowsMagic = "tsrows\x00\x03"

// A file of rows consists of the magic, a hash of its key, a hash of its turns, and the turns.
const rowsHead = len(rowsMagic) + 2*sha256.Size

// EncodeTurns returns turns as a file of rows. The file contains names and numbers, but no texts from models or users.
// The key is anything that identifies the origin of the turns.
func EncodeTurns(key string, turns []Turn) []byte {
	c := rowCodec{known: map[string]int{}}
	c.codeTurns(&turns)
	keySum, sum := sha256.Sum256([]byte(key)), sha256.Sum256(c.data)
	return slices.Concat([]byte(rowsMagic), keySum[:], sum[:], c.data)
}

// DecodeTurns returns the turns of a file of rows. It returns false if the file is incomplete or damaged, is from
// another version, or has another key.
func DecodeTurns(data []byte, key string) (turns []Turn, ok bool) {
	if len(data) < rowsHead {
		return nil, false
	}
	head, body := data[:rowsHead], data[rowsHead:]
	keySum := sha256.Sum256([]byte(key))
	if !bytes.Equal(head[:len(rowsMagic)+sha256.Size], append([]byte(rowsMagic), keySum[:]...)) {
		return nil, false
	}
	if sum := sha256.Sum256(body); !bytes.Equal(head[len(rowsMagic)+sha256.Size:], sum[:]) {
		return nil, false
	}
	c := rowCodec{data: body, decoding: true}
	c.codeTurns(&turns)
	return turns, !c.failed && c.at == len(c.data)
}

// rowCodec writes turns, or reads them. Each method does both, so that reading always matches writing. The text of a
// name is written only once. After that, only its number is written.
type rowCodec struct {
	data     []byte // the output, or the input
	at       int    // the offset in the input
	decoding bool
	failed   bool // the input is invalid
	names    []string
	known    map[string]int // numbers of the names that were written
}

func (c *rowCodec) codeTurns(turns *[]Turn) {
	codeLength(c, turns)
	for i := range *turns {
		c.codeTurn(&(*turns)[i])
	}
}

func (c *rowCodec) codeTurn(t *Turn) {
	for k := range t.Values {
		c.codeName(&t.Values[k])
	}
	for _, text := range []*string{&t.RequestedModel, &t.Run, &t.Phase, &t.Operation, &t.ErrorType, &t.Cost.AsOf} {
		c.codeName(text)
	}
	for _, flag := range []*bool{&t.Background, &t.Failed, &t.Refused, &t.Stopped, &t.Cost.Approximate} {
		c.codeFlag(flag)
	}
	for k := range t.Usage {
		c.codeNumber(&t.Usage[k].N)
		c.codeFlag(&t.Usage[k].Reported)
	}
	c.codeTime(&t.At)
	codeInteger(c, &t.Gaps.Places)
	c.codeNumber(&t.Gaps.Bytes)
	codeInteger(c, &t.FirstToken)
	codeInteger(c, &t.Duration)
	codeInteger(c, &t.Cost.Source)
	c.codeFloat(&t.Cost.USD)
	codeLength(c, &t.Calls)
	for i := range t.Calls {
		c.codeCall(&t.Calls[i])
	}
	codeLength(c, &t.Findings)
	for i := range t.Findings {
		found := &t.Findings[i]
		c.codeName(&found.Code)
		codeInteger(c, &found.Call)
		codeInteger(c, &found.Severity)
		codeInteger(c, &found.By)
	}
}

func (c *rowCodec) codeCall(call *Call) {
	c.codeName(&call.Tool)
	c.codeFlag(&call.Bad)
	codeInteger(c, &call.Number)
	codeInteger(c, &call.State)
	codeInteger(c, &call.Result)
	c.failed = c.failed || call.State >= stream.NumStatus
	codeLength(c, &call.Runs)
	for i := range call.Runs {
		codeInteger(c, &call.Runs[i])
	}
}

func (c *rowCodec) codeNumber(n *int64) {
	if !c.decoding {
		c.data = binary.AppendVarint(c.data, *n)
		return
	}
	if c.at < len(c.data) && c.data[c.at] < 0x80 { // most numbers have one byte
		b := int64(c.data[c.at])
		*n = b>>1 ^ -(b & 1)
		c.at++
		return
	}
	value, size := binary.Varint(c.data[c.at:])
	if size <= 0 {
		c.failed, size = true, 0
	}
	*n = value
	c.at += size
}

// codeInteger writes or reads a number of another type. Input that exceeds the type is invalid.
func codeInteger[T ~int | ~int64 | ~uint8](c *rowCodec, n *T) {
	value := int64(*n)
	c.codeNumber(&value)
	*n = T(value)
	c.failed = c.failed || int64(*n) != value
}

// codeLength writes or reads the length of a list. The caller then writes or reads the elements.
func codeLength[T any](c *rowCodec, list *[]T) {
	length := len(*list)
	codeInteger(c, &length)
	if !c.decoding {
		return
	}
	if length < 0 || length > len(c.data)-c.at { // each element has at least one byte
		c.failed, length = true, 0
	}
	if *list = nil; length > 0 {
		*list = make([]T, length)
	}
}

func (c *rowCodec) codeFlag(flag *bool) {
	if !c.decoding {
		c.data = append(c.data, 0)
		if *flag {
			c.data[len(c.data)-1] = 1
		}
		return
	}
	if c.at == len(c.data) {
		c.failed = true
		return
	}
	*flag = c.data[c.at] == 1
	c.at++
}

func (c *rowCodec) codeFloat(f *float64) {
	if !c.decoding {
		c.data = binary.LittleEndian.AppendUint64(c.data, math.Float64bits(*f))
		return
	}
	if len(c.data)-c.at < 8 {
		c.failed = true
		return
	}
	*f = math.Float64frombits(binary.LittleEndian.Uint64(c.data[c.at:]))
	c.at += 8
}

// codeTime writes or reads a time in nanoseconds since 1970. 0 is the zero time.
func (c *rowCodec) codeTime(t *time.Time) {
	var nanos int64
	if !t.IsZero() {
		nanos = t.UnixNano()
	}
	if c.codeNumber(&nanos); c.decoding && nanos != 0 {
		*t = time.Unix(0, nanos).UTC()
	}
}

// codeName writes or reads the number of a name. A number that is not in use yet is followed by the length and the text of
// the name.
func (c *rowCodec) codeName(text *string) {
	number := len(c.names)
	if known, ok := c.known[*text]; ok {
		number = known
	}
	if codeInteger(c, &number); number < 0 || number > len(c.names) {
		c.failed = true
		return
	}
	if number < len(c.names) {
		*text = c.names[number]
		return
	}
	length := len(*text)
	if codeInteger(c, &length); !c.decoding {
		c.data = append(c.data, *text...)
		c.known[*text] = number
	} else if length < 0 || length > len(c.data)-c.at {
		c.failed = true
		return
	} else {
		*text = string(c.data[c.at:][:length])
		c.at += length
	}
	c.names = append(c.names, *text)
}
