package replay

import (
	"strconv"
	"strings"

	"toolscope/providers/protocol"
)

// callTemplates are calls as a client writes them, if not as usual: the fields in its order, with words in
// capitals for their values. The key is the target's protocol, or those of the source and the target,
// "from>to". A field without a value is left out.
type callTemplates map[string]string

// templateFor returns the template of a call between two protocols, or "".
func (s callTemplates) templateFor(from, to string) string {
	if shape, ok := s[from+">"+to]; ok {
		return shape
	}
	return s[to]
}

// fillTemplate returns the call as the policy's client writes it, nil if that is as usual.
func (c *previewBuilder) fillTemplate(p *protocol.Part) protocol.Raw {
	from := ""
	if c.src.From != nil {
		from = c.src.From.Protocol
	}
	shape := c.shape
	if shape == "" {
		shape = c.Policy.shapes.templateFor(from, c.To.Protocol)
	}
	if shape == "" || p.RunByProvider || p.ToolKind != "function" {
		return nil
	}
	args := string(p.Args)
	if c.To.Form == protocol.TextForm {
		args = quoteJSON(args)
	}
	for _, member := range [...]struct{ name, word, value string }{
		{"id", "ID", p.ID}, {"id", "ITEM", p.Item}, {"args", "ARGS", args}, {"call_id", "ID", p.ID},
	} {
		if member.value == "" {
			shape = strings.Replace(shape, `"`+member.name+`":`+member.word+`,`, "", 1)
		}
	}
	proof := p.Signature
	if proof == "" && c.call-1 == c.before {
		proof = c.To.Sentinel // for the first call of a turn
	}
	for word, value := range map[string]string{"SIGNATURE": p.Signature, "PROOF": proof} {
		if value == "" {
			shape = strings.Replace(shape, `,"thoughtSignature":`+word, "", 1)
		}
	}
	return protocol.Raw(strings.NewReplacer("SIGNATURE", quoteJSON(p.Signature), "PROOF", quoteJSON(proof), "INDEX", strconv.Itoa(c.call-1-c.before), "ID", quoteJSON(p.ID), "ITEM", quoteJSON(p.Item), "NAME", quoteJSON(p.Name), "ARGS", args).Replace(shape))
}

// quoteJSON returns text as a JSON string.
func quoteJSON(text string) string { return string(protocol.AppendString(nil, []byte(text))) }

// Templates of calls.
const (
	nameFirst      = `{"type":"function_call","name":NAME,"call_id":ID,"arguments":ARGS}`
	plainResponses = `{"type":"function_call","call_id":ID,"name":NAME,"arguments":ARGS}`
	argsFirst      = `{"functionCall":{"args":ARGS,"name":NAME},"thoughtSignature":SIGNATURE}`
	argsFirstID    = `{"functionCall":{"id":ID,"args":ARGS,"name":NAME},"thoughtSignature":SIGNATURE}`
	signed         = `{"functionCall":{"id":ID,"args":ARGS,"name":NAME},"thoughtSignature":PROOF}`
	noID           = `{"functionCall":{"name":NAME,"args":ARGS},"thoughtSignature":SIGNATURE}`
	chatAsItCame   = `{"index":INDEX,"id":ID,"type":"function","function":{"name":NAME,"arguments":ARGS}}`
	typeFirst      = `{"type":"function","id":ID,"function":{"name":NAME,"arguments":ARGS}}`
	withID         = `{"functionCall":{"id":ID,"name":NAME,"args":ARGS},"thoughtSignature":SIGNATURE}`
)

// Templates of clients.
var (
	codexShapes     = callTemplates{responses: `{"type":"function_call","status":"completed","id":ITEM,"name":NAME,"arguments":ARGS,"call_id":ID}`}
	aiSDKShapes     = callTemplates{responses: plainResponses, gemini: withID}
	langChainShapes = callTemplates{
		responses:                   `{"type":"function_call","name":NAME,"arguments":ARGS,"call_id":ID}`,
		responses + ">" + responses: `{"id":ITEM,"type":"function_call","status":"completed","call_id":ID,"name":NAME,"arguments":ARGS}`,
		gemini:                      noID,
		ollama:                      `{"id":ID,"type":"function","function":{"name":NAME,"arguments":ARGS}}`,
	}
	agentsShapes = callTemplates{
		responses:                   nameFirst,
		responses + ">" + responses: `{"id":ITEM,"type":"function_call","name":NAME,"call_id":ID,"arguments":ARGS,"status":"completed"}`,
	}
	openAIShapes = callTemplates{
		responses: `{"id":ITEM,"type":"function_call","status":"completed","call_id":ID,"name":NAME,"arguments":ARGS,"parsed_arguments":null}`,
	}
)
