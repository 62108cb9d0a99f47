// OpenAI Agents JS: an agent that runs until it has a final response, with either protocol of OpenAI.
import { Agent, Runner, tool, setTracingDisabled, OpenAIProvider } from '@openai/agents'

setTracingDisabled(true)
const weather = tool({
  name: 'get_weather', description: 'w', strict: false,
  parameters: { type: 'object', properties: {}, required: [], additionalProperties: true }, execute: async () => 'sunny',
})

export default [{
  name: 'openai-agents-js', packages: ['@openai/agents'],
  from: ['openai-chat', 'openai-responses'], to: ['openai-chat', 'openai-responses'],
  async send(from, to) {
    if (from !== to) return await switched(from, to)
    const run = await runner(from).run(agent(), 'What is the weather?', { stream: true, maxTurns: 3 })
    await drain(run)
  },
}]

const runner = protocol => new Runner({ tracingDisabled: true, modelProvider: new OpenAIProvider({ apiKey: 'x', useResponses: protocol === 'openai-responses' }) })
const agent = () => new Agent({ name: 'a', model: 'gpt-4o', instructions: 'i', tools: [weather] })

async function drain(run) {
  for await (const event of run) void event
  await run.completed
}

/** switched continues the history of a run with the other protocol. */
async function switched(from, to) {
  const run = await runner(from).run(agent(), 'What is the weather?', { stream: true, maxTurns: 1 })
  await drain(run).catch(() => {})
  await drain(await runner(to).run(agent(), run.history, { stream: true, maxTurns: 1 }))
}
