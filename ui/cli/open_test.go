package cli

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

func TestLoadText(t *testing.T) {
	for _, c := range []struct {
		read, size int64
		took       time.Duration
		want       string
	}{
		{300_000_000, 1_200_000_000, 10 * time.Second, "reading 25 % of 1200 MB, 30 MB/s, 31s left"},
		{1_000, 2_000_000, time.Second, "reading 0 % of 2000 kB, 1000 B/s, 33m20s left"},
		{0, 5_000_000, time.Second, "reading 0 % of 5000 kB, 0 B/s"},
	} {
		if got := loadText(c.read, c.size, c.took); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestLoading checks that the progress counts the bytes of all files, followed or not, and reaches the total size.
func TestLoading(t *testing.T) {
	for _, follow := range []bool{false, true} {
		l := &loadProgress{ctx: context.Background(), began: time.Now().Add(-time.Minute)}
		o := capture.Options{Progress: &l.Progress, Follow: follow}
		a, b := saved(t, "a.sse", string(turnOf("a"))), saved(t, "b.sse", string(turnOf("b")))
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		src, err := capture.OpenAll(ctx, []string{a, b}, o)
		if err != nil {
			t.Fatal(err)
		}
		if read, size := l.State(); !follow && (read != 0 || size != int64(len(turnOf("a"))+len(turnOf("b"))) || len(l.statusNotes()) != 1) {
			t.Errorf("before: %d of %d, %v", read, size, l.statusNotes())
		}
		seen := 0
		for range src {
			if seen++; follow && seen == 2 {
				stop()
			}
		}
		if read, size := l.State(); read != size || size == 0 || l.statusNotes() != nil {
			t.Errorf("follow %t: %d of %d, %v", follow, read, size, l.statusNotes())
		}
	}
}

// TestAgentDatabases checks that agents' databases show the calls with their results, and a call that was never
// finished.
func TestAgentDatabases(t *testing.T) {
	for name, want := range map[string][]string{
		"crush.db":  {`complete bash {"command":"ls"}`, `cut short bash {"command":"sle`},
		"goose.db":  {`complete shell {"command": "ls"}`},
		"agents.db": {`complete get_weather {"city":"Oslo"}`, `cut short get_time {"zone":`},
		"zed.db":    {`complete list {"path":"a"}`, `cut short edit {"path":"a/b`},
	} {
		out := command(t, nil, "print", "--format", "jsonl", filepath.Join("..", "..", "capture", "sqlite", "testdata", name))
		calls, _ := out.decode(t)
		var got []string
		for _, c := range calls {
			got = append(got, c.Status+" "+c.Name+" "+c.Raw)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q\n%s", name, got, want, out.stderr)
		}
	}
}

// TestOneSessionOfDatabase checks that a path can name one session in a database.
func TestOneSessionOfDatabase(t *testing.T) {
	path := filepath.Join("..", "..", "capture", "sqlite", "testdata", "agents.db")
	out := command(t, nil, "print", path+"#none")
	if out.code == 0 || !strings.Contains(out.stderr, `no session "none"; the newest ones: `) || strings.Count(out.stderr, "toolscope: ") != 1 {
		t.Fatalf("exit code %d: %s", out.code, out.stderr)
	}
	_, list, _ := strings.Cut(out.stderr, "the newest ones: ")
	id, _, _ := strings.Cut(strings.TrimSpace(list), ",")
	out = command(t, nil, "print", path+"#"+strings.Fields(id)[0])
	if out.code != 0 || !strings.Contains(out.stdout, "#") || !strings.Contains(out.stdout, "call") {
		t.Errorf("exit code %d: %s%s", out.code, out.stdout, out.stderr)
	}
	name := "agents#" + strings.Fields(id)[0]
	if out = command(t, nil, "ask", "runs", path+"#"+strings.Fields(id)[0]); out.code != 0 || !strings.Contains(out.stdout, "\n"+name+" ") {
		t.Errorf("exit code %d: %s%s", out.code, out.stdout, out.stderr)
	}
	if out = command(t, nil, "ask", "calls", path+"#"+strings.Fields(id)[0], "run="+name); out.code != 0 || !strings.Contains(out.stdout, "\n"+name+"#1.1 ") {
		t.Errorf("exit code %d: %s%s", out.code, out.stdout, out.stderr)
	}
	if out = command(t, nil, "ask", "problems", path+"#none"); out.code != 1 || !strings.Contains(out.stderr, "can't read agents#none: ") {
		t.Errorf("exit code %d: %s%s", out.code, out.stdout, out.stderr)
	}
}

// strangers are the beginnings of files without model traffic, with the note about each.
var strangers = []struct{ name, says, text string }{
	{"page.html", "an HTML page", "<!DOCTYPE html>\n<html><head><title>data: {}</title></head><body><script>var s = {\"type\":\"message_start\"};</script></body></html>\n"},
	{"feed.xml", "XML", "<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel><title>data: [DONE]</title></channel></rss>\n"},
	{"picture.svg", "XML", "<svg xmlns=\"http://www.w3.org/2000/svg\"><text>event: ping</text></svg>\n"},
	{"access.log", "a web server log", strings.Repeat("127.0.0.1 - - [02/Jan/2025:03:04:05 +0000] \"POST /v1/messages HTTP/1.1\" 200 1234 \"-\" \"curl/8\"\n", 30)},
	{"error.log", "lines arrived, but nothing in them", strings.Repeat("2025/01/02 03:04:05 [error] 7#7: *1 connect() failed while reading upstream, request: \"POST /v1/chat/completions HTTP/1.1\"\n", 30)},
	{"npm-debug.log", "an npm log", "0 verbose cli /usr/bin/node /usr/bin/npm\n1 info using npm@10.8.2\n2 silly config load:file:/root/.npmrc\n3 error code E404\n"},
	{"app.log", "lines arrived, but nothing in them", strings.Repeat("2025-01-02T03:04:05.123Z INFO handled request in 12ms status=200 tokens=12\n", 40)},
	{"kern.log", "nothing in", strings.Repeat("Jan  2 03:04:05 host kernel: [    0.000000] BIOS-e820: [mem 0x0-0x9fbff] usable\n", 3)},
	{"pods.log", "nothing in", strings.Repeat("I0102 03:04:05.000000       1 leaderelection.go:250] attempting to acquire leader lease kube-system/x...\n", 20)},
	{"json.log", "lines arrived, but nothing in them", strings.Repeat("{\"level\":\"info\",\"time\":\"2025-01-02T03:04:05Z\",\"message\":\"tool call finished\",\"tool\":\"read_file\"}\n", 20)},
	{"table.csv", "a table", "id,type,data\n1,message,\"{\"\"type\"\":\"\"message_start\"\"}\"\n2,error,x\n3,ping,y\n"},
	{"table.tsv", "a table", "id\ttype\tdata\n1\tmessage_start\t{}\n2\tping\t{}\n3\terror\t{}\n"},
	{"main.go", "Go source", "package main\n\nfunc main() {\n\tprintln(\"data: {\\\"type\\\":\\\"message_start\\\"}\")\n}\n"},
	{"app.py", "source code", "import json\nprint('data: ' + json.dumps({'type': 'message_start'}))\n# event: message_start\n"},
	{"app.js", "source code", "import { x } from 'y';\nconst chunk = { type: 'content_block_delta', index: 0 };\n"},
	{"app.ts", "source code", "import type { Tool } from './tool';\nfunction parse(line: string) { return line.slice('data: '.length); }\n"},
	{"lib.c", "source code", "#include <stdio.h>\nint main(void) { puts(\"data: [DONE]\"); }\n"},
	{"lib.rs", "text", "fn main() {\n    println!(\"data: {{}}\");\n}\n"},
	{"App.java", "source code", "public class App {\n  String s = \"event: message_start\";\n}\n"},
	{"run.sh", "a script", "#!/bin/sh\ncurl -N https://api.example.com/v1/messages -d '{\"model\":\"m\",\"stream\":true}'\n"},
	{"Makefile", "text", "all:\n\tgo build ./...\n"},
	{"Dockerfile", "text", "FROM golang:1.26\nRUN go build ./...\nCMD [\"/app\"]\n"},
	{"deploy.yaml", "YAML", "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n"},
	{"config.toml", "text", "[server]\nlisten = \":8080\"\nmodel = \"m\"\n"},
	{"settings.ini", "text", "[data]\nevent=ping\n"},
	{"package.json", "a package manifest", "{\n  \"name\": \"x\",\n  \"version\": \"1.0.0\",\n  \"dependencies\": {\"openai\": \"^4\"}\n}\n"},
	{"package-lock.json", "JSON with", "{\n  \"lockfileVersion\": 3,\n  \"packages\": {\"node_modules/openai\": {\"version\": \"4.0.0\"}}\n}\n"},
	{"tsconfig.json", "JSON with", "{\"compilerOptions\":{\"strict\":true},\"include\":[\"src\"]}\n"},
	{"openapi.json", "an API description", "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"x\"},\"paths\":{\"/v1/messages\":{\"post\":{}}}}\n"},
	{"geo.json", "JSON with", "{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"geometry\":null}]}\n"},
	{"events.jsonl", "JSON lines", "{\"id\":\"1\",\"type\":\"PushEvent\",\"payload\":{\"ref\":\"main\"}}\n{\"id\":\"2\",\"type\":\"ForkEvent\"}\n"},
	{"numbers.json", "", "[1,2,3,100,97,116,97,58,32]\n"},
	{"go.sum", "text", "github.com/x/y v1.0.0 h1:abc=\ngithub.com/x/y v1.0.0/go.mod h1:def=\n"},
	{"yarn.lock", "text", "# yarn lockfile v1\n\nopenai@^4:\n  version \"4.0.0\"\n"},
	{"Cargo.lock", "text", "[[package]]\nname = \"serde\"\nversion = \"1.0.0\"\n"},
	{"change.diff", "a diff", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-data: {\"type\":\"ping\"}\n+data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n"},
	{"dump.sql", "nothing recognised", "CREATE TABLE calls (id int, data text);\nINSERT INTO calls VALUES (1, '{\"name\":\"x\",\"arguments\":\"{}\"}');\n"},
	{"letter.eml", "YAML", "From: a@example.com\nTo: b@example.com\nSubject: data\n\nHello,\ndata: soon\n"},
	{"meeting.ics", "text", "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nSUMMARY:stream\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"},
	{"notes.md", "Markdown", "# Notes\n\nAn event is `data: {\"type\":\"message_start\"}`.\n\n```\nevent: party\n```\n"},
	{"book.ipynb", "JSON with", "{\"cells\":[{\"cell_type\":\"code\",\"metadata\":{},\"outputs\":[],\"source\":[\"print('data: {}')\\n\"]}],\"metadata\":{},\"nbformat\":4,\"nbformat_minor\":5}\n"},
	{"trace.txt", "3 lines arrived", "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'data: {'\n"},
	{"poem.txt", "text", "once upon\na time\n"},
	{"server.pem", "keys or certificates", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"},
	{"subtitles.srt", "text", "1\n00:00:01,000 --> 00:00:02,000\ndata: hello\n"},
	{"prices.sse", "", "data: {\"price\": 12, \"symbol\": \"X\"}\n\ndata: {\"price\": 13, \"symbol\": \"X\"}\n\n"},
	{"program", "a program", "\x7fELF\x02\x01\x01\x00\x00data: {\"type\":\"message_start\"}\n\x00\x00\xff\xfe"},
	{"picture.png", "an image", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01"},
	{"picture.jpg", "an image", "\xff\xd8\xff\xe0\x00\x10JFIF\x00"},
	{"paper.pdf", "a PDF", "%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj\n"},
	{"sound.wav", "binary data", "RIFF\x24\x08\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00\x22\x56\x00\x00" + strings.Repeat("\x00\x01\xff\x7f", 64)},
	{"files.zip", "a ZIP archive", "PK\x03\x04\x14\x00\x00\x00\x08\x00"},
	{"calls.db", "calls.db: can't read the file as an SQLite database: the header is incomplete", "SQLite format 3\x00\x10\x00\x01\x01"},
	{"net.pcap", "a network packet capture", "\xd4\xc3\xb2\xa1\x02\x00\x04\x00"},
	{"module.wasm", "a WebAssembly module", "\x00asm\x01\x00\x00\x00"},
	{"noise.bin", "binary data", string(bytes.Repeat([]byte{0xff, 0, 0x80, 7, 0xc3}, 200))},
	{"zeros", "binary data", strings.Repeat("\x00", 4096)},
	{"empty", "no bytes arrived", ""},
}

// TestStrangers checks that a file without model traffic has no calls and a helpful note, and that the command exits
// with 1.
func TestStrangers(t *testing.T) {
	for _, s := range strangers {
		path := saved(t, s.name, s.text)
		got := command(t, nil, "print", "--format", "jsonl", path)
		says := s.name + ": nothing"
		if strings.HasPrefix(s.says, s.name) { // an error, which is reported instead
			says = s.says
		}
		if got.code != 1 || strings.Contains(got.stdout, `"type":"call"`) || !strings.Contains(got.stderr, says) || !strings.Contains(got.stderr, s.says) {
			t.Errorf("%s: exit %d\n%s%s", s.name, got.code, got.stdout, got.stderr)
		}
	}
}
