//go:build linux

package cli

import (
	"strings"
	"testing"
)

// TestNothingRead checks that damaged or unrecognised input makes the command fail with a note, and that readable
// parts are still printed. A response without calls is not a failure.
func TestNothingRead(t *testing.T) {
	text := string(chat(`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"}}]}`,
		`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]"))
	sound := saved(t, "sound.sse", text)
	damaged := saved(t, "damaged.tsc", `{"toolscope":1}`+"\n{oops\n"+`{"t":1,"x":1,"d":"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n"}`+"\n"+`{"t":2,"x":1,"end":"eof"}`+"\n")
	prose, empty, missing := saved(t, "prose.txt", "once upon\na time\n"), saved(t, "empty", ""), "/nowhere/to/be/found"
	for _, c := range []struct {
		files  []string
		code   int
		prints string // names of the turns that are printed
		says   string
	}{
		{[]string{sound}, 0, "sound.sse", ""},
		{[]string{damaged}, 1, "damaged.tsc", "damaged line 2 at byte 16"},
		{[]string{prose}, 1, "prose.txt", "prose.txt: nothing recognised"},
		{[]string{empty}, 1, "", "empty: nothing to show: no bytes arrived"},
		{[]string{missing}, 1, "", "no such file"},
		{[]string{missing, prose, damaged, sound}, 1, "sound.sse", "no such file"},
		{[]string{sound, empty}, 1, "sound.sse", "no bytes arrived"},
	} {
		for _, first := range []string{"print", "open"} {
			got := command(t, nil, append([]string{first}, c.files...)...)
			if got.code != c.code || !strings.Contains(got.stdout, c.prints+"  turn 1") && c.prints != "" || !strings.Contains(got.stderr, c.says) || c.says == "" && got.stderr != "" {
				t.Errorf("%s %v: %+v", first, c.files, got)
			}
		}
		if c.files[0] == sound {
			continue
		}
		got := command(t, nil, append([]string{"replay", "--to", "anthropic", "--fail-on-loss", "critical"}, c.files...)...)
		if got.code != 1 || !strings.Contains(got.stderr, c.says) {
			t.Errorf("replay %v: %+v", c.files, got)
		}
	}
}
