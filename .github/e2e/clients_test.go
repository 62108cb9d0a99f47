package e2e

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
)

// protocol is a wire protocol and a client library that reads it.
type protocol struct {
	name        string
	wire        string // file in testdata
	path        string
	contentType string
	host        string // name of the provider in the proxy
	version     string // end of the provider's address
	keyed       bool   // the library sends a key

	// stream sends a request to the provider at base. It returns the calls that the library reads from the
	// stream.
	stream func(ctx context.Context, base string, retries int) ([]call, error)
	// failure returns the HTTP status and the message in the body, as reported by the library's own error.
	failure func(error) (int, string)
}

var protocols = []protocol{
	{"anthropic", "anthropic.sse", "/v1/messages", "text/event-stream; charset=utf-8", "anthropic", "", true, anthropicCalls, anthropicFailure},
	{"openai-chat", "openai-chat.sse", "/v1/chat/completions", "text/event-stream; charset=utf-8", "openai", "/v1", true, chatCalls, openAIFailure},
	{"openai-responses", "openai-responses.sse", "/v1/responses", "text/event-stream; charset=utf-8", "openai", "/v1", true, responsesCalls, openAIFailure},
	{"gemini", "gemini.sse", "/v1beta/models/gemini-e2e:streamGenerateContent?alt=sse", "text/event-stream", "gemini", "", true, geminiCalls, geminiFailure},
	{"ollama", "ollama.ndjson", "/api/chat", "application/x-ndjson", "ollama", "", false, ollamaCalls, ollamaFailure},
}

// key is an API key that must not be shown or recorded.
const key = "e2e-CANARY-0123456789abcdef"

func anthropicCalls(ctx context.Context, base string, retries int) (calls []call, err error) {
	client := anthropic.NewClient(anthropicoption.WithBaseURL(base), anthropicoption.WithAPIKey(key), anthropicoption.WithMaxRetries(retries))
	stream := client.Messages.NewStreaming(ctx, anthropic.MessageNewParams{
		Model: "claude-e2e", MaxTokens: 1024,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Oslo to Bergen?"))},
	})
	var message anthropic.Message
	for stream.Next() {
		if err := message.Accumulate(stream.Current()); err != nil {
			return nil, err
		}
	}
	for _, block := range message.Content {
		if block.Type == "tool_use" {
			calls = append(calls, call{block.ID, block.Name, string(block.Input)})
		}
	}
	return calls, stream.Err()
}

func anthropicFailure(err error) (int, string) {
	if failed := (*anthropic.Error)(nil); errors.As(err, &failed) {
		return failed.StatusCode, failed.RawJSON()
	}
	return 0, ""
}

func openAI(base string, retries int) openai.Client {
	return openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(retries))
}

func chatCalls(ctx context.Context, base string, retries int) (calls []call, err error) {
	client := openAI(base, retries)
	stream := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model: "gpt-e2e", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Oslo to Bergen?")},
	})
	var whole openai.ChatCompletionAccumulator
	for stream.Next() {
		if !whole.AddChunk(stream.Current()) {
			return nil, errors.New("the accumulator refuses a chunk")
		}
	}
	for _, choice := range whole.Choices {
		for _, c := range choice.Message.ToolCalls {
			calls = append(calls, call{c.ID, c.Function.Name, c.Function.Arguments})
		}
	}
	return calls, stream.Err()
}

func responsesCalls(ctx context.Context, base string, retries int) (calls []call, err error) {
	client := openAI(base, retries)
	stream := client.Responses.NewStreaming(ctx, responses.ResponseNewParams{
		Model: "gpt-e2e", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Oslo to Bergen?")},
	})
	for stream.Next() {
		if event := stream.Current(); event.Type == "response.output_item.done" && event.Item.Type == "function_call" {
			item := event.Item.AsFunctionCall()
			calls = append(calls, call{item.CallID, item.Name, item.Arguments})
		}
	}
	return calls, stream.Err()
}

func openAIFailure(err error) (int, string) {
	if failed := (*openai.Error)(nil); errors.As(err, &failed) {
		return failed.StatusCode, failed.Message
	}
	return 0, ""
}

func geminiCalls(ctx context.Context, base string, _ int) (calls []call, err error) {
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: key, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: base},
	})
	if err != nil {
		return nil, err
	}
	for chunk, err := range client.Models.GenerateContentStream(ctx, "gemini-e2e", genai.Text("Oslo to Bergen?"), nil) {
		if err != nil {
			return calls, err
		}
		for _, c := range chunk.FunctionCalls() {
			calls = append(calls, call{c.ID, c.Name, text(c.Args)})
		}
	}
	return calls, nil
}

func geminiFailure(err error) (int, string) {
	if failed := (genai.APIError{}); errors.As(err, &failed) {
		return failed.Code, failed.Message
	}
	return 0, ""
}

func ollamaCalls(ctx context.Context, base string, _ int) (calls []call, err error) {
	at, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	request := &api.ChatRequest{Model: "qwen-e2e", Messages: []api.Message{{Role: "user", Content: "Oslo to Bergen?"}}}
	done := false
	err = api.NewClient(at, http.DefaultClient).Chat(ctx, request, func(part api.ChatResponse) error {
		done = done || part.Done
		for _, c := range part.Message.ToolCalls {
			calls = append(calls, call{c.ID, c.Function.Name, text(c.Function.Arguments.ToMap())})
		}
		return nil
	})
	if err == nil && !done { // the library treats a connection that breaks between two lines as the end of the stream
		err = errors.New("the stream ended without done")
	}
	return calls, err
}

func ollamaFailure(err error) (int, string) {
	if failed := (api.StatusError{}); errors.As(err, &failed) {
		return failed.StatusCode, failed.ErrorMessage
	}
	return 0, ""
}
