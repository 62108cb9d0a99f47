//go:build linux && !nohub

package fleet

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"toolscope/capture"
)

const fullEnv = "TOOLSCOPE_TEST_FULL"

// TestHubFull checks that a hub whose disk was full stores data again once there is space, without anyone restarting
// it and without a loss. Until then, views read the data that the hub has.
func TestHubFull(t *testing.T) {
	t.Parallel()
	child := exec.Command(os.Args[0], "-test.run=^TestHubFullChild$")
	child.Env = append(os.Environ(), fullEnv+"=1")
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestHubFullChild(t *testing.T) {
	if os.Getenv(fullEnv) == "" {
		t.Skip("runs as a child")
	}
	signal.Ignore(syscall.SIGXFSZ)
	fileLimit := func(n uint64) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: 1 << 30}); err != nil {
			t.Fatal(err)
		}
	}
	var log notesSaid
	h := newHub(t, func(o *HubOptions) { o.Log = log.say })
	o := h.sending(t, "a")
	o.Limit = 4 << 20 // so that each segment is smaller than the file limit
	p := publish(t, o)
	fileLimit(1 << 20)
	random := rand.NewChaCha8([32]byte{})
	const records = 40
	for range records {
		data := make([]byte, 40_000)
		_, _ = random.Read(data) // never fails; random data can't be compressed
		for _, c := range keep.Take(capture.Record{Exchange: 1, Data: data}) {
			p.Put(c)
		}
	}
	eventually(t, "the full disk is reported", func() bool { return strings.Contains(log.text(), "the hub stores no more data: file too large; ") })
	v := view(t, h.URL()+"?since=1h", nil)
	eventually(t, "what it has is read", func() bool { return v.text() != "" })
	if strings.Contains(log.text(), "there is space again") {
		t.Error(log.text())
	}
	fileLimit(1 << 30)
	sent(t, p, records)
	_, end, _ := p.ours.spool.Span()
	all, err := io.ReadAll(io.NewSectionReader(p.ours.spool, 0, end))
	if has := h.holds()[p.ours.subject]; err != nil || !bytes.Equal(has, all) {
		t.Errorf("the hub has %d bytes, the spool %d, %v", len(has), len(all), err)
	}
	if strings.Contains(log.text(), "failed to store") {
		t.Errorf("each message that is refused is told:\n%s", log.text())
	}
	eventually(t, "the free space is reported", func() bool {
		return strings.Contains(log.text(), "hub: there is space again, so the hub stores data again")
	})
}
