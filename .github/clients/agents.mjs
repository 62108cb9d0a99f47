// Runs real agents with every case against a simulated model, and writes the calls that they send back to
// files. main.mjs does the same for libraries:
//
//   node agents.mjs NODE_MODULES DIR AGENT…
//
// NODE_MODULES is a folder in which the agents are installed. They are not dependencies of this folder,
// because they have their own licences. Each case is one run in an empty home folder. For an agent that is a
// server, each case is one session.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { cases } from './cases.mjs'
import { model } from './lib/model.mjs'
import { asValue, call, callIn, hasResult, scrub } from './lib/wire.mjs'

const [modules, dir, ...names] = process.argv.slice(2)
const bin = (...p) => path.join(path.resolve(modules), ...p)
const post = async (url, body) => (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json()

/** sdks are the packages that opencode uses for a protocol. */
const sdks = { 'openai-chat': '@ai-sdk/openai-compatible', 'openai-responses': '@ai-sdk/openai', anthropic: '@ai-sdk/anthropic' }

// For each agent: its package, the protocols to test, the tool in the call, its command, and the environment
// and home files that it needs. before is a command to run first. For an agent that is a server, said matches
// the output with the server's address, and ask sends a task to the server.
const agents = {
  'claude-code': {
    package: '@anthropic-ai/claude-code', protocols: ['anthropic'], tool: 'Bash',
    command: () => [bin('@anthropic-ai/claude-code-linux-x64/claude'), '-p', 'do it', '--allowedTools', 'Bash'],
    env: base => ({ ANTHROPIC_BASE_URL: base, ANTHROPIC_API_KEY: 'x', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' }),
  },
  codex: {
    package: '@openai/codex', protocols: ['openai-responses'], tool: 'exec_command',
    command: base => [bin('.bin/codex'), 'exec', '-m', 'gpt-5', '--skip-git-repo-check', '-c', 'model_provider="x"', '-c',
      `model_providers.x={name="x",base_url="${base}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}`, 'do it'],
    env: () => ({ OPENAI_API_KEY: 'x' }),
  },
  'gemini-cli': {
    package: '@google/gemini-cli', protocols: ['gemini'], tool: 'run_shell_command',
    command: () => [bin('.bin/gemini'), '--skip-trust', '-y', '-p', 'do it'],
    env: base => ({ GOOGLE_GEMINI_BASE_URL: base, GEMINI_API_KEY: 'x' }),
    home: { '.gemini/settings.json': () => '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' },
  },
  'qwen-code': {
    package: '@qwen-code/qwen-code', protocols: ['openai-chat'], tool: 'run_shell_command',
    command: () => [bin('.bin/qwen'), '--auth-type', 'openai', '-y', '-p', 'do it'],
    env: base => ({ OPENAI_BASE_URL: `${base}/v1`, OPENAI_API_KEY: 'x', OPENAI_MODEL: 'qwen3-coder-plus' }),
  },
  opencode: {
    package: 'opencode-ai', protocols: Object.keys(sdks), tool: 'bash',
    command: () => [bin('opencode-linux-x64/bin/opencode'), 'serve', '--port', '0', '--hostname', '127.0.0.1'],
    said: /listening on (\S+)/,
    ask: async url => post(`${url}/session/${(await post(`${url}/session`, {})).id}/message`,
      { model: { providerID: 'x', modelID: 'm' }, parts: [{ type: 'text', text: 'do it' }] }),
    home: { '.config/opencode/opencode.json': (base, protocol) => JSON.stringify({
      provider: { x: { npm: sdks[protocol], name: 'x', options: { baseURL: `${base}/v1`, apiKey: 'x' }, models: { m: { name: 'm', tool_call: true } } } },
    }) },
  },
  continue: {
    package: '@continuedev/cli', protocols: ['openai-chat', 'anthropic'], tool: 'Bash',
    command: () => [bin('.bin/cn'), '--config', 'config.yaml', '--auto', '-p', 'do it'],
    env: () => ({ CONTINUE_TELEMETRY_ENABLED: '0' }),
    home: { 'project/config.yaml': (base, protocol) => 'name: x\nversion: 1.0.0\nschema: v1\nmodels:\n' +
      `  - { name: x, provider: ${protocol === 'anthropic' ? 'anthropic' : 'openai'}, model: ${protocol === 'anthropic' ? 'claude-sonnet-4-5' : 'gpt-4o'}, apiKey: x, apiBase: "${base}/v1/", roles: [chat], capabilities: [tool_use] }\n` },
  },
  cline: {
    package: 'cline', protocols: ['openai-responses', 'openai-chat'], tool: 'run_commands',
    before: (base, protocol) => [bin('.bin/cline'), 'auth', '-p', protocol === 'openai-chat' ? 'openai-compatible' : 'openai-native', '-k', 'x', '-m', 'gpt-5', '-b', `${base}/v1`],
    command: () => [bin('.bin/cline'), 'do it'],
  },
}

/** start runs an agent's command in its home folder. */
function start([file, ...argv], agent, base, home, stdout = 'ignore') {
  return spawn(file, argv, {
    cwd: path.join(home, 'project'), stdio: ['ignore', stdout, 'ignore'], detached: true,
    env: { PATH: process.env.PATH, HOME: home, NO_PROXY: '127.0.0.1', ...agent.env?.(base) },
  })
}

const end = child => { try { process.kill(-child.pid, 'SIGKILL') } catch { /* it has ended */ } }

/** furnish creates a home folder with the files that an agent needs. */
async function furnish(agent, base, protocol) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-'))
  fs.mkdirSync(path.join(home, 'project'))
  for (const [file, text] of Object.entries(agent.home ?? {})) {
    fs.mkdirSync(path.dirname(path.join(home, file)), { recursive: true })
    fs.writeFileSync(path.join(home, file), text(base, protocol))
  }
  if (agent.before) await once(start(agent.before(base, protocol), agent, base, home), 'exit')
  return home
}

/** enough waits until the agent has sent its second request, has ended, or has reached the time limit. */
async function enough(it, done) {
  let ended = false
  done.finally(() => { ended = true }).catch(() => {})
  for (let n = 0; n < 300 && !ended && !it.asked[1]; n++) await sleep(100)
}

/** sent returns the call that the agent sent back in a case, or the reason why there is none. */
function sent(it, protocol) {
  const [first, second] = it.asked
  if (!second) return first ? { silent: true } : { failed: true }
  const found = callIn(protocol, second)
  if (!found) return hasResult(protocol, second) ? { orphan: true } : { dropped: true }
  return scrub(found)
}

/** each runs an agent with every case in one protocol. */
async function * each(agent, protocol) {
  const it = await model(agent.tool, protocol)
  let home, server, url
  for (const [title, args] of cases) {
    it.next(args)
    home ??= await furnish(agent, it.base, protocol)
    if (agent.said) {
      server ??= start(agent.command(it.base, protocol), agent, it.base, home, 'pipe')
      for (let text = ''; !url; url = text.match(agent.said)?.[1]) text += (await once(server.stdout, 'data'))[0]
      await enough(it, agent.ask(url))
    } else {
      const child = start(agent.command(it.base, protocol), agent, it.base, home)
      const gone = once(child, 'exit')
      await enough(it, gone)
      end(child)
      await gone
      fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 })
      home = undefined
    }
    yield [title, args, sent(it, protocol)]
  }
  if (server) end(server)
  if (home) fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  it.close()
}

for (const name of names) {
  const agent = agents[name]
  call.tool = agent.tool
  const version = JSON.parse(fs.readFileSync(bin(agent.package, 'package.json'))).version
  const lines = [JSON.stringify({ client: name, versions: { [agent.package]: version }, tool: agent.tool })]
  for (const protocol of agent.protocols) {
    for await (const [title, args, what] of each(agent, protocol)) {
      const text = protocol === 'gemini' ? asValue(args) : args
      lines.push(JSON.stringify({ case: title, from: [protocol], arguments: text, to: { [protocol]: what } }))
      process.stdout.write(what.failed ? 'F' : '.')
    }
  }
  fs.writeFileSync(path.join(dir, `${name}.jsonl`), [...lines, ''].join('\n'))
  process.stdout.write(` ${name}: ${lines.length - 1} lines\n`)
}
process.exit(0)
