// langchaingo: GenerateContent with a streaming function
package main

import (
	"context"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/openai"

	"toolscope/suite/adapter"
)

func main() {
	adapter.Run("langchaingo "+adapter.Version("github.com/tmc/langchaingo"), "GenerateContent", []string{"openai-chat", "anthropic"}, ask)
}

func ask(q adapter.Question) (a adapter.Answer, err error) {
	var model llms.Model
	if q.Protocol == "anthropic" {
		model, err = anthropic.New(anthropic.WithBaseURL(q.Base), anthropic.WithToken("none"), anthropic.WithModel("m"))
	} else {
		model, err = openai.New(openai.WithBaseURL(q.Base), openai.WithToken("none"), openai.WithModel("m"))
	}
	if err != nil {
		return a, err
	}
	var tools []llms.Tool
	for _, t := range q.Tools {
		tools = append(tools, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: t.Name, Parameters: t.Parameters}})
	}
	r, err := model.GenerateContent(context.Background(), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "go")},
		llms.WithTools(tools), llms.WithMaxTokens(99), llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	if err != nil {
		return a, err
	}
	for _, choice := range r.Choices {
		for _, c := range choice.ToolCalls {
			a.Calls = append(a.Calls, adapter.Call{Name: c.FunctionCall.Name, Arguments: c.FunctionCall.Arguments})
		}
		a.Finish = choice.StopReason
	}
	return a, nil
}
