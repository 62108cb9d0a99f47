// @langchain/openai, anthropic, google-genai and ollama: stream(), and the chunks joined by concat()
import { concat } from '@langchain/core/utils/stream'
import { ChatOpenAI } from '@langchain/openai'
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatGoogleGenerativeAI } from '@langchain/google-genai'
import { ChatOllama } from '@langchain/ollama'
import { adapt, callOf, version, versions } from './adapter.mjs'

const models = {
  'openai-chat': base => new ChatOpenAI({ model: 'm', apiKey: 'none', maxRetries: 0, streamUsage: false, configuration: { baseURL: base } }),
  'openai-responses': base => new ChatOpenAI({ model: 'm', apiKey: 'none', maxRetries: 0, useResponsesApi: true, configuration: { baseURL: base } }),
  gemini: base => new ChatGoogleGenerativeAI({ model: 'm', apiKey: 'none', maxRetries: 0, baseUrl: base }),
  ollama: base => new ChatOllama({ model: 'm', maxRetries: 0, baseUrl: base }),
  anthropic: base => new ChatAnthropic({ model: 'm', apiKey: 'none', maxRetries: 0, anthropicApiUrl: base.replace(/\/v1$/, '') }),
}
const about = 'stream() and concat(); ' + versions('@langchain/openai', '@langchain/anthropic', '@langchain/google-genai', '@langchain/ollama')
await adapt(`@langchain/core ${version('@langchain/core')}`, about, Object.keys(models), async q => {
  const tools = q.tools.map(t => ({ type: 'function', function: t }))
  let all
  for await (const chunk of await models[q.protocol](q.base).bindTools(tools).stream('go')) all = all ? concat(all, chunk) : chunk
  const invalid = (all?.invalid_tool_calls ?? []).map(c => callOf(c.name ?? '', c.args ?? '', false))
  return { calls: [...(all?.tool_calls ?? []).map(c => callOf(c.name, c.args)), ...invalid], finish: all?.response_metadata?.status }
})
