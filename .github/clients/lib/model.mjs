// A simulated model for agents: a server that handles one case after another. Its response to the first
// request with the agent's tool contains the call. All other responses are one word.
import http from 'node:http'
import { answers, callsOf, protocolOf } from './wire.mjs'

/** whole is the response to a request without streaming. */
const whole = {
  anthropic: '{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"{}"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}',
  gemini: '{"candidates":[{"content":{"parts":[{"text":"{}"}],"role":"model"},"index":0,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}',
  'openai-chat': '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"{}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}',
}

/** model simulates a model in one protocol. asked are the requests in the current case that declare the tool. */
export function model(tool, protocol) {
  const it = { asked: [], args: null, base: '' }
  it.next = args => Object.assign(it, { asked: [], args })
  const server = http.createServer((req, res) => {
    const parts = []
    req.on('data', p => parts.push(p)).on('end', () => {
      const text = Buffer.concat(parts).toString()
      const url = req.url.replace(/\?.*/, '')
      if (req.method !== 'POST' || protocolOf(url) !== protocol) return res.writeHead(404).end('{}')
      const body = JSON.parse(text)
      const main = text.includes(JSON.stringify(tool))
      if (main) it.asked.push(body)
      if (!/stream/i.test(req.url) && !body.stream) {
        return res.writeHead(200, { 'content-type': 'application/json' }).end(whole[protocol] ?? '{}')
      }
      const stream = answers[protocol](callsOf(main && it.asked.length === 1 ? it.args : null))
      res.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream)
    })
  })
  it.close = () => { server.closeAllConnections(); server.close() }
  return new Promise(done => server.listen(0, '127.0.0.1', () => {
    it.base = `http://127.0.0.1:${server.address().port}`
    done(it)
  }))
}
