// openai-go: ChatCompletionAccumulator
package main

import (
	"context"
	"errors"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"toolscope/suite/adapter"
)

func main() {
	adapter.Run("openai-go "+adapter.Version("github.com/openai/openai-go/v3"), "ChatCompletionAccumulator", []string{"openai-chat"}, ask)
}

func ask(q adapter.Question) (a adapter.Answer, err error) {
	client := openai.NewClient(option.WithBaseURL(q.Base), option.WithAPIKey("none"), option.WithMaxRetries(0))
	p := openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("go")}}
	for _, t := range q.Tools {
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: t.Name, Parameters: t.Parameters}))
	}
	stream := client.Chat.Completions.NewStreaming(context.Background(), p)
	var acc openai.ChatCompletionAccumulator
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			return a, errors.New("AddChunk returned false")
		}
	}
	if err := stream.Err(); err != nil {
		return a, err
	}
	if len(acc.Choices) == 0 {
		return a, errors.New("no choices")
	}
	for _, c := range acc.Choices[0].Message.ToolCalls {
		a.Calls = append(a.Calls, adapter.Call{Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	a.Finish = acc.Choices[0].FinishReason
	return a, nil
}
