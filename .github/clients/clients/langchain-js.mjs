// LangChain JS: it joins the chunks of a stream into one message. The message is part of the history of the
// next request to any model.
import { ChatOpenAI } from '@langchain/openai'
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatGoogleGenerativeAI } from '@langchain/google-genai'
import { ChatOllama } from '@langchain/ollama'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'

const apiKey = 'x', maxRetries = 0
const models = {
  'openai-chat': () => new ChatOpenAI({ apiKey, maxRetries, model: 'gpt-4o' }),
  'openai-responses': () => new ChatOpenAI({ apiKey, maxRetries, model: 'gpt-4o', useResponsesApi: true }),
  anthropic: () => new ChatAnthropic({ apiKey, maxRetries, model: 'claude-sonnet-4-5' }),
  gemini: () => new ChatGoogleGenerativeAI({ apiKey, maxRetries, model: 'gemini-2.5-pro' }),
  ollama: () => new ChatOllama({ model: 'qwen3', maxRetries }),
}
const weather = tool(async () => 'sunny', { name: 'get_weather', description: 'w', schema: { type: 'object', properties: {} } })

/** ask streams a response and joins its chunks. */
async function ask(protocol, messages) {
  let all
  for await (const chunk of await models[protocol]().bindTools([weather]).stream(messages)) all = all ? all.concat(chunk) : chunk
  return all
}

export default [{
  name: 'langchain-js',
  packages: ['@langchain/core', '@langchain/openai', '@langchain/anthropic', '@langchain/google-genai', '@langchain/ollama'],
  from: Object.keys(models), to: Object.keys(models),
  async send(from, to) {
    const question = new HumanMessage('What is the weather?')
    const answer = await ask(from, [question])
    const calls = [...answer.tool_calls ?? [], ...answer.invalid_tool_calls ?? []]
    const results = calls.map(c => new ToolMessage({ content: 'sunny', tool_call_id: c.id ?? 'none', name: c.name }))
    await ask(to, [question, answer, ...results])
  },
}]
