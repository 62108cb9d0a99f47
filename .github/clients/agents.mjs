// Runs real agents over every case against a model that is not there, and writes what they sent, as
// main.mjs does for libraries:
//
//   node agents.mjs NODE_MODULES DIR AGENT…
//
// NODE_MODULES is a folder in which the agents are installed; they are not dependencies here, for
// their licences are their own. Each case is a run of its own, in an empty home.
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { spawn } from 'node:child_process'
import { cases } from './cases.mjs'
import { answers, asValue, call, callIn, hasResult, protocolOf, scrub } from './lib/wire.mjs'

const [modules, dir, ...names] = process.argv.slice(2)
const bin = (...p) => path.join(path.resolve(modules), ...p)

const agents = {
  'claude-code': {
    package: '@anthropic-ai/claude-code', protocol: 'anthropic', tool: 'Bash',
    command: () => [bin('@anthropic-ai/claude-code-linux-x64/claude'), ['-p', 'do it', '--allowedTools', 'Bash']],
    env: base => ({ ANTHROPIC_BASE_URL: base, ANTHROPIC_API_KEY: 'x', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' }),
  },
  codex: {
    package: '@openai/codex', protocol: 'openai-responses', tool: 'exec_command',
    command: base => [bin('.bin/codex'), ['exec', '--skip-git-repo-check', '-c', 'model_provider="x"', '-c',
      `model_providers.x={name="x",base_url="${base}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}`, 'do it']],
    env: () => ({ OPENAI_API_KEY: 'x' }),
  },
  'gemini-cli': {
    package: '@google/gemini-cli', protocol: 'gemini', tool: 'run_shell_command',
    command: () => [bin('.bin/gemini'), ['--skip-trust', '-y', '-p', 'do it']],
    env: base => ({ GOOGLE_GEMINI_BASE_URL: base, GEMINI_API_KEY: 'x' }),
    home: { '.gemini/settings.json': () => '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' },
  },
  'qwen-code': {
    package: '@qwen-code/qwen-code', protocol: 'openai-chat', tool: 'run_shell_command',
    command: () => [bin('.bin/qwen'), ['--auth-type', 'openai', '-y', '-p', 'do it']],
    env: base => ({ OPENAI_BASE_URL: `${base}/v1`, OPENAI_API_KEY: 'x', OPENAI_MODEL: 'qwen3-coder-plus' }),
  },
  opencode: {
    package: 'opencode-ai', protocol: 'openai-chat', tool: 'bash',
    command: () => [bin('opencode-linux-x64/bin/opencode'), ['run', '-m', 'x/m', 'do it']],
    env: () => ({}),
    home: { '.config/opencode/opencode.json': base => JSON.stringify({
      provider: { x: { npm: '@ai-sdk/openai-compatible', name: 'x', options: { baseURL: `${base}/v1`, apiKey: 'x' }, models: { m: { name: 'm', tool_call: true } } } },
    }) },
  },
}

/** model answers one run: the first request that has the tool with the call, all others with a word. */
function model(agent, args) {
  const asked = []
  const server = http.createServer((req, res) => {
    const parts = []
    req.on('data', p => parts.push(p)).on('end', () => {
      const text = Buffer.concat(parts).toString()
      const url = req.url.replace(/\?.*/, '')
      if (req.method !== 'POST' || protocolOf(url) !== agent.protocol) return res.writeHead(404).end('{}')
      const body = JSON.parse(text)
      const main = text.includes(JSON.stringify(agent.tool))
      if (main) asked.push(body)
      if (!/stream/i.test(req.url) && !body.stream) {
        return res.writeHead(200, { 'content-type': 'application/json' }).end(whole[agent.protocol] ?? '{}')
      }
      const stream = answers[agent.protocol](main && asked.length === 1 ? args : null)
      res.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream)
    })
  })
  return new Promise(done => server.listen(0, '127.0.0.1', () => done({ server, asked, base: `http://127.0.0.1:${server.address().port}` })))
}

/** whole is what a request gets that asks for no stream. */
const whole = {
  anthropic: '{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"{}"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}',
  gemini: '{"candidates":[{"content":{"parts":[{"text":"{}"}],"role":"model"},"index":0,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}',
  'openai-chat': '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"{}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}',
}

async function run(agent, args) {
  const { server, asked, base } = await model(agent, args)
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-'))
  for (const [file, text] of Object.entries(agent.home ?? {})) {
    fs.mkdirSync(path.dirname(path.join(home, file)), { recursive: true })
    fs.writeFileSync(path.join(home, file), text(base))
  }
  fs.mkdirSync(path.join(home, 'project'))
  const [file, argv] = agent.command(base)
  const child = spawn(file, argv, {
    cwd: path.join(home, 'project'), stdio: 'ignore', detached: true,
    env: { PATH: process.env.PATH, HOME: home, NO_PROXY: '127.0.0.1', ...agent.env(base) },
  })
  const limit = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), 25000)
  const enough = setInterval(() => asked[1] && process.kill(-child.pid, 'SIGKILL'), 100)
  await new Promise(done => child.on('exit', done))
  clearTimeout(limit)
  clearInterval(enough)
  server.closeAllConnections()
  server.close()
  fs.rmSync(home, { recursive: true, force: true })
  if (!asked[1]) return asked[0] ? { silent: true } : { failed: true }
  const found = callIn(agent.protocol, asked[1])
  if (!found) return hasResult(agent.protocol, asked[1]) ? { orphan: true } : { dropped: true }
  return scrub(found)
}

for (const name of names) {
  const agent = agents[name]
  call.tool = agent.tool
  const version = JSON.parse(fs.readFileSync(bin(agent.package, 'package.json'))).version
  const lines = [JSON.stringify({ client: name, versions: { [agent.package]: version }, tool: agent.tool })]
  for (const [title, args] of cases) {
    const sent = await run(agent, args)
    const text = agent.protocol === 'gemini' ? asValue(args) : args
    lines.push(JSON.stringify({ case: title, from: [agent.protocol], arguments: text, to: { [agent.protocol]: sent } }))
    process.stdout.write('.')
  }
  fs.writeFileSync(path.join(dir, `${name}.jsonl`), [...lines, ''].join('\n'))
  process.stdout.write(` ${name}: ${lines.length - 1} cases\n`)
}
