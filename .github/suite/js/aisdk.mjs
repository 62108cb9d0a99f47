// ai: streamText, and the tool calls of its result
import { streamText, tool, jsonSchema } from 'ai'
import { createOpenAI } from '@ai-sdk/openai'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import { createCohere } from '@ai-sdk/cohere'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { adapt, callOf, version, versions } from './adapter.mjs'

const own = {
  'openai-chat': base => createOpenAI({ baseURL: base, apiKey: 'none' }).chat('m'),
  'openai-responses': base => createOpenAI({ baseURL: base, apiKey: 'none' }).responses('m'),
  anthropic: base => createAnthropic({ baseURL: base, apiKey: 'none' })('m'),
  bedrock: base => createAmazonBedrock({ baseURL: base, apiKey: 'none' })('m'),
  cohere: base => createCohere({ baseURL: base, apiKey: 'none' })('m'),
  gemini: base => createGoogleGenerativeAI({ baseURL: base, apiKey: 'none' })('m'),
}
const compatible = { 'openai-chat': base => createOpenAICompatible({ name: 'x', baseURL: base, apiKey: 'none' })('m') }
const packages = process.argv[2] === 'compatible' ? ['openai-compatible'] : ['openai', 'anthropic', 'google', 'amazon-bedrock', 'cohere']
const models = process.argv[2] === 'compatible' ? compatible : own
const about = 'streamText(); ' + versions(...packages.map(p => '@ai-sdk/' + p))
await adapt(`ai ${version('ai')}${process.argv[2] ? ' + openai-compatible' : ''}`, about, Object.keys(models), async q => {
  const tools = Object.fromEntries(q.tools.map(t => [t.name, tool({ inputSchema: jsonSchema(t.parameters) })]))
  let failed
  const result = streamText({ model: models[q.protocol](q.base), prompt: 'go', tools, maxRetries: 0, onError: e => { failed ??= e.error } })
  const calls = []
  let finish
  for await (const part of result.fullStream) {
    if (part.type === 'tool-call' && !part.providerExecuted) calls.push(callOf(part.toolName, part.input, !part.invalid))
    if (part.type === 'error') failed ??= part.error
    if (part.type === 'abort') failed ??= new Error('aborted')
    if (part.type === 'finish') finish = part.finishReason
  }
  if (failed) throw failed
  if (finish === 'error') throw new Error('finish reason error')
  return { calls, finish }
})
