// The AI SDK: its agent loop (streamText with tools) and its useChat history (UI messages). Both can continue
// with a model from another provider.
import * as ai7 from 'ai'
import * as ai6 from 'ai6'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import { createAnthropic as anthropic6 } from 'ai6-anthropic'
import { createOpenAI as openai6 } from 'ai6-openai'
import { createGoogleGenerativeAI as google6 } from 'ai6-google'
import { createAmazonBedrock as bedrock6 } from 'ai6-bedrock'

const apiKey = 'x'
const models = (anthropic, openai, google, bedrock) => ({
  'openai-chat': () => openai({ apiKey }).chat('gpt-4o'),
  'openai-responses': () => openai({ apiKey }).responses('gpt-4o'),
  anthropic: () => anthropic({ apiKey })('claude-sonnet-4-5'),
  gemini: () => google({ apiKey })('gemini-2.5-pro'),
  bedrock: () => bedrock({ apiKey, region: 'us-east-1' })('anthropic.claude-sonnet-4-5-20250929-v1:0'),
})
const prompt = [{ role: 'user', content: 'What is the weather?' }]
const sources = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']

const toolsOf = ai => ({
  get_weather: ai.tool({ description: 'w', inputSchema: ai.jsonSchema({ type: 'object', properties: {} }), execute: async () => 'sunny' }),
})

async function drain(result) {
  for await (const part of result.fullStream) if (part.type === 'error') result.failed ??= part.error
  return result
}

/** loop runs the agent until it has the messages for its next request. */
async function loop(ai, models, from, net) {
  const result = await drain(ai.streamText({
    model: models[from](), messages: prompt, tools: toolsOf(ai), stopWhen: ai.stepCountIs(1), maxRetries: 0, onError() {},
  }))
  if (result.failed) throw result.failed
  return [...prompt, ...(await result.response).messages]
}

/** history returns the history of a page that uses useChat, converted to model messages. */
async function history(ai, models, from) {
  const tools = toolsOf(ai)
  const result = ai.streamText({ model: models[from](), messages: prompt, tools, stopWhen: ai.stepCountIs(1), maxRetries: 0, onError() {} })
  let last
  for await (const message of ai.readUIMessageStream({ stream: result.toUIMessageStream() })) last = message
  const page = JSON.parse(JSON.stringify([{ id: '1', role: 'user', parts: [{ type: 'text', text: 'What is the weather?' }] }, last]))
  return await ai.convertToModelMessages(page, { tools })
}

function way(name, packages, ai, models, begin) {
  return {
    name, packages, from: sources, to: Object.keys(models),
    async send(from, to, net) {
      const messages = await begin(ai, models, from, net)
      await drain(ai.streamText({ model: models[to](), messages, tools: toolsOf(ai), maxRetries: 0, onError() {} }))
    },
  }
}

const models7 = models(createAnthropic, createOpenAI, createGoogleGenerativeAI, createAmazonBedrock)
const models6 = models(anthropic6, openai6, google6, bedrock6)
const packages7 = ['ai', '@ai-sdk/anthropic', '@ai-sdk/openai', '@ai-sdk/google', '@ai-sdk/amazon-bedrock']
const packages6 = ['ai6', 'ai6-anthropic', 'ai6-openai', 'ai6-google', 'ai6-bedrock']

export default [
  way('ai-sdk', packages7, ai7, models7, loop),
  way('ai-sdk-ui', packages7, ai7, models7, history),
  way('ai-sdk-6', packages6, ai6, models6, loop),
  way('ai-sdk-6-ui', packages6, ai6, models6, history),
]
