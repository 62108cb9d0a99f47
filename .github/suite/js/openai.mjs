// openai: client.chat.completions.stream().finalChatCompletion() and client.responses.stream().finalResponse()
import OpenAI from 'openai'
import { adapt, callOf, version } from './adapter.mjs'

await adapt(`openai ${version('openai')}`, '.stream()', ['openai-chat', 'openai-responses'], async q => {
  const client = new OpenAI({ baseURL: q.base, apiKey: 'none', maxRetries: 0 })
  if (q.protocol === 'openai-responses') {
    const tools = q.tools.map(t => ({ type: 'function', strict: false, ...t }))
    const r = await client.responses.stream({ model: 'm', input: 'go', tools }).finalResponse()
    const calls = r.output.filter(i => i.type === 'function_call')
    return { calls: calls.map(c => callOf(c.name, c.arguments, c.status !== 'incomplete')), finish: r.status }
  }
  const tools = q.tools.map(t => ({ type: 'function', function: t }))
  const r = await client.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'go' }], tools }).finalChatCompletion()
  const choice = r.choices[0]
  return { calls: (choice.message.tool_calls ?? []).map(c => callOf(c.function.name, c.function.arguments)), finish: choice.finish_reason }
})
