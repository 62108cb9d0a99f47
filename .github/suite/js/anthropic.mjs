// @anthropic-ai/sdk: client.messages.stream().finalMessage()
import Anthropic from '@anthropic-ai/sdk'
import { adapt, callOf, version } from './adapter.mjs'

await adapt(`@anthropic-ai/sdk ${version('@anthropic-ai/sdk')}`, 'messages.stream()', ['anthropic'], async q => {
  const client = new Anthropic({ baseURL: q.base.replace(/\/v1$/, ''), apiKey: 'none', maxRetries: 0 })
  const tools = q.tools.map(t => ({ name: t.name, input_schema: t.parameters }))
  const m = await client.messages.stream({ model: 'm', max_tokens: 99, messages: [{ role: 'user', content: 'go' }], tools }).finalMessage()
  return { calls: m.content.filter(b => b.type === 'tool_use').map(b => callOf(b.name, b.input)), finish: m.stop_reason }
})
