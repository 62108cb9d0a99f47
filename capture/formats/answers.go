package formats

import (
	"toolscope/capture"

	"toolscope/stream/json"
)

// geminiAnswers reads the model responses that Gemini CLI records for replay in tests. Each line is a request to the
// model's API with its response: an object or, for a stream, the list of its objects.
var geminiAnswers = capture.Format{
	Name:  "gemini-cli responses",
	Title: "model responses recorded by Gemini CLI",
	Sniff: sniffGeminiAnswers,
	New:   func(in *capture.Input) capture.Reader { return newEntries(in, "line", readGeminiAnswer, []string{}) },
}

// geminiMethods are the methods of the API that Gemini CLI calls.
var geminiMethods = map[string]bool{"generateContent": true, "generateContentStream": true, "countTokens": true, "embedContent": true}

func sniffGeminiAnswers(first []byte, whole bool) capture.SniffResult {
	known := false
	return sniffObject(first, whole, func(key string, value []byte) capture.SniffResult {
		switch {
		case key == "method" && !known:
			text, ok := json.Text(value)
			if known = ok && geminiMethods[string(text)]; known || !ok && len(value) < 32 {
				return sniffMaybe(false)
			}
		case key == "response" && known:
			return capture.SniffResult{Is: capture.Yes, Why: "it has a Gemini API method and a response"}
		}
		return capture.SniffResult{}
	})
}

func readGeminiAnswer(r *valuesReader, object []byte, cut bool) {
	line := fileValue{raw: object}
	method, response := line.get("method").asText(), line.get("response")
	if cut || !response.isMapping() && !response.isSequence() {
		r.noteUnexpected("no response")
		return
	}
	if method == "generateContentStream" {
		method = "streamGenerateContent"
	}
	x := recordedExchange{layers: []string{"gemini-cli responses"}, method: "POST", url: ":" + method, response: response.raw}
	x.addLack(capture.NoTimes)
	r.writeExchange(&x)
}

// devTools reads the database of the AI SDK's DevTools. Requests, responses and chunks of a step are JSON in strings.
// The SDK itself writes the other fields of a step, and the response of a streamed step.
var devTools = capture.Format{
	Name:  "ai-sdk devtools",
	Title: "generations.json of the AI SDK's DevTools",
	Sniff: sniffDevTools,
	New: func(in *capture.Input) capture.Reader {
		return newEntries(in, "step", readStep, []string{"steps", "*"})
	},
}

func sniffDevTools(first []byte, whole bool) capture.SniffResult {
	runs := false
	return sniffObject(first, whole, func(key string, value []byte) capture.SniffResult {
		switch {
		case key == "runs" && value[0] == '[':
			runs = true
			return sniffMaybe(false)
		case key == "steps" && value[0] == '[':
			for step := range json.Elements(value) {
				if json.Find(step, "run_id") != nil {
					return capture.SniffResult{Is: capture.Yes, Why: "it has runs and steps, as the AI SDK's DevTools write them"}
				}
			}
			if !runs || !isWhole(value) {
				return sniffMaybe(false)
			}
			return capture.SniffResult{Is: capture.Yes, Why: "it has runs and steps, as the AI SDK's DevTools write them"}
		}
		return capture.SniffResult{}
	})
}

func readStep(r *valuesReader, object []byte, cut bool) {
	step := fileValue{raw: object}
	if cut || !step.get("run_id").isPresent() {
		r.noteUnexpected("no run_id, or no end")
		return
	}
	x := recordedExchange{layers: []string{"ai-sdk devtools"}}
	x.began = parseClock(step.get("started_at"))
	x.ended = addMillis(x.began, parseNumber(step.get("duration_ms").raw))
	if request := inString(inString(step.get("raw_request"))); !request.isNull() {
		x.request = request.asBytes()
	}
	chunks, response := inString(step.get("raw_chunks")), inString(step.get("raw_response"))
	switch {
	case chunks.isSequence() && string(chunks.raw) != "[]":
		x.addLack(capture.NoTimes)
		chunks.eachChild(func(_ string, chunk fileValue) {
			x.pieces = append(x.pieces, timedBytes{data: append(chunk.asBytes(), '\n')})
		})
	case response.isMapping():
		x.response = response.raw
		x.addLack(capture.NoTimes)
		x.addLack(capture.Reencoded)
	default:
		x.addLack(capture.NoBody)
	}
	if why := step.get("error").asText(); why != "" {
		if x.cut, x.why = true, why; why == "Request aborted" {
			x.by = capture.Client
		}
	}
	r.writeExchange(&x)
}

// inString returns the JSON in a string, or the value itself if it is not a string.
func inString(p fileValue) fileValue {
	if text, ok := json.Text(p.raw); ok {
		return fileValue{raw: afterSpace(text)}
	}
	return p
}
