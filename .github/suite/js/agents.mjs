// @openai/agents: model.getStreamedResponse(), and the output of its event response_done
import OpenAI from 'openai'
import { OpenAIChatCompletionsModel, OpenAIResponsesModel, setTracingDisabled } from '@openai/agents'
import { adapt, callOf, version } from './adapter.mjs'

setTracingDisabled(true)
await adapt(`@openai/agents ${version('@openai/agents')}`, 'getStreamedResponse()', ['openai-chat', 'openai-responses'], async q => {
  const client = new OpenAI({ baseURL: q.base, apiKey: 'none', maxRetries: 0 })
  const model = q.protocol === 'openai-chat' ? new OpenAIChatCompletionsModel(client, 'm') : new OpenAIResponsesModel(client, 'm')
  const tools = q.tools.map(t => ({ type: 'function', strict: false, description: '', ...t }))
  const request = { input: 'go', modelSettings: {}, tools, outputType: 'text', handoffs: [], tracing: false }
  let done
  for await (const event of model.getStreamedResponse(request)) if (event.type === 'response_done') done = event.response
  if (!done) throw new Error('no response_done')
  const calls = done.output.filter(i => i.type === 'function_call')
  return { calls: calls.map(c => callOf(c.name, c.arguments, c.status !== 'incomplete')), finish: 'done' }
})
