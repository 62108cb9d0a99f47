// Package docs is what there is to read about the program, a page a topic: these files for who has
// them before him, and pages of help for who has the program.
package docs

import "embed"

//go:embed *.md
var pages embed.FS

// Page is the Markdown of a topic; ok is false where there is none.
func Page(topic string) (text string, ok bool) {
	page, err := pages.ReadFile(topic + ".md")
	return string(page), err == nil
}

// Topics are those that have a page, sorted.
func Topics() (topics []string) {
	files, _ := pages.ReadDir(".")
	for _, f := range files {
		topics = append(topics, f.Name()[:len(f.Name())-len(".md")])
	}
	return topics
}
