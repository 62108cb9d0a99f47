// The responses of providers: a stream with one call with the arguments of a case, and then "Done.". A protocol with
// arguments as text contains them unchanged. In a protocol with arguments as a JSON value, arguments that are not JSON
// become a string.
export const call = { id: 'call_abc123XYZ', item: 'fc_0a1b2c3d4e5f', tool: 'get_weather' }

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

function anthropic(args) {
  const usage = '"usage":{"input_tokens":5,"output_tokens":7}'
  const start = named('message_start', `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,${usage}}}`)
  const end = stop => named('message_delta', `{"type":"message_delta","delta":{"stop_reason":"${stop}","stop_sequence":null},${usage}}`) + named('message_stop', '{"type":"message_stop"}')
  const stop = named('content_block_stop', '{"type":"content_block_stop","index":0}')
  if (args === null) {
    return start + named('content_block_start', '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}') +
      named('content_block_delta', '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Done."}}') + stop + end('end_turn')
  }
  return start + named('content_block_start', `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"${call.id}","name":"${call.tool}","input":{}}}`) +
    pieces(args).map(p => named('content_block_delta', `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":${text(p)}}}`)).join('') + stop + end('tool_use')
}

function chat(args) {
  const chunk = (delta, finish = null) => data(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-5","choices":[{"index":0,"delta":${delta},"finish_reason":${text(finish)}}]}`)
  const end = data('{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-5","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}') + data('[DONE]')
  if (args === null) return chunk('{"role":"assistant","content":"Done."}') + chunk('{}', 'stop') + end
  return chunk('{"role":"assistant","content":null}') +
    chunk(`{"tool_calls":[{"index":0,"id":"${call.id}","type":"function","function":{"name":"${call.tool}","arguments":""}}]}`) +
    pieces(args).map(p => chunk(`{"tool_calls":[{"index":0,"function":{"arguments":${text(p)}}}]}`)).join('') + chunk('{}', 'tool_calls') + end
}

function responses(args) {
  let n = 0
  const event = (type, rest) => named(type, `{"type":"${type}","sequence_number":${n++},${rest}}`)
  const response = (status, output) => `"response":{"id":"resp_1","object":"response","created_at":1,"status":"${status}","model":"gpt-5","output":[${output}],"parallel_tool_calls":true,"tools":[],"usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":0},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":12}}`
  const begin = event('response.created', response('in_progress', ''))
  if (args === null) {
    const item = (status, content) => `{"id":"msg_1","type":"message","status":"${status}","role":"assistant","content":[${content}]}`
    const part = t => `{"type":"output_text","text":"${t}","annotations":[]}`
    return begin + event('response.output_item.added', `"output_index":0,"item":${item('in_progress', '')}`) +
      event('response.content_part.added', `"item_id":"msg_1","output_index":0,"content_index":0,"part":${part('')}`) +
      event('response.output_text.delta', '"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Done."') +
      event('response.output_text.done', '"item_id":"msg_1","output_index":0,"content_index":0,"text":"Done."') +
      event('response.output_item.done', `"output_index":0,"item":${item('completed', part('Done.'))}`) +
      event('response.completed', response('completed', item('completed', part('Done.'))))
  }
  const item = (status, a) => `{"id":"${call.item}","type":"function_call","status":"${status}","call_id":"${call.id}","name":"${call.tool}","arguments":${text(a)}}`
  return begin + event('response.output_item.added', `"output_index":0,"item":${item('in_progress', '')}`) +
    pieces(args).map(p => event('response.function_call_arguments.delta', `"item_id":"${call.item}","output_index":0,"delta":${text(p)}`)).join('') +
    event('response.function_call_arguments.done', `"item_id":"${call.item}","output_index":0,"arguments":${text(args)}`) +
    event('response.output_item.done', `"output_index":0,"item":${item('completed', args)}`) +
    event('response.completed', response('completed', item('completed', args)))
}

function gemini(args) {
  const parts = args === null ? '{"text":"Done."}' : `{"functionCall":{"name":"${call.tool}","args":${asValue(args)}}}`
  return data(`{"candidates":[{"content":{"parts":[${parts}],"role":"model"},"index":0,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":7,"totalTokenCount":12},"modelVersion":"gemini-2.5-pro","responseId":"r1"}`)
}

function ollama(args) {
  const line = (message, done) => `{"model":"qwen3","created_at":"2025-01-01T00:00:00Z","message":${message},"done":${done}${done ? ',"done_reason":"stop","total_duration":1,"eval_count":7,"prompt_eval_count":5' : ''}}\n`
  if (args === null) return line('{"role":"assistant","content":"Done."}', true)
  return line(`{"role":"assistant","content":"","tool_calls":[{"id":"${call.id}","function":{"name":"${call.tool}","arguments":${asValue(args)}}}]}`, false) + line('{"role":"assistant","content":""}', true)
}

export const answers = { anthropic, 'openai-chat': chat, 'openai-responses': responses, gemini, ollama }

/** protocolOf returns the protocol of an address, '' if it is unknown. */
export function protocolOf(url) {
  if (/\/messages(\?|$)/.test(url)) return 'anthropic'
  if (/\/chat\/completions/.test(url)) return 'openai-chat'
  if (/\/responses(\?|$)/.test(url)) return 'openai-responses'
  if (/GenerateContent|generateContent/.test(url)) return 'gemini'
  if (/\/api\/chat/.test(url)) return 'ollama'
  if (/\/converse/.test(url)) return 'bedrock'
  return ''
}

/** callIn returns the first call in the history of a request. */
export function callIn(protocol, body) {
  const fine = list => (list ?? []).filter(Boolean)
  switch (protocol) {
    case 'anthropic': return fine(body.messages).flatMap(m => Array.isArray(m.content) ? m.content : []).find(b => b.type === 'tool_use')
    case 'openai-chat': return fine(body.messages).flatMap(m => m.tool_calls ?? [])[0]
    case 'openai-responses': return fine(body.input).find(i => i.type === 'function_call')
    case 'gemini': return fine(body.contents).flatMap(c => c.parts ?? []).find(p => p.functionCall)
    case 'ollama': return fine(body.messages).flatMap(m => m.tool_calls ?? [])[0]
    case 'bedrock': return fine(body.messages).flatMap(m => m.content ?? []).find(b => b.toolUse)
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
