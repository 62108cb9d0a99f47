//go:build !nohub

package fleet

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// damagedFile is one damage to one file of a hub's store.
type damagedFile struct {
	name   string
	file   string
	change func([]byte) []byte
	lost   []int // the messages that are lost
	heals  bool  // the hub repairs the file
	gap    string
}

// flipBit returns a change that flips one bit.
func flipBit(at int) func([]byte) []byte {
	return func(text []byte) []byte {
		text[at] ^= 4
		return text
	}
}

// TestDamagedStore checks that, with one flipped bit or a truncated file in its store, a hub starts, only the
// messages at the damage are lost, and a view reports each loss. Without repairs, a wrong size or number would also
// hide later messages, or fill the memory.
func TestDamagedStore(t *testing.T) {
	t.Parallel()
	var log notesSaid
	h := newHub(t, func(o *HubOptions) { o.Log = log.say })
	for i, host := range []string{"a", "b", "c"} {
		o := h.hurried(t, host)
		p := publish(t, o)
		for n := range 4 {
			put(p, i+1, n)
			sent(t, p, int64(n+1))
		}
		closeNow(p)
	}
	bodies, ofB := h.bodies(t)
	h.Close()
	store := h.o.Store
	defer func() { h.o.Store = store; h.start() }()
	h.o.Listen = "127.0.0.1:0"

	base := "jetstream/$G/streams/TOOLSCOPE"
	block := base + "/msgs/1.blk"
	text, err := os.ReadFile(filepath.Join(store, block))
	if err != nil {
		t.Fatal(err)
	}
	var starts []int
	for at := 0; at < len(text); at += int(binary.LittleEndian.Uint32(text[at:]) &^ hasHeaders) {
		starts = append(starts, at)
	}
	if len(starts) != len(bodies) {
		t.Fatalf("%d messages in the file, not %d", len(starts), len(bodies))
	}
	checkRepairs(t, text, starts)

	tests := []damagedFile{
		{name: "nothing", file: block, change: keepText},
		{name: "the settings", file: base + "/meta.inf", change: flipBit(99)},
		{name: "the sum of the settings", file: base + "/meta.sum", change: flipBit(3)},
		{name: "the server's index", file: base + "/msgs/index.db", change: flipBit(40)},
		{name: "the other stream's index", file: base + "_INDEX/msgs/index.db", change: flipBit(10)},
		{
			"truncated", block, func(text []byte) []byte { return text[:starts[len(starts)-2]+100] },
			[]int{len(bodies) - 2, len(bodies) - 1}, false, "gap: the hub can no longer read 2 messages that arrived after ",
		},
	}
	for n, why := range map[int]string{
		0: " bytes of a/main never arrived", ofB: " bytes of b/main never arrived",
		len(bodies) - 1: "the hub can no longer read 1 message that arrived after ",
	} {
		at := starts[n]
		tests = append(tests,
			damagedFile{"a large size", block, flipBit(at + 2), nil, true, ""},
			damagedFile{"a wrong size", block, flipBit(at + 1), nil, true, ""},
			damagedFile{"a large number", block, flipBit(at + atNumber + 6), nil, true, ""},
			damagedFile{"a wrong time", block, flipBit(at + 12), []int{n}, false, why},
			damagedFile{"a wrong subject", block, flipBit(at + messageHead + 3), []int{n}, false, why},
			damagedFile{"wrong data", block, flipBit(at + 200), []int{n}, false, why})
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h.o.Store = t.TempDir()
			copyDir(t, store, h.o.Store)
			path := filepath.Join(h.o.Store, filepath.FromSlash(test.file))
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, test.change(text), 0o600); err != nil {
				t.Fatal(err)
			}
			before := len(log.text())
			h.start()
			defer h.Close()
			v := view(t, h.URL()+"?since=1h&until=now", func(v *View) { v.look = 20 * time.Millisecond })
			<-v.done
			want := strings.Join(bodies, "")
			for _, n := range test.lost {
				want = strings.Replace(want, bodies[n], "", 1)
			}
			notes := strings.Join(v.notes, "\n")
			if v.text() != want || !strings.Contains(notes, test.gap) {
				t.Errorf("read %s\nwant %s\nnotes %s", v.text(), want, notes)
			}
			if s := v.State(); s.Complete() != (test.lost == nil) || s.Missed > int64(len(test.lost)) {
				t.Errorf("%+v", s)
			}
			if said := log.text()[before:]; strings.Contains(said, "1.blk was damaged at byte ") != test.heals {
				t.Errorf("said: %s", said)
			}
		})
	}
}

// bodies returns the bodies of the records in each message, and the index of the second message of host b.
func (h *hubs) bodies(t *testing.T) (bodies []string, ofB int) {
	t.Helper()
	stream := h.captures(t)
	for seq := uint64(1); seq <= stream.CachedInfo().State.LastSeq; seq++ {
		msg, err := stream.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(msg.Subject, ".b.main.") && ofB == 0 {
			ofB = len(bodies) + 1
		}
		s, _ := parseSpan(msg.Header.Get(headSpan))
		data, err := decompress(msg.Header.Get(headEnc), msg.Data, s)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, strings.Join(regexp.MustCompile(`<\d+:\d+>`).FindAllString(string(data), -1), ""))
	}
	return bodies, ofB
}

// keepText changes nothing.
func keepText(text []byte) []byte { return text }

// checkRepairs checks that each wrong bit in a size or a number is repaired, unless it is a flag, or a low bit in
// the last message. Nothing else is changed, and neither is a file that ends too early.
func checkRepairs(t *testing.T, text []byte, starts []int) {
	t.Helper()
	for _, at := range starts {
		for bit := range 8 * messageHead {
			f := messageFile{text: bytes.Clone(text)}
			f.text[at+bit/8] ^= 1 << (bit % 8)
			damaged := bytes.Clone(f.text)
			f.repairHeads()
			inHead := bit < 8*(atNumber+8) || bit >= 8*atSubjectSize // the time doesn't help to find messages
			isFlag := bit == 31 || bit == 8*(atNumber+8)-2 || bit == 8*(atNumber+8)-1
			// Without a next message, a slightly smaller size or higher number may be right.
			couldBe := at == starts[len(starts)-1] && (bit < 5 || bit >= 8*atNumber && bit < 8*atNumber+20)
			switch {
			case inHead && !isFlag && !couldBe && !bytes.Equal(f.text, text):
				t.Fatalf("bit %d of the message at %d is not repaired", bit, at)
			case (!inHead || isFlag && bit > 31) && !bytes.Equal(f.text, damaged):
				t.Fatalf("bit %d of the message at %d changes more", bit, at)
			}
		}
	}
	for _, at := range starts[:len(starts)-1] { // with one wrong bit, the size reaches the end of the file
		size := (&messageFile{text: text}).sizeOf(at)
		for bit := range 31 {
			end := at + (size ^ 1<<bit)
			if end < at+size+messageHead || end > len(text) {
				continue
			}
			f := messageFile{text: bytes.Clone(text[:end])}
			f.text[at+bit/8] ^= 1 << (bit % 8)
			if f.repairHeads(); !bytes.Equal(f.text, text[:end]) {
				t.Fatalf("bit %d of the message at %d is not repaired if the file has %d bytes", bit, at, end)
			}
		}
	}
	for end := range text {
		f := messageFile{text: bytes.Clone(text[:end])}
		if f.repairHeads(); len(f.repaired) == 1 && f.repaired[0]+(&messageFile{text: text}).sizeOf(f.repaired[0]) > end {
			continue // the incomplete message looks like a damaged one; its checksum is wrong in both cases
		}
		if !bytes.Equal(f.text, text[:end]) {
			t.Fatalf("%d bytes: changed at %d", end, f.repaired)
		}
	}
}
