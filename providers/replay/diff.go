package replay

import (
	"bytes"

	"toolscope/stream/json"
)

// An Edit is one difference between the sent arguments and the model's arguments. The text To replaces the bytes from
// Start to End in the original.
type Edit struct {
	Start, End int
	To         []byte
}

// maxCells limits the search for common tokens of two texts. If the limit is exceeded, the whole differing part
// becomes one edit.
const maxCells = 1 << 20

// Diff returns the differences between the sent text and the original, token by token and in order.
func Diff(original, sent []byte) (edits []Edit) {
	if bytes.Equal(original, sent) {
		return nil
	}
	a, b := splitTokens(original), splitTokens(sent)
	head := 0
	for head < min(len(a), len(b)) && bytes.Equal(a[head], b[head]) {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && bytes.Equal(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
	}
	at := totalLen(a[:head])
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	if len(a)*len(b) > maxCells {
		return []Edit{{at, at + totalLen(a), bytes.Join(b, nil)}}
	}
	return alignTokens(a, b, at)
}

// splitTokens splits a text into its tokens. If the text ends with bytes that are not JSON, they are the last piece.
func splitTokens(text []byte) (all [][]byte) {
	var lex json.Lexer
	lex.Write(text)
	lex.Close()
	start := 0
	for _, t := range lex.Tokens().All() {
		all = append(all, text[start:t.End])
		start = int(t.End)
	}
	if start < len(text) {
		all = append(all, text[start:])
	}
	return all
}

// totalLen returns the total length of the pieces.
func totalLen(pieces [][]byte) (n int) {
	for _, p := range pieces {
		n += len(p)
	}
	return n
}

// alignTokens finds the longest common sequence of pieces in a and b, and returns the differences between
// them. The parameter at is the offset of a in the original.
func alignTokens(a, b [][]byte, at int) (edits []Edit) {
	x, y := numberTokens(a, b)
	width := len(b) + 1
	best := make([]int32, (len(a)+1)*width) // number of common pieces from a[i] and b[j] on
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				best[i*width+j] = best[(i+1)*width+j+1] + 1
			} else {
				best[i*width+j] = max(best[(i+1)*width+j], best[i*width+j+1])
			}
		}
	}
	now := Edit{Start: at, End: at}
	flush := func() {
		if now.End > now.Start || len(now.To) > 0 {
			edits = append(edits, now)
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && x[i] == y[j]:
			flush()
			at += len(a[i])
			now = Edit{Start: at, End: at}
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && best[(i+1)*width+j] >= best[i*width+j+1]:
			at += len(a[i])
			now.End = at
			i++
		default:
			now.To = append(now.To, b[j]...)
			j++
		}
	}
	flush()
	return edits
}

// numberTokens numbers the pieces. Equal pieces get the same number, which makes comparisons cheap.
func numberTokens(a, b [][]byte) (x, y []int) {
	numbers := map[string]int{}
	number := func(pieces [][]byte) (all []int) {
		for _, p := range pieces {
			n, ok := numbers[string(p)]
			if !ok {
				n = len(numbers)
				numbers[string(p)] = n
			}
			all = append(all, n)
		}
		return all
	}
	return number(a), number(b)
}
