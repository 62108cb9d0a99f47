package ui

import "embed"

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
