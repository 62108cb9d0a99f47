// Opens pages in Chromium and prints their problems: console messages, network requests, findings of axe, content
// that is wider than the window, and elements that the keyboard doesn't reach.
//
//   node check.mjs PAGE…
import axe from 'axe-core'
import chromium from '@sparticuz/chromium'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import puppeteer from 'puppeteer-core'

const browser = await puppeteer.launch({ args: [...chromium.args, '--no-sandbox'], executablePath: await chromium.executablePath(), headless: 'shell' })
let wrong = 0, tried = 0

/** keys presses Tab through a page and returns the number of elements that it doesn't reach. */
async function keys(page) {
  const all = await page.evaluate(() => {
    const can = [...document.querySelectorAll('a[href], summary, [tabindex="0"]')]
    can.forEach((e, i) => { e.dataset.n = i })
    return can.length
  })
  const reached = new Set()
  for (let i = 0; i <= all; i++) { // one press of Tab focuses the window itself
    await page.keyboard.press('Tab')
    reached.add(await page.evaluate(() => document.activeElement.dataset.n))
  }
  reached.delete(undefined)
  return all - reached.size
}

/** folds opens each folded part with the keyboard and returns the number of parts that stay closed. */
async function folds(page) {
  for (const summary of await page.$$('summary')) {
    await summary.focus()
    await page.keyboard.press('Enter')
  }
  return page.evaluate(() => document.querySelectorAll('details:not([open])').length)
}

async function check(file, scheme, width) {
  const page = await browser.newPage()
  const found = []
  page.on('console', m => found.push(`${m.type()}: ${m.text()}`))
  page.on('pageerror', e => found.push(String(e)))
  page.on('request', r => { if (r.url() !== pathToFileURL(file).href) found.push(`asks for ${r.url()}`) })
  await page.setViewport({ width, height: 900 })
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
  await page.goto(pathToFileURL(file).href)
  const closed = await folds(page)
  if (closed) found.push(`${closed} parts do not open`)
  const missed = await keys(page)
  if (missed) found.push(`Tab does not reach ${missed}`)
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  if (over > 0) found.push(`${over} px wider than the window`)
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() => window.axe.run())
  for (const v of violations) found.push(`axe: ${v.id}: ${v.nodes[0].html.slice(0, 100)} (${v.nodes.length})`)
  if (process.env.SHOTS) await page.screenshot({ path: path.join(process.env.SHOTS, `${path.basename(file, '.html')}-${scheme}-${width}.png`), fullPage: true })
  await page.close()
  for (const what of found) process.stdout.write(`${path.basename(file)}, ${scheme}, ${width} px: ${what}\n`)
  wrong += found.length
  tried++
}

for (const file of process.argv.slice(2)) {
  for (const scheme of ['light', 'dark']) for (const width of [360, 1280]) await check(path.resolve(file), scheme, width)
}
process.stdout.write(`${await browser.version()}: ${tried} views, ${wrong} things wrong\n`)
await browser.close()
process.exit(wrong ? 1 : 0)
