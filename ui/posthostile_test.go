package ui

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"toolscope/stream"
)

// TestFramesOfHostileRequests checks that text from requests, hosts and errors is only drawn as text, in
// every view of sent requests.
func TestFramesOfHostileRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // synctest's fake clock skips the time after which notices disappear
		for i, text := range hostile {
			if i%thin() != 0 {
				continue
			}
			q := quote(strings.ToValidUTF8(text, "?") + "model")
			body := `{"model":` + q + `,"x` + text + `":1,"messages":[{"role":"user","content":` + q + `}],"tools":[{"name":` + q + `,"input_schema":{"type":"object"}},{"type":` + q + `,"name":` + q + `}]}`
			records := func(n int) []stream.Record {
				a := (&anthropic{exchange: n}).open("msg_"+text).call("toolu_"+text, "tool"+text, `{"a`+text+`":"`+text+`"}`).seal()
				all := withRequest(body, a.stop("tool_use").records)
				all[0].Head.File, all[0].Head.URL = "file"+text, "http://h"+text+"/v1/messages"
				return all
			}
			for _, s := range []*rig{newScreen(t, 72, 20), newScreen(t, 130, 30, ascii, colourless)} {
				s.opt.Places[2].Address, s.opt.Places[3].Trouble, s.opt.Places[4].Warning = "http://"+text, "no "+text, "mind "+text
				s.refuses = errors.New("not " + text)
				s.feed(records(1)...).feed(records(2)...)
				for _, keys := range []string{"gR", "<enter>", "j", "j", "p", "<tab>", "r", "<esc>G", "<esc>1gj", "a", "<tab>", "<enter>", "<enter>", "<esc>g", "=", "l", "r", "G", "<esc>"} {
					s.press(keys)
					s.finish()
					checkFrame(t, s)
					if strings.Contains(s.text(), "Result of") {
						s.paste(text)
						checkFrame(t, s)
					}
					if strings.Contains(s.text(), " SEND ") && keys == "p" {
						s.press("m").paste(text)
						checkFrame(t, s)
						s.press("<enter>")
						checkFrame(t, s)
					}
				}
			}
		}
	})
}
