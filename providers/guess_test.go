package providers

import (
	"strings"
	"testing"

	"toolscope/stream"
)

// strangers are beginnings of inputs without model traffic, each with a word from its description.
var strangers = []struct{ text, like string }{
	{"PK\x03\x04\x14\x00", "ZIP"}, {"SQLite format 3\x00\x10\x00", "SQLite"}, {"\x7fELF\x02\x01", "program"}, {"\x89PNG\r\n", "image"},
	{"%PDF-1.7\n", "PDF"}, {"\x0a\x0d\x0d\x0a\x1c\x00", "network packet"}, {strings.Repeat("\x00\x01\xfe", 30), "binary"},
	{"<!DOCTYPE html>\n<html>", "HTML"}, {"<html lang=en>", "HTML"}, {"<?xml version=\"1.0\"?>\n<a/>", "XML"},
	{"#!/bin/sh\nset -e\n", "script"}, {"package main\n\nimport \"fmt\"\n", "Go source"}, {"import os\nimport sys\n", "source code"},
	{"from x import y\n", "source code"}, {"#include <stdio.h>\n", "source code"}, {"-----BEGIN CERTIFICATE-----\n", "certificates"},
	{"npm ERR! code E404\n", "npm"}, {"0 verbose cli /usr/bin/node\n1 info using npm@10\n", "npm"},
	{"127.0.0.1 - - [20/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 12\n", "web server"},
	{"a,b,c\n1,2,3\n4,5,6\n", "table of 3"}, {"a\tb\n1\t2\n3\t4\n", "table of 2"}, {"diff --git a/x b/x\n", "diff"},
	{"# Title\n\nSome words.\n", "Markdown"}, {"# made by hand\nCLIENT_RANDOM " + strings.Repeat("0a", 32) + " " + strings.Repeat("1b", 48) + "\n", "keys for TLS"},
	{"# a comment\nkey\n", "text"}, {"2026-11-20T10:00:00Z INFO started\n", "log"}, {"Nov 20 10:00:00 host app[1]: up\n", "log"},
	{"---\nname: x\n", "YAML"}, {"{\"level\":\"info\",\"msg\":\"x\"}\n{\"level\":\"info\",\"msg\":\"y\"}\n", "JSON lines, each with level, msg"},
	{`{"openapi":"3.1.0","paths":{}}`, "API"}, {`{"name":"x","dependencies":{}}`, "manifest"}, {`{"a":1,"b":2,"c":3,"d":4,"e":5}`, "JSON with a, b, c, d …"},
	{"Dear all,\n", "text"}, {"", ""},
}

// TestGuess checks the descriptions of inputs without model traffic.
func TestGuess(t *testing.T) {
	for _, s := range strangers {
		if got := Guess([]byte(s.text)); !strings.Contains(got, s.like) || s.like == "" && got != "" {
			t.Errorf("%q looks like %q, want %q", s.text, got, s.like)
		}
	}
}

// TestStrangersHaveNoCalls checks that none of these inputs has a call or a known protocol, and that the
// screen shows its description.
func TestStrangersHaveNoCalls(t *testing.T) {
	for _, s := range strangers {
		if s.text == "" {
			continue
		}
		var in Inspector
		in.Write(stream.Record{Exchange: 1, Data: []byte(s.text), At: stream.NoTime})
		in.Write(stream.Record{Exchange: 1, End: true, At: stream.NoTime})
		in.Close()
		for _, turn := range in.Session().Turns {
			if turn.Protocol != "unknown" || len(turn.Calls) > 0 {
				t.Errorf("%q is read as %s with %d calls", s.text, turn.Protocol, len(turn.Calls))
			}
		}
	}
}

// FuzzGuess checks that Guess accepts any input, cut off anywhere.
func FuzzGuess(f *testing.F) {
	for _, s := range strangers {
		f.Add([]byte(s.text))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		if strings.ContainsAny(Guess(p), "\n\r") && !strings.HasPrefix(Guess(p), "JSON") {
			t.Errorf("%q", Guess(p))
		}
	})
}
