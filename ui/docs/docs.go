// Package docs holds the documentation, one page per topic. The files are read here, and in the program
// as help pages.
package docs

import "embed"

//go:embed *.md
var pages embed.FS

// Page returns the Markdown of a topic; ok is false if there is none.
func Page(topic string) (text string, ok bool) {
	page, err := pages.ReadFile(topic + ".md")
	return string(page), err == nil
}

// Topics returns the topics that have a page, sorted.
func Topics() (topics []string) {
	files, _ := pages.ReadDir(".")
	for _, f := range files {
		topics = append(topics, f.Name()[:len(f.Name())-len(".md")])
	}
	return topics
}
