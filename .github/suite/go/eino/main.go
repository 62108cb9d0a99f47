// eino: ChatModel.Stream and schema.ConcatMessageStream
package main

import (
	"context"
	"encoding/json"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"toolscope/suite/adapter"
)

func main() {
	adapter.Run("eino "+adapter.Version("github.com/cloudwego/eino"), "Stream and ConcatMessageStream; eino-ext openai "+adapter.Version("github.com/cloudwego/eino-ext/components/model/openai"), []string{"openai-chat"}, ask)
}

func ask(q adapter.Question) (a adapter.Answer, err error) {
	ctx := context.Background()
	model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{BaseURL: q.Base, APIKey: "none", Model: "m"})
	if err != nil {
		return a, err
	}
	var tools []*schema.ToolInfo
	for _, t := range q.Tools {
		parameters := new(jsonschema.Schema)
		text, _ := json.Marshal(t.Parameters)
		if err := json.Unmarshal(text, parameters); err != nil {
			return a, err
		}
		tools = append(tools, &schema.ToolInfo{Name: t.Name, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(parameters)})
	}
	bound, err := model.WithTools(tools)
	if err != nil {
		return a, err
	}
	stream, err := bound.Stream(ctx, []*schema.Message{schema.UserMessage("go")})
	if err != nil {
		return a, err
	}
	m, err := schema.ConcatMessageStream(stream)
	if err != nil {
		return a, err
	}
	for _, c := range m.ToolCalls {
		a.Calls = append(a.Calls, adapter.Call{Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	if m.ResponseMeta != nil {
		a.Finish = m.ResponseMeta.FinishReason
	}
	return a, nil
}
