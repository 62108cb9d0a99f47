// A simulated network: fetch returns responses from wire.mjs, and the requests are kept.
import { answers, callsOf, protocolOf } from './wire.mjs'

/** Net answers requests: the first request with the calls of a case, and all others with one word. */
export class Net {
  constructor(args) { this.args = args; this.asked = [] }

  fetch = async (input, init) => {
    const url = String(input?.url ?? input)
    let body = init?.body ?? (input instanceof Request ? await input.text() : undefined)
    if (body instanceof Uint8Array || body instanceof ArrayBuffer) body = new TextDecoder().decode(body)
    const protocol = protocolOf(url)
    if (!protocol) throw new Error(`no such address: ${url}`)
    this.asked.push({ protocol, url, text: body, body: JSON.parse(body) })
    const args = this.args
    this.args = null
    const make = answers[protocol]
    if (!make) return new Response('{"message":"not spoken"}', { status: 400, headers: { 'content-type': 'application/json' } })
    return new Response(make(callsOf(args)), {
      status: 200, headers: { 'content-type': protocol === 'ollama' ? 'application/x-ndjson' : 'text/event-stream' },
    })
  }
}

/** network replaces fetch with a Net in the whole process. */
export function network(args) {
  const net = new Net(args)
  globalThis.fetch = net.fetch
  return net
}
