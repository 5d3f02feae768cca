import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Client } from '@gatehouse/rest-client'
import { until } from '@gatehouse/testkit/until'
import type { AxeResults } from 'axe-core'
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Page,
  type Request,
} from 'playwright-core'
import { personAt } from './person.ts'
import { Installation, type Run } from './server.ts'
import { tellers } from './tell-failures.ts'

export const password = 'correct horse battery'

/**
 * Without some of these Debian's browser looks for hosts on the internet. It takes the certificate as on a machine that
 * trusts its authority: what only a page's context ignores still keeps service workers away.
 */
const args = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
  '--ignore-certificate-errors',
]

/** A page that there is not. */
const nowhere = { address: '/no/such/page', title: 'There is no such page' }

/** What moves costs time, and colours on their way are none that a person reads. */
const seen = { ignoreHTTPSErrors: true, reducedMotion: 'reduce' } as const

/** How long a part of a page may take to come. */
const waitMs = 100_000

const newContext = async (browser: Browser): Promise<BrowserContext> => {
  const context = await browser.newContext(seen)
  context.setDefaultTimeout(waitMs)
  return context
}

/** Axe as a script, which a page keeps until another is loaded: a wrapper for browsers gives it anew for each look. */
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const themes = [
  ['light', {}],
  ['dark', { runOnly: ['cat.color'], rules: { 'color-contrast-enhanced': { enabled: false } } }],
] as const

/** Resolves when what changed is on the screen, or nothing is painted for long, as on a page that nobody sees. */
const painted = `new Promise((done) => {
  setTimeout(done, 20_000)
  requestAnimationFrame(() => requestAnimationFrame(done))
})`
const isLoading = `document.querySelector('#content h1') === null ||
  document.querySelector('#content').textContent.includes('Loading…')`

/** Whether what a page asks for comes to an end. */
export const hasEnd = (request: Request): boolean => request.resourceType() !== 'eventsource'

/** A service, a browser, and a person who is logged in. */
export class Dashboard implements AsyncDisposable {
  readonly gate: Installation
  run: Run
  readonly page: Page
  /** The REST API with every right. */
  api: Client
  readonly #browser: Browser
  /** Whether the service ends with it. */
  #isOwn = true
  /** What the page asked of whom, and what went wrong on it. */
  readonly requests: string[] = []
  readonly complaints: string[] = []
  /** What each page waits for; streams, which never end, are not among it. */
  readonly #unanswered = new WeakMap<Page, Set<Request>>()

  private constructor(gate: Installation, run: Run, browser: Browser, page: Page) {
    this.gate = gate
    this.run = run
    this.page = page
    this.#browser = browser
    this.api = personAt(gate).api
    this.#watch(page)
    tellers.add(this.#tell)
  }

  /** Address and text of the page. */
  readonly #tell = async (): Promise<string> =>
    `The page at ${this.page.url()}:\n${await this.page.locator('body').innerText({ timeout: 5_000 })}`

  #watch(page: Page): void {
    this.#watchRequests(page)
    page.on('request', (request) => this.requests.push(request.url()))
    page.on('pageerror', (error) => this.complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(message.text())
    })
  }

  #watchRequests(page: Page): void {
    const unanswered = new Set<Request>()
    this.#unanswered.set(page, unanswered)
    page.on('request', (request) => hasEnd(request) && unanswered.add(request))
    page.on('requestfinished', (request) => {
      // Nobody waits any more for what the document before this one asked for.
      if (request.isNavigationRequest()) unanswered.clear()
      unanswered.delete(request)
    })
    page.on('requestfailed', (request) => unanswered.delete(request))
  }

  /** A browser at a new service where nobody is an operator yet. */
  static async open(
    flags: readonly string[] = [],
    prepare: (dataDir: string) => void = () => undefined,
  ): Promise<Dashboard> {
    const gate = new Installation()
    try {
      prepare(gate.dataDir)
      const run = await gate.start(['--no-first-agent', ...flags])
      const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args })
      const context = await newContext(browser)
      return new Dashboard(gate, run, browser, await context.newPage())
    } catch (error) {
      await gate[Symbol.asyncDispose]()
      throw error
    }
  }

  /** A browser of an operator at a service that somebody else started and ends. */
  static async at(gate: Installation, name: string): Promise<Dashboard> {
    if (!gate.run) throw new Error('the service does not run')
    const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args })
    const context = await newContext(browser)
    const dashboard = new Dashboard(gate, gate.run, browser, await context.newPage())
    dashboard.#isOwn = false
    await dashboard.api.setPassword({ name, password })
    await dashboard.page.goto(dashboard.run.dashboard_url)
    await dashboard.logIn()
    return dashboard
  }

  /** The same with an operator who is logged in. */
  static async openAs(
    name: string,
    flags: readonly string[] = [],
    prepare?: (dataDir: string) => void,
  ): Promise<Dashboard> {
    const dashboard = await Dashboard.open(flags, prepare)
    await dashboard.api.setPassword({ name, password })
    await dashboard.page.goto(dashboard.run.dashboard_url)
    await dashboard.logIn()
    dashboard.complaints.length = 0
    return dashboard
  }

  async logIn(name = ''): Promise<void> {
    if (name !== '') await this.page.getByLabel('Name').fill(name)
    await this.page.getByLabel('Password', { exact: true }).fill(password)
    await this.page.getByRole('button', { name: 'Log in' }).click()
    await this.page.getByRole('navigation', { name: 'Pages' }).waitFor()
  }

  /** A person with another window, logged in or not. */
  async another(): Promise<{ readonly page: Page; readonly context: BrowserContext }> {
    const context = await newContext(this.#browser)
    const page = await context.newPage()
    this.#watchRequests(page)
    return { context, page }
  }

  /** Stops the service, does something to its files, and starts it again at other ports; the login is kept. */
  async restartAfter(work: (dataDir: string) => void | Promise<unknown>): Promise<void> {
    await this.gate.stop()
    await work(this.gate.dataDir)
    this.run = await this.gate.start(['--no-first-agent'])
    this.api = personAt(this.gate).api
  }

  /** Keeps back what the page asks of such addresses; what it gives lets all of it through. */
  async heldBack(addresses: string): Promise<() => Promise<void>> {
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await this.page.route(addresses, async (route) => {
      await released
      await route.continue()
    })
    return async () => {
      release()
      // Not before what waits has gone on: a route that is removed meanwhile goes on by itself, and cannot once more.
      await this.page.unrouteAll({ behavior: 'wait' })
    }
  }

  /** Loads a page as one that opens a link does. */
  async goTo(address: string): Promise<void> {
    await this.page.goto(`${this.run.dashboard_url}${address}`)
    await this.page.locator('#content h1').waitFor()
  }

  /** Resolves when a page of these shows all that it reads: what comes later moves what is there. */
  async loaded(page = this.page): Promise<void> {
    const isAnswered = () => this.#unanswered.get(page)?.size === 0
    await until(async () => {
      if (!isAnswered()) return false
      // What was answered is shown first, and may ask for more.
      await page.evaluate(painted)
      return isAnswered() && !(await page.evaluate<boolean>(isLoading))
    })
  }

  /** Goes to a page as one that follows links inside of the dashboard does; what it has read before is still known to it. */
  async follow(address: string): Promise<void> {
    const title = this.page.locator('#content h1')
    const none = title.filter({ hasText: nowhere.title })
    await this.#push(nowhere.address)
    await none.waitFor()
    // Messages stay: a test would take what was said before for the answer to what it does.
    await this.page.evaluate(
      `for (const one of document.querySelectorAll('[role=status] [aria-label=Dismiss]')) one.click()`,
    )
    await this.#push(address)
    if (address !== nowhere.address) await none.waitFor({ state: 'detached' })
    await title.waitFor()
  }

  async #push(address: string): Promise<void> {
    await this.page.evaluate(`history.pushState(null, '', ${JSON.stringify(address)})`)
  }

  /** Findings of axe in both themes: none is what a page should have. Only colours differ between the two. */
  async axeFindings(): Promise<readonly string[]> {
    const found = new Set<string>()
    if (!(await this.page.evaluate<boolean>('Boolean(globalThis.axe)')))
      await this.page.evaluate(axe)
    for (const [theme, only] of themes) {
      await this.page.evaluate(`document.documentElement.dataset.theme = '${theme}'`)
      await this.page.evaluate(painted)
      const options = JSON.stringify({ resultTypes: ['violations'], ...only })
      const { violations } = await this.page.evaluate<AxeResults>(`axe.run(document, ${options})`)
      for (const { id, nodes } of violations) found.add(`${theme} ${id}: ${nodes[0]?.html}`)
    }
    return [...found]
  }

  /** How far the page, or the tab that is chosen on it, lies outside of the screen of a phone: 0 is whole. */
  async overhang(): Promise<number> {
    const size = this.page.viewportSize() ?? { width: 1280, height: 900 }
    await this.page.setViewportSize({ width: 390, height: 844 })
    await this.page.evaluate(painted)
    const over = await this.page.evaluate<number>(`(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      const tabs = [...document.querySelectorAll('[role=tab][aria-selected=true]')]
      const beyond = tabs.map((tab) => tab.getBoundingClientRect().right - clientWidth)
      return Math.max(scrollWidth - clientWidth, ...beyond, 0)
    })()`)
    await this.page.setViewportSize(size)
    return over
  }

  async [Symbol.asyncDispose](): Promise<void> {
    tellers.delete(this.#tell)
    await this.#browser.close()
    if (this.#isOwn) await this.gate[Symbol.asyncDispose]()
  }
}
