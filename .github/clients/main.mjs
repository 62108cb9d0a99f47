// Runs every client over every case, and writes what it sent into a file for each client:
//
//   node main.mjs DIR [CLIENT…]
//
// A line is a case as it came by some protocols, and the call as it stands in the next request, by
// the protocol of that. The call is as the client wrote it, member by member, but for ids that it
// makes: these are other ones in each run, and RANDOM here.
import fs from 'node:fs'
import path from 'node:path'
import { cases } from './cases.mjs'
import { network } from './lib/net.mjs'
import { answers, asValue, callIn, hasResult, scrub } from './lib/wire.mjs'

const [dir, ...only] = process.argv.slice(2)
const here = path.dirname(new URL(import.meta.url).pathname)

let beside // what a client throws beside what it is asked for
for (const kind of ['unhandledRejection', 'uncaughtException']) process.on(kind, e => { beside ??= e })
for (const level of ['log', 'info', 'warn', 'error', 'debug']) console[level] = () => {}

/** argumentsOf is the text of the arguments as it stands on a protocol's wire. */
const argumentsOf = (protocol, args) => protocol === 'gemini' || protocol === 'ollama' ? asValue(args) : args

/** versionOf is the version of a package that is installed. */
const versionOf = name => JSON.parse(fs.readFileSync(path.join(here, 'node_modules', name, 'package.json'))).version

/** within waits no longer than that, even where nothing is left that could come. */
function within(ms, promise) {
  let timer
  const late = new Promise((_, no) => { timer = setTimeout(() => no(new Error('took too long')), ms) })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** run has a client answer one call, and says what it sent. */
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

/** clean is the first line of what an error says. */
const clean = words => words.split('\n')[0].slice(0, 120)

const modules = fs.readdirSync(path.join(here, 'clients')).filter(f => f.endsWith('.mjs')).sort()
for (const file of modules) {
  for (const client of (await import(`./clients/${file}`)).default) {
    if (only.length && !only.includes(client.name)) continue
    const lines = []
    for (const [name, args] of cases) {
      const told = new Map() // what was sent to all, by the sources of which that is so
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
