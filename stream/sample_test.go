package stream

import (
	stdjson "encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"toolscope/stream/json"
)

// sampleArgs returns about size bytes of arguments as a model writes them. Most of the bytes are in one string with
// source code. The rest are small objects.
func sampleArgs(size int) []byte {
	rng := rand.New(rand.NewPCG(7, uint64(size)))
	var code strings.Builder
	for code.Len() < size*6/10 { // escapes make the source code 70 % of the text
		fmt.Fprintf(&code, "\tif err := step%d(ctx, \"%x\"); err != nil {\n", rng.IntN(1000), rng.Uint32())
		if rng.IntN(8) == 0 {
			code.WriteString("\t\t// 読み込みに失敗しました: 再試行する — naïve\n")
		}
		fmt.Fprintf(&code, "\t\treturn fmt.Errorf(\"step %d: %%w\", err)\n\t}\n", rng.IntN(1000))
	}
	quoted, err := stdjson.Marshal(code.String())
	if err != nil {
		panic(err)
	}
	b := append([]byte(`{"path":"internal/steps.go","content":`), quoted...)
	b = append(b, `,"edits":[`...)
	for sep := ""; len(b) < size; sep = "," {
		b = fmt.Appendf(b, `%s{"line":%d,"score":%.3f,"keep":%v,"tag":"t%d"}`, sep, rng.IntN(1<<16), rng.Float64(), rng.IntN(2) == 0, rng.IntN(100))
	}
	return append(b, `]}`...)
}

// sampleDeltas cuts text as providers do, into deltas of least to most bytes.
func sampleDeltas(text []byte, least, most int) (deltas []string) {
	rng := rand.New(rand.NewPCG(8, uint64(len(text))))
	all := string(text)
	for len(all) > 0 {
		n := min(len(all), least+rng.IntN(most-least+1))
		deltas = append(deltas, all[:n])
		all = all[n:]
	}
	return deltas
}

func randomCuts(rng *rand.Rand, text []byte) (parts [][]byte) {
	for len(text) > 0 {
		n := min(len(text), rng.IntN(12))
		parts = append(parts, text[:n])
		text = text[n:]
	}
	return parts
}

// tokensOf returns a copy of a lexer's tokens.
func tokensOf(l *json.Lexer) (list []json.Token) {
	for _, t := range l.Tokens().All() {
		list = append(list, t)
	}
	return list
}
