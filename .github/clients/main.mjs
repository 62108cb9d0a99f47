// Runs every client with every case, and writes the calls that it sends back into a file for each client:
//
//   node main.mjs DIR [CLIENT…]
//
// A line is a case with the protocols of its response, and the call in the next request, by the protocol of the
// request. The call has all fields that the client wrote. Ids that the client generates differ in each run, so
// they are written as RANDOM.
import fs from 'node:fs'
import path from 'node:path'
import { cases } from './cases.mjs'
import { network } from './lib/net.mjs'
import { answers, asValue, callIn, hasResult, scrub } from './lib/wire.mjs'

const [dir, ...only] = process.argv.slice(2)
const here = path.dirname(new URL(import.meta.url).pathname)

let beside // an error that a client throws outside of the promise that it returned
for (const kind of ['unhandledRejection', 'uncaughtException']) process.on(kind, e => { beside ??= e })
for (const level of ['log', 'info', 'warn', 'error', 'debug']) console[level] = () => {}

/** argumentsOf returns the text of the arguments on the wire of a protocol. */
const argumentsOf = (protocol, args) => protocol === 'gemini' || protocol === 'ollama' ? asValue(args) : args

/** versionOf returns the version of an installed package. */
const versionOf = name => JSON.parse(fs.readFileSync(path.join(here, 'node_modules', name, 'package.json'))).version

/** within waits for a promise, but at most ms milliseconds, even if nothing is left that could settle it. */
function within(ms, promise) {
  let timer
  const late = new Promise((_, no) => { timer = setTimeout(() => no(new Error('took too long')), ms) })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** run gives a client one call and returns the call that it sends back, or why there is none. */
async function run(client, from, to, args) {
  const net = network(args)
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
  const found = callIn(to, second.body)
  if (!found) return hasResult(to, second.body) ? { orphan: true } : { dropped: true }
  return scrub(found)
}

/** clean returns the first line of an error message. */
const clean = words => words.split('\n')[0].slice(0, 120)

const modules = fs.readdirSync(path.join(here, 'clients')).filter(f => f.endsWith('.mjs')).sort()
for (const file of modules) {
  for (const client of (await import(`./clients/${file}`)).default) {
    if (only.length && !only.includes(client.name)) continue
    const lines = []
    for (const [name, args] of cases) {
      const told = new Map() // the source protocols, by the line that they have in common
      for (const from of client.from) {
        const to = {}
        for (const target of client.same ? [from] : client.to) to[target] = await run(client, from, target, args)
        const line = JSON.stringify({ arguments: argumentsOf(from, args), to })
        told.set(line, [...told.get(line) ?? [], from])
      }
      for (const [line, from] of told) lines.push(`{"case":${JSON.stringify(name)},"from":${JSON.stringify(from)},${line.slice(1)}`)
    }
    const versions = Object.fromEntries(client.packages.map(p => [p, versionOf(p)]))
    fs.writeFileSync(path.join(dir, `${client.name}.jsonl`), [JSON.stringify({ client: client.name, versions }), ...lines, ''].join('\n'))
    process.stdout.write(`${client.name}: ${lines.length} lines\n`)
  }
}
process.exit(0)
