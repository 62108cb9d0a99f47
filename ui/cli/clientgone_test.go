//go:build linux

package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// blamed returns the findings in jsonl output, each with its code, its severity and the party that caused it.
func blamed(calls []callJSON, turns []turnJSON) (all []string) {
	add := func(list []findingJSON) {
		for _, f := range list {
			all = append(all, f.Code+" "+f.Severity+" "+f.By)
		}
	}
	for _, c := range calls {
		add(c.Findings)
	}
	for _, u := range turns {
		add(u.Findings)
	}
	return all
}

// TestProxyClientGoesAway checks that a client that leaves early is the only party at fault, live and in the
// capture.
func TestProxyClientGoesAway(t *testing.T) {
	t.Parallel()
	p, resp, begin, recording, left := midway(t)
	resp.Body.Close()
	waitFor(t, left)
	line, err := p.out.ReadString('\n') // wait for the printed call before the proxy ends
	if err != nil {
		t.Fatal(err)
	}
	got := p.ended(syscall.SIGTERM)
	got.stdout = line + got.stdout
	for _, out := range []outcome{got, command(t, nil, "print", "--format", "jsonl", recording)} {
		calls, turns := out.decode(t)
		if len(calls) != 1 || len(turns) != 1 {
			t.Fatalf("%+v", out)
		}
		c, u := calls[0], turns[0]
		if c.Status != "aborted" || c.EndedBy != "client" || u.EndedBy != "client" || u.HTTPStatus != 200 || u.Exchange != 1 || c.Exchange != 1 {
			t.Errorf("%+v", out)
		}
		if want := []string{"CLIENT_GONE info client"}; !slices.Equal(blamed(calls, turns), want) {
			t.Errorf("%v, want %v", blamed(calls, turns), want)
		}
		if want := fmt.Sprintf("the client disconnected after %d bytes", len(begin)); u.Findings[0].Message != want {
			t.Errorf("%q, want %q", u.Findings[0].Message, want)
		}
	}
	if text := command(t, nil, "print", recording).stdout; !strings.Contains(text, "info  CLIENT_GONE  the client disconnected after ") || strings.Contains(text, "error ") {
		t.Errorf("%s", text)
	}
}

// TestProxyRefusedUpstream checks that the proxy's own response is not attributed to a provider, and does not
// affect other turns.
func TestProxyRefusedUpstream(t *testing.T) {
	t.Parallel()
	upstream, _ := provider(t, answers(events, anthropicAnswer))
	const nobody = "127.0.0.1:1" // the tcpmux port, on which no program listens
	recording := filepath.Join(t.TempDir(), "a.tsc")
	p := proxied(t, "--to", "gone=http://"+nobody, "--to", "there="+upstream, "--record", recording, "--format", "jsonl")
	for path, status := range map[string]int{"/gone/v1/messages": 502, "/there/v1/messages": 200} {
		if got, _, err := post(t, p.url+path); err != nil || got != status {
			t.Errorf("%s: %d, %v", path, got, err)
		}
	}
	got := p.ended(syscall.SIGTERM)
	for _, out := range []outcome{got, command(t, nil, "print", "--format", "jsonl", recording)} {
		calls, turns := out.decode(t)
		if want := []string{"NO_ANSWER error network"}; len(turns) != 2 || !slices.Equal(blamed(calls, turns), want) {
			t.Fatalf("%v, want %v: %s", blamed(calls, turns), want, out.stdout)
		}
		for _, u := range turns {
			own := u.HTTPStatus == 502
			if own && (u.Phase != "aborted" || u.EndedBy != "network" || u.Findings[0].Message != "toolscope answered 502 instead of the provider: no response from "+nobody+": connection refused by "+nobody) {
				t.Errorf("%+v", u)
			}
			if !own && (u.Phase != "complete" || u.EndedBy != "provider" || len(u.Findings) > 0) {
				t.Errorf("%+v", u)
			}
		}
		if strings.Contains(out.stdout, "provider reports") || strings.Contains(out.stderr, "gave this answer") {
			t.Errorf("%+v", out)
		}
	}
	if text := command(t, nil, "print", recording); !strings.Contains(text.stdout, "NO_ANSWER  toolscope answered 502") || text.stderr != "" {
		t.Errorf("%+v", text)
	}
}

// TestPrintGap checks a capture with missing bytes. The affected calls must be unseen in text and jsonl. The same is
// true of a capture from an early version, in which notes marked gaps.
func TestPrintGap(t *testing.T) {
	half := strings.Index(anthropicAnswer, `\":\"Oslo`)
	quoted := func(s string) string {
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s)
	}
	for _, gap := range []string{`"lost":9,"d":"` + quoted(anthropicAnswer[half+9:]) + `"}`,
		`"note":"gap: 9 bytes were not recorded: the disk is full"}` + "\n" + `{"x":1,"d":"` + quoted(anthropicAnswer[half+9:]) + `"}`} {
		capture := `{"toolscope":1,"created":"2026-03-01T12:00:00Z"}` + "\n" +
			`{"x":1,"d":"` + quoted(anthropicAnswer[:half]) + `"}` + "\n" + `{"x":1,` + gap + "\n" + `{"x":1,"end":"eof","by":"provider"}` + "\n"
		out := command(t, []byte(capture), "print", "--format", "jsonl", "-")
		calls, turns := out.decode(t)
		if len(calls) != 1 || calls[0].Status != "unseen" || calls[0].Phase != "unseen" || calls[0].Arguments != nil || turns[0].Phase != "open" {
			t.Fatalf("%+v", out)
		}
		for _, f := range blamed(calls, turns) {
			if f != "RECORD_GAP warn toolscope" && f != "SOURCE_NOTE info toolscope" {
				t.Error(f)
			}
		}
		text := command(t, []byte(capture), "print", "-").stdout
		if !strings.Contains(text, "  unseen        get_weather") || !strings.Contains(text, "warn  RECORD_GAP  toolscope missed 9 bytes before the first byte of its arguments") {
			t.Errorf("%s", text)
		}
		replayed := command(t, []byte(capture), "replay", "-", "--to", "anthropic")
		if !strings.Contains(replayed.stdout, "outcome    unknown") || !strings.Contains(replayed.stdout, "body       unknown") || !strings.Contains(replayed.stdout, "ARGS_UNSEEN  medium") {
			t.Errorf("%+v", replayed)
		}
	}
}

// TestPartyOfCutCall checks that check and export report a cut call, and don't blame the provider for it if the
// capture ends too early.
func TestPartyOfCutCall(t *testing.T) {
	whole, err := demos.ReadFile("demo/parallel.tsc")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	half := saved(t, "half.tsc", strings.Join(lines[:len(lines)*6/10], ""))
	for _, args := range [][]string{{"check", half}, {"check", half, "--format", "jsonl"}, {"export", half, "--as", "md"}} {
		got := command(t, nil, args...)
		if !strings.Contains(got.stdout, "ARGS_CUT") || strings.Contains(got.stdout, "provider)") || strings.Contains(got.stdout, `"by":"provider"`) {
			t.Errorf("%v:\n%s", args, got.stdout)
		}
	}
}

// TestTimeWithoutResponse checks that a turn without a response shows how long the client waited.
func TestTimeWithoutResponse(t *testing.T) {
	path := saved(t, "waited.tsc", `{"toolscope":1,"created":"2026-05-04T09:00:00Z"}
{"t":0,"x":1,"side":"request","head":{"method":"POST","url":"https://api.example.com/v1/messages"}}
{"t":1,"x":1,"side":"request","d":"{\"model\":\"m-1\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"}
{"t":60001,"x":1,"end":"cut","why":"the client disconnected after 0 bytes","by":"client"}
`)
	if text := command(t, nil, "print", path).stdout; !strings.Contains(text, "since the request  end 1m00s") {
		t.Errorf("the text has no time:\n%s", text)
	}
	if lines := command(t, nil, "print", "--format", "jsonl", path).stdout; !strings.Contains(lines, `"latency":{"since":"request","end_ms":60001}`) {
		t.Errorf("the JSON has no time:\n%s", lines)
	}
}
