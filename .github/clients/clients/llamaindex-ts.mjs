// LlamaIndex TS: an agent with a tool, which sends the next request itself.
import { tool } from 'llamaindex'
import { agent } from '@llamaindex/workflow'
import { openai } from '@llamaindex/openai'

const weather = tool({ name: 'get_weather', description: 'w', parameters: { type: 'object', properties: {} }, execute: async () => 'sunny' })

export default [{
  name: 'llamaindex-ts', packages: ['llamaindex', '@llamaindex/openai', '@llamaindex/workflow'], from: ['openai-chat'], to: ['openai-chat'], same: true,
  async send() {
    const a = agent({ llm: openai({ apiKey: 'x', model: 'gpt-4o' }), tools: [weather] })
    for await (const event of a.runStream('What is the weather?')) void event
  },
}]
