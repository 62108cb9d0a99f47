// Mastra: an agent with a tool, with the providers of the AI SDK that it supports. It sends the next request itself.
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { z } from 'zod'
import { createAnthropic } from 'ai6-anthropic'
import { createOpenAI } from 'ai6-openai'
import { createGoogleGenerativeAI } from 'ai6-google'

const apiKey = 'x'
const models = {
  'openai-chat': () => createOpenAI({ apiKey }).chat('gpt-4o'),
  'openai-responses': () => createOpenAI({ apiKey }).responses('gpt-4o'),
  anthropic: () => createAnthropic({ apiKey })('claude-sonnet-4-5'),
  gemini: () => createGoogleGenerativeAI({ apiKey })('gemini-2.5-pro'),
}
const get_weather = createTool({ id: 'get_weather', description: 'w', inputSchema: z.object({}).passthrough(), execute: async () => 'sunny' })

export default [{
  name: 'mastra', packages: ['@mastra/core', 'ai6-anthropic', 'ai6-openai', 'ai6-google'],
  from: Object.keys(models), to: Object.keys(models), same: true,
  async send(from) {
    const agent = new Agent({ id: 'a', name: 'a', instructions: 'i', model: models[from](), tools: { get_weather } })
    const result = await agent.stream('What is the weather?', { maxSteps: 3 })
    for await (const part of result.fullStream) if (part.type === 'error') throw part.payload?.error ?? part.error
  },
}]
