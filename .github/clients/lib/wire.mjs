// The responses of providers: a stream with the calls of a case, followed by a response with the text
// "Done.". Protocols with arguments as text contain the arguments unchanged. In protocols with arguments as a
// JSON value, arguments that are not JSON become a string.
export const call = { id: 'call_abc123XYZ', item: 'fc_0a1b2c3d4e5f', tool: 'get_weather' }

/** callsOf returns the calls of a case, each with an id, a name and arguments. A case may be only the arguments of one call. */
export const callsOf = made => made === null ? null : (typeof made === 'string' ? [{ args: made }] : made)
  .map(c => ({ id: call.id, name: call.tool, ...c, explicit: c.id !== undefined }))

const text = s => JSON.stringify(s)
const valid = s => { try { JSON.parse(s); return true } catch { return false } }

/**
 * asValue returns the JSON text of arguments for a protocol with arguments as a JSON value. It has no line breaks,
 * which would end an event, and no incomplete characters, which UTF-8 can't encode.
 */
export const asValue = args => (valid(args) ? args.replaceAll('\n', ' ') : text(args)).toWellFormed()

const pieces = s => s.length < 3 ? [s] : [s.slice(0, s.length >> 1), s.slice(s.length >> 1)]
const named = (event, data) => `event: ${event}\ndata: ${data}\n\n`
const data = d => `data: ${d}\n\n`

function anthropic(calls) {
  const usage = '"usage":{"input_tokens":5,"output_tokens":7}'
  const start = named('message_start', `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,${usage}}}`)
  const end = stop => named('message_delta', `{"type":"message_delta","delta":{"stop_reason":"${stop}","stop_sequence":null},${usage}}`) + named('message_stop', '{"type":"message_stop"}')
  const stop = n => named('content_block_stop', `{"type":"content_block_stop","index":${n}}`)
  if (calls === null) {
    return start + named('content_block_start', '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}') +
      named('content_block_delta', '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Done."}}') + stop(0) + end('end_turn')
  }
  return start + calls.map((c, n) => named('content_block_start', `{"type":"content_block_start","index":${n},"content_block":{"type":"tool_use","id":${text(c.id)},"name":${text(c.name)},"input":{}}}`) +
    pieces(c.args).map(p => named('content_block_delta', `{"type":"content_block_delta","index":${n},"delta":{"type":"input_json_delta","partial_json":${text(p)}}}`)).join('') + stop(n)).join('') + end('tool_use')
}

function chat(calls) {
  const chunk = (delta, finish = null) => data(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-5","choices":[{"index":0,"delta":${delta},"finish_reason":${text(finish)}}]}`)
  const end = data('{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-5","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}') + data('[DONE]')
  if (calls === null) return chunk('{"role":"assistant","content":"Done."}') + chunk('{}', 'stop') + end
  return chunk('{"role":"assistant","content":null}') + calls.map((c, n) =>
    chunk(`{"tool_calls":[{"index":${n},"id":${text(c.id)},"type":"function","function":{"name":${text(c.name)},"arguments":""}}]}`) +
    pieces(c.args).map(p => chunk(`{"tool_calls":[{"index":${n},"function":{"arguments":${text(p)}}}]}`)).join('')).join('') + chunk('{}', 'tool_calls') + end
}

function responses(calls) {
  let n = 0
  const event = (type, rest) => named(type, `{"type":"${type}","sequence_number":${n++},${rest}}`)
  const response = (status, output) => `"response":{"id":"resp_1","object":"response","created_at":1,"status":"${status}","model":"gpt-5","output":[${output}],"parallel_tool_calls":true,"tools":[],"usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":0},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":12}}`
  const begin = event('response.created', response('in_progress', ''))
  if (calls === null) {
    const item = (status, content) => `{"id":"msg_1","type":"message","status":"${status}","role":"assistant","content":[${content}]}`
    const part = t => `{"type":"output_text","text":"${t}","annotations":[]}`
    return begin + event('response.output_item.added', `"output_index":0,"item":${item('in_progress', '')}`) +
      event('response.content_part.added', `"item_id":"msg_1","output_index":0,"content_index":0,"part":${part('')}`) +
      event('response.output_text.delta', '"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Done."') +
      event('response.output_text.done', '"item_id":"msg_1","output_index":0,"content_index":0,"text":"Done."') +
      event('response.output_item.done', `"output_index":0,"item":${item('completed', part('Done.'))}`) +
      event('response.completed', response('completed', item('completed', part('Done.'))))
  }
  const of = n => n ? `${call.item}${n}` : call.item
  const item = (c, n, status, a) => `{"id":"${of(n)}","type":"function_call","status":"${status}","call_id":${text(c.id)},"name":${text(c.name)},"arguments":${text(a)}}`
  return begin + calls.map((c, k) => event('response.output_item.added', `"output_index":${k},"item":${item(c, k, 'in_progress', '')}`) +
    pieces(c.args).map(p => event('response.function_call_arguments.delta', `"item_id":"${of(k)}","output_index":${k},"delta":${text(p)}`)).join('') +
    event('response.function_call_arguments.done', `"item_id":"${of(k)}","output_index":${k},"arguments":${text(c.args)}`) +
    event('response.output_item.done', `"output_index":${k},"item":${item(c, k, 'completed', c.args)}`)).join('') +
    event('response.completed', response('completed', calls.map((c, k) => item(c, k, 'completed', c.args)).join(',')))
}

function gemini(calls) {
  const part = c => `{"functionCall":{${c.explicit ? `"id":${text(c.id)},` : ''}"name":${text(c.name)},"args":${asValue(c.args)}}}`
  const parts = calls === null ? '{"text":"Done."}' : calls.map(part).join(',')
  return data(`{"candidates":[{"content":{"parts":[${parts}],"role":"model"},"index":0,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":7,"totalTokenCount":12},"modelVersion":"gemini-2.5-pro","responseId":"r1"}`)
}

function ollama(calls) {
  const line = (message, done) => `{"model":"qwen3","created_at":"2025-01-01T00:00:00Z","message":${message},"done":${done}${done ? ',"done_reason":"stop","total_duration":1,"eval_count":7,"prompt_eval_count":5' : ''}}\n`
  if (calls === null) return line('{"role":"assistant","content":"Done."}', true)
  const made = calls.map(c => `{"id":${text(c.id)},"function":{"name":${text(c.name)},"arguments":${asValue(c.args)}}}`)
  return line(`{"role":"assistant","content":"","tool_calls":[${made}]}`, false) + line('{"role":"assistant","content":""}', true)
}

export const answers = { anthropic, 'openai-chat': chat, 'openai-responses': responses, gemini, ollama }

/** protocolOf returns the protocol for a URL, or '' if it is unknown. */
export function protocolOf(url) {
  if (/\/messages(\?|$)/.test(url)) return 'anthropic'
  if (/\/chat\/completions/.test(url)) return 'openai-chat'
  if (/\/responses(\?|$)/.test(url)) return 'openai-responses'
  if (/GenerateContent|generateContent/.test(url)) return 'gemini'
  if (/\/api\/chat/.test(url)) return 'ollama'
  if (/\/converse/.test(url)) return 'bedrock'
  return ''
}

/** callsIn returns the calls in the history of a request. */
export function callsIn(protocol, body) {
  const fine = list => (list ?? []).filter(Boolean)
  switch (protocol) {
    case 'anthropic': return fine(body.messages).flatMap(m => Array.isArray(m.content) ? m.content : []).filter(b => b.type === 'tool_use')
    case 'openai-chat': return fine(body.messages).flatMap(m => m.tool_calls ?? [])
    case 'openai-responses': return fine(body.input).filter(i => i.type === 'function_call')
    case 'gemini': return fine(body.contents).flatMap(c => c.parts ?? []).filter(p => p.functionCall)
    case 'ollama': return fine(body.messages).flatMap(m => m.tool_calls ?? [])
    case 'bedrock': return fine(body.messages).flatMap(m => m.content ?? []).filter(b => b.toolUse)
  }
}

/** callIn returns the first call in the history of a request. */
export const callIn = (protocol, body) => callsIn(protocol, body)[0]

/** resultsIn returns the id of each result in the history of a request, or the name if a result has no id. */
export function resultsIn(protocol, body) {
  const fine = list => (list ?? []).filter(Boolean)
  switch (protocol) {
    case 'anthropic': return fine(body.messages).flatMap(m => Array.isArray(m.content) ? m.content : []).filter(b => b.type === 'tool_result').map(b => b.tool_use_id)
    case 'openai-chat': return fine(body.messages).filter(m => m.role === 'tool').map(m => m.tool_call_id)
    case 'openai-responses': return fine(body.input).filter(i => i.type === 'function_call_output').map(i => i.call_id)
    case 'gemini': return fine(body.contents).flatMap(c => c.parts ?? []).filter(p => p.functionResponse).map(p => p.functionResponse.id ?? p.functionResponse.name)
    case 'ollama': return fine(body.messages).filter(m => m.role === 'tool').map(m => m.tool_call_id ?? m.tool_name ?? null)
    case 'bedrock': return fine(body.messages).flatMap(m => m.content ?? []).filter(b => b.toolResult).map(b => b.toolResult.toolUseId)
  }
}

/** hasResult reports whether the history of a request contains a result. */
export function hasResult(protocol, body) {
  return /"tool_result"|"role":"tool"|"function_call_output"|"functionResponse"|"toolResult"/.test(JSON.stringify(body))
}

/**
 * scrub replaces the ids that the client generates, which differ in each run. It also removes the cache marker, which
 * belongs to the last messages and not to the call.
 */
export function scrub(value) {
  delete value.cache_control
  const of = value.toolUse ?? value.functionCall ?? value
  for (const key of ['id', 'call_id', 'toolUseId']) {
    if (typeof of[key] === 'string' && !of[key].startsWith(call.id) && of[key] !== call.item) of[key] = 'RANDOM'
  }
  return value
}
