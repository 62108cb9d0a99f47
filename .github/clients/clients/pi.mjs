// pi's model library: any model can continue a context of messages.
import { stream } from '@earendil-works/pi-ai/compat'

const base = { name: 'm', reasoning: false, input: ['text'], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 1e5, maxTokens: 1000 }
const models = {
  'openai-chat': { ...base, id: 'gpt-4o', api: 'openai-completions', provider: 'openai', baseUrl: 'http://x.test/v1' },
  'openai-responses': { ...base, id: 'gpt-4o', api: 'openai-responses', provider: 'openai', baseUrl: 'http://x.test/v1' },
  anthropic: { ...base, id: 'claude-sonnet-4-5', api: 'anthropic-messages', provider: 'anthropic', baseUrl: 'http://x.test' },
  gemini: { ...base, id: 'gemini-2.5-pro', api: 'google-generative-ai', provider: 'google', baseUrl: 'http://x.test/v1beta' },
}
const tools = [{ name: 'get_weather', description: 'w', parameters: { type: 'object', properties: {} } }]

async function ask(protocol, messages) {
  const s = stream(models[protocol], { messages, tools }, { apiKey: 'x' })
  for await (const event of s) void event
  return await s.result()
}

export default [{
  name: 'pi', packages: ['@earendil-works/pi-ai'], from: Object.keys(models), to: Object.keys(models),
  async send(from, to) {
    const question = { role: 'user', content: 'What is the weather?', timestamp: 1 }
    const answer = await ask(from, [question])
    if (answer.errorMessage) throw new Error(answer.errorMessage)
    const results = answer.content.filter(c => c.type === 'toolCall').map(c => ({
      role: 'toolResult', toolCallId: c.id, toolName: c.name, content: [{ type: 'text', text: 'sunny' }], isError: false, timestamp: 2,
    }))
    await ask(to, [question, answer, ...results])
  },
}]
