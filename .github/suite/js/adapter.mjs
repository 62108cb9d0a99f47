// The part that all adapters share: it reads questions and writes answers.
import fs from 'node:fs'
import readline from 'node:readline'

/** version is the installed version of a package. */
export const version = name => JSON.parse(fs.readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version

/** versions lists packages with their versions. */
export const versions = (...names) => names.map(name => `${name} ${version(name)}`).join(', ')

/** adapt answers all questions. ask returns {calls, finish} or throws the library's error. */
export async function adapt(name, about, protocols, ask) {
  console.log = console.info = console.warn = console.debug = (...args) => console.error(...args)
  process.on('unhandledRejection', () => {}) // some libraries also reject promises that nobody awaits
  write({ adapter: 1, name, about, protocols, takes: 'url' })
  for await (const line of lines(process.stdin)) {
    const question = JSON.parse(line)
    let answer
    try {
      answer = await ask(question)
    } catch (error) {
      answer = { error: String(error?.message ?? error) || 'error' }
    }
    write({ id: question.id, ...answer })
  }
  process.exit(0)
}

/** lines splits at line feeds only. readline also splits at U+2028, but questions are ASCII. */
const lines = input => readline.createInterface({ input })

/** write writes a line in ASCII. */
function write(value) {
  process.stdout.write(JSON.stringify(value).replace(/[\u0080-\uffff]/g, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')) + '\n')
}

/** callOf is a call with its arguments as the library keeps them: a string or another value. */
export const callOf = (name, args, ok = true) => typeof args === 'string' ? { name, arguments: args, ok } : { name, input: args, ok }
