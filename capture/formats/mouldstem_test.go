package formats

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"toolscope/stream/json"
)

// TestStem decides that a string is read the same with a stem as without, whatever came before it.
func TestStem(t *testing.T) {
	pieces := []string{`\"`, `\\`, `\n`, `\ud83d\ude00`, `\ud83d`, `\u00e9`, `\uzzzz`, `"`, `\`, "é", `{\"type\":\"content_block_delta\",\"index\":0,`, "some words, and more of them "}
	random := rand.New(rand.NewPCG(1, 2))
	var s stringPrefix
	var begins string
	served := 0
	for round := range 20_000 {
		if round%50 == 0 {
			if begins = ""; round%3000 == 0 {
				served += s.served
				s = stringPrefix{}
			}
			for range random.IntN(12) {
				begins += pieces[random.IntN(len(pieces))]
			}
		}
		p := `"` + begins
		for range random.IntN(8) {
			p += pieces[random.IntN(len(pieces))]
		}
		p += `",rest"`
		before := []byte("before")
		want, wantN, wantClosed := json.ReadString(bytes.Clone(before), []byte(p))
		got, n, closed := s.readString(bytes.Clone(before), []byte(p))
		if n != wantN || closed != wantClosed || closed && !bytes.Equal(got, want) {
			t.Fatalf("%s behind the stem %s: %q, %d, %v; want %q, %d, %v", p, s.literal, got, n, closed, want, wantN, wantClosed)
		}
	}
	if served < 500 {
		t.Fatalf("a stem served %d strings", served)
	}
}

// TestDigitsAlike decides that texts of one length are alike where they differ in digits only.
func TestDigitsAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for c := range 256 {
		for d := range 256 {
			a, b := bytes.Repeat([]byte{byte(c)}, 11), bytes.Repeat([]byte{byte(c)}, 11)
			at := random.IntN(len(a))
			b[at] = byte(d)
			want := c == d || isDigit(byte(c)) && isDigit(byte(d))
			if got := digitsAlike(a, b); got != want {
				t.Fatalf("%q and %q at %d: %v", c, d, at, got)
			}
		}
	}
}

// TestLastStamp decides that a stamp is the same time behind any other one as on its own.
func TestLastStamp(t *testing.T) {
	var c timestampCache
	random := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		at := time.Unix(1_763_632_800+random.Int64N(200), random.Int64N(1e9)).UTC()
		form := []string{time.RFC3339Nano, time.RFC3339, "2006-01-02 15:04:05,000", "2006-01-02T15:04:05.000-07:00", time.Stamp, "2006-01-02T15:04:5x"}[random.IntN(6)]
		text := at.Format(form)
		switch random.IntN(8) {
		case 0:
			text = fmt.Sprint(at.UnixMilli())
		case 1:
			text = fmt.Sprintf("%d.%06d", at.Unix(), at.Nanosecond()/1000)
		case 2:
			text += "123456789012"
		}
		if random.IntN(2) == 0 {
			text = `"` + text + `"`
		}
		s := timestamp{text: []byte(text)}
		if got, want := c.parse(s), s.parse(); !got.Equal(want) {
			t.Fatalf("%s: %v, want %v", text, got, want)
		}
	}
}
