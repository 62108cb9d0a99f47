// anthropic-sdk-go: Message.Accumulate
package main

import (
	"context"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"toolscope/suite/adapter"
)

func main() {
	adapter.Run("anthropic-sdk-go "+adapter.Version("github.com/anthropics/anthropic-sdk-go"), "Message.Accumulate", []string{"anthropic"}, ask)
}

func ask(q adapter.Question) (a adapter.Answer, err error) {
	client := anthropic.NewClient(option.WithBaseURL(strings.TrimSuffix(q.Base, "/v1")), option.WithAPIKey("none"), option.WithMaxRetries(0))
	stream := client.Messages.NewStreaming(context.Background(), anthropic.MessageNewParams{
		Model: "m", MaxTokens: 99, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("go"))},
	})
	var message anthropic.Message
	for stream.Next() {
		if err := message.Accumulate(stream.Current()); err != nil {
			return a, err
		}
	}
	if err := stream.Err(); err != nil {
		return a, err
	}
	for _, block := range message.Content {
		if use, ok := block.AsAny().(anthropic.ToolUseBlock); ok {
			a.Calls = append(a.Calls, adapter.Call{Name: use.Name, Arguments: string(use.Input)})
		}
	}
	a.Finish = string(message.StopReason)
	return a, nil
}
