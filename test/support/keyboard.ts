import { type Route, type RouteName, routes } from '@gatehouse/contract/routes'
import type { Page } from 'playwright-core'
import { pause } from './server.ts'

/** Functions for expressions that run in the page: names as screen readers say them, and what is open on top. */
const inPage = `
  const nameOf = (element) =>
    (element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.placeholder ?? element.textContent)
      .replace(/\\s+/g, ' ').trim()
  const top = () => document.querySelector('[role=menu]') ??
    [...document.querySelectorAll('dialog[open]')].at(-1) ?? document
  const controls = 'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), ' +
    'textarea:not(:disabled), summary, [contenteditable=true], [role=menuitem]'
  // An editor has a tree of its own.
  const operable = (root) => [root, ...[...root.querySelectorAll('*')].flatMap(({ shadowRoot }) => shadowRoot ?? [])]
    .flatMap((tree) => [...tree.querySelectorAll(controls)])
    .filter((element) => element.checkVisibility())
  const active = () => {
    let element = document.activeElement
    while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
    return element
  }
  const isIn = (root, element) => root.contains(element) || root.contains(element.getRootNode().host ?? null)
`
const evaluate = <T>(page: Page, expression: string): Promise<T> =>
  page.evaluate<T>(`(() => { ${inPage} return ${expression} })()`)

type Focus = { readonly name: string; readonly isTop: boolean } | null

const focusNow = `active() === document.body ? null
  : { name: nameOf(active()), isTop: isIn(top(), active()) }`

/** Buttons, folds and items of menus, by name. Headings that sort and tabs are ways to look, not acts. */
const offeredNow = `operable(document)
  .filter((element) => element.matches('button, summary, [role=menuitem]') && !element.matches('th button, [role=tab]'))
  .map(nameOf)`

/** Whether the control stands before what has the focus, and nowhere after it. */
const isBehind = (name: string) => `(() => {
  const named = operable(top()).filter((element) => nameOf(element) === ${JSON.stringify(name)})
  const place = (element) => element.getRootNode().host ?? element
  const follows = (element) => place(element) === place(active()) ||
    place(active()).compareDocumentPosition(place(element)) & Node.DOCUMENT_POSITION_FOLLOWING
  return named.length > 0 && !named.some(follows)
})()`

const operations = Object.entries(routes as Record<RouteName, Route>).map(
  ([name, { method, path }]) => ({
    name: name as RouteName,
    method,
    isAt: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
  }),
)

/** One name for buttons of one kind: whom or what it is for is left out, and so are counts. */
export const kindOf = (name: string): string =>
  name
    .replace(/: .*$/, '')
    .replace(/^(GET|POST|PUT|PATCH|DELETE)\/.*$/, 'An operation of the reference')
    .replace(/^(Actions for|Account of|Pause) (?!all |the ).*$/, '$1')
    .replace(/\([^)]*\)$/, '')
    .replaceAll(/\d+/g, 'N')
    .trim()

const soonMs = 100_000

/** Waits until it is so; on a busy machine that takes its time. */
async function soon(isSo: () => Promise<boolean>, otherwise: string): Promise<void> {
  const end = Date.now() + soonMs
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(otherwise)
    await pause(25)
  }
}

/** A person without a mouse. */
export class Keyboard {
  readonly page: Page
  /** Kinds of buttons that the pages offered, and those that were pressed. */
  readonly offered = new Set<string>()
  readonly pressed = new Set<string>()
  /** Operations that the service carried out for the page. */
  readonly done: RouteName[] = []
  readonly #dialogs = new Set<string>()

  constructor(page: Page) {
    this.page = page
    page.on('response', (response) => {
      const method = response.request().method()
      const { pathname } = new URL(response.url())
      const operation = operations.find((one) => one.method === method && one.isAt.test(pathname))
      if (operation && response.ok()) this.done.push(operation.name)
    })
  }

  key(...keys: readonly string[]): Promise<void> {
    return keys.reduce(
      (before, key) => before.then(() => this.page.keyboard.press(key)),
      Promise.resolve(),
    )
  }

  /** Presses Tab until the control with this name has the focus; waits for it to be there first. */
  async to(name: string): Promise<void> {
    const { page } = this
    const isThere = `operable(top()).some((element) => nameOf(element) === ${JSON.stringify(name)})`
    await soon(() => evaluate<boolean>(page, isThere), `“${name}” is not offered`)
    await this.look()
    const tab = (await evaluate<boolean>(page, isBehind(name))) ? 'Shift+Tab' : 'Tab'
    const limit = (await evaluate<number>(page, 'operable(document).length')) + 10
    for (let presses = 0; presses < limit; presses += 1) {
      const focus = await evaluate<Focus>(page, focusNow)
      if (focus?.isTop && focus.name === name) return
      await page.keyboard.press(tab)
    }
    throw new Error(`${tab} does not lead to “${name}”`)
  }

  /** Notes what is offered, and walks a dialog once from its start to its end. */
  async look(): Promise<void> {
    const { page } = this
    for (const name of await evaluate<string[]>(page, offeredNow)) this.offered.add(kindOf(name))
    const title = await evaluate<string | null>(
      page,
      `top() === document ? null : top().querySelector('h2')?.textContent ?? null`,
    )
    if (title === null || this.#dialogs.has(kindOf(title))) return
    this.#dialogs.add(kindOf(title))
    const wanted = await evaluate<string[]>(
      page,
      'operable(top()).filter(({ type }) => type !== "radio").map(nameOf)',
    )
    const reached: string[] = []
    for (let presses = 0; presses < 2 * wanted.length + 6; presses += 1) {
      const focus = await evaluate<Focus>(page, focusNow)
      if (focus) reached.push(focus.name)
      await page.keyboard.press('Tab')
    }
    const missed = wanted.filter((name) => !reached.includes(name))
    if (missed.length > 0)
      throw new Error(`in “${title}” Tab does not lead to ${missed.join(', ')}`)
  }

  async press(name: string): Promise<void> {
    await this.to(name)
    this.pressed.add(kindOf(name))
    await this.page.keyboard.press('Enter')
  }

  async fill(label: string, text: string): Promise<void> {
    await this.to(label)
    await this.page.keyboard.press('ControlOrMeta+a')
    await this.page.keyboard.insertText(text)
  }

  async check(label: string): Promise<void> {
    await this.to(label)
    await this.page.keyboard.press('Space')
  }

  /** Chooses in a list by its arrow keys. */
  async pick(label: string, option: string): Promise<void> {
    await this.to(label)
    await this.page.keyboard.press('Home')
    const chosen = `document.activeElement.selectedOptions[0]?.textContent.trim() ?? ''`
    const count = await evaluate<number>(this.page, 'document.activeElement.options.length')
    for (let presses = 0; presses < count; presses += 1) {
      if ((await evaluate<string>(this.page, chosen)) === option) return
      await this.page.keyboard.press('ArrowDown')
    }
    throw new Error(`“${label}” has no choice “${option}”`)
  }

  /** Opens the menu of a button and presses Enter on the item that the arrow keys lead to. */
  async choose(button: string, item: string): Promise<void> {
    await this.press(button)
    // Keys reach a menu once it has the focus.
    await this.page.locator('[role=menu]:focus-within').waitFor()
    await this.look()
    const items = await evaluate<string[]>(this.page, 'operable(top()).map(nameOf)')
    const at = items.indexOf(item)
    if (at < 0) throw new Error(`the menu of “${button}” has no “${item}”`)
    for (const name of items.slice(0, at)) {
      await this.hasFocus(name)
      await this.page.keyboard.press('ArrowDown')
    }
    await this.hasFocus(item)
    this.pressed.add(kindOf(item))
    await this.page.keyboard.press('Enter')
  }

  /** Waits for the control to have the focus: where arrows move it, it follows the key a moment later. */
  hasFocus(name: string): Promise<void> {
    const isFocused = async () => (await evaluate<Focus>(this.page, focusNow))?.name === name
    return soon(isFocused, `“${name}” does not get the focus`)
  }

  /** Ends the dialog or menu that is open. */
  async leave(): Promise<void> {
    await this.page.keyboard.press('Escape')
    await soon(() => evaluate<boolean>(this.page, 'top() === document'), 'Escape ends nothing')
  }
}
