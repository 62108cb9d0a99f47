// Runs every client with every case, and writes the calls that the client sends back to one file per client:
//
//   node main.mjs DIR [CLIENT…]
//
// A line contains a case with the protocols of its responses, and the call in the next request, by the
// protocol of the request. The call has all fields that the client wrote. Ids that the client generates
// differ in each run, so they are written as RANDOM. For cases with other ids, names and neighbouring calls,
// the lines are in the folder groups next to DIR. These lines contain all calls of the next request, and the
// ids of the results.
import fs from 'node:fs'
import path from 'node:path'
import { cases, groups } from './cases.mjs'
import { network } from './lib/net.mjs'
import { asValue, callIn, callsIn, callsOf, hasResult, resultsIn, scrub } from './lib/wire.mjs'

const [dir, ...only] = process.argv.slice(2)
const here = path.dirname(new URL(import.meta.url).pathname)

let beside // an error that a client throws outside the promise that it returned
for (const kind of ['unhandledRejection', 'uncaughtException']) process.on(kind, e => { beside ??= e })
for (const level of ['log', 'info', 'warn', 'error', 'debug']) console[level] = () => {}

/** argumentsOf returns the text of the arguments as sent in a protocol. */
const argumentsOf = (protocol, args) => protocol === 'gemini' || protocol === 'ollama' ? asValue(args) : args

/** versionOf returns the version of an installed package. */
const versionOf = name => JSON.parse(fs.readFileSync(path.join(here, 'node_modules', name, 'package.json'))).version

/** within waits at most ms milliseconds for a promise, even if nothing can settle the promise any more. */
function within(ms, promise) {
  let timer
  const late = new Promise((_, no) => { timer = setTimeout(() => no(new Error('took too long')), ms) })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** ask sends a client the calls of a case. It returns the client's second request, or the reason why there is none. */
async function ask(client, from, to, made) {
  const net = network(made)
  let failure
  beside = undefined
  try {
    await within(5000, client.send(from, to, net))
  } catch (e) {
    failure = String(e?.message ?? e)
  }
  failure ??= beside && String(beside?.message ?? beside)
  const second = net.asked[1]
  if (!second) return failure === undefined ? { silent: true } : { throws: clean(failure) }
  if (second.protocol !== to) return { throws: `asked ${second.protocol}` }
  return { body: second.body }
}

/** run sends a client one call. It returns the call that the client sends back, or the reason why there is none. */
async function run(client, from, to, args) {
  const { body, ...none } = await ask(client, from, to, args)
  if (!body) return none
  const found = callIn(to, body)
  if (!found) return hasResult(to, body) ? { orphan: true } : { dropped: true }
  return scrub(found)
}

const idKeys = new Set(['id', 'call_id', 'toolUseId', 'tool_call_id'])

/** same returns a value in which RANDOM replaces each id that differs in another run. */
function same(a, b, key) {
  if (Array.isArray(a)) return a.map((v, i) => same(v, b?.[i], key))
  if (a && typeof a === 'object') {
    delete a.cache_control
    return Object.fromEntries(Object.entries(a).map(([k, v]) => [k, idKeys.has(k) || typeof v === 'object' ? same(v, b?.[k], k) : v]))
  }
  return a === b || typeof a !== 'string' ? a : 'RANDOM'
}

/** runGroup sends a client the calls of a case twice. It returns the calls and results that the client sends back. */
async function runGroup(client, from, to, made) {
  const found = []
  for (let n = 0; n < 2; n++) {
    const { body, ...none } = await ask(client, from, to, made)
    if (!body) return none
    found.push({ calls: callsIn(to, body), results: resultsIn(to, body) })
  }
  return { calls: same(found[0].calls, found[1].calls), results: same(found[0].results, found[1].results) }
}

/** write writes the lines of a client's cases. Source protocols with the same line share one. */
function write(file, versions, lines) {
  const texts = []
  for (const [name, told] of lines) for (const [line, from] of told) texts.push(`{"case":${JSON.stringify(name)},"from":${JSON.stringify(from)},${line.slice(1)}`)
  fs.writeFileSync(file, [JSON.stringify(versions), ...texts, ''].join('\n'))
  process.stdout.write(`${file}: ${texts.length} lines\n`)
}

/** clean returns the first line of an error message. */
const clean = words => words.split('\n')[0].slice(0, 120)

const modules = fs.readdirSync(path.join(here, 'clients')).filter(f => f.endsWith('.mjs')).sort()
for (const file of modules) {
  for (const client of (await import(`./clients/${file}`)).default) {
    if (only.length && !only.includes(client.name)) continue
    const made = { client: client.name, versions: Object.fromEntries(client.packages.map(p => [p, versionOf(p)])) }
    const each = async (all, of) => {
      const lines = []
      for (const [name, what] of all) {
        const told = new Map() // the source protocols, by the line that they share
        for (const from of client.from) {
          if (from === 'gemini' && what[0]?.id === '') continue // the client omits the id
          const to = {}
          for (const target of client.same ? [from] : client.to) to[target] = await of.run(client, from, target, what)
          const line = JSON.stringify({ ...of.given(from, what), to })
          told.set(line, [...told.get(line) ?? [], from])
        }
        lines.push([name, told])
      }
      return lines
    }
    if (!process.env.GROUPS_ONLY) {
      write(path.join(dir, `${client.name}.jsonl`), made, await each(cases, { run, given: (from, args) => ({ arguments: argumentsOf(from, args) }) }))
    }
    const given = (from, calls) => ({ calls: callsOf(calls).map(c => ({ id: from === 'gemini' && !c.explicit ? '' : c.id, name: c.name, arguments: argumentsOf(from, c.args) })) })
    write(path.join(dir, '../groups', `${client.name}.jsonl`), made, await each(groups, { run: runGroup, given }))
  }
}
process.exit(0)
