// The providers' own libraries: their helpers join a streamed response into a message. The message is part of
// the history of the next request.
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { GoogleGenAI } from '@google/genai'

const apiKey = 'x', maxRetries = 0
const question = { role: 'user', content: 'What is the weather?' }
const chatTool = { type: 'function', function: { name: 'get_weather', description: 'w', parameters: { type: 'object', properties: {} } } }
const declaration = { name: 'get_weather', description: 'w', parametersJsonSchema: { type: 'object', properties: {} } }

async function anthropic() {
  const client = new Anthropic({ apiKey, maxRetries })
  const ask = messages => client.messages.stream({
    model: 'claude-sonnet-4-5', max_tokens: 100, messages, tools: [{ name: 'get_weather', description: 'w', input_schema: { type: 'object' } }],
  }).finalMessage()
  const answer = await ask([question])
  const results = answer.content.filter(b => b.type === 'tool_use').map(b => ({ type: 'tool_result', tool_use_id: b.id, content: 'sunny' }))
  await ask([question, { role: 'assistant', content: answer.content }, { role: 'user', content: results }])
}

async function chat() {
  const client = new OpenAI({ apiKey, maxRetries })
  const ask = messages => client.chat.completions.stream({ model: 'gpt-4o', messages, tools: [chatTool] }).finalMessage()
  const answer = await ask([question])
  await ask([question, answer, ...(answer.tool_calls ?? []).map(c => ({ role: 'tool', tool_call_id: c.id, content: 'sunny' }))])
}

async function responses() {
  const client = new OpenAI({ apiKey, maxRetries })
  const ask = input => client.responses.stream({ model: 'gpt-4o', input, tools: [{ ...chatTool.function, type: 'function', strict: false }] }).finalResponse()
  const answer = await ask([question])
  const results = answer.output.filter(i => i.type === 'function_call').map(i => ({ type: 'function_call_output', call_id: i.call_id, output: 'sunny' }))
  await ask([question, ...answer.output, ...results])
}

async function gemini() {
  const talk = new GoogleGenAI({ apiKey }).chats.create({ model: 'gemini-2.5-pro', config: { tools: [{ functionDeclarations: [declaration] }] } })
  const ask = async message => {
    let calls = []
    for await (const chunk of await talk.sendMessageStream({ message })) calls.push(...chunk.functionCalls ?? [])
    return calls
  }
  const calls = await ask('What is the weather?')
  await ask(calls.map(c => ({ functionResponse: { name: c.name, response: { output: 'sunny' } } })))
}

const of = (name, packages, ways) => ({
  name, packages, from: Object.keys(ways), to: Object.keys(ways), same: true, send: from => ways[from](),
})

export default [
  of('anthropic-js', ['@anthropic-ai/sdk'], { anthropic }),
  of('openai-js', ['openai'], { 'openai-chat': chat, 'openai-responses': responses }),
  of('google-genai-js', ['@google/genai'], { gemini }),
]
