// Package ui is the Bubble Tea program: it shows the state of a growing timeline.
//
//	source ─▶ Inbox ─▶ Model.Update ─▶ Inspector ─▶ View ─▶ panes, modes ─▶ frame
//	  (any goroutine)  (one batch a frame)               (visible rows only)
//
// Only Model is a tea.Model; its Update is short and only routes. The packages below it draw. Package screen
// has the pen, package panes the panes of a session, and package modes the views that cover the panes.
// replay, send and compare are modes in their own packages. The open modes are a stack. The top mode owns the
// keyboard, the body and the footer. The bottom mode is browsing. The footer, the help and the key handling
// use the same bindings.
//
// Invariants:
//   - A frame is exactly as high and as wide as the window.
//   - A frame's cost depends on the window, not on the document.
//   - A pen writes only bytes that it sanitises, or a display.Text, which is always sanitised.
//
// - An idle screen does no work: timers run only while data arrives or is awaited, or something plays.
package ui

import (
	"embed"
)

// docs holds the documentation, one page per topic. The files can be read on their own or as help pages.
//
//go:embed docs/*.md
var docs embed.FS

// DocPage returns the Markdown of a topic. The result ok is false if the topic has none.
func DocPage(topic string) (text string, ok bool) {
	page, err := docs.ReadFile("docs/" + topic + ".md")
	return string(page), err == nil
}

// DocTopics returns the topics that have a page, sorted.
func DocTopics() (topics []string) {
	files, _ := docs.ReadDir("docs")
	for _, f := range files {
		topics = append(topics, f.Name()[:len(f.Name())-len(".md")])
	}
	return topics
}
